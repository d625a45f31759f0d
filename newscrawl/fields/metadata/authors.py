"""Authors of an article: the names that a page states, those in its bylines, and the choice.

A byline is next to the title or the end of the story, by markup, link or wording.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.document.document import rows_between
from newscrawl.document.rows import BLOCK_LEVEL
from newscrawl.fields.dates.visible_dates import read_dates
from newscrawl.fields.metadata.author_names import (
    BOUNDARY,
    AuthorName,
    Names,
    clean_names,
    distinct,
    is_by,
    is_byline,
    is_full_name,
    is_lower,
    is_person,
    is_role,
    kind_of,
    may_be_name,
    may_have_label,
    read_names,
)
from newscrawl.fields.metadata.jsonld import are_organizations, person_names
from newscrawl.fields.metadata.places import label_of
from newscrawl.fields.metadata.sections import is_host
from newscrawl.fields.metadata.structured_data import (
    MAX_VALUES,
    StructuredData,
    clean_text,
    plain_text,
)
from newscrawl.items import Evidence
from newscrawl.patterns import CJKPattern, lazy_regex
from newscrawl.text import count_digits, places_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from newscrawl.document.document import Document
    from newscrawl.document.rows import Statement

CONFIDENCE = {
    "json-ld": 0.93, "meta": 0.91, "microdata": 0.82, "rel": 0.86, "byline": 0.79, "link": 0.88,
    "class": 0.86, "place": 0.92, "site": 0.86,
}  # fmt: skip
"""Confidence by kind of source: the rates of ``benchmarks/confidences.py``."""

_META = (
    "author", "article:author", "article:author_name", "parsely-author", "sailthru.author",
    "articleauthor", "og:article:author", "byl", "dc.creator", "dcterms.creator", "dc.contributor.author",
    "citation_author", "cxenseparse:author",
)  # fmt: skip
_WRITTEN_BY = "twitter:label1", "twitter:data1"
# Telephone numbers, Chinese claims.
_NO_NAME = CJKPattern(r"(?:\d\D{0,2}){7}|[\u4e00-\u9fff]{11}")
# Bylines that outweigh a house in the metadata.
_EXPLICIT = frozenset({"byline", "link"})
# Agencies that are listed beside people are authors, too.
_LISTED = frozenset({"person", "sign", "organization"})
# Text nodes.
_MAX_BETWEEN_AUTHORS = 12
# Text nodes that are searched before and after the start of the title.
_NODES_BEFORE = 15
_NODES_AFTER = 45
# Before and after the end of the body.
_NODES_AT_END = 4
_AT_END = 2
# Characters of a line; longer ones are paragraphs.
_MAX_TEXT = 200
# Text nodes of a link before those that are searched.
_NODES_IN_LINK = 5
# Characters of an element whose class applies to the names in it.
_MAX_ELEMENT = 250
# Characters of a byline in a line of its own.
_MAX_LINE = 60
_BREAKS = BLOCK_LEVEL | {"br", "td", "th"}
_MAX_LEVELS = 4
# Text nodes from the title to a name without a mark.
_MAX_FROM_TITLE = 4
# Text nodes between two lines of one byline.
_MAX_GAP = 6
# Weighted characters of the link to another story, and of the card with it.
_MIN_TEASER, _MAX_CARD = 28, 200
# Words of a link to an author.
_MAX_NAME = 3
# Paragraphs after the title, below which cards of other stories may be.
_MIN_STORY = 2
_IN_PLACE = lazy_regex(r"\s(?:in|at|aus|à|en)\s[^\W\d_a-z]")
_OTHER_PLACES = frozenset({"figure", "figcaption", "nav", "menu", "blockquote"})
_OTHER_ENDS = frozenset({"aside", "footer"})
# In lower case: case-insensitive patterns are five times slower.
_AUTHOR = lazy_regex(r"by-?_?line|auth?or(?!i[tsz])|auteur|writer|vcard|contributor")
_AUTHOR_PARTS = ("line", "author", "autor", "auteur", "writer", "vcard", "contributor")
# Other parts of an author's box.
_OTHER_PART = lazy_regex(
    r"bio|categor|desc|role|position|job(?![a-z])|date|time|social|share|twitter|follow|caption|comment|related"
)
_AUTHOR_PAGE = lazy_regex(
    r"/(?:auth?or|auteur|writer|staff|contributor|journalist|reporter)[a-z]{0,3}(?:/|\.\w+\?|-)[^/?#]"
    r"|[?&]author="
)
_NO_PERSON = lazy_regex(r"/(?:log-?in|log-?out|sign-?(?:in|up)|register|settings|list|all)\b")
# Pages of other people, too: the address must name the author. "/teams/" are those of a sport.
_PERSON_PAGE = lazy_regex(r"/(?:by|team|(?:profile|user|producer)s?)/(.+)")
# A quick test of all addresses of a page before both.
_PERSON_PARTS = (
    "/author", "/autor", "/auteur", "/writer", "/staff", "/contributor", "/journalist", "/reporter",
    "/by/", "/team/", "/profile", "/user", "/producer", "?author=", "&author=",
)  # fmt: skip
_PERSON_LINK = lazy_regex("|".join(map(re.escape, _PERSON_PARTS)))
_WORD = lazy_regex(r"[^\W\d_]{2,}")
_MIN_UNCASED = "\u0590"
"""Letters of scripts without capitals are not before it."""


class StatedAuthors(NamedTuple):
    """The names that one source states."""

    #: ``json-ld``, ``meta:NAME``, ``microdata``, ``rel``
    source: str
    names: list[AuthorName]

    @property
    def people(self) -> list[str]:
        """The people and the agencies beside them, if there are some people."""
        if not any(it.kind == "person" for it in self.names):
            return []
        return distinct(it._replace(kind="person") for it in self.names if it.kind in _LISTED)

    @property
    def houses(self) -> list[str]:
        """The site, an office or an agency."""
        return distinct(it for it in self.names if it.kind in {"organization", "role", "sign"})


def stated_authors(
    data: StructuredData, sites: Collection[str], url: str | None
) -> list[StatedAuthors]:
    """Return the names of each source, the most trusted first, up to the first that names people.

    *sites* are the names of the publication. The name of the host, and the only name
    of a source, if it is that of an account, are no people.
    """
    found = []
    folded = {site.casefold() for site in sites}
    for source, stated, are_houses in _statements(data):
        texts = [
            text for text in map(clean_text, stated) if text and not _NO_NAME(text).search(text)
        ]
        names = [name for text in texts for name in _of_people(read_names(text, sites=sites).names)]
        if not names:  # the common case
            continue
        is_account = len(names) == 1 and names[0].text.islower() and " " not in names[0].text
        if is_account or are_houses:
            names = [_as_house(name) for name in names]
        names = [_as_house(name) if is_host(name.text, url) else name for name in names]
        if any(name.kind == "person" for name in names):
            names = [name for name in names if not _is_of_site(name, folded, url)]
        found.append(StatedAuthors(source, names))
        if found[-1].people:
            break
    return found


def _of_people(names: list[AuthorName]) -> list[AuthorName]:
    """Return the names of a text without the house of people: "Ada Meyer, Financial Times"."""
    people = [name for name in names if name.kind in {"person", "sign"}]
    return people if any(name.kind == "person" for name in people) else names


def _is_of_site(name: AuthorName, sites: Collection[str], url: str | None) -> bool:
    """Return whether a house beside people is the site's, or a paper: "Port News Team"."""
    key = name.text.casefold()
    is_named = key in sites or key.startswith("the ") or is_host(name.text.partition(" ")[0], url)
    return name.kind == "organization" and is_named


