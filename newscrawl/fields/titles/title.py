"""The headline, decided among the page's ``h1`` elements and what structured data states."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.items import Evidence
from newscrawl.text import squeeze, weighted_length, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields.metadata.metadata import Metadata

CONFIDENCE = {"alike": 0.98, "related": 0.92, "alone": 0.8, "stated": 0.75, "method": 0.6}
"""How often the title is the label's (fuzzy ratio of 95 and more), by how it was found.

On 421 pages of news212: a heading that is alike a stated title (F1 above 0.8) 0.98 of 404, one that
is related to it 0.92 of 12. The others are too rare to be measured.
"""

MIN_SIMILARITY = 0.3
"""Least F1 of the words of an ``h1`` and a stated title for them to be of one story.

Of 0.3, 0.4, 0.5 and 0.6, the first gives the best titles on news212 and no worse ones on fundus:
where a site rewrites its headline for search engines, a third of the words are left.
"""

_SEPARATOR = re.compile(r"\s+[|\-‐–—·•»«:/]+\s+|\s*[|｜ㅣ：]\s*")
# Where one stands: a pattern that begins with the mark itself is found in a tenth of the time.
_ANY_SEPARATOR = re.compile(r"[|｜ㅣ：\-‐–—·•»«:/](?:(?<=[|｜ㅣ：])|(?<=\s.)[|\-‐–—·•»«:/]*\s)")
_CLOSE = 0.8
# Of weighted characters: no headline is shorter, most names of sites and sections are.
_LEAST_LENGTH = 15
_HEADINGS = ("h1", "h2")
_HOST = re.compile(r"(?:[^/?#]*//)?([^/?#]*)")
_HOME = re.compile(r"(?:(?:https?:)?//[^/]+)?/?(?:index\.\w+)?")
_MOST_SITE_WORDS = 6
# Shorter names stand in too many words: "AP", "ET".
_LEAST_LETTERS = 3
# Before the heading: of more, the elements are made once, with all others.
_FEW_LINKS = 1000
# What is larger is no heading, whatever its tag: a page may nest them without end.
_MOST_HEADINGS = 50
_MOST_ROWS = 100
_MOST_LENGTH = 600


class Headline(NamedTuple):
    """A title, where it came from, and the row of the element that shows it."""

    text: str
    evidence: Evidence
    row: int | None = None


def choose_title(
    document: Document, metadata: Metadata, url: str | None, fallback: Headline | None = None
) -> Headline | None:
    """Return the headline, or None for a page without any title.

    The ``h1`` that is most like a stated title (:data:`MIN_SIMILARITY`); else the only ``h1``; else the
    ``h2`` that nearly is a stated title; else the stated titles without the site's name, JSON-LD
    first; else *fallback*, a method's own find; else any ``h1``.
    """
    headings = list(_headings(document, "h1"))
    logos = _logos(document, headings, metadata)
    site = SiteNames([*metadata.site_names, *logos], url)
    stated = {title.source: site.strip(title.text) for title in metadata.titles}
    headings = [heading for heading in headings if not site.is_named_by(heading.text)]
    return (
        _most_like(document, headings, stated.values(), MIN_SIMILARITY)
        or _only(headings)
        or _most_like(document, _headings(document, "h2"), stated.values(), _CLOSE)
        or _first_stated(stated)
        or fallback
        or next((heading.headline() for heading in headings), None)
    )


def stated_title(metadata: Metadata, url: str | None) -> Headline | None:
    """Return the first stated title that is more than the site's name, without that name."""
    site = SiteNames(metadata.site_names, url)
    return _first_stated({title.source: site.strip(title.text) for title in metadata.titles})


def title_rows(document: Document, forest: Sequence[int], title: Headline) -> frozenset[int]:
    """Return the rows in *forest* of the element that shows *title* and of headings that repeat it."""
    wanted = _normal(title.text)
    rows = {
        row
        for tag in _HEADINGS
        for row in document.rows_of(tag)
        if _is_in(document, forest, row)
        and _is_heading(document, row)
        and _normal(document.subtree_text(row)) == wanted
    }
    return frozenset(rows if title.row is None else rows | {title.row})


def _is_in(document: Document, forest: Sequence[int], row: int) -> bool:
    tree = bisect_right(forest, row) - 1
    return tree >= 0 and row < document.end[forest[tree]]


def word_f1(first: str, second: str) -> float:
    """Return F1 of the bags of words of two texts, in 0..1."""
    one, other = Counter(words(first)), Counter(words(second))
    common = (one & other).total()
    return 2 * common / (one.total() + other.total()) if common else 0.0


class _Heading(NamedTuple):
    row: int
    text: str

    def headline(self) -> Headline:
        return Headline(self.text, Evidence("h1", CONFIDENCE["alone"]), self.row)


