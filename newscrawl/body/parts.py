"""Parts of an article that a reader of its text may want or not: captions, lists, quotes, tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from newscrawl.document import Document

Part = Literal["captions", "lists", "quotes", "tables"]
PARTS: tuple[Part, ...] = get_args(Part)

DEFAULT_PARTS: frozenset[Part] = frozenset({"lists", "quotes", "tables"})
"""What belongs to an article's text: captions tell of their pictures."""

CAPTION_TAGS = frozenset({"figcaption", "figure"})
_TAGS: dict[Part, frozenset[str]] = {
    "lists": frozenset({"dir", "dl", "menu", "ol", "ul"}),
    "quotes": frozenset({"blockquote"}),
    "tables": frozenset({"table"}),
}
_LAYOUT = 0.5
"""A list or table that holds a larger share of the text is how the page is laid out."""


class UnknownPartError(ValueError):
    """There is no part of that name in :data:`PARTS`."""


def parse_parts(names: Iterable[str]) -> frozenset[Part]:
    """Return the parts of those *names*; raise :class:`UnknownPartError` for any other."""
    wanted = {name.strip() for name in names} - {""}
    if unknown := wanted.difference(PARTS):
        raise UnknownPartError(f"no part {min(unknown)!r}; there are: {', '.join(PARTS)}")
    return frozenset(part for part in PARTS if part in wanted)


def rows_left_out(
    document: Document, forest: Sequence[int], parts: Collection[Part]
) -> frozenset[int]:
    """Return the rows in *forest* whose subtrees are lists, quotes or tables not in *parts*.

    Captions are left out with the rest of what stands beside the text
    (:mod:`~newscrawl.body.boilerplate`). A part that holds most of the forest's text is not left out: without it there is no article.
    """
    unwanted = {tag for part, tags in _TAGS.items() if part not in parts for tag in tags}
    most = _LAYOUT * sum(document.chars(tree) for tree in forest)
    if not unwanted:
        return frozenset()

    def is_unwanted(row: int) -> bool:
        return document.tag[row] in unwanted and document.chars(row) <= most

    inside = {row for tree in forest for row in range(tree, document.end[tree]) if is_unwanted(row)}
    around = {tree for tree in forest if any(map(is_unwanted, document.ancestors(tree)))}
    return frozenset(inside | around)


def with_captions(document: Document, forest: Sequence[int], start: int | None) -> list[int]:
    """Return *forest* with the captions between its trees, and from row *start* on before it."""
    if not forest:
        return []
    first = forest[0] if start is None else min(start, forest[0])
    inside = {row for tree in forest for row in range(tree, document.end[tree])}
    captions = (
        row
        for row in range(first, forest[-1])
        if document.tag[row] == "figcaption" and row not in inside
    )
    return sorted([*forest, *captions])
