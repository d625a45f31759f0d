"""Regions of a page that are not part of its article, and articles that are hidden.

Consent dialogs, appeals for donations, long captions, data tables, products and the next article
read like prose; their markup identifies them. Conversely, a hidden article is revealed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

from newscrawl.body.blocks import MIN_LONG
from newscrawl.body.parts import elements_in, is_data_table
from newscrawl.document.document import INVISIBLE
from newscrawl.document.repeats import outermost, prose
from newscrawl.text import WIDE_WEIGHT, squeeze, weighted_length, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.body.blocks import Blocks
    from newscrawl.document.document import Document

# Words in the class or id of regions outside of the article, with a pattern of the rest.
_REGION_NAMES = {
    "cookie": "s?", "consent": "", "onetrust": "", "gdpr": "", "privacy": "", "aside": "", "donat": r"\w+",
    "support": "", "newsletter": "s?", "signup": "", "sign-up": "", "subscribe": "", "caption": "s?",
    "credit": "s?", "disclaimer": "s?", "disclosure": "",
}  # fmt: skip
# A name is searched between spaces, so that the pattern can begin with a character.
_REGION_NAME = re.compile(
    rf"[\s_-](?:{'|'.join(start + rest for start, rest in _REGION_NAMES.items())})[\s_-]"
)
_NAMES = ("class", "id")
_NEVER_REGIONS = frozenset({"body", "html", "main", "p"})

# Shares of the page's text outside of links up to which an element is a region: old templates do
# not close theirs.
MAX_SHARE = 0.3
MAX_DATA_SHARE = 0.5  # a page of results can consist of tables

MIN_ARTICLE_CHARS = 1000
"""Weighted characters outside of links from which the end of an ``article`` element is that of the
article."""

MIN_LEAD_CHARS = 400
"""The same for an ``article`` before others of this length, and for paragraphs for browsers without
scripts."""

_MAX_BEFORE_HEADING = 100
_MAX_FORM = 350

MIN_HIDDEN_CHARS = 800
"""Weighted characters of hidden paragraphs from which they may be the article."""
MIN_HIDDEN_RATIO = 1.5
"""Ratio of hidden text to text shown in one place from which it is the article."""
_MAX_SHOWN = 6000
# Script data and templates with placeholders. It begins with a set of characters, for speed.
_DATA = re.compile(
    r"""[:"'{}<$(;](?:(?<=:)//|(?<=["'])[:,]["'\d{\[]|(?<=[{$])\{|(?<=<)[%/]|(?<=\w\()\)"""
    r"""|(?<=[{};])\s*[\w.]+\s*[=:{(])"""
)
_MAX_DATA_PREFIX = 500
_PARTS_OF_STORY = frozenset({"article", "h1", "section"})
_HEADINGS = frozenset({"h1", "h2", "h3"})
_NEVER_REVEALED = frozenset(
    {"a", "aside", "audio", "canvas", "dialog", "footer", "nav", "object", "video"}
)


def heading_row(document: Document) -> int | None:
    """Return the row of the ``h1`` most similar to the ``title``, the first of equals."""
    title = frozenset(words(document.title))
    best, found = -1.0, None
    for row in document.rows_of("h1")[:10]:
        if not 0 < document.chars(row) < 600:
            continue
        bag = words(document.subtree_text(row))
        share = sum(word in title for word in bag) / (len(bag) or 1)
        if share > best:
            best, found = share, row
    return found


def outside_excluded_regions(
    document: Document, blocks: Blocks, places: Sequence[int], heading: int | None
) -> list[int]:
    """Return the *places* in *blocks* that are not in an excluded region.

    *heading* is the row of the heading of the article. Class and id names of small regions are
    ignored if no prose would remain.
    """
    owner, end = blocks.owner, end_of_article(document, heading)
    others = _other_stories(document, heading)
    stop = end if others is None else min(end, others)
    places = [place for place in places if blocks.rows[place][0] < stop]
    for small in (True, False):
        owners = {owner[place] for place in places}
        excluded = _excluded_rows(document, owners, heading, small=small)
        kept = [place for place in places if not excluded[owner[place]]]
        if blocks.prose.isdisjoint(places) or not blocks.prose.isdisjoint(kept):
            break
    return kept


def end_of_article(document: Document, heading: int | None) -> int:
    """Return the row after the ``article`` element of the *heading*; else the end of the page.

    The element contains the heading, or follows it and has most of the prose in such elements; each
    entry of a live blog may be one.
    """
    if heading is not None:
        around = (row for row in document.ancestors(heading) if document.tag[row] == "article")
        article = next(around, None) or _article_below(document, heading)
        size = prose(document, article, document.end[article]) if article else 0.0
        if article and (
            size >= MIN_ARTICLE_CHARS
            or (size >= MIN_LEAD_CHARS and _stories_follow(document, article))
        ):
            return document.end[article]
    return len(document)


def _stories_follow(document: Document, article: int) -> bool:
    """Return whether all siblings after *article* are stories with a heading and much prose."""
    stories = [
        row
        for row in elements_in(document, document.parent[article], "article")
        if row > article and document.parent[row] == document.parent[article]
    ]
    return bool(stories) and all(
        prose(document, row, document.end[row]) >= MIN_LEAD_CHARS
        and not _HEADINGS.isdisjoint(document.tag[row : document.end[row]])
        for row in stories
    )


def _other_stories(document: Document, heading: int | None) -> int | None:
    """Return the row where other stories begin: elements like the story's, each below an ``h1``."""
    later = [row for row in document.rows_of("h1") if heading is not None and row > heading]
    if heading is None or not later:
        return None
    story = heading
    for row in document.ancestors(heading):
        if document.end[row] > later[0]:
            break
        story = row
    above = document.parent[story]
    others = {_child_of(document, above, row): row for row in later if row < document.end[above]}
    if story == heading or any(document.tag[row] in _PARTS_OF_STORY for row in others):
        return None
    title = frozenset(words(document.title))
    are_stories = all(
        document.chars_before[row] - document.chars_before[top] <= _MAX_BEFORE_HEADING
        and prose(document, row, document.end[top]) >= MIN_LEAD_CHARS
        and (row == heading or not title.issuperset(words(document.subtree_text(row))))
        for top, row in ((story, heading), *others.items())
    )
    return min(others) if are_stories else None


def _article_below(document: Document, heading: int) -> int | None:
    below = outermost(document, (row for row in document.rows_of("article") if row > heading))
    sizes = {row: prose(document, row, document.end[row]) for row in below}
    largest = max(sizes, key=sizes.__getitem__, default=None)
    return largest if largest and 2 * sizes[largest] >= sum(sizes.values()) else None


def _is_region_name(name: str) -> bool:
    return _REGION_NAME.search(f" {name} ".lower()) is not None


def _excluded_rows(
    document: Document, owners: Iterable[int], heading: int | None, *, small: bool
) -> bytearray:
    """Return a non-zero byte for each row in an excluded region that holds some of *owners*.

    Without *small*, asides, forms and elements with names of small regions are none.
    """
    end, inside = document.end, [*sorted(owners), len(document)]
    small_regions = _small_regions(document) if small else set()
    known = {*document.rows_of("table"), *document.rows_of("figcaption"), *small_regions}
    whole = document.chars(0) - document.link_chars(0)
    excluded = bytearray(len(document))
    for row in sorted(known):  # the outer ones first
        tag = document.tag[row]
        holds_heading = heading is not None and row <= heading < end[row]
        if excluded[row] or holds_heading or tag in _NEVER_REGIONS:
            continue
        if inside[bisect_left(inside, row)] >= end[row]:  # no slice, as tables may be nested deeply
            continue
        if tag == "table" and is_data_table(document, row):
            share = MAX_DATA_SHARE
        else:
            share = MAX_SHARE if tag == "figcaption" or row in small_regions else 0.0
        if share and prose(document, row, end[row]) <= share * whole:
            excluded[row : end[row]] = b"\1" * (end[row] - row)
    return excluded


def _small_regions(document: Document) -> set[int]:
    """Return the rows of asides, of forms and of elements with names of small regions."""
    found = {
        *document.rows_of("aside"),
        *document.rows_named(_REGION_NAMES, _NAMES, _is_region_name),
    }
    for form in document.rows_of("form") if document.rows_of("input") else ():
        found.update(row for row in (form, *document.ancestors(form)) if _is_form(document, row))
    return found


def _is_form(document: Document, row: int) -> bool:
    """Return whether an element has a field to fill in and little text: an offer, or a poll."""
    return document.chars(row) <= _MAX_FORM and bool(elements_in(document, row, "input"))


def reveal_hidden_article(document: Document) -> Document:
    """Return *document* with its article shown if it is hidden; else unchanged.

    Publishers ship articles hidden until the reader subscribes or a script runs. Hidden text is the
    article if there is more of it in one place than of shown text that it does not repeat. Panels
    that a control of the page opens are shown, too, and templates and content for browsers without
    scripts if the page shows little else.
    """
    hidden = document.hidden
    text = document.text
    rows = document.text_rows if INVISIBLE in hidden else ()
    long_rows = list(_long_texts(document, [row for row in rows if hidden[row] == INVISIBLE]))
    if long_rows:
        shown = [text[row] for row in document.shown_rows]
        copied = {_start(it) for it in shown if WIDE_WEIGHT * len(it) >= MIN_LONG}
        long_rows = [
            row
            for row in long_rows
            if _start(text[row]) not in copied
            and _NEVER_REVEALED.isdisjoint(map(document.tag.__getitem__, document.ancestors(row)))
        ]
        hiding = {*_hidden_article(document, long_rows), *_hidden_panels(document, long_rows)}
        if hiding:
            return document.with_shown(hiding)
    return _with_fallbacks(document)


def _start(text: str) -> str:
    return squeeze(text[:MIN_LONG])[: MIN_LONG // 2]


def _with_fallbacks(document: Document) -> Document:
    """Return *document* with its fallbacks shown if most of its prose is in them."""
    if document.chars(0) - document.link_chars(0) > _MAX_SHOWN:
        return document
    shown = 0.0
    for row in _long_texts(document, document.shown_rows):
        shown += weighted_length(document.text[row])
        if shown >= MIN_HIDDEN_CHARS:
            return document
    opened = document.with_fallbacks()
    hidden = (
        sum(weighted_length(opened.text[row]) for row in _long_texts(opened, opened.shown_rows))
        - shown
    )
    return opened if hidden >= max(MIN_LEAD_CHARS, MIN_HIDDEN_RATIO * shown) else document


def _hidden_article(document: Document, hidden_rows: Sequence[int]) -> set[int]:
    parent, text = document.parent, document.text
    hidden_chars: Counter[int] = Counter()
    hiding: dict[int, set[int]] = {}
    for row in hidden_rows:
        ancestors = _hidden_ancestors(document, row)
        container = parent[ancestors[-1]]
        hidden_chars[container] += round(weighted_length(text[row]))
        hiding.setdefault(container, set()).update(ancestors)
    if not hiding:
        return set()
    shown_chars: Counter[int] = Counter()
    for row in _long_texts(document, document.shown_rows):
        shown_chars[max(parent[parent[row]], 0)] += round(weighted_length(text[row]))
    container, size = hidden_chars.most_common(1)[0]
    is_most = size >= max(MIN_HIDDEN_CHARS, MIN_HIDDEN_RATIO * max(shown_chars.values(), default=0))
    return hiding[container] if is_most else set()


def _hidden_panels(document: Document, hidden_rows: Iterable[int]) -> set[int]:
    """Return the rows of the elements that hide panels with a control."""
    id_of = document.attributes["id"].get
    hiding: set[int] = set()
    for row in hidden_rows:
        ancestors = _hidden_ancestors(document, row)
        name = id_of(ancestors[-1])
        if name and document.source.count(name.encode()) > 1 and name in document.controlled:
            hiding.update(ancestors)
    return hiding


def _hidden_ancestors(document: Document, row: int) -> list[int]:
    """Return the rows of the hidden ancestors of *row*, closest first."""
    return [above for above in document.ancestors(row) if document.hidden[above]]


def _long_texts(document: Document, rows: Iterable[int]) -> Iterator[int]:
    """Yield those of the text nodes *rows* that are long and outside of links."""
    text, links = document.text, document.link_chars_before
    return (
        row
        for row in rows
        if WIDE_WEIGHT * len(text[row]) >= MIN_LONG
        and links[row + 1] == links[row]
        and weighted_length(text[row]) >= MIN_LONG
        and _DATA.search(text[row], 0, _MAX_DATA_PREFIX) is None
    )


def _child_of(document: Document, home: int, row: int) -> int:
    """Return the row of the child of *home* that contains *row*."""
    while document.parent[row] > home:
        row = document.parent[row]
    return row