def _most_like(
    document: Document, headings: Iterable[_Heading], stated: Collection[str], least: float
) -> Headline | None:
    best, rating = None, 0.0
    titles = set(stated)
    for heading in headings:
        for text in titles:
            if (alike := word_f1(heading.text, text)) > rating:
                best, rating = heading, alike
    if best is None or rating < least:
        return None
    confidence = CONFIDENCE["alike" if rating > _CLOSE else "related"]
    text = _without_kicker(document, best, set(map(_normal, stated)))
    return Headline(text, Evidence(document.tag[best.row], confidence), best.row)


def _only(headings: Sequence[_Heading]) -> Headline | None:
    if len(headings) == 1 and weighted_length(headings[0].text) >= _LEAST_LENGTH:
        return headings[0].headline()
    return None


def _first_stated(stated: Mapping[str, str]) -> Headline | None:
    return next(
        (
            Headline(text, Evidence(source, CONFIDENCE["stated"]))
            for source, text in stated.items()
            if text
        ),
        None,
    )


def _logos(document: Document, headings: Iterable[_Heading], metadata: Metadata) -> Iterator[str]:
    """Yield the headings that link to the front page and with which a stated title begins or ends."""
    parts = [_SEPARATOR.split(title.text) for title in metadata.titles]
    ends = {_normal(part) for found in parts if len(found) > 1 for part in (found[0], found[-1])}
    for heading in headings:
        if _normal(heading.text) in ends and links_home(document, heading.row):
            yield heading.text


def links_home(document: Document, row: int) -> bool:
    """Return True if the element *row* is in a link to the front page, or holds one."""
    links, parent = document.rows_of("a"), max(document.parent[row], 0)
    first, last = bisect_left(links, row), bisect_left(links, document.end[row])
    wanted = [link for link in (parent, *links[first:last]) if document.tag[link] == "a"]
    if not wanted:
        return False
    if last <= _FEW_LINKS:  # elements of other tags are not made
        elements = dict(zip(links[:last], document.root.iter("a"), strict=False))
        found = [elements[link] for link in wanted]
    else:
        found = [document.element(link) for link in wanted]
    return any(_HOME.fullmatch(address) for one in found if (address := one.get("href")))


class SiteNames:
    """The names under which a site signs its titles."""

    def __init__(self, names: Iterable[str], url: str | None) -> None:
        self._names = [letters for name in names if len(letters := _letters(name)) > 1]
        host = _HOST.match(url.lower()) if url else None
        self._host = re.sub(r"[^a-z0-9]", "", host[1]) if host else ""

    def is_named_by(self, text: str) -> bool:
        """Return True if *text* is a name of the site and nothing else."""
        return _letters(text) in self._names

    def strip(self, title: str) -> str:
        """Return *title* without the site's name at its ends."""
        while _ANY_SEPARATOR.search(title) and (separators := list(_SEPARATOR.finditer(title))):
            first, last = separators[0], separators[-1]
            if self._signs(title[last.end() :]) and words(title[: last.start()]):
                title = title[: last.start()]
            elif self._signs(title[: first.start()]) and words(title[first.end() :]):
                title = title[first.end() :]
            else:
                break
        return title.strip()

    def _signs(self, part: str) -> bool:
        found = words(part)
        if len(found) > _MOST_SITE_WORDS:
            return False
        letters = "".join(found)
        if not letters or letters in self._names:
            return True
        if len(letters) < _LEAST_LETTERS:
            return False
        within = letters in self._host or any(letters in name for name in self._names)
        return within or any(name in letters for name in self._names if len(name) > _LEAST_LETTERS)


def _headings(document: Document, tag: str) -> Iterator[_Heading]:
    rows = (row for row in document.rows_of(tag) if _is_heading(document, row))
    for row in islice(rows, _MOST_HEADINGS):
        yield _Heading(row, squeeze(document.subtree_text(row)))


def _is_heading(document: Document, row: int) -> bool:
    """Return True if *row* shows text and is no larger than headings are."""
    small = document.end[row] - row <= _MOST_ROWS
    return small and 0 < document.chars(row) <= _MOST_LENGTH


def _without_kicker(document: Document, heading: _Heading, stated: set[str]) -> str:
    """Return the heading without the section's name before it, if that leaves a stated title."""
    parts = [document.text[row] for row in document.text_nodes(heading.row)]
    parts = [part for text in parts for part in _SEPARATOR.split(text)]
    for first in range(1, min(len(parts), 4)):
        rest = " ".join(parts[first:])
        if _normal(rest) in stated:
            return squeeze(rest)
    return heading.text


def _letters(text: str) -> str:
    return "".join(words(text))


def _normal(text: str) -> str:
    return " ".join(words(text))
