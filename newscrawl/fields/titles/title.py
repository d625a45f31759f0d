"""Title by rules: compares ``h1`` elements with the titles stated in structured data."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from itertools import compress, islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.document.document import rows_between
from newscrawl.items import Evidence
from newscrawl.text import squeeze, unescape, weighted_length, word_f1, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields.metadata.metadata import Metadata

CONFIDENCE = {"similar": 0.98, "related": 0.92, "alone": 0.8, "stated": 0.75, "method": 0.6}
"""Accuracy of the title (fuzzy ratio of 95 or more) by source; the rare ones are set by hand."""

MIN_SIMILARITY = 0.3
"""Minimum F1 of the words of an ``h1`` and a stated title that belong to the same article.

Low, as sites rewrite their titles for search engines.
"""

_SPACED = r"|\-‐–—―－·•⋅»«›>‹<:/\\~_‖¦∣★◆"
_SEPARATOR = re.compile(rf"(?<!\s)\s++[{_SPACED}]++\s++|(?:(?<!\s)\s++)?[|｜ㅣ：]\s*+")
# Pre-check: a pattern that begins with the separator itself is ten times faster.
_ANY_SEPARATOR = re.compile(rf"[｜ㅣ：{_SPACED}](?:(?<=[|｜ㅣ：])|(?<=\s.)[{_SPACED}]*\s)")
# Between a title and the name of the site only: "Post: Title", "記事-新聞", "Title ✦ Post".
_AT_NAME = re.compile(r"\s?(?:_|[^\w\s,.'’\"“”!?&()…])\s?")
# Soft hyphen, zero-width space, marks of direction, word joiner, byte order mark, embedded object;
# the private use of icon fonts; not the joiners, which change the letters of some scripts.
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060-\u2064\ue000-\uf8ff\ufeff\ufffc]")
_LONG_WORD_END = re.compile(r"[^\W\d_]{3}[.:!?]?$")
_RUBY = frozenset({"ruby", "rb"})
_PERMALINK = "¶🔗 "  # signs after a heading
# Before a heading; two guillemets enclose a quotation.
_BULLETS = re.compile(r"(?:[>►•:\s]|[»›](?!\s*[^\s«»‹›][^«»‹›]*[«»‹›]))+")
# Quotation marks and brackets: pairs, and marks of which some open a quotation and some close it.
_PAIRS = tuple(zip("«‹「『【(（", "»›」』】)）", strict=True))
_QUOTES = ("„“”", '"')
_ANY_PAIRED = re.compile(r"[«»‹›「」『』【】()（）„“”\"]")
# Limits the cost of hostile titles.
_MAX_SEPARATORS = 20
_HIGH_SIMILARITY = 0.8
# Weighted characters: names of sites and sections are mostly shorter.
_MIN_LENGTH = 15
_HOST = re.compile(r"(?:[^/?#]*//)?([^/?#]*)")
_HOME = re.compile(r"(?:(?:https?:)?//[^/]++)?/?(?:index\.\w+)?")
MAX_SITE_WORDS = 6
_MIN_PARAGRAPH = 100  # characters
_MAX_SITE_LENGTH = 35  # weighted characters, as the next one
_MAX_SECTION = 20
_SECTION_MARKS = frozenset("|｜ㅣ»›>•·")
# Shorter names, such as "AP", are part of too many words.
_MIN_SITE_LETTERS = 3
# Limits the cost of hostile pages, which nest headings.
_MAX_HEADINGS = 50
_MAX_HEADING_ROWS = 100
_MAX_HEADING_LENGTH = 600


class Headline(NamedTuple):
    """A title, its source, and the row of the element that shows it."""

    text: str
    evidence: Evidence
    row: int | None = None


def choose_title(
    document: Document, metadata: Metadata, url: str | None, fallback: Headline | None = None
) -> Headline | None:
    """Return the title, or None for a page without any.

    In this order: the ``h1`` most similar to a stated title (:data:`MIN_SIMILARITY`), the only
    ``h1``, an ``h2`` that nearly equals a stated title, the first stated title without the site's
    name, *fallback* (the title of a method), the first ``h1``.
    """
    site = SiteNames(metadata, url, document)
    headings = list(_headings(document, "h1"))
    stated = {title.source: site.strip(title.text) for title in metadata.titles}
    headings = [heading for heading in headings if not site.is_named_by(heading.text)]
    is_only = len(headings) == 1 and weighted_length(headings[0].text) >= _MIN_LENGTH
    return (
        _most_similar(document, headings, stated.values(), MIN_SIMILARITY)
        or (headings[0].headline() if is_only else None)
        or _most_similar(document, _headings(document, "h2"), stated.values(), _HIGH_SIMILARITY)
        or _first_stated(stated)
        or fallback
        or next((heading.headline() for heading in headings), None)
    )


def stated_title(metadata: Metadata, url: str | None) -> Headline | None:
    """Return the first stated title, without the site's name."""
    site = SiteNames(metadata, url)
    return _first_stated({title.source: site.strip(title.text) for title in metadata.titles})