def _as_house(name: AuthorName) -> AuthorName:
    return name._replace(kind="organization") if name.kind == "person" else name


def _statements(data: StructuredData) -> Iterator[tuple[str, list[str], bool]]:
    for role in ("author", "creator"):
        people = data.article.get(role)
        yield "json-ld", list(person_names(people, data.resolved)), are_organizations(people)
    for name in _META:
        if name in data.meta:
            yield f"meta:{name}", data.meta[name], False
    for label, name in zip(*map(data.meta.get, _WRITTEN_BY, ((), ())), strict=False):
        if is_by(label):
            yield f"meta:{_WRITTEN_BY[1]}", [name], False
    items, shown = data.items("author")[:MAX_VALUES], data.document.shown_rows
    own = items[:1]  # those of teasers are farther down
    for item in items[1:]:
        if len(rows_between(shown, own[-1].row, item.row)) <= _MAX_BETWEEN_AUTHORS:
            own.append(item)
    yield "microdata", [_item_name(data, item) for item in own], False
    links = [
        link for link in data.links.get("author", ()) if not is_of_card(data.document, link.row)
    ]
    texts = map(data.text_of, links)
    yield "rel", [text for text in texts if " " not in text or is_person(text)], False


def _item_name(data: StructuredData, item: Statement) -> str:
    named = next((part for part in data.inside(item) if part.get("itemprop") == "name"), item)
    return item.get("content") or named.get("content") or data.text_of(named)


