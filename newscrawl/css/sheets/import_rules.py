"""``@import`` rules (CSS Cascade 5, 2)."""

from __future__ import annotations

import re
from typing import NamedTuple

from newscrawl.css.sheets.supports import declaration_supported, supported
from newscrawl.css.syntax.media_queries import media_applies
from newscrawl.css.syntax.tokens import SPACE, unescape

_S = rf"[{SPACE}]*+"
_STRING = r""""((?:[^"\\]|\\.)*+)"|'((?:[^'\\]|\\.)*+)'"""
_URL = rf"(?:{_STRING}|(?i:url)\({_S}(?:{_STRING}|((?:[^)\\]|\\.)*+)){_S}\))"
_IMPORT = re.compile(
    rf"{_URL}{_S}(?:(?P<layer>(?i:layer)(?![\w(-]))|(?i:layer)\((?P<name>[^()]*+)\))?+"
    rf"{_S}(?:(?i:supports)\((?P<supports>(?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+)\))?+(?P<media>.*+)",
    re.DOTALL,
)


class Import(NamedTuple):
    """A sheet to import."""

    #: as written, escapes resolved
    url: str
    #: full name of the layer that its rules go into
    layer: str | None = None
    #: how many of the sheet's ``layers`` come before those of the imported one
    layers_before: int = 0


def parse_import(prelude: str) -> tuple[str, str | None] | None:
    """Return URL and layer ("" for one without a name) of an import that applies, else None."""
    match = _IMPORT.fullmatch(prelude)
    if match is None or not media_applies(match["media"]):
        return None
    condition = match["supports"]
    if condition is not None and not (declaration_supported(condition) or supported(condition)):
        return None
    url = next(url for url in match.groups()[:5] if url is not None).strip(SPACE)
    layer = "" if match["layer"] else match["name"]
    return (unescape(url), None if layer is None else layer.strip(SPACE)) if url else None