def title_rows(document: Document, forest: Sequence[int], title: Headline) -> frozenset[int]:
    """Return the rows of the element with *title* and of headings in *forest* that repeat it."""
    wanted = _normalized(title.text)
    rows = {
        row
        for tag in ("h1", "h2")
        for row in document.rows_of(tag)
        if _is_in(document, forest, row)
        and _is_heading(document, row)
        and _normalized(document.shown_text(row)) == wanted
    }
    return frozenset(rows if title.row is None else rows | {title.row})


def _is_in(document: Document, forest: Sequence[int], row: int) -> bool:
    tree = bisect_right(forest, row) - 1
    return tree >= 0 and row < document.end[forest[tree]]


def heading_text(text: str) -> str:
    """Return *text* with white space collapsed, without invisible characters and bullets.

    Character references are resolved, as some are escaped twice.
    """
    text = unescape(text)
    text = text if text.isascii() else _INVISIBLE.sub("", text).rstrip(_PERMALINK)
    clean = squeeze(text).removesuffix(" #")
    bullets = _BULLETS.match(clean)
    return (bullets and clean[bullets.end() :]) or clean


def is_balanced(text: str) -> bool:
    """Return whether *text* has both quotation marks or brackets of each pair."""
    return _ANY_PAIRED.search(text) is None or (
        all(text.count(first) == text.count(last) for first, last in _PAIRS)
        and not any(sum(map(text.count, marks)) % 2 for marks in _QUOTES)
    )


def separators(text: str) -> list[re.Match[str]]:
    """Return the separators of parts of a title, except those in quotations and brackets."""
    found = list(_SEPARATOR.finditer(text)) if _ANY_SEPARATOR.search(text) else []
    if not found or len(found) > _MAX_SEPARATORS or not is_balanced(text):
        return found
    return [it for it in found if is_balanced(text[: it.start()]) and is_balanced(text[it.end() :])]


def parts_of(text: str) -> list[str]:
    """Return the parts of a title between its :func:`separators`."""
    places = [0, *(place for it in separators(text) for place in it.span()), len(text)]
    return [text[start:end] for start, end in zip(places[::2], places[1::2], strict=True)]


def words_kept(document: Document, rows: Iterable[int]) -> list[list[int]]:
    """Return the text nodes *rows* of a heading in groups that no word, name or formula crosses.

    A kicker is often an element of its own without white space after it: a long word before a
    capital letter, or before a letter of a script without capitals, ends a group.
    """
    groups: list[list[int]] = []
    for row in rows:
        last = groups[-1][-1] if groups else None
        if last is not None and not document.is_apart(last, row):
            before, after = document.text[last], document.text[row]
            if document.tag[document.parent[last]] in _RUBY or not (
                _LONG_WORD_END.search(before) and after[0].isalpha() and not after[0].islower()
            ):
                groups[-1].append(row)
                continue
        groups.append([row])
    return groups


class _Heading(NamedTuple):
    row: int
    text: str

    def headline(self) -> Headline:
        return Headline(self.text, Evidence("h1", CONFIDENCE["alone"]), self.row)