def find_authors(
    document: Document,
    stated_authors: Iterable[StatedAuthors],
    start: int | None,
    end: int | None = None,
    *,
    sites: Collection[str] = (),
    language: str | None = None,
) -> tuple[list[str], Evidence] | None:
    """Return the authors of a page in *language* that states no people: of a byline, or a house.

    *stated_authors* are what the page states, *sites* the names of its publication. *start* is the
    row of the title, next to which a byline is searched, *end* the first row after the body, next
    to which an explicit one or a full name is searched; None: there is none.
    """
    houses = [it for it in stated_authors if it.houses]
    stated = next((it for it in houses if not _is_site(it, sites)), next(iter(houses), None))
    if start is not None and (byline := find_byline(document, start, language, end, sites)):
        names, source = byline
        # Only an explicit byline of people outweighs a house in the metadata.
        are_people = any(kind_of(name, sites) == "person" for name in names)
        is_better = stated is None or (source in _EXPLICIT and " " in names[0])
        if is_better or (are_people and stated and _is_site(stated, sites)):
            return names, Evidence(source, CONFIDENCE[source])
    if stated is not None:
        return stated.houses, Evidence(f"site:{stated.source}", CONFIDENCE["site"])
    return None


def _is_site(stated: StatedAuthors, sites: Iterable[str]) -> bool:
    return {*map(str.casefold, sites)}.issuperset(map(str.casefold, stated.houses))


class _Found(NamedTuple):
    """The names of a line."""

    #: position of the line among the shown text nodes
    position: int
    #: ``byline``, ``link``, ``class`` or ``place``
    source: str
    #: row of the text node with the first name
    row: int
    #: tag and class of the element
    markup: tuple[str, str]
    names: list[AuthorName]

    @property
    def is_weak(self) -> bool:
        """Whether the line has no mark, or may be a label: a single word, of a cased script."""
        only = self.names[0].text
        is_word = " " not in only and only.lower() != only.upper()
        return self.source == "place" or (self.source == "class" and is_word)


def without_byline(document: Document, rows: Sequence[int]) -> Sequence[int]:
    """Return the text nodes *rows* of a body without a byline in its first line."""
    size = 1
    while size < min(len(rows), _MAX_GAP) and _BREAKS.isdisjoint(
        document.tag[rows[size - 1] + 1 : rows[size]]
    ):
        size += 1
    text = document.join_texts(rows[:size])
    if size >= len(rows) or len(text) > _MAX_LINE or not is_byline(text):
        return rows
    names = clean_names([text])
    return rows[size:] if names and all(map(is_person, names)) else rows


def find_byline(
    document: Document,
    start: int,
    language: str | None = None,
    end: int | None = None,
    sites: Collection[str] = (),
) -> tuple[list[str], str] | None:
    """Return the names in the byline closest to the row *start* of the title, or to *end*.

    The source is ``byline`` (a text that begins with "by"), ``link`` (to the page of an author),
    ``class`` (of the element) or ``place`` (a name next to a date below the title). *sites* are the
    names of the publication.
    """
    byline: list[_Found] = []
    for position, found in _Bylines(document, language, sites).near(start, end):
        is_near = bool(byline) and 0 <= position - byline[-1].position <= _MAX_GAP
        if byline and not is_near and not byline[0].is_weak:
            break
        if found is None:
            continue
        if not byline or (byline[0].is_weak and not found.is_weak):
            byline = [found]
        elif is_near and (found.source, found.markup) == (byline[0].source, byline[0].markup):
            byline.append(found)
    people = distinct(name for part in byline for name in part.names)
    return (people, byline[0].source) if people else None


