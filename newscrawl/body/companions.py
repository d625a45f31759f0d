"""Blocks that accompany the selected blocks of the body: headings, lists, quotes, code, last paragraphs."""

from __future__ import annotations

import re
from itertools import groupby, islice, pairwise
from math import log2
from statistics import fmean
from typing import TYPE_CHECKING

from newscrawl.body.block_features import (
    CODE_CODE,
    H1_CODE,
    HEADING_CODES,
    ITEM_CODE,
    QUOTE_CODE,
    SENTENCE,
    ending,
)
from newscrawl.body.blocks import MIN_LONG, blocks_with_same_markup
from newscrawl.body.excluded_regions import child_of, heading_row, home_of
from newscrawl.body.parts import is_embed
from newscrawl.document.rows import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from newscrawl.body.blocks import Blocks
    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import Columns

MIN_COMPANION_PROBABILITY = 0.05
"""Probability from which short blocks can accompany selected blocks."""
MIN_LINK_LIST_PROBABILITY = 0.4
"""Mean probability of its items from which a list with links belongs to the body."""
MIN_LINK_LIST_DENSITY = 0.1
"""Mean link density of its items from which a list is one with links."""
MIN_LAST_PROBABILITY = 0.035
"""Probability from which prose right after the body can be its end."""
MIN_SHORT_PROBABILITY = 0.12
"""The same for a short sentence next to the last paragraph."""
MIN_RUN_PROBABILITY = 0.36
"""Mean probability from which posts of several blocks, and long code, belong to the body."""
_EMBED_CODE = -2.0
_MIN_SECTIONS = 3
_NEIGHBOUR_DISTANCE = 3
_MAX_CODE = 600.0
_MAX_LEVELS = 4
_MIN_LOOSE, _MIN_SENTENCE = 20, 34
_MIN_HEADED = 8
_MAX_PLAIN = 400
_MIN_INTRODUCTION = 38
_HOLDERS = {
    "li": ITEM_CODE,
    "dd": ITEM_CODE,
    "dt": ITEM_CODE,
    "blockquote": QUOTE_CODE,
    "pre": CODE_CODE,
}
_ENTRIES = frozenset({"article", "div", "li", "section"})
_MIN_ENTRIES = 3
_HEADINGS = HEADINGS | {"summary"}
_ITEMS = frozenset({"dd", "dt", "li"})
_LISTS = frozenset({"dir", "dl", "menu", "ol", "ul"})
_PARTS = _LISTS | {"blockquote", "code", "pre"}
_STRONG = frozenset({"b", "strong"})
_NEVER_PLAIN = frozenset(
    {"aside", "audio", "button", "figure", "form", "iframe", "img", "input", "table", "video"}
)
_MAX_MARKS = 0.05  # links of footnotes back to the text
_BULLET = re.compile(r"[•‣◦▪*–-] ?\w|\d{1,2}[.)] ")
_NOTICE = re.compile(r"[©@]|://|www\.|^[(*\[]")
_COLONS = (":", "：")


def with_nested_tags(
    document: Document, blocks: Blocks, places: Sequence[int], features: Columns
) -> Columns:
    """Return *features* with the list item, quote or code that contains a block as ``parent_tag``."""
    nested, owners = list(features.get("parent_tag", [])), [blocks.owner[place] for place in places]
    if any(map(document.rows_of, _HOLDERS)):
        nested = [_holder(document, row) or tag for row, tag in zip(owners, nested, strict=True)]
    if document.rows_of("code"):
        for position, place in enumerate(places):
            if all(document.tag[document.parent[row]] == "code" for row in blocks.rows[place]):
                nested[position] = CODE_CODE
    for position in _sections(document, owners):
        nested[position] = min(HEADING_CODES)
    return {**features, "parent_tag": nested}


def _sections(document: Document, owners: Sequence[int]) -> list[int]:
    """Return the positions of ``h1`` elements that are headings of sections, not of the page."""
    if len(document.rows_of("h1")) < _MIN_SECTIONS:
        return []
    heading = heading_row(document)
    tag = document.tag
    return [n for n, row in enumerate(owners) if tag[row] == "h1" and row != heading]


def _holder(document: Document, row: int) -> float:
    tag, parent, code_of = document.tag, document.parent, _HOLDERS.get
    for _ in range(_MAX_LEVELS):
        if row < 0:
            break
        if code := code_of(tag[row]):
            return _EMBED_CODE if code == QUOTE_CODE and is_embed(document, row) else code
        row = parent[row]
    return 0.0


