"""Parts of an article that can be included in its text or left out, by name: :data:`PARTS`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from newscrawl.body.blocks import MIN_LONG, cast_votes
from newscrawl.document.document import rows_between
from newscrawl.document.repeats import outermost

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from newscrawl.document.document import Document

N = TypeVar("N", bound=str)

Part = Literal["captions", "code", "definitions", "embeds", "lists", "quotes", "tables"]
PARTS: tuple[Part, ...] = get_args(Part)

DEFAULT_PARTS: frozenset[Part] = frozenset(PARTS) - {"captions"}
"""Parts that are included by default."""

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
"""Classes of the embed code of social networks."""


def parse_names(names: Iterable[str], known: Sequence[N], kind: str) -> frozenset[N]:
    """Return the *known* ones of *names*. Raises ``ValueError``; *kind* is for its message."""
    wanted = {name.strip() for name in names} - {""}
    if unknown := wanted.difference(known):
        raise ValueError(f"unknown {kind} {min(unknown)!r}; expected one of: {', '.join(known)}")
    return frozenset(name for name in known if name in wanted)


def is_data_table(document: Document, row: int) -> bool:
    """Return whether the ``table`` at *row* has data, in rows of several cells.

    Layout tables of old templates contain prose, other tables or one cell per row.
    """
    tables = document.rows_of("table")
    nested = bisect_right(tables, row)  # no slice, as tables may be nested deeply
    if nested < len(tables) and tables[nested] < document.end[row]:
        return False
    cells = (cell for tag in ("td", "th") for cell in elements_in(document, row, tag))
    in_row = Counter(document.parent[cell] for cell in cells if document.chars(cell))
    full = sum(number > 1 for number in in_row.values())
    return full > 1 and 2 * full >= len(in_row) and document.chars(row) < MIN_LONG * in_row.total()


def elements_in(document: Document, row: int, tag: str) -> Sequence[int]:
    """Return the rows of the elements called *tag* in the element *row*."""
    return rows_between(document.rows_of(tag), row + 1, document.end[row])


def _rows_of_part(document: Document, part: Part) -> list[int]:
    """Return the rows of the elements of a *part*, in document order by tag."""
    rows = [row for tag in _TAGS[part] for row in document.rows_of(tag)]
    if part == "tables":
        return [row for row in rows if is_data_table(document, row)]
    if part in {"embeds", "quotes"}:
        return [row for row in rows if is_embed(document, row) == (part == "embeds")]
    return rows


def is_embed(document: Document, row: int) -> bool:
    """Return whether the ``blockquote`` at *row* is a post of a social network."""
    return _EMBED.search(document.attributes["class"].get(row, "")) is not None


def rows_of_excluded_parts(
    document: Document, roots: Sequence[int], parts: Collection[Part]
) -> frozenset[int]:
    """Return the rows of all parts except captions that are not in *parts*.

    Those of *roots* that are inside of such a part are included. Captions are excluded by
    :mod:`~newscrawl.body.boilerplate`. A part with most of the text is page layout and stays.
    """
    unwanted = [row for part in _TAGS if part not in parts for row in _rows_of_part(document, part)]
    if not unwanted:  # the common case
        return frozenset()
    whole = sum(document.chars(root) for root in roots)
    unwanted = [row for row in unwanted if 2 * document.chars(row) <= whole]
    inside = cast_votes(document.end, [outermost(document, unwanted)])
    return frozenset(unwanted).union(root for root in roots if inside[root])


def _tables_of(document: Document, roots: Sequence[int]) -> list[int]:
    """Return the data tables between *roots*, and those after them without text in between."""
    before, end = document.chars_before, document.end
    last, found = roots[-1], []
    for row in document.rows_of("table"):
        follows = row > roots[0] and (row < last or before[row] == before[end[last]])
        if follows and is_data_table(document, row):
            found.append(row)
            last = max(last, row)
    return found


def with_captions_and_tables(
    document: Document, roots: Sequence[int], start: int | None, parts: Collection[Part]
) -> list[int]:
    """Return *roots* with captions and data tables, which no method selects, if in *parts*.

    Captions are those from the row *start* to the last root, tables those between the roots and
    right after them.
    """
    added: list[int] = []
    if roots and "captions" in parts:
        first = roots[0] if start is None else min(start, roots[0])
        added += [row for row in document.rows_of("figcaption") if first <= row < roots[-1]]
    if roots and "tables" in parts:
        added += _tables_of(document, roots)
    if not added:
        return list(roots)
    return list(outermost(document, [*roots, *added]))