@dataclass
class _Bylines:
    """Reader of the lines of a page."""

    document: Document
    language: str | None
    sites: Collection[str]

    def near(self, start: int, end: int | None) -> Iterator[tuple[int, _Found | None]]:
        """Yield the lines around *start* and *end* and their names, those after the title first."""
        rows = self.document.shown_rows
        middle, head = bisect_left(rows, start), bisect_left(rows, self.document.end[start])
        stop = min(middle + _NODES_AFTER, len(rows))
        spans = [(head, stop), (max(0, middle - _NODES_BEFORE), middle)]
        last = bisect_left(rows, end) if end is not None else len(rows)
        if end is not None:
            spans.append((max(last - _NODES_AT_END, stop), min(last + _NODES_AT_END, len(rows))))
        after_by, marks = False, self._marks(spans)
        for number, span in enumerate(spans):
            paragraphs = 0
            for line, text in map(self._beginning, self._lines(*span)):
                position = line[0]
                is_short = len(text) <= _MAX_TEXT
                has_label = is_short and may_have_label(text)
                introduces = has_label and is_by(text, self.language) and not self._is_link(line)
                found = None
                if is_short and not introduces:
                    is_marked = not marks.isdisjoint(map(rows.__getitem__, line))
                    if is_marked or after_by or has_label:
                        found = self._marked(line, text, after_by=after_by, has_label=has_label)
                    is_at_end = number == _AT_END or position >= last
                    is_below = is_at_end or number == 1 or paragraphs >= _MIN_STORY
                    if found and is_below and not after_by:
                        found = found if self._is_own(found, at_end=is_at_end) else None
                    is_near = head <= position < head + _MAX_FROM_TITLE
                    if found is None and (is_near or position >= last - _NODES_AT_END):
                        first = is_near and position < head + 2
                        found = self._by_place(line, text, first=first, near=is_near)
                after_by = introduces
                paragraphs += len(text) > _MAX_LINE
                yield position, found

    def _beginning(self, line: list[int]) -> tuple[list[int], str]:
        """Return the first text nodes of a line, up to a length, at least one, and their text."""
        rows, text = self.document.shown_rows, self.document.text
        if len(line) == 1:
            return line, plain_text(text[rows[line[0]]])
        lengths = accumulate([len(text[rows[position]]) + 1 for position in line])
        line = line[: max(1, sum(map(_MAX_TEXT.__ge__, lengths)))]
        return line, BOUNDARY.join([plain_text(text[rows[position]]) for position in line])

    def _lines(self, first: int, stop: int) -> Iterator[list[int]]:
        """Yield the positions of the text nodes of each line."""
        tag, parent, rows = self.document.tag, self.document.parent, self.document.shown_rows
        line: list[int] = []
        last, last_block = 0, -1
        for position in range(first, stop):
            row = rows[position]
            block = parent[row]
            while block > 0 and tag[block] not in _BREAKS:
                block = parent[block]
            if line and (block != last_block or not _BREAKS.isdisjoint(tag[last + 1 : row])):
                yield line
                line = []
            line.append(position)
            last, last_block = row, block
        if line:
            yield line

    def _is_link(self, line: Sequence[int]) -> bool:
        """Return whether all of a line is a link, of a menu."""
        document, rows = self.document, self.document.shown_rows
        above = (document.parent[rows[position]] for position in line)
        return all(document.tag[row] == "a" and row in document.attributes["href"] for row in above)

    def _marked(
        self, line: list[int], text: str, *, after_by: bool, has_label: bool
    ) -> _Found | None:
        """Return the names in a line with a mark; with *after_by*, the line before it is "By"."""
        rows = [self.document.shown_rows[position] for position in line]
        sources = list(map(self._source, rows))
        marked = "class" in sources
        needs_label = not (marked or after_by or "link" in sources)
        found = Names([], labelled=False)
        if after_by or has_label:
            found = self._read(text, marked=marked, labelled=after_by, needs_label=needs_label)
        source = "link" if "link" in sources else "class" if marked else None
        source = "byline" if found.labelled else source
        if source is None or self._is_elsewhere(rows[0]):
            return None
        names = found.names
        if not found.labelled:
            own = [row for row, it in zip(rows, sources, strict=True) if it == source]
            rows = [row for row in own if self._markup(row) == self._markup(own[0])]
            texts = (plain_text(self.document.text[row]) for row in rows)
            names = [name for text in texts for name in self._read(text, marked=True).names]
        names = [name for name in names if is_person(name.text) and name.kind != "role"]
        is_menu = found.labelled and not after_by and "link" not in sources and self._is_link(line)
        if is_menu and not (is_byline(text) and all(is_full_name(name.text) for name in names)):
            return None  # "by City"
        if not names or self._is_label(names[0].text, self.document.text[rows[0]], source):
            return None
        first = names[0].text.partition(" ")[0]
        row = next((row for row in rows if first in self.document.text[row]), rows[0])
        return _Found(line[0], source, row, self._markup(rows[0]), names)

    def _markup(self, row: int) -> tuple[str, str]:
        parent = self.document.parent[row]
        return self.document.tag[parent], self.document.attributes["class"].get(parent, "")

    def _read(self, text: str, **marks: bool) -> Names:
        return read_names(text, self.language, sites=self.sites, **marks)

    def _is_label(self, name: str, text: str, source: str) -> bool:
        """Return whether a first name is part of a date or label: "Sat, 20 Dec", "Publicerad"."""
        if source == "class" and not may_be_name(name, self.language):
            return True
        label = label_of(name)
        if " " in name:
            return label == "modified"
        is_dated = source == "class" and name.isascii() and count_digits(text) > 0
        return is_dated or label in {"published", "modified"}

    def _is_own(self, found: _Found, *, at_end: bool) -> bool:
        """Return whether names below the story are of its author, not of another story."""
        if is_of_card(self.document, found.row):
            return False
        above = {self.document.tag[it] for it in self.document.ancestors(found.row)}
        is_full = not above & _OTHER_ENDS and all(is_full_name(name.text) for name in found.names)
        return not at_end or found.source == "byline" or is_full

    def _by_place(self, line: list[int], text: str, *, first: bool, near: bool) -> _Found | None:
        """Return the names in a line next to a role or, *near* the title, to a date.

        If *first*, also those that are repeated or in a place ("Ada Meyer in Oslo").
        Their words are not in lower case elsewhere on the page.
        """
        document, rows = self.document, self.document.shown_rows
        spaced = text.replace(",", " ").split()
        if (
            len(text) > _MAX_LINE
            or text[-1:] in "!?"
            or sum([it[0].isalpha() and (not is_lower(it) or "-" in it) for it in spaced]) <= 1
            or not (near or max(text) >= _MIN_UNCASED)
            or self._is_elsewhere(rows[line[0]], links=True)
        ):
            return None
        placed = _IN_PLACE.search(text)
        found = self._read(text, labelled=placed is not None).names
        names = [name for name in found if name.kind in {"person", "sign"}]
        last = line[-1] + 1
        after = [document.text[it][: _MAX_LINE + 1] for it in rows[last : last + 2]]
        before = [document.text[it][: _MAX_LINE + 1] for it in rows[max(0, line[0] - 1) : line[0]]]
        parts = re.split(rf"(?:(?<!\s)\s++)?[|,{BOUNDARY}]\s*+", text)[1:]
        beside = filter(None, (*after[:near], *parts))
        has_role = len(names) < len(found) or any(map(is_role, beside))
        is_plain = has_role and all(_is_uncased(name.text) for name in names)
        is_full = near and all(is_full_name(name.text) for name in names)
        if not names or not (is_plain or is_full):
            return None
        dates = (read_dates(it, language=self.language) for it in (*before, text, *after[:1]))
        is_known = (
            has_role
            or (first and any(document.text[it].startswith(names[0].text) for it in rows[last:]))
            or any(it.has_year for it in chain.from_iterable(dates))
        )
        if not (is_known or (first and placed)):
            return None
        page = document.join_texts(rows).replace(text, "", 1)
        page = page if is_known else page.lower()  # a story names its people again
        words = (word for name in names for word in name.text.split() if not is_lower(word))
        if any(re.search(rf"\b{re.escape(word.lower())}\b", page) for word in words):
            return None
        return _Found(line[0], "place", rows[line[0]], ("", ""), names)

    def _is_elsewhere(self, row: int, *, links: bool = False) -> bool:
        """Return whether the text node *row* is in a caption or a menu; with *links*, in a link."""
        above = self.document.closest_ancestors(row, _MAX_LEVELS)
        is_link = links and any(map(self.document.attributes["href"].get, above))
        return is_link or any(self.document.tag[it] in _OTHER_PLACES for it in above)

    def _source(self, row: int) -> str | None:
        """Return the mark of a text node: the page of an author or a class."""
        document = self.document
        source = None
        hrefs, tag = document.attributes["href"], document.tag
        classes, ids = document.attributes["class"], document.attributes["id"]
        for above in document.closest_ancestors(row, _MAX_LEVELS):
            chars = document.chars(above)
            if chars > _MAX_ELEMENT:
                break
            is_link = above in hrefs and tag[above] == "a"
            if is_link and _is_author_page(hrefs[above], document.text[row]):
                return "link"
            if source is None and (above in classes or above in ids):
                is_author = above in self._authors
                dated = is_author and count_digits(document.text[row])
                mark = f"{classes.get(above, '')} {ids.get(above, '')}"
                if chars < _MAX_TEXT and not dated and _is_other_part(mark):
                    return None
                source = "class" if is_author else None
        return source

    def _marks(self, spans: Iterable[tuple[int, int]]) -> frozenset[int]:
        """Return the text nodes in elements of authors and in links to people.

        Only links around text nodes between the positions *spans* count.
        """
        document, rows = self.document, self.document.shown_rows
        address_of, links = document.attributes["href"].get, document.rows_of("a")
        around = set(self._authors)
        for first, stop in spans if rows else ():
            start, last = rows[max(0, first - _NODES_IN_LINK)], rows[min(stop, len(rows)) - 1]
            near = rows_between(links, start, last + 1)
            addresses = "\0".join([address_of(link, "") for link in near]).lower()
            if any(map(addresses.__contains__, _PERSON_PARTS)):  # a pattern takes longer
                around.update(map(near.__getitem__, places_of(_PERSON_LINK, addresses)))
        inside = (rows_between(rows, row, document.end[row]) for row in around)
        return frozenset(chain.from_iterable(inside))

    @cached_property
    def _authors(self) -> frozenset[int]:
        """The rows whose class or id names an author."""
        names = "class", "id"
        return frozenset(self.document.rows_named(_AUTHOR_PARTS, names, _names_author))


