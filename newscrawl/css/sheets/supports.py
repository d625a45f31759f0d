"""``@supports`` conditions, evaluated approximately as in Chromium.

Most queries test features that all browsers have, or prefixes of one browser. So everything is
supported except the prefixes of other browsers, invalid selectors, and invalid values of the
properties that are computed here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from newscrawl.css.selectors.compiled_selectors import SelectorError
from newscrawl.css.selectors.selector_compiler import compile_list
from newscrawl.css.syntax.conditions import evaluate_condition
from newscrawl.css.syntax.masking import SPACE
from newscrawl.css.values.declared_values import PROPERTIES, parse_declaration

_UNSUPPORTED = re.compile(
    r"-(?:moz|ms|o|apple|khtml)-|-webkit-(?:touch-callout|overflow-scrolling|hyphens|marquee"
    r"|backdrop-filter|text-decoration-skip|nbsp-mode|initial-letter|named-image|sticky)\b"
    r"|\b(?:constant|paint)\(|\b(?:hanging-punctuation|(?<!-)line-clamp|stroke-color)\s*:|\bmasonry\b"
)
_DECLARATION = re.compile(rf"(?:--[^{SPACE}:]*|-?[a-z][\w-]*)[{SPACE}]*:[{SPACE}]*\S.*", re.DOTALL)
_CHECKED_PROPERTIES = frozenset((*PROPERTIES, "font"))
_FUNCTION = re.compile(r"(selector|font-tech|font-format|at-rule)\((.*)\)", re.DOTALL)


@lru_cache(maxsize=1024)
def condition_supported(condition: str) -> bool:
    """Return whether the condition of an ``@supports`` rule is true."""
    return bool(evaluate_condition(condition.lower().strip(SPACE), _feature))


def declaration_supported(declaration: str) -> bool:
    """Return whether *declaration* (such as ``display: grid``) is supported."""
    if not _DECLARATION.fullmatch(declaration) or _UNSUPPORTED.search(declaration):
        return False
    name, _, value = declaration.partition(":")
    name, value = name.strip(SPACE).lower(), value.strip(SPACE)
    return name not in _CHECKED_PROPERTIES or bool(parse_declaration(name, value))


def _feature(text: str) -> bool:
    """Return whether a feature in parentheses, or a function, is supported."""
    function = _FUNCTION.fullmatch(text)
    if function is None:
        return declaration_supported(text)
    kind, arguments = function.groups()
    if kind == "selector":
        return not isinstance(compile_list([arguments]), SelectorError)
    return bool(arguments.strip(SPACE)) and not _UNSUPPORTED.search(arguments)
