"""``:lang()`` and ``:dir()``.

https://www.w3.org/TR/selectors-4/#linguistic-pseudos
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from newscrawl.css.selectors.element_tree import StyleTree


@dataclass(frozen=True, slots=True, eq=False)
class IsLanguage:
    """``:lang()``: the language of the element is *language*, in lower case, or one of its kinds.

    As in Chromium, which takes neither lists nor strings nor wildcards.
    """

    language: str

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        return f"{tree.language(row).lower()}-".startswith(f"{self.language}-")


@dataclass(frozen=True, slots=True, eq=False)
class IsDirection:
    """``:dir()``: the text of the element runs in *direction*."""

    direction: str

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        return tree.direction(row) == self.direction