def with_companions(
    features: Columns, probabilities: Sequence[float], selected: Sequence[int]
) -> list[int]:
    """Return the *selected* candidates with the short blocks that accompany them.

    A heading accompanies the selected block after it, a quote those on both sides, a standfirst
    equal to the page's description the first block. A list among selected blocks is accepted or
    rejected as a whole.
    """
    if not selected:
        return []
    accepted, first = set(selected), min(selected)
    for run in _accepted_lists(features, probabilities, frozenset(selected)):
        accepted.update(run)
    described, after_heading = features["described"], features["after_heading"]
    for place, probability in enumerate(probabilities):
        if probability < MIN_COMPANION_PROBABILITY or place in accepted:
            continue
        is_near = place < first <= place + _NEIGHBOUR_DISTANCE
        is_standfirst = is_near and described[place] == 1 and after_heading[place] >= 0
        if is_standfirst or _is_heading_between(features, place, accepted):
            accepted.add(place)
    for run in _runs_between(features, probabilities, frozenset(accepted)):
        accepted.update(run)
    return sorted(accepted)


def _is_heading_between(features: Columns, place: int, accepted: AbstractSet[int]) -> bool:
    tags = {features["tag"][place], features["parent_tag"][place]}
    is_between = place + 1 in accepted and (
        not accepted.isdisjoint(range(place - _NEIGHBOUR_DISTANCE, place))
        or (features["tag"][place] == H1_CODE and place + 1 == min(accepted))
    )
    return is_between and bool(tags & HEADING_CODES)


def _runs_between(
    features: Columns, probabilities: Sequence[float], accepted: AbstractSet[int]
) -> Iterator[range]:
    """Yield the runs of quotes, posts and code right between *accepted* blocks."""
    for code in (QUOTE_CODE, _EMBED_CODE, CODE_CODE):
        for start, end in _runs(features, code):
            is_long = (code == _EMBED_CODE and end > start + 1) or (
                code == CODE_CODE and features["chars"][start] > log2(1 + _MAX_CODE)
            )
            threshold = MIN_RUN_PROBABILITY if is_long else MIN_COMPANION_PROBABILITY
            is_between = start - 1 in accepted and end in accepted
            if is_between and fmean(probabilities[start:end]) >= threshold:
                yield range(start, end)


def _accepted_lists(
    features: Columns, probabilities: Sequence[float], selected: AbstractSet[int]
) -> Iterator[range]:
    """Yield the lists between *selected* blocks that are probable enough."""
    for start, end in _runs(features, ITEM_CODE):
        before = range(start - _NEIGHBOUR_DISTANCE, start)
        after = range(end, end + _NEIGHBOUR_DISTANCE)
        is_first = end in selected and not selected.isdisjoint(range(start, end))
        if not is_first and (selected.isdisjoint(before) or selected.isdisjoint(after)):
            continue
        if fmean(probabilities[start:end]) >= _min_list_probability(features, start, end):
            yield range(start, end)


def _min_list_probability(features: Columns, start: int, end: int) -> float:
    if fmean(features["link_density"][start:end]) >= MIN_LINK_LIST_DENSITY:
        return MIN_LINK_LIST_PROBABILITY
    is_headed = start > 0 and features["tag"][start - 1] in HEADING_CODES  # such as ingredients
    return 0.0 if is_headed else MIN_COMPANION_PROBABILITY


