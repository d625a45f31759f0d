"""Blocks left out of the body after all: notices, references to other stories, copies."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

from newscrawl.body.blocks import MIN_LONG
from newscrawl.body.text_features import SENTENCE, ending
from newscrawl.document.document import MAX_LABEL, rows_between
from newscrawl.document.rows import HEADINGS
from newscrawl.language_words import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from newscrawl.body.blocks import Blocks
    from newscrawl.document.document import Document

# For lower case. Parts of a text are strings: their search is many times as fast as a pattern.
_CLAIM = re.compile(
    r"\W{0,3}(?:©|\(c\) ?\d{4}|copyright\b[^.]{0,40}\d{4})|(?:免[责責])?[声聲]明[:：]|[（(【]?责(?:任编辑|编)[:：]|[^@]{0,60}@[\w-]++\.[\w.-]++\W*$"
)
_MAX_CLAIM, _MIN_BEFORE_NOTICE = 600, 3
_NEVER_LABELS = HEADINGS | {"dd", "dt", "li"}
_MAX_CAPTION = 100
_IMAGE_HOLDERS, _INLINE = frozenset({"div", "p"}), frozenset({"em", "font", "i", "small", "span"})
_QUOTES = " .\"'«»‘’‚“”„"
_MAX_PULL_QUOTE, _MIN_REST = 400, 20
_MAX_DISTANCE = 100  # blocks between a pull quote and its paragraph
_MIN_HEADLINE, _MAX_ADVERTISING = 16, 60
# The host of an address; none of a relative one.
_HOST = re.compile(r"(?:https?:)?//(?:www\.)?([^/?#]+)|(?![a-z]+:|#)", re.IGNORECASE)
_WITHIN = ",;.!?…'’"  # signs after a link within a sentence


def without_notices(
    document: Document, blocks: Blocks, places: list[int], url: str | None
) -> list[int]:
    """Return *places* without notices, labels, and references to other pages of *url*."""
    site, kept = _HOST.match(url or ""), places[:]
    while len(kept) > _MIN_BEFORE_NOTICE:
        text = blocks.text(document, kept[-1])
        if len(text) > _MAX_CLAIM:
            break
        text = text.lower()
        is_claim = _CLAIM.match(text) is not None or any(map(text.__contains__, words("rights")))
        if not is_claim:
            break
        kept.pop()
    links = document.link_chars_before
    found = kept[:1]
    for place in kept[1:]:
        rows, text = blocks.rows[place], blocks.text(document, place)
        is_short = len(text) <= _MAX_CAPTION and ending(text) != SENTENCE
        if is_short and _is_label(document, blocks, place, text):
            continue
        has_link = links[rows[0]] != links[rows[-1] + 1]
        if not (has_link and _is_reference(document, blocks, place, site and site[1])):
            found.append(place)
    return found


def _is_label(document: Document, blocks: Blocks, place: int, text: str) -> bool:
    """Return whether a short block labels an advertisement or is the caption of an image."""
    rows, owner = blocks.rows[place], blocks.owner[place]
    if len(text) <= _MAX_ADVERTISING and document.tag[owner] not in _NEVER_LABELS:
        lower = text.lower()
        if any(map(lower.__contains__, words("advertising"))):
            return True
    parents = {document.parent[row] for row in rows}
    return (
        document.tag[owner] in _IMAGE_HOLDERS
        and len(parents) == 1
        and document.tag[min(parents)] in _INLINE
        and bool(rows_between(document.rows_of("img"), owner, rows[0]))
        and document.chars(owner) == blocks.chars(document, [place])[0]
    )


def _is_reference(document: Document, blocks: Blocks, place: int, site: str | None) -> bool:
    """Return whether a block is linked headlines of the site around a label ("Read also:")."""
    rows, links, before = blocks.rows[place], document.link_chars_before, document.chars_before
    first, end = rows[0], rows[-1] + 1
    chars = links[end] - links[first]
    linked = [row for row in rows if links[row + 1] > links[row]]
    if chars < _MIN_HEADLINE * len(linked) or before[end] - before[first] - chars > MAX_LABEL:
        return False
    label = " ".join([document.text[row] for row in rows if row < linked[0]]).strip()
    after = " ".join([document.text[row] for row in rows if row > linked[-1]]).strip()
    if after and (label or after[0].isalnum() or after[0] in _WITHIN or ending(after) == SENTENCE):
        return False
    addresses = document.attributes["href"]
    found = (
        _HOST.match(next((addresses[it] for it in document.ancestors(row) if it in addresses), "#"))
        for row in linked
    )
    return any(map(str.isalpha, label or after)) and all(
        it and it[1] in {None, site} for it in found
    )


def without_copies(document: Document, blocks: Blocks, places: list[int]) -> list[int]:
    """Return *places* without second copies and pull quotes.

    Pages have a copy for other widths of the screen, for mail or for print: an element whose long
    blocks are all in one before it, with several of them or of another name. A pull quote is a part
    of a longer block.
    """
    texts = [blocks.text(document, place) for place in places]
    sizes = blocks.chars(document, places)
    first: dict[str, int] = {}
    repeated: dict[int, int] = {}  # place -> that of the same text before it
    for place, text, size in zip(places, texts, sizes, strict=True):
        if size >= MIN_LONG and first.setdefault(text, place) != place:
            repeated[place] = first[text]
    copies = _copied(document, blocks, places, repeated) if repeated else set()
    short = [
        number for number, text in enumerate(texts) if MAX_LABEL < len(text) <= _MAX_PULL_QUOTE
    ]
    left_out = copies.union(places[number] for number in _parts_of_others(texts, short))
    return [place for place in places if place not in left_out]


def _parts_of_others(texts: Sequence[str], numbers: Iterable[int]) -> Iterator[int]:
    """Yield those of *numbers* whose text is a part of a longer one near it."""
    joined = "\0".join(texts)
    ends = list(accumulate((len(text) + 1 for text in texts), initial=0))
    for number in numbers:
        first, last = max(0, number - _MAX_DISTANCE), number + _MAX_DISTANCE + 1
        start, stop = ends[first], ends[min(last, len(texts))]
        inner = texts[number].strip(_QUOTES)
        other = joined.find(inner, joined.find(inner, start, stop) + 1, stop)
        is_again = other >= 0 or len(texts[number]) > len(inner) + _MIN_REST  # seldom
        if is_again and _is_part(inner, texts[first:last]):
            yield number


def _copied(
    document: Document, blocks: Blocks, places: Sequence[int], repeated: Mapping[int, int]
) -> set[int]:
    """Return the *places* in elements that are copies, by the places *repeated*."""
    starts = [blocks.rows[place][0] for place in places]
    copies: set[int] = set()
    known: set[int] = set()
    for place, before in repeated.items():
        original, copy = _apart(document, blocks.owner[before], blocks.owner[place])
        if copy == blocks.owner[place] or copy in known:
            continue
        inside = places[bisect_left(starts, copy) : bisect_left(starts, document.end[copy])]
        if len(inside) == 1:
            is_copy = _name(document, original) != _name(document, copy)
        else:
            known.add(copy)
            is_copy = all(other in repeated for other in inside if other in blocks.prose)
        if is_copy:
            copies.update(inside)
    return copies


def _apart(document: Document, row: int, other: int) -> tuple[int, int]:
    """Return the largest elements around *row* and around *other* that do not hold both."""
    parent, end = document.parent, document.end
    while parent[row] >= 0 and not parent[row] <= other < end[parent[row]]:
        row = parent[row]
    while parent[other] != parent[row] and parent[other] > row:
        other = parent[other]
    return row, other


def _name(document: Document, row: int) -> tuple[str | None, str | None]:
    return document.attributes["class"].get(row), document.attributes["id"].get(row)


def _is_part(text: str, others: Iterable[str]) -> bool:
    """Return whether *text* is in a longer line of *others*."""
    lines = (line for other in others if text in other for line in other.split("\n"))
    return any(len(line) > len(text) + _MIN_REST and text in line for line in lines)
