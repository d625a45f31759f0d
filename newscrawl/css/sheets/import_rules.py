"""``@import`` rules (CSS Cascade 5, 2)."""

from __future__ import annotations

import re
from typing import NamedTuple

from newscrawl.css.sheets.supports import condition_supported, declaration_supported
from newscrawl.css.syntax.masking import SPACE, unescape
from newscrawl.css.syntax.media_queries import media_applies

_S = rf"[{SPACE}]*+"
_STRING = r""""((?:[^"\\]|\\.)*+)"|'((?:[^'\\]|\\.)*+)'"""
_URL = rf"(?:{_STRING}|(?i:url)\({_S}(?:{_STRING}|((?:[^)\\]|\\.)*+)){_S}\))"
_IMPORT = re.compile(
    rf"{_URL}{_S}(?:(?P<layer>(?i:layer)(?![\w(-]))|(?i:layer)\((?P<name>[^()]*+)\))?+"
    rf"{_S}(?:(?i:supports)\((?P<supports>(?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+)\))?+(?P<media>.*+)",
    re.DOTALL,
)


class Import(NamedTuple):
    """An import of another sheet."""

    #: as written, escapes resolved
    url: str
    #: full name of the layer that the rules are imported into
    layer: str | None = None
    #: number of the sheet's ``layers`` that precede those of the imported sheet
    layers_before: int = 0


def parse_import(prelude: str) -> tuple[str, str | None] | None:
    """Return the URL and layer ("" if anonymous) of an import, None if it does not apply."""
    match = _IMPORT.fullmatch(prelude)
    if match is None or not media_applies(match["media"]):
        return None
    condition = match["supports"]
    if condition is not None and not (
        declaration_supported(condition) or condition_supported(condition)
    ):
        return None
    url = next(url for url in match.groups()[:5] if url is not None).strip(SPACE)
    layer = "" if match["layer"] else match["name"]
    return (unescape(url), None if layer is None else layer.strip(SPACE)) if url else None