def _most_similar(
    document: Document, headings: Iterable[_Heading], stated: Collection[str], min_f1: float
) -> Headline | None:
    pairs = ((word_f1(it.text, text), it) for it in headings for text in set(stated))
    best_f1, best = max(pairs, key=itemgetter(0), default=(0.0, None))
    if best is None or best_f1 < min_f1:
        return None
    confidence = CONFIDENCE["similar" if best_f1 > _HIGH_SIMILARITY else "related"]
    text = _without_kicker(document, best, set(map(_normalized, stated)))
    return Headline(text, Evidence(document.tag[best.row], confidence), best.row)


def _first_stated(stated: Mapping[str, str]) -> Headline | None:
    evidence = ((text, Evidence(it, CONFIDENCE["stated"])) for it, text in stated.items() if text)
    return next((Headline(*found) for found in evidence), None)


def _logos(document: Document, parts: Sequence[list[str]], url: str | None) -> Iterator[str]:
    """Yield texts of links to the front page that are, begin or end a stated title with *parts*."""
    addresses, tag, host = document.attributes["href"], document.tag, _host(url or "")
    home = [
        row
        for row in compress(addresses, map(_HOME.fullmatch, addresses.values()))
        if tag[row] == "a" and 0 < document.chars(row) <= _MAX_SITE_LENGTH
        if (address := addresses[row])
        if url is None or "//" not in address or _host(address) == host
    ]
    ends = {_normalized(it) for split in parts if home for it in (split[0], split[-1])}
    yield from (text for text in map(document.shown_text, home) if _normalized(text) in ends)
    splits = [split for split in parts if len(split) > 1 and len(split[0]) <= _MAX_SITE_LENGTH]
    yield from _mastheads(document, splits)


def _mastheads(document: Document, titles: Sequence[list[str]]) -> Iterator[str]:
    """Yield the first of two headings without a paragraph between them, if a title states both."""
    tags = (document.rows_of(tag) for tag in ("h1", "h2", "h3") if titles)
    rows = sorted(row for found in tags for row in islice(found, _MAX_HEADINGS))
    rows = [row for row in rows if _is_heading(document, row)]
    names = {_normalized(split[0]) for split in titles}
    short = (row for row in rows if document.chars(row) <= 3 * _MAX_SITE_LENGTH)
    if not any(_normalized(document.shown_text(row)) in names for row in short):
        return  # the common case
    shown = {row: _normalized(document.shown_text(row)) for row in rows}
    for split in titles:
        ends = [_normalized(split[0]), _normalized(split[-1])]
        for first, second in pairwise(row for row, text in shown.items() if text in ends):
            between = rows_between(document.shown_rows, first, second)
            is_next = all(len(document.text[row]) < _MIN_PARAGRAPH for row in between)
            if [shown[first], shown[second]] == ends and is_next:
                yield shown[first]


def links_home(document: Document, row: int) -> bool:
    """Return whether the element *row* contains a link to the front page or is the child of one."""
    inside = rows_between(document.rows_of("a"), row, document.end[row])
    parent = max(document.parent[row], 0)
    links = (parent, *inside) if document.tag[parent] == "a" else inside
    address_of = document.attributes["href"].get
    return any(_HOME.fullmatch(address) for link in links if (address := address_of(link)))


