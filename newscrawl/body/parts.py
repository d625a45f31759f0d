"""Parts of an article that can be kept in its text or left out, by name: :data:`PARTS`."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Literal, get_args

from newscrawl.body.blocks import cast_votes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from newscrawl.document.document import Document

Part = Literal["captions", "code", "definitions", "embeds", "lists", "quotes", "tables"]
PARTS: tuple[Part, ...] = get_args(Part)

DEFAULT_PARTS: frozenset[Part] = frozenset({"code", "definitions", "embeds", "lists", "quotes"})
"""Parts of an article's text; ``docs/results/body-parts.md`` has the figures for each."""

CAPTION_TAGS = frozenset({"figcaption", "figure"})
_TAGS: dict[Part, tuple[str, ...]] = {
    "code": ("pre",),
    "definitions": ("dl",),
    "embeds": ("blockquote",),
    "lists": ("dir", "menu", "ol", "ul"),
    "quotes": ("blockquote",),
    "tables": ("table",),
}
_EMBED = re.compile(
    r"\b(?:twitter-(?:tweet|video)|instagram-media|fb-xfbml-parse-ignore|tiktok-embed|text-post-media"
    r"|reddit-(?:embed-bq|card)|(?:bluesky|mastodon|truthsocial)-embed|imgur-embed-pub)\b"
)
"""Classes of the markup that social networks give out for embedding a post."""
_LAYOUT = 0.5
"""A list or table that holds a larger share of the text is how the page is laid out."""
_CELL = 80
"""Least mean of weighted characters of a cell of prose."""


class UnknownPartError(ValueError):
    """There is no part of that name in :data:`PARTS`."""


def parse_parts(names: Iterable[str]) -> frozenset[Part]:
    """Return the parts of those *names*; raise :class:`UnknownPartError` for any other."""
    wanted = {name.strip() for name in names} - {""}
    if unknown := wanted.difference(PARTS):
        raise UnknownPartError(f"no part {min(unknown)!r}; there are: {', '.join(PARTS)}")
    return frozenset(part for part in PARTS if part in wanted)


def is_data_table(document: Document, row: int) -> bool:
    """Return whether the ``table`` at *row* says something by its rows and columns.

    Others are how a page is laid out, which HTML forbids (4.9.1) and old templates do: there, cells
    hold prose or other tables, or a row holds one cell.
    """
    if _elements_in(document, row, "table"):
        return False
    cells = (cell for tag in ("td", "th") for cell in _elements_in(document, row, tag))
    in_row = Counter(document.parent[cell] for cell in cells if document.chars(cell))
    full = sum(number > 1 for number in in_row.values())
    return full > 1 and 2 * full >= len(in_row) and document.chars(row) < _CELL * in_row.total()


def _elements_in(document: Document, row: int, tag: str) -> Sequence[int]:
    rows = document.rows_of(tag)
    return rows[bisect_right(rows, row) : bisect_left(rows, document.end[row])]


def _rows_of_part(document: Document, part: Part) -> list[int]:
    """Return the rows of the elements that are a *part*, in document order by tag."""
    rows = [row for tag in _TAGS[part] for row in document.rows_of(tag)]
    if part == "tables":
        return [row for row in rows if is_data_table(document, row)]
    if part in {"embeds", "quotes"}:
        return [row for row in rows if _is_embed(document, row) == (part == "embeds")]
    return rows


def _is_embed(document: Document, row: int) -> bool:
    return _EMBED.search(document.attributes["class"].get(row, "")) is not None


def rows_left_out(
    document: Document, forest: Sequence[int], parts: Collection[Part]
) -> frozenset[int]:
    """Return the rows whose subtrees are parts, other than captions, not in *parts*.

    Trees of *forest* that stand in one are among them. Captions are left out with the rest of what
    stands beside the text (:mod:`~newscrawl.body.boilerplate`). A part that holds most of the
    forest's text is not left out: without it there is no article.
    """
    most = _LAYOUT * sum(document.chars(tree) for tree in forest)
    unwanted = [
        row
        for part in _TAGS
        if part not in parts
        for row in _rows_of_part(document, part)
        if document.chars(row) <= most
    ]
    end = document.end
    within = {tree for tree in forest for row in unwanted if row < tree < end[row]}
    return frozenset(within.union(unwanted))


def with_story_tables(
    document: Document, forest: Sequence[int], parts: frozenset[Part]
) -> frozenset[Part]:
    """Return *parts* with tables, if those in and right after *forest* hold more text than it."""
    tables = () if "tables" in parts or not forest else _tables_of(document, forest)
    if sum(map(document.chars, tables)) > sum(map(document.chars, forest)):
        return parts | {"tables"}
    return parts


def _tables_of(document: Document, forest: Sequence[int]) -> list[int]:
    """Return the data tables among the trees of *forest*, and those with no text before them after it."""
    before, end = document.chars_before, document.end
    tables = [row for row in document.rows_of("table") if row > forest[0]]
    last, found = forest[-1], []
    for row in tables:
        is_near = row < last or before[row] == before[end[last]]
        if is_near and is_data_table(document, row):
            found.append(row)
            last = max(last, row)
    return found


def with_parts_between(
    document: Document, forest: Sequence[int], start: int | None, parts: Collection[Part]
) -> list[int]:
    """Return *forest* with what no method takes for text: captions and data tables, if in *parts*.

    Captions are those between its trees, and from row *start* on before them; tables those
    between its trees and right after them.
    """
    put_back: list[int] = []
    if forest and "captions" in parts:
        first = forest[0] if start is None else min(start, forest[0])
        put_back += [row for row in document.rows_of("figcaption") if first <= row < forest[-1]]
    if forest and "tables" in parts:
        put_back += _tables_of(document, forest)
    if not put_back:
        return list(forest)
    inside = cast_votes(document.end, [forest])
    return sorted([*forest, *(row for row in put_back if not inside[row])])
