"""Regions of a page that hold no text of its article, whatever their text looks like.

What a learned choice cannot tell from prose: a wall of cookies, a plea for donations, a caption of
five sentences, a table of data, products or the next article behind the end of this one. Their
markup says it. And the other way round, an article that is hidden until its reader has paid.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING

from newscrawl.body.block_features import prose_places
from newscrawl.body.blocks import marked_up_alike
from newscrawl.body.parts import is_data_table
from newscrawl.document.document import INVISIBLE, Document
from newscrawl.document.repeats import prose
from newscrawl.text import squeeze, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.body.blocks import Blocks

_NAME = re.compile(
    r"(?:^|[\s_-])(?:cookies?|consent|onetrust|gdpr|privacy|aside|donat\w+|support|newsletters?"
    r"|sign-?up|subscribe|captions?|credits?|disclaimers?|disclosure)(?:$|[\s_-])"
)
"""Words of classes and ids. On news212 and fundus they stand over 0 to 11 words of labelled bodies
each, where the region is small, those of captions over 103 of 7,300."""
_FOOTER = re.compile(r"(?:^|[\s_-])footer(?:$|[\s_-])")
_APART = {"aside": 0.3, "figcaption": 0.8}  # most of the page's text outside of links, as below
_WHOLE = frozenset({"body", "html", "main", "p"})
_CONSENT = re.compile("cookie|consent|onetrust|gdpr|privacy")

MOST = 0.3
"""Most of the page's text outside of links that is in a region: old templates never close theirs."""
MOST_CONSENT = 0.8
"""The same of what a reader must consent to, which may be longer than the article."""

MOST_DATA = 0.5
"""The same of a table of data: a page of results may be little else."""

LEAST_ARTICLE = 1000
"""Least weighted characters outside of links of an ``article`` element whose end is the article's.
On 630 pages of three corpora that have one, no word of a labelled body stands behind it."""

LEAST_HIDDEN = 800
"""Least characters of hidden paragraphs that may be the article."""
MORE_HIDDEN = 1.5
"""How many times the text shown in one place hidden text must have to be the article."""
_LONG = 80
_COPIED = 40
_HIDING = ("hidden", "aria-hidden", "style")
_NEVER = frozenset({"a", "aside", "audio", "canvas", "dialog", "footer", "nav", "object", "video"})


def heading_row(document: Document) -> int | None:
    """Return the row of the ``h1`` that is most like the ``title``, the first of equals."""
    title = frozenset(words(document.title))
    best, found = -1.0, None
    for row in _headings(document):
        bag = words(document.subtree_text(row))
        share = sum(word in title for word in bag) / (len(bag) or 1)
        if share > best:
            best, found = share, row
    return found


def _headings(document: Document) -> list[int]:
    return [row for row in document.rows_of("h1")[:10] if 0 < document.chars(row) < 600]


def outside_regions(
    document: Document, blocks: Blocks, places: Sequence[int], heading: int | None
) -> list[int]:
    """Return those of *places* in *blocks* that may be of the article with the *heading*.

    Names of small regions, as of captions, count only if they leave any prose.
    """
    owner, end = blocks.owner, end_of_article(document, heading)
    places = _up_to_end(document, blocks, places, end)
    held = _Regions(document, heading, end).held({owner[place] for place in places})
    kept = [place for place in places if not held[owner[place]]]
    if len(kept) < len(places):
        linkless = prose_places(document, blocks, places[0])
        if linkless.isdisjoint(kept) and not linkless.isdisjoint(places):
            held = _Regions(document, heading, end, small=False).held({owner[p] for p in places})
            kept = [place for place in places if not held[owner[place]]]
    return kept


def _up_to_end(
    document: Document, blocks: Blocks, places: Sequence[int], end: int
) -> Sequence[int]:
    """Return those of *places* before the row *end*, and prose behind it that is marked up as theirs."""
    size = bisect_left(places, end, key=lambda place: blocks.rows[place][0])
    before, behind = places[:size], places[size:]
    if not (before and behind):
        return before
    linkless = prose_places(document, blocks, before[0])
    more = (place for place in behind if place in linkless)
    return [*before, *marked_up_alike(document, blocks, linkless.intersection(before), more)]


def end_of_article(document: Document, heading: int | None) -> int:
    """Return the row after the ``article`` element of the *heading*; past the page if none is.

    The one that it is in, or the one below it that holds most of what such elements hold: entries
    of a live blog may be one each.
    """
    if heading is not None:
        article = _article_around(document, heading) or _article_below(document, heading)
        if article and prose(document, article, document.end[article]) >= LEAST_ARTICLE:
            return document.end[article]
    return len(document)


def _article_around(document: Document, heading: int) -> int | None:
    return next(
        (row for row in document.ancestors(heading) if document.tag[row] == "article"), None
    )


def _article_below(document: Document, heading: int) -> int | None:
    sizes: dict[int, float] = {}
    last = heading
    for row in document.rows_of("article"):
        if row > last:
            last = document.end[row] - 1
            sizes[row] = prose(document, row, document.end[row])
    largest = max(sizes, key=sizes.__getitem__, default=None)
    return largest if largest and 2 * sizes[largest] >= sum(sizes.values()) else None


