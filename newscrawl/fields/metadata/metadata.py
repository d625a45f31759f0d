"""Structured data of a page: the machine-readable statements about its article.

Reads JSON-LD, OpenGraph and other meta elements, microdata, ``<time>``, the canonical link and the
URL, each value with its source. :mod:`newscrawl.fields.titles.title` and
:mod:`newscrawl.fields.dates.decide` choose among the stated titles and dates.
``benchmarks/structured.py`` compares the results with extruct.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.document.document import rows_between
from newscrawl.document.repeats import dated_teasers
from newscrawl.fields.metadata.author_names import clean_names, is_by, is_person
from newscrawl.fields.metadata.description import stated_descriptions
from newscrawl.fields.metadata.jsonld import JsonObject, are_organizations, as_list, person_names
from newscrawl.fields.metadata.main_image import main_image
from newscrawl.fields.metadata.places import place_of
from newscrawl.fields.metadata.sections import (
    breadcrumbs,
    is_home_page,
    is_host,
    section,
    site_name,
    tags,
)
from newscrawl.fields.metadata.structured_data import (
    MAX_VALUES,
    StatedText,
    StructuredData,
    clean_text,
    instant_of,
    plain_text,
)
from newscrawl.fields.metadata.structured_date import parse_date, parse_url_date
from newscrawl.items import Evidence
from newscrawl.patterns import CJKPattern, lazy_regex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from datetime import datetime

    from newscrawl.document.document import Document
    from newscrawl.document.rows import Statement
    from newscrawl.items import Breadcrumb, Day, Image

_PUBLISHED_META = (
    "article:published_time", "og:article:published_time", "datepublished", "parsely-pub-date",
    "sailthru.date", "article_date_original", "displaydate", "article:post_date", "article:create_at",
    "analyticsattributes.articledate", "release_date", "dc.date.issued", "dcterms.issued",
    "dcterms.date.issued", "dc.issued", "dc.date.created", "dcterms.created", "dc.created",
    "datecreated", "article.created", "created", "apub:time", "og:regdate", "regdate",
    "weibo: article:create_at", "citation_date", "citation_online_date", "pdate", "timestamp",
)  # fmt: skip
"""Names of meta elements with the publication date, the most specific first.

