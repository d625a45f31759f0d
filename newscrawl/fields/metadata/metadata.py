"""Structured data of a page: the machine-readable statements about its article.

Reads JSON-LD, OpenGraph and other meta elements, microdata, ``<time>``, the canonical link and the
URL, each value with its source. :mod:`newscrawl.fields.titles.title` and
:mod:`newscrawl.fields.dates.decide` choose among the stated titles and dates.
``tests/fields/test_structured_reference.py`` compares the results with extruct.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.fields.metadata.authors import CONFIDENCE as AUTHOR_CONFIDENCE
from newscrawl.fields.metadata.authors import StatedAuthors, stated_authors
from newscrawl.fields.metadata.description import stated_descriptions
from newscrawl.fields.metadata.jsonld import JsonObject, as_list
from newscrawl.fields.metadata.media import main_image
from newscrawl.fields.metadata.places import StoryPlaces
from newscrawl.fields.metadata.sections import (
    breadcrumbs,
    is_home_page,
    section,
    site_name,
    stated_site_names,
    tags,
)
from newscrawl.fields.metadata.structured_data import (
    MAX_VALUES,
    StatedText,
    StructuredData,
    instant_of,
    plain_text,
)
from newscrawl.fields.metadata.structured_date import parse_date, parse_url_date
from newscrawl.items import Evidence
from newscrawl.language_words import words as words_of
from newscrawl.patterns import lazy_regex
from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from newscrawl.document.document import Document
    from newscrawl.document.rows import Statement
    from newscrawl.items import Breadcrumb, Day, Media

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
    "authors": AUTHOR_CONFIDENCE,
    "paywalled": {"json-ld": 0.9, "meta": 0.9},
    "site_name": {"json-ld": 0.93, "meta": 0.95, "title": 0.95},
    "section": {
        "json-ld": 0.9, "meta": 0.92, "microdata": 0.85, "breadcrumbs": 0.85, "rel": 0.85, "links": 0.8,
    },
    "tags": {"json-ld": 0.85, "meta": 0.85, "microdata": 0.8, "rel": 0.85, "links": 0.8},
    "image": {"json-ld": 0.95, "meta": 0.93, "microdata": 0.85},
    "breadcrumbs": {"json-ld": 0.95, "microdata": 0.9, "links": 0.85},
}  # fmt: skip
"""Confidence by field and kind of source: for authors the rates of ``benchmarks/confidences.py``,
others are set by hand."""

_LANGUAGE_META = ("og:locale", "content-language", "dc.language", "dcterms.language", "language")
_LANGUAGE = lazy_regex(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?")
_INLINE = lazy_regex(r"</?(?:a|abbr|b|em|font|i|q|s|small|span|strong|su[bp]|u)(?:\s[^<>]*)?>")
_MODIFIED_MARK = lazy_regex(r"updat|modif|revis|edited")
_PUBLICATION = lazy_regex(
    r"(?!.*(?:publisher|expir|updat|modif|revis|last)).*(?:publi(?:sh|cation)|pub[._:-]?(?:date|day|time))"
)
_MAX_TITLE_LENGTH = 1000
DETECTED = "detected"
"""Source of a detected language."""

_MIN_CHARS = 100
_MAX_CHARS = 500
_MIN_PROBABILITY = 0.9
# Of 1,127 English bodies of the corpora 1,000 reach this share of common words, of 414 others none.
_MIN_COMMON, _ENGLISH_CONFIDENCE = 0.1, 0.999


class StatedDate(NamedTuple):
    """A day or instant stated by one source."""

    source: str
    raw: str
    value: Day | datetime


@dataclass(slots=True)
class Metadata:
    """Structured data of a page; lists begin with the most trusted source."""

    #: all that the page states
    data: StructuredData = field(repr=False, compare=False)
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
    #: the names that each source of authors states
    stated_authors: list[StatedAuthors] = field(default_factory=list)
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
    image: Media | None = None
    #: sections that contain the page, outermost first
    breadcrumbs: tuple[Breadcrumb, ...] = ()
    #: evidence of the fields from ``canonical_url`` on that are known, without the lists
    evidence: dict[str, Evidence] = field(default_factory=dict)


def read_metadata(document: Document, url: str | None, fetched_at: datetime) -> Metadata:
    """Return the structured data of a page fetched from *url* at *fetched_at* (aware)."""
    reader = _Reader(document, url, fetched_at=fetched_at)
    stated_names = list(stated_site_names(reader))
    site_names = list(dict.fromkeys(name.text for name in stated_names))
    reader.stated_authors = stated_authors(reader, site_names, url)
    body = reader.article.get("articleBody")
    metadata = Metadata(
        reader,
        site_names=site_names,
        titles=list(reader.titles()),
        modified=list(reader.modified()),
        article_body=body if isinstance(body, str) else None,
        descriptions=stated_descriptions(reader),
        stated_authors=reader.stated_authors,
    )
    trail = breadcrumbs(reader, [title.text for title in metadata.titles])
    for name, found in (
        ("canonical_url", reader.canonical_url(url)),
        ("language", reader.language),
        ("authors", reader.authors()),
        ("paywalled", reader.paywalled()),
        ("site_name", site_name(stated_names, reader.title, url)),
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
    metadata.published = list(reader.published(url or metadata.canonical_url))
    return metadata


@dataclass
class _Reader(StructuredData):
    #: dates after it are ignored
    fetched_at: datetime = field(kw_only=True)
    #: cache of parsed dates by text
    dates: dict[str, Day | datetime | None] = field(default_factory=dict)
    stated_authors: list[StatedAuthors] = field(default_factory=list)

    def titles(self) -> Iterator[StatedText]:
        names = ("twitter:title", "dc.title", "citation_title")
        statements = [
            ("json-ld", self.article.get("headline") or self.article.get("name")),
            ("og:title", self.first_meta("og:title")),
            ("microdata", next(map(self.text_of, self.items("headline")), None)),
            *zip(names, map(self.first_meta, names), strict=True),
            ("title", self.title),
        ]
        for source, text in statements:
            if isinstance(text, str) and (clean := plain_text(text[:_MAX_TITLE_LENGTH])):
                if "<" in clean or "&" in clean:
                    clean = plain_text(_INLINE.sub("", clean))
                yield StatedText(clean, source)

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

    def authors(self) -> tuple[list[str], str] | None:
        return next(((it.people, it.source) for it in self.stated_authors if it.people), None)

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
        for item in (self.items(name) or self.properties.get(name, []))[:MAX_VALUES]:
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
        found: tuple[list[str], list[str]] = ([], [])
        if self.times:
            title = next(iter(self.document.rows_of("h1")), None)
            places = StoryPlaces.of(self.document, title)
        for time in self.times:
            if places.place_of(time.row) != "other":
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


def detect_language(text: str) -> tuple[str, Evidence] | None:
    """Return the language of *text*, an ISO 639-1 code, and the evidence with its probability.

    None for a short or ambiguous text, and if py3langid is not installed, except for English.
    """
    start = text[:_MAX_CHARS]
    if weighted_length(start) < _MIN_CHARS:
        return None
    if _is_english(start):
        return "en", Evidence(DETECTED, _ENGLISH_CONFIDENCE)
    classifier = _classifier()
    if classifier is None:
        return None
    language, probability = classifier.classify(start)
    if probability < _MIN_PROBABILITY:
        return None
    return language, Evidence(DETECTED, float(probability))


def _is_english(text: str) -> bool:
    """Return whether *text* has many English words, which saves loading the classifier."""
    words = text.lower().split()
    common = sum(map(words_of("common", "en").__contains__, words))
    return words.count("the") > 1 and common >= _MIN_COMMON * len(words)


@cache
def _classifier() -> Any:
    """Return the classifier, which is loaded for the first text; None if it is not installed."""
    if find_spec("py3langid") is None:
        return None
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415  # optional, slow

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