class SiteNames:
    """Names of a site, which it appends to or puts before its titles."""

    def __init__(
        self, metadata: Metadata, url: str | None, document: Document | None = None
    ) -> None:
        """Names that *document* shows are read if those stated and the URL do not decide."""
        self._stated = [it for it in map(_letters, metadata.site_names) if len(it) > 1]
        self._document, self._metadata, self._url = document, metadata, url
        host = _host(url or "")
        #: letters and digits of the host name
        self.host = re.sub(r"[^a-z0-9]", "", host)
        self._labels = host.replace("-", "").split(".")

    @cached_property
    def _names(self) -> list[str]:
        shown = () if self._document is None else _logos(self._document, self._parts, self._url)
        return [*self._stated, *(it for it in map(_letters, shown) if len(it) > 1)]

    @cached_property
    def _parts(self) -> list[list[str]]:
        """The parts of each stated title, at separators and at other marks."""
        titles = {title.text for title in self._metadata.titles}
        return [split(title) for title in titles for split in (parts_of, _AT_NAME.split)]

    @cached_property
    def _headings(self) -> set[str]:
        shown = () if self._document is None else _headings(self._document, "h1")
        return {heading.text.lower() for heading in shown}

    def is_named_by(self, text: str) -> bool:
        """Return whether *text* is just a name of the site."""
        if weighted_length(text) > _MAX_SITE_LENGTH:
            return False
        letters = _letters(text)
        return letters in (*self._labels, *self._stated) or letters in self._names

    def strip(self, title: str) -> str:
        """Return *title* without the site's name at either end, and sections before it.

        Of the text of an ``h1`` only whole names are left out, not their words.
        """
        mark = None
        while (found := separators(title)) and title.lower() not in self._headings:
            first, last = found[0], found[-1]
            before, after = title[: last.start()], title[last.end() :]
            if self._is_site_part(after) and words(before):
                title, mark = before, last[0].strip()
            elif self._is_site_part(title[: first.start()], first=True) and words(
                title[first.end() :]
            ):
                title, mark = title[first.end() :], first[0].strip()
            elif mark == first[0].strip() and _is_section(
                title[: first.start()], title[first.end() :], mark
            ):
                title = title[first.end() :]
            elif mark == last[0].strip() and _is_section(after, before, mark):
                title = before
            else:
                break
        marks = _AT_NAME.finditer(title)
        for name in (it for it in marks if " " in it[0] or self._stated or self._names):
            before, after = title[: name.start()], title[name.end() :]
            if self.is_named_by(after):
                return before.strip()
            if self.is_named_by(before):
                return after.strip()
        return title.strip()

    def _is_site_part(self, part: str, *, first: bool = False) -> bool:
        found = words(part)
        letters = "".join(found)
        if not letters or letters in self._stated:
            return True
        if len(found) > MAX_SITE_WORDS or len(letters) < _MIN_SITE_LETTERS:
            return len(letters) <= _MAX_SITE_LENGTH and letters in self._names
        # A town may be part of the host's name, but a site's name is most of a label.
        labels = [label for label in self._labels if 2 * len(letters) > len(label)]
        hosts = labels if first else [self.host]
        return any(letters in name for name in (*self._stated, *hosts)) or any(
            letters in name or (len(name) > _MIN_SITE_LETTERS and name in letters)
            for name in self._names
        )


def _is_section(part: str, title: str, mark: str) -> bool:
    """Return whether *part* after *title* and a *mark* may be a section; dashes are ambiguous."""
    length = weighted_length(part)
    return mark in _SECTION_MARKS and length <= _MAX_SECTION and weighted_length(title) > 2 * length


def _headings(document: Document, tag: str) -> Iterator[_Heading]:
    rows = (row for row in document.rows_of(tag) if _is_heading(document, row))
    for row in islice(rows, _MAX_HEADINGS):
        yield _Heading(row, heading_text(document.shown_text(row)))


def _is_heading(document: Document, row: int) -> bool:
    """Return whether *row* has visible text and the size of a heading."""
    small = document.end[row] - row <= _MAX_HEADING_ROWS
    return small and 0 < document.chars(row) <= _MAX_HEADING_LENGTH


def _without_kicker(document: Document, heading: _Heading, stated: set[str]) -> str:
    """Return the heading's text without leading parts if the rest is a stated title."""
    units = words_kept(document, document.text_nodes(heading.row))
    texts = map(document.join_texts, units)
    parts = [part for text in texts for part in parts_of(text)]
    for first in range(1, min(len(parts), 4)):
        rest = " ".join(parts[first:])
        if _normalized(rest) in stated:
            return squeeze(rest)
    return heading.text


def _host(url: str) -> str:
    found = _HOST.match(url.lower())
    return found[1].removeprefix("www.") if found else ""


def _letters(text: str) -> str:
    return "".join(words(text))


@lru_cache(maxsize=256)  # titles are compared with many headings
def _normalized(text: str) -> str:
    return " ".join(words(text))