def _runs(features: Columns, code: float) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of blocks with this tag or in one."""
    start = 0
    if code not in features["tag"] and code not in features["parent_tag"]:  # the common case
        return
    tags = zip(features["tag"], features["parent_tag"], strict=True)
    for is_part, run in groupby(code in codes for codes in tags):
        end = start + len(list(run))
        if is_part:
            yield start, end
        start = end


def with_neighbours(
    document: Document,
    blocks: Blocks,
    places: Sequence[int],
    probabilities: Sequence[float],
    selected: Sequence[int],
) -> list[int]:
    """Return the indices in *blocks* of the *selected* candidates and of blocks that belong to them.

    These are in the element that holds the selected paragraphs: loose text between them, a list of
    links that a sentence introduces, paragraphs at the end in a container of their own.
    """
    accepted = {places[position] for position in selected}
    if not accepted:
        return []
    probability = dict(zip(places, probabilities, strict=True))
    paragraphs = [blocks.owner[place] for place in accepted & blocks.prose]
    if paragraphs:
        home = home_of(document, paragraphs)
        _add_between(document, blocks, accepted, home, probability)
        _add_last(document, blocks, accepted, home, probability)
    _add_last_entry(document, blocks, accepted)
    return sorted(accepted)


def _add_between(
    document: Document,
    blocks: Blocks,
    accepted: set[int],
    home: int,
    probability: dict[int, float],
) -> None:
    """Accept loose text, introduced lists and plain parts between accepted blocks."""
    for before, following in pairwise(sorted(accepted)):
        gap = range(before + 1, following)
        if not gap:
            continue
        owners = {blocks.owner[place] for place in gap}
        if len(gap) == 1 and owners == {home}:
            belongs = blocks.chars(document, gap)[0] >= _MIN_LOOSE
        else:
            belongs = (
                _introduces(document, blocks, before) and _is_introduced(document, owners)
            ) or (probability.keys() >= set(gap) and _are_plain_parts(document, blocks, gap, home))
        if belongs:
            accepted.update(gap)


def _is_strong(document: Document, blocks: Blocks, place: int) -> bool:
    return all(document.tag[document.parent[row]] in _STRONG for row in blocks.rows[place])


def _are_plain_parts(document: Document, blocks: Blocks, places: range, home: int) -> bool:
    """Return whether blocks are sentences, strong, or a list of phrases, without links and media."""
    owners = [blocks.owner[place] for place in places]
    chars = sum(blocks.chars(document, places))
    deepest = document.depth[home] + _MAX_LEVELS
    if chars > _MAX_PLAIN or not all(
        home < row < document.end[home] and document.depth[row] <= deepest for row in owners
    ):
        return False
    parts = {child_of(document, home, row) for row in owners}
    is_shared = sum(map(document.chars, parts)) > chars  # with accepted blocks
    if is_shared:
        parts = set(owners)
    if sum(map(document.chars, parts)) > chars or any(
        document.link_chars(row)
        or not _NEVER_PLAIN.isdisjoint(document.tag[row : document.end[row]])
        for row in parts
    ):
        return False
    texts = {blocks.text(document, place) for place in places}
    if len(texts) < len(places):
        return False
    if is_shared:
        return chars >= MIN_LONG * len(texts) and all(ending(text) == SENTENCE for text in texts)
    are_phrases = chars >= _MIN_LOOSE * len(texts)
    if (
        len(texts) >= _MIN_ENTRIES
        and are_phrases
        and len({document.tag[row] for row in owners}) == 1
    ):
        return True
    return all(ending(text) == SENTENCE for text in texts) or all(
        _is_strong(document, blocks, place) for place in places
    )


def _introduces(document: Document, blocks: Blocks, place: int) -> bool:
    text = blocks.text(document, place)
    return text.endswith(_COLONS) and len(text) >= _MIN_INTRODUCTION


def _is_introduced(document: Document, owners: AbstractSet[int]) -> bool:
    """Return whether the elements *owners* are the items of one list, or in posts."""
    items = {row if document.tag[row] == "li" else document.parent[row] for row in owners}
    return all(_holder(document, row) == _EMBED_CODE for row in owners) or (
        all(document.tag[row] == "li" for row in items)
        and len({document.parent[row] for row in items}) == 1
    )


def _add_last(
    document: Document,
    blocks: Blocks,
    accepted: set[int],
    home: int,
    probability: dict[int, float],
) -> None:
    """Accept paragraphs in containers of their own, lists, quotes and code after accepted blocks."""
    end, place = document.end[home], max(accepted) + 1
    headings: list[int] = []
    while place < len(blocks) and blocks.rows[place][0] < end:
        container = child_of(document, home, blocks.owner[place])
        stop = document.end[container] if container > home else blocks.rows[place][0] + 1
        inside = []
        while place < len(blocks) and blocks.rows[place][0] < stop:
            inside.append(place)
            place += 1
        are_headings = [
            _is_plain_heading(document, blocks.owner[other]) or _is_strong(document, blocks, other)
            for other in inside
        ]
        titled = next((n for n, heading in enumerate(are_headings) if not heading), 0)
        if container == home or not _is_last_part(
            document, blocks, container, inside[titled:], is_headed=bool(headings or titled)
        ):
            if container > home and all(are_headings):
                headings += inside
                continue
            parents = {home, blocks.owner[max(accepted)]}
            paragraphs = [
                other
                for other in inside
                if other in blocks.prose
                or (
                    document.parent[blocks.owner[other]] in parents
                    and blocks.chars(document, [other])[0] >= _MIN_SENTENCE
                    and ending(blocks.text(document, other)) == SENTENCE
                    and probability.get(other, 0.0) >= MIN_SHORT_PROBABILITY
                )
            ]
            if (
                inside[-1] not in paragraphs
                or len(inside) > 2 * len(paragraphs)
                or sum(are_headings) < len(inside) - len(paragraphs)
                or not all(_may_be_last(document, blocks, other, home) for other in paragraphs)
                or min(probability.get(other, 0.0) for other in paragraphs) < MIN_LAST_PROBABILITY
            ):
                break
        accepted.update(headings, inside)
        headings = []


def _is_last_part(
    document: Document, blocks: Blocks, row: int, inside: Sequence[int], *, is_headed: bool
) -> bool:
    """Return whether blocks in *row* are a quote, post, code, or a list of phrases, also with bullets."""
    chars = sum(blocks.chars(document, inside))
    inner = row
    while document.tag[inner] not in _PARTS and inner < blocks.owner[inside[0]]:
        inner += 1
    if document.chars(inner) == chars:  # the only part of its container
        row = inner
    tag = document.tag[row]
    if tag == "blockquote" and is_embed(document, row):
        return len(inside) > 1
    is_code = tag in {"code", "pre"}
    max_links = 0.0 if is_headed else _MAX_MARKS
    if document.link_density(row) > max_links or (is_code and document.chars(row) > _MAX_CODE):
        return False
    texts = [document.text[row] for place in inside for row in blocks.rows[place]]
    if len(texts) > 1 and all(map(_BULLET.match, texts)):
        return chars >= _MIN_LOOSE * len(texts)
    if tag in _LISTS:
        items = {_item(document, blocks.owner[place]) for place in inside}
        entries = sum(document.tag[item] != "dt" for item in items)
        shortest = _MIN_HEADED if is_headed else _MIN_LOOSE
        return chars >= shortest * entries and entries > 1 and len(items) == len(inside)
    return tag == "blockquote" or is_code


def _item(document: Document, row: int) -> int:
    """Return the row of the list item that contains *row*, or its own."""
    rows = (row, *islice(document.ancestors(row), _MAX_LEVELS))
    return next((above for above in rows if document.tag[above] in _ITEMS), row)


def _add_last_entry(document: Document, blocks: Blocks, accepted: set[int]) -> None:
    """Accept the last entry of a list, or of a live blog, if parts of all others are accepted."""
    tag, parent, end = document.tag, document.parent, document.end
    owner = blocks.owner[max(accepted)]
    for entry in islice((owner, *document.ancestors(owner)), _MAX_LEVELS):
        following = end[entry]
        if tag[entry] in _ENTRIES and following < end[parent[entry]] and following < len(document):
            break
    else:
        return
    is_last = tag[following] == tag[entry] and not any(
        parent[row] == parent[entry] for row in range(end[following], end[parent[entry]])
    )
    before = {
        child_of(document, parent[entry], blocks.owner[place])
        for place in accepted
        if parent[entry] < blocks.owner[place] < following
    }
    if is_last and len(before) >= _MIN_ENTRIES and not document.link_chars(following):
        inside = [
            place
            for place in range(max(accepted) + 1, len(blocks))
            if blocks.rows[place][0] < end[following]
        ]
        accepted.update(blocks_with_same_markup(document, blocks, accepted, inside))


def _is_plain_heading(document: Document, row: int) -> bool:
    return document.tag[row] in _HEADINGS and not document.link_chars(row)


def _may_be_last(document: Document, blocks: Blocks, place: int, home: int) -> bool:
    """Return whether a block may be the last paragraph, rather than a notice or a biography."""
    owner, rows = blocks.owner[place], blocks.rows[place]
    first, end = rows[0], rows[-1] + 1
    return (
        (document.tag[owner] == "p" or owner == home)
        and document.link_chars_before[first] == document.link_chars_before[end]
        and any(document.parent[row] == owner for row in rows)
        and _NOTICE.search(blocks.text(document, place)) is None
    )
