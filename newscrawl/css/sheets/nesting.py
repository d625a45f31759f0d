"""Splitting of selector lists and resolution of nested selectors (CSS Nesting 1)."""

from __future__ import annotations

import re

from newscrawl.css.selectors.rule_keys import SELECTOR_SEPARATOR
from newscrawl.css.syntax.conditions import split_at_top_level
from newscrawl.css.syntax.masking import BAD, SPACE, unmask

MAX_NESTED_LIST_LENGTH = 2**16
"""Maximum length of a nested selector list; repeated "&" on each level grows exponentially."""

PLAIN = r"""[^;("'\[\\&\x01-\x06]*+"""
"""Pattern of a selector list that can be split at every comma."""

_AMPERSAND = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\\.|(&)""", re.DOTALL)
_SCOPE = ":where(:root)"


def plain_selector_list(prelude: str) -> str:
    """Return the selectors of a prelude that matches ``PLAIN``, joined as in a sheet.

    Return "" if one is empty.
    """
    if "," not in prelude:
        return prelude.strip(SPACE)
    selectors = [selector.strip(SPACE) for selector in prelude.split(",")]
    return "" if "" in selectors else SELECTOR_SEPARATOR.join(selectors)


def selector_list(prelude: str, parent: str | None = None) -> list[str] | None:
    """Return the complex selectors of a masked *prelude*, None if it is invalid or too long.

    *parent* replaces "&" (see :func:`parent_selector`); None outside of style rules.
    """
    parent_text = parent or _SCOPE
    insertions = prelude.count("&") + (0 if parent is None else prelude.count(",") + 1)
    if BAD in prelude or insertions * len(parent_text) > MAX_NESTED_LIST_LENGTH:
        return None
    selectors = split_at_top_level(unmask(prelude), ",")
    if not all(selectors):
        return None
    return [_resolve(selector, parent_text, nested=parent is not None) for selector in selectors]


def parent_selector(selectors: list[str]) -> str:
    """Return the replacement of "&" inside a rule with these selectors."""
    return f":is({', '.join(selectors)})"


def _resolve(selector: str, parent_text: str, *, nested: bool) -> str:
    """Return *selector* with "&" replaced, or with the parent as its ancestor if it has none."""
    positions = [match.start() for match in _AMPERSAND.finditer(selector) if match[1]]
    if nested and (not positions or selector[0] in ">+~"):
        selector, positions = f"& {selector}", [0, *(start + 2 for start in positions)]
    bounds = zip([-1, *positions], [*positions, None], strict=True)
    pieces = [selector[start + 1 : end] for start, end in bounds]
    return parent_text.join(pieces)