Names of the kind "og:pubdate" follow.
"""

GENERIC_META = ("dc.date", "dcterms.date", "dc.terms.date", "date")
"""Names of meta elements with a date of publication, of the record or of an edit."""

_MODIFIED_META = (
    "article:modified_time", "og:article:modified_time", "article:modified", "article.updated",
    "og:updated_time", "og:modified_time", "datemodified", "date_modified", "lastmod",
    "last-modified", "last_modified", "modified", "modified_at", "updated", "updated_at",
    "dc.date.modified", "dcterms.modified", "dc.modified", "revision_date", "date.modified",
    "utime", "cxenseparse:recs:modifiedtime",
)  # fmt: skip
"""Names of meta elements with the date of modification, the most specific first."""

CONFIDENCE = {
    "canonical_url": {"link": 0.95, "meta": 0.85},
    "language": {"article": 0.95, "html": 0.95, "meta": 0.85, "json-ld": 0.85},
    "authors": {
        "json-ld": 0.93, "meta": 0.88, "microdata": 0.74, "rel": 0.87, "byline": 0.78, "link": 0.92,
        "class": 0.78, "place": 0.83, "site": 0.87,
    },
    "paywalled": {"json-ld": 0.9, "meta": 0.9},
    "site_name": {"json-ld": 0.93, "meta": 0.95, "title": 0.95},
    "section": {
        "json-ld": 0.9, "meta": 0.92, "microdata": 0.85, "breadcrumbs": 0.85, "rel": 0.85, "links": 0.8,
    },
    "tags": {"json-ld": 0.85, "meta": 0.85, "microdata": 0.8, "rel": 0.85, "links": 0.8},
    "image": {"json-ld": 0.95, "meta": 0.93, "microdata": 0.85},
    "breadcrumbs": {"json-ld": 0.95, "microdata": 0.9, "links": 0.85},
}  # fmt: skip
"""Confidence by field and kind of source: for authors the rates of ``benchmarks/confidences.py``, others are set by hand."""

_AUTHOR_META = (
    "author", "article:author", "article:author_name", "parsely-author", "sailthru.author",
    "articleauthor", "og:article:author", "byl", "dc.creator", "dcterms.creator", "dc.contributor.author", "citation_author",
    "cxenseparse:author",
)  # fmt: skip
_WRITTEN_BY = "twitter:label1", "twitter:data1"
_LANGUAGE_META = ("og:locale", "content-language", "dc.language", "dcterms.language", "language")
_LANGUAGE = lazy_regex(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?")
_INLINE = lazy_regex(r"</?(?:a|abbr|b|em|font|i|q|s|small|span|strong|su[bp]|u)(?:\s[^<>]*)?>")
# A name with a claim: "Port Gazette – News for Fishers".
_SLOGAN = lazy_regex(r"\s[–—|-]\s.*\s.*\s")
# Telephone numbers, Chinese claims.
_NO_NAME = CJKPattern(r"(?:\d\D{0,2}){7}|[\u4e00-\u9fff]{11}")
_MODIFIED_MARK = lazy_regex(r"updat|modif|revis|edited")
_PUBLICATION = lazy_regex(
    r"(?!.*(?:publisher|expir|updat|modif|revis|last)).*(?:publi(?:sh|cation)|pub[._:-]?(?:date|day|time))"
)
# Text nodes.
_MAX_BETWEEN_AUTHORS = 12
_MAX_TITLE_LENGTH = 1000


class StatedDate(NamedTuple):
    """A day or instant stated by one source."""

    source: str
    raw: str
    value: Day | datetime


@dataclass(slots=True)
class Metadata:
    """Structured data of a page; lists begin with the most trusted source."""

    #: absolute URL
    canonical_url: str | None = None
    #: BCP 47 tag
    language: str | None = None
    #: names of the publication
    site_names: list[str] = field(default_factory=list)
    #: sources ``json-ld``, ``og:title``, ``microdata``, ``twitter:title``, ``title``
    titles: list[StatedText] = field(default_factory=list)
    #: sources ``json-ld``, ``meta:NAME``, ``microdata``, ``json-ld:page``, ``json-ld:created``,
    #: ``url``, ``time``, ``meta:NAME`` of :data:`GENERIC_META`
    published: list[StatedDate] = field(default_factory=list)
    #: sources as of ``published``, without ``url``
    modified: list[StatedDate] = field(default_factory=list)
    #: distinct names
    authors: list[str] = field(default_factory=list)
    #: the site or an organisation as the author, and the source; only if ``authors`` is empty
    site_authors: tuple[list[str], str] | None = None
    #: raw ``articleBody`` of JSON-LD; see :func:`stated_body`
    article_body: str | None = None
    #: whether the page declares that it shows only part of the article
    paywalled: bool | None = None
    #: distinct descriptions
    descriptions: list[StatedText] = field(default_factory=list)
    #: name of the publication
    site_name: str | None = None
    #: section of the site
    section: str | None = None
    #: keywords
    tags: tuple[str, ...] = ()
    #: main image
    image: Image | None = None
    #: sections that contain the page, outermost first
    breadcrumbs: tuple[Breadcrumb, ...] = ()
    #: evidence of the fields from ``canonical_url`` on that are known, without the lists
    evidence: dict[str, Evidence] = field(default_factory=dict)


def read_metadata(document: Document, url: str | None, fetched_at: datetime) -> Metadata:
    """Return the structured data of a page fetched from *url* at *fetched_at* (aware)."""
    reader = _Reader(document, url, fetched_at=fetched_at)
    site_names = list(dict.fromkeys(reader.site_names()))
    body = reader.article.get("articleBody")
    metadata = Metadata(
        site_names=site_names,
        titles=list(reader.titles()),
        modified=list(reader.modified()),
        article_body=body if isinstance(body, str) else None,
        descriptions=stated_descriptions(reader),
    )
    trail = breadcrumbs(reader, url, [title.text for title in metadata.titles])
    for name, found in (
        ("canonical_url", reader.canonical_url(url)),
        ("language", reader.language),
        ("authors", reader.authors(site_names, url)),
        ("paywalled", reader.paywalled()),
        ("site_name", site_name(reader, url)),
        ("section", section(reader, trail[0] if trail else (), url)),
        ("tags", tags(reader)),
        ("image", main_image(reader)),
        ("breadcrumbs", trail),
    ):
        if found is not None:
            value, source = found
            setattr(metadata, name, value)
            confidence = CONFIDENCE[name][source.partition(":")[0]]
            metadata.evidence[name] = Evidence(source, confidence)
    if not metadata.authors:
        metadata.site_authors = reader.authors(None)
    metadata.published = list(reader.published(url or metadata.canonical_url))
    return metadata


@dataclass
class _Reader(StructuredData):
    #: dates after it are ignored
    fetched_at: datetime = field(kw_only=True)
    #: cache of parsed dates by text
    dates: dict[str, Day | datetime | None] = field(default_factory=dict)

    def titles(self) -> Iterator[StatedText]:
        names = ("twitter:title", "dc.title", "citation_title")
        statements = [
            ("json-ld", self.article.get("headline") or self.article.get("name")),
            ("og:title", self.first_meta("og:title")),
            ("microdata", next(map(self.text_of, self.properties.get("headline", ())), None)),
            *zip(names, map(self.first_meta, names), strict=True),
            ("title", self.title),
        ]
        for source, text in statements:
            if isinstance(text, str) and (clean := plain_text(text[:_MAX_TITLE_LENGTH])):
                if "<" in clean or "&" in clean:
                    clean = plain_text(_INLINE.sub("", clean))
                yield StatedText(clean, source)

    def site_names(self) -> list[str]:
        names = [self.first_meta("og:site_name"), self.first_meta("application-name")]
        names += person_names(self.article.get("publisher"), self.nodes)
        return [plain_text(name) for name in names if name]

    def published(self, url: str | None) -> Iterator[StatedDate]:
        yield from self._ld_dates([self.article], "json-ld", "datePublished")
        others = sorted(name for name in self.meta if "pub" in name and _PUBLICATION.match(name))
        yield from self._meta_dates(dict.fromkeys((*_PUBLISHED_META, *others)))
        yield from self._item_dates("datepublished")
        nodes = (node for node in self.nodes if node is not self.article)
        yield from self._ld_dates(nodes, "json-ld:page", "datePublished")
        yield from self._ld_dates([self.article], "json-ld:created", "dateCreated")
        if url and (day := parse_url_date(url, self.fetched_at)):
            yield StatedDate("url", url, day)
        yield from self._stated("time", *self._times[False])
        yield from self._meta_dates(GENERIC_META)

    def modified(self) -> Iterator[StatedDate]:
        yield from self._ld_dates([self.article], "json-ld", "dateModified")
        yield from self._meta_dates(_MODIFIED_META)
        yield from self._item_dates("datemodified")
        yield from self._stated("time", *self._times[True])

    def authors(
        self, site_names: Collection[str] | None, url: str | None = None
    ) -> tuple[list[str], str] | None:
        organisation = are_organizations(self.article.get("author"))
        for source, names in filter(itemgetter(1), self._author_statements()):
            authors = clean_names(map(clean_text, names), site_names or ())
            is_account = len(authors) == 1 and (authors[0].islower() and " " not in authors[0])
            is_doubtful = (
                (source == "json-ld" and organisation)
                or is_account
                or any(_SLOGAN.search(name) or is_host(name, url) for name in authors)
            )
            if (site_names is not None and is_doubtful) or any(
                _NO_NAME(name).search(name) for name in names
            ):
                continue  # a byline may name the people
            if authors:
                return authors, source
        return None

    def canonical_url(self, url: str | None) -> tuple[str, str] | None:
        links = (("link:canonical", address) for address in self.canonical[:MAX_VALUES])
        metas = (("meta:og:url", address) for address in self.meta.get("og:url", ()))
        for source, address in chain(links, metas):
            absolute = self.absolute(address)
            # A link from an article to the home page is an error of the site.
            if absolute and (not url or is_home_page(url) or not is_home_page(absolute)):
                return absolute, source
        return None

    @cached_property
    def language(self) -> tuple[str, str] | None:
        for source, tag in self._language_statements():
            if language := language_tag(tag):
                return language, source
        return None

    def paywalled(self) -> tuple[bool, str] | None:
        free = str(self.article.get("isAccessibleForFree", "")).strip().lower()
        if free in {"true", "false"}:
            return free == "false", "json-ld"
        tier = (self.first_meta("article:content_tier") or "").lower()
        if tier in {"locked", "free"}:
            return tier == "locked", "meta:article:content_tier"
        return None

    def _language_statements(self) -> Iterator[tuple[str, str]]:
        parts = (found for found in self.document.statements if found.tag in {"article", "main"})
        if len(languages := {found.get("lang") for found in parts if found.get("lang")}) == 1:
            yield "article:lang", languages.pop()
        yield "html:lang", self.lang
        for name in _LANGUAGE_META:
            yield f"meta:{name}", self.first_meta(name) or ""
        for tag in as_list(self.article.get("inLanguage")):
            yield "json-ld", str(tag)

    def _author_statements(self) -> Iterator[tuple[str, list[str]]]:
        for role in ("author", "creator"):
            yield "json-ld", list(person_names(self.article.get(role), self.nodes))
        for name in _AUTHOR_META:
            if name in self.meta:
                yield f"meta:{name}", self.meta[name]
        for label, name in zip(*map(self.meta.get, _WRITTEN_BY, ((), ())), strict=False):
            if is_by(label):
                yield f"meta:{_WRITTEN_BY[1]}", [name]
        items, shown = self.items("author")[:MAX_VALUES], self.document.shown_rows
        own = items[:1]  # those of teasers are farther down
        for item in items[1:]:
            if len(rows_between(shown, own[-1].row, item.row)) <= _MAX_BETWEEN_AUTHORS:
                own.append(item)
        yield "microdata", [self._item_name(item) for item in own]
        links = map(self.text_of, self.links.get("author", ()))
        yield "rel", [text for text in links if " " not in text or is_person(text)]

    def _item_name(self, item: Statement) -> str:
        named = next((part for part in self.inside(item) if part.get("itemprop") == "name"), item)
        return item.get("content") or named.get("content") or self.text_of(named)

    def _stated(self, source: str, *raws: Any) -> Iterator[StatedDate]:
        for raw in raws[:MAX_VALUES]:
            if isinstance(raw, (str, int)) and not isinstance(raw, bool):
                text = str(raw)
                if text not in self.dates:
                    language = self.language and self.language[0]
                    self.dates[text] = parse_date(
                        text, self.fetched_at, language, guesses_order=language is not None
                    )
                if (value := self.dates[text]) is not None:
                    yield StatedDate(source, text.strip(), value)

    def _ld_dates(
        self, nodes: Iterable[JsonObject], source: str, name: str
    ) -> Iterator[StatedDate]:
        for node in islice(nodes, MAX_VALUES):
            if name in node:
                yield from self._stated(source, *as_list(node[name]))

    def _meta_dates(self, names: Iterable[str]) -> Iterator[StatedDate]:
        for name in filter(self.meta.__contains__, names):
            yield from self._stated(f"meta:{name}", *self.meta[name])

    def _item_dates(self, name: str) -> Iterator[StatedDate]:
        for item in self.properties.get(name, [])[:MAX_VALUES]:
            raw = (
                item.get("content")
                or item.get("datetime")
                or (item.tag == "abbr" and item.get("title"))
                or self.text_of(item)
            )
            yield from self._stated("microdata", raw)

    @cached_property
    def _times(self) -> tuple[list[str], list[str]]:
        """The instants of the time elements of the story: of publication, of modification."""
        title = next(iter(self.document.rows_of("h1")), None)
        teasers = dated_teasers(self.document, title) if self.times and title is not None else ()
        found: tuple[list[str], list[str]] = ([], [])
        for time in self.times:
            if place_of(self.document, time.row, title, teasers) != "other":
                found[_is_modified(self.document, time)].append(instant_of(time))
        return found


def stated_body(metadata: Metadata) -> str:
    """Return the body in JSON-LD, with paragraphs separated by blank lines, or ""."""
    from w3lib.html import remove_tags  # noqa: PLC0415  # slow to import

    lines = remove_tags(html.unescape(metadata.article_body or "")).splitlines()
    return "\n\n".join(line for line in map(plain_text, lines) if line)


def is_modified_mark(marks: str) -> bool:
    """Return whether classes, or an ``itemprop``, mark a date as that of the modification only."""
    marks = marks.lower()
    return "publish" not in marks and _MODIFIED_MARK.search(marks) is not None


def _is_modified(document: Document, time: Statement) -> bool:
    parent = document.attributes["class"].get(document.parent[time.row])
    marks = f"{time.get('class')} {time.get('itemprop')} {time.get('id')} {parent or ''}"
    return is_modified_mark(marks)


@lru_cache(maxsize=256)
def language_tag(text: str) -> str | None:
    """Convert *text* (``pt_br``, ``zh-hans-CN``) to a BCP 47 tag, or return None."""
    match = _LANGUAGE.fullmatch(text.strip())
    if match is None:
        return None
    language, script, region = match.groups("")
    parts = (language.lower(), script.title(), region.upper())
    return "-".join(part for part in parts if part)
