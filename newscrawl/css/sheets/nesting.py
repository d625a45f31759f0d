"""Selector lists as text: cut at their commas, nesting resolved (CSS Nesting 1)."""

from __future__ import annotations

import re

from newscrawl.css.selectors.rule_keys import END
from newscrawl.css.syntax.conditions import split_top
from newscrawl.css.syntax.tokens import BAD, SPACE, unmask

LONGEST = 2**16
"""Characters of a nested selector list: "&" twice at each of 30 levels would fill the memory."""

PLAIN = r"""[^;("'\[\\&\x01-\x06]*+"""
"""Pattern of a list of selectors that may be cut at any comma."""

_AMPERSAND = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\\.|(&)""", re.DOTALL)
_SCOPE = ":where(:root)"


def plain_list(prelude: str) -> str:
    """Return the complex selectors of a prelude that is ``PLAIN``, ``END`` between them.

    "" where one is missing.
    """
    if "," not in prelude:
        return prelude.strip(SPACE)
    selectors = [selector.strip(SPACE) for selector in prelude.split(",")]
    return "" if "" in selectors else END.join(selectors)


def selector_list(prelude: str, parent: str | None = None) -> list[str] | None:
    """Return the complex selectors of a masked *prelude*; None where it is wrong or too long.

    *parent* is what "&" stands for (:func:`parent_selector`); None outside of style rules.
    """
    around = parent or _SCOPE
    insertions = prelude.count("&") + (0 if parent is None else prelude.count(",") + 1)
    if BAD in prelude or insertions * len(around) > LONGEST:
        return None
    selectors = split_top(unmask(prelude), ",")
    if not all(selectors):
        return None
    return [_resolved(selector, around, nested=parent is not None) for selector in selectors]


def parent_selector(selectors: list[str]) -> str:
    """Return what "&" stands for in a rule with these selectors."""
    return f":is({', '.join(selectors)})"


def _resolved(selector: str, around: str, *, nested: bool) -> str:
    """Return *selector* with *around* for "&"; a relative one of a nested rule put below it."""
    nests = [match.start() for match in _AMPERSAND.finditer(selector) if match[1]]
    if nested and (not nests or selector[0] in ">+~"):
        selector, nests = f"& {selector}", [0, *(start + 2 for start in nests)]
    pieces = [selector[a + 1 : b] for a, b in zip([-1, *nests], [*nests, None], strict=True)]
    return around.join(pieces)