@lru_cache(maxsize=4096)  # pages of a site share their names
def _most_of(own: str | None, identity: str | None) -> float | None:
    """Return the share that an element of this class and id may hold; None where it is no region."""
    found = _NAME.search(f"{own or ''} {identity or ''}".lower())
    if found is None:
        return None
    return MOST_CONSENT if _CONSENT.search(found.group()) else MOST


@lru_cache(maxsize=4096)
def _names_footer(own: str | None, identity: str | None) -> bool:
    return _FOOTER.search(f"{own or ''} {identity or ''}".lower()) is not None


class _Regions:
    def __init__(
        self, document: Document, heading: int | None, end: int, *, small: bool = True
    ) -> None:
        self._document = document
        self._small = small
        self._end = end
        self._heading = -1 if heading is None else heading
        self._plain = document.chars(0) - document.link_chars(0)
        self._classes, self._ids = document.attributes["class"], document.attributes["id"]

    def held(self, rows: Iterable[int]) -> dict[int, bool]:
        """Return whether each of *rows*, and each of their ancestors, is in a region or one."""
        parent = self._document.parent
        asked: set[int] = set()
        for inner in rows:
            row = inner
            while row >= 0 and row not in asked:
                asked.add(row)
                row = parent[row]
        held = {-1: False}
        for row in sorted(asked):  # parents come first
            held[row] = held[parent[row]] or self._is_region(row)
        return held

    def _is_region(self, row: int) -> bool:
        document = self._document
        tag = document.tag[row]
        if tag in _WHOLE or row <= self._heading < document.end[row]:
            return False
        if tag == "article" and row >= self._end:
            return True
        most = _APART.get(tag)
        if tag == "table" and is_data_table(document, row):
            most = MOST_DATA
        elif most is None and self._is_footer(row):
            most = MOST
        if most is None:
            most = _most_of(self._classes.get(row), self._ids.get(row))
        if most is None or (most == MOST and not self._small):
            return False
        return prose(document, row, document.end[row]) / (self._plain or 1) <= most

    def _is_footer(self, row: int) -> bool:
        """Return whether *row* is the footer of the page: that of its ``article`` has credits."""
        document, names = self._document, (self._classes.get(row), self._ids.get(row))
        if document.tag[row] != "footer" and not _names_footer(*names):
            return False
        before = document.chars_before
        return 2 * before[row] > before[-1] and "article" not in _tags_above(document, row)


def reveal(document: Document) -> Document:
    """Return *document* with hidden text of its article shown; as it is if there is none.

    Publishers ship the article hidden until the reader subscribes or a script runs. Hidden text
    is the article if there is more of it in one place than of shown text, and it is no copy of
    shown text. Panels that a control of the page opens are shown, too. The attributes are
    removed from the tree.
    """
    covered = _long_texts(document, INVISIBLE)
    if sum(len(document.text[row]) for row in covered) < LEAST_HIDDEN:
        return document
    covered = [row for row in covered if not _NEVER.intersection(_tags_above(document, row))]
    covered = _without_copies(document, covered)
    covers = {*_hidden_story(document, covered), *_panels(document, covered)}
    if not covers:
        return document
    for row in covers:
        attributes = document.element(row).attrib
        for name in _HIDING:
            if name in attributes:
                del attributes[name]
    return Document(document.root, document.encoding, document.flags)


def _without_copies(document: Document, rows: Iterable[int]) -> list[int]:
    """Return those of the hidden text nodes *rows* that begin as no shown text node does."""
    text = document.text
    shown = {_beginning(text[row]) for row in document.text_nodes()}
    return [row for row in rows if _beginning(text[row]) not in shown]


def _beginning(text: str) -> str:
    return squeeze(text[:_LONG])[:_COPIED]


def _hidden_story(document: Document, covered: Iterable[int]) -> set[int]:
    """Return the rows of the elements that hide the article."""
    parent, text = document.parent, document.text
    hidden: Counter[int] = Counter()
    roots: dict[int, set[int]] = {}
    for row in covered:
        covers = _covers(document, row)
        home = parent[covers[-1]]
        hidden[home] += len(text[row])
        roots.setdefault(home, set()).update(covers)
    shown: Counter[int] = Counter()
    for row in _long_texts(document, 0):
        shown[parent[parent[row]]] += len(text[row])
    home, size = max(hidden.items(), key=itemgetter(1), default=(0, 0))
    if size < max(LEAST_HIDDEN, MORE_HIDDEN * max(shown.values(), default=0)):
        return set()
    return roots[home]


def _panels(document: Document, covered: Iterable[int]) -> set[int]:
    """Return the rows of the elements that hide panels."""
    identity = document.attributes["id"].get
    controlled = document.controlled
    return {
        cover
        for row in covered
        for covers in [_covers(document, row)]
        if identity(covers[-1]) in controlled
        for cover in covers
    }


def _covers(document: Document, row: int) -> list[int]:
    """Return the rows of the hidden ancestors of *row*, the closest first."""
    return [above for above in document.ancestors(row) if document.hidden[above]]


def _long_texts(document: Document, mark: int) -> list[int]:
    """Return the rows of long text nodes outside of links whose text counts, or not, by *mark*."""
    text, hidden, links = document.text, document.hidden, document.link_chars_before
    return [
        row
        for row in document.text_rows
        if hidden[row] == mark and len(text[row]) >= _LONG and links[row + 1] == links[row]
    ]


def _tags_above(document: Document, row: int) -> set[str]:
    return {document.tag[above] for above in document.ancestors(row)}
