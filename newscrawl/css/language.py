"""``:lang()`` and ``:dir()``.

https://www.w3.org/TR/selectors-4/#linguistic-pseudos
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from newscrawl.css.tree import StyleTree


@dataclass(frozen=True, slots=True, eq=False)
class IsLanguage:
    """``:lang()``: one of the *ranges*, in lower case, takes the language of the element in."""

    ranges: tuple[str, ...]

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        language = tree.language(row).lower()
        return any(in_range(language, wanted) for wanted in self.ranges)


def in_range(language: str, wanted: str) -> bool:
    """Return whether the language range *wanted* takes *language* in, both in lower case.

    Extended filtering, https://www.rfc-editor.org/rfc/rfc4647#section-3.3.2
    """
    if not wanted or not language:
        return wanted == language
    first, *rest = wanted.split("-")
    main, *subtags = language.split("-")
    if first not in {"*", main}:
        return False
    given = iter(subtags)
    return all(_skip_to(subtag, given) for subtag in rest if subtag != "*")


def _skip_to(wanted: str, subtags: Iterator[str]) -> bool:
    """Return whether *wanted* is among *subtags* before a singleton such as ``x``."""
    for subtag in subtags:
        if subtag == wanted:
            return True
        if len(subtag) == 1:
            return False
    return False


@dataclass(frozen=True, slots=True, eq=False)
class IsDirection:
    """``:dir()``: the text of the element runs in *direction*."""

    direction: str

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        return tree.direction(row) == self.direction