def _is_uncased(name: str) -> bool:
    """Return whether *name* has the form of one with a surname, in a script without capitals."""
    return " " in name and name.lower() == name.upper() and is_person(name)


def is_of_card(document: Document, row: int) -> bool:
    """Return whether *row* is in the card of another story: its link, no heading of this one."""
    for above in document.closest_ancestors(row, _MAX_LEVELS):
        if document.chars(above) > _MAX_CARD or rows_between(
            document.rows_of("h1"), above, document.end[above]
        ):
            return False
        links = rows_between(document.rows_of("a"), above, document.end[above])
        if any(_is_title(document, link, row) for link in links):
            return True
    return False


def _is_title(document: Document, link: int, row: int) -> bool:
    """Return whether *link*, not around *row*, has the length of a title."""
    if link <= row < document.end[link] or not document.chars(link):
        return False
    return document.chars(link) > _MIN_TEASER or len(document.shown_text(link).split()) > _MAX_NAME


def _names_author(name: str) -> bool:
    return _AUTHOR.search(name.lower()) is not None


@lru_cache(maxsize=1024)
def _is_other_part(mark: str) -> bool:
    return _OTHER_PART.search(mark.lower()) is not None


def _is_author_page(address: str, text: str) -> bool:
    address = address.lower()
    if _AUTHOR_PAGE.search(address):
        return _NO_PERSON.search(address) is None
    page = _PERSON_PAGE.search(address)
    if page is None or _NO_PERSON.search(address):
        return False
    names = _WORD.findall(text.lower())
    if len(names) > 1:
        return any(word in page[1] for word in names)
    return names == re.split(r"[/?.]", page[1])[:1]  # no "Clip" of "/users/clippings"
