"""``@supports``, answered as Chromium would: generously.

A feature query asks in nearly all sheets for something that browsers have had for years, or for
the mark of one of the others; so what carries a mark of the others is not supported, all else is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from newscrawl.css.conditions import holds
from newscrawl.css.tokens import SPACE

_OTHERS = re.compile(
    r"-(?:moz|ms|o|apple|khtml)-|-webkit-(?:touch-callout|overflow-scrolling|hyphens|marquee"
    r"|backdrop-filter|text-size-adjust|nbsp-mode|initial-letter|named-image)\b"
)
_DECLARATION = re.compile(rf"(?:--[^{SPACE}:]*|-?[a-z][\w-]*)[{SPACE}]*:[{SPACE}]*\S.*", re.DOTALL)
_FUNCTION = re.compile(r"(selector|font-tech|font-format|at-rule)\((.*)\)", re.DOTALL)


@lru_cache(maxsize=1024)
def supported(condition: str) -> bool:
    """Return whether the condition of an ``@supports`` rule holds."""
    return bool(holds(condition.lower().strip(SPACE), _feature))


def declaration_supported(declaration: str) -> bool:
    """Return whether *declaration* (``display: grid``) is one that a browser takes."""
    return bool(_DECLARATION.fullmatch(declaration)) and not _OTHERS.search(declaration)


def _feature(text: str) -> bool | None:
    """Return whether a feature is supported; None where the query is of no known kind."""
    function = _FUNCTION.fullmatch(text)
    if function is not None:
        return bool(function[2].strip(SPACE)) and not _OTHERS.search(function[2])
    if _DECLARATION.fullmatch(text):
        return declaration_supported(text)
    return None
