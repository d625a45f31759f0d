"""Reading the columns of a page without building its tree.

A parser spends most of its time on nodes and attributes that are not used, and on freeing them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.compiled import compiled

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from newscrawl.document.rows import Rows


@compiled("newscrawl.document._read_rows")
def read_rows(
    utf8: bytes,  # noqa: ARG001  # only the compiled function reads it
    *,
    scripts: bool = False,  # noqa: ARG001
    shown: AbstractSet[int] = frozenset(),  # noqa: ARG001
    media: bool = True,  # noqa: ARG001
) -> Rows | None:
    """Return the columns of a page, those of :func:`~newscrawl.document.flatten.flatten`.

    *utf8* is valid UTF-8 without NUL and carriage return. No attribute hides the elements at the rows
    *shown*. Without *media*, that column is empty. None: the columns have to be read from the tree, because the compiled module is missing,
    elements are nested in more than 2,000 others, a tag has more than 256 attributes, or a name has
    100 bytes or more.
    """
    return None
