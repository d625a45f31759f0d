"""``@supports``, answered as Chromium would: generously.

A feature query asks in nearly all sheets for something that browsers have had for years, or for
the mark of one of the others; so what carries a mark of the others is not supported, all else is,
but for selectors and for values of the properties that are computed here, which are looked at.
"""

from __future__ import annotations

import re
from functools import lru_cache

from newscrawl.css.selectors.compiled_selectors import SelectorError
from newscrawl.css.selectors.selectors import compile_list
from newscrawl.css.syntax.conditions import holds
from newscrawl.css.syntax.tokens import SPACE
from newscrawl.css.values.values import PROPERTIES, parse_declaration

_OTHERS = re.compile(
    r"-(?:moz|ms|o|apple|khtml)-|-webkit-(?:touch-callout|overflow-scrolling|hyphens|marquee"
    r"|backdrop-filter|text-decoration-skip|nbsp-mode|initial-letter|named-image|sticky)\b"
    r"|\b(?:constant|paint)\(|\b(?:hanging-punctuation|(?<!-)line-clamp|stroke-color)\s*:|\bmasonry\b"
)
_DECLARATION = re.compile(rf"(?:--[^{SPACE}:]*|-?[a-z][\w-]*)[{SPACE}]*:[{SPACE}]*\S.*", re.DOTALL)
_KNOWN = frozenset((*PROPERTIES, "font"))
_FUNCTION = re.compile(r"(selector|font-tech|font-format|at-rule)\((.*)\)", re.DOTALL)


@lru_cache(maxsize=1024)
def supported(condition: str) -> bool:
    """Return whether the condition of an ``@supports`` rule holds."""
    return bool(holds(condition.lower().strip(SPACE), _feature))


def declaration_supported(declaration: str) -> bool:
    """Return whether *declaration* (``display: grid``) is one that a browser takes."""
    if not _DECLARATION.fullmatch(declaration) or _OTHERS.search(declaration):
        return False
    name, _, value = declaration.partition(":")
    name, value = name.strip(SPACE).lower(), value.strip(SPACE)
    return name not in _KNOWN or bool(parse_declaration(name, value))


def _feature(text: str) -> bool:
    """Return whether a feature is supported."""
    function = _FUNCTION.fullmatch(text)
    if function is None:
        return declaration_supported(text)
    kind, arguments = function.groups()
    if kind == "selector":
        return not isinstance(compile_list([arguments]), SelectorError)
    return bool(arguments.strip(SPACE)) and not _OTHERS.search(arguments)
