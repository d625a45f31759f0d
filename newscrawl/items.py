"""Items of a crawl: pages and articles."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, date, datetime, time
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from newscrawl.text import escape_markdown, squeeze

if TYPE_CHECKING:
    from collections.abc import Mapping

ArticleKind = Literal["article", "live", "gallery", "index", "other"]
NON_ARTICLE_KINDS: frozenset[ArticleKind] = frozenset({"index", "other"})
"""Kinds of pages that are not articles."""
LISTED = "listed"
"""Hint: the page is in a feed or a news sitemap."""
MAX_BODY = 1_000_000
"""Maximum number of characters of a body; pages with a longer one, a flood of text, are dropped."""
EXTRA_FIELDS = (
    "body_markdown", "body_html", "links", "images", "videos", "audio", "author_profiles", "publisher",
    "word_count", "amp_url", "alternates", "licence", "dateline", "place", "comment_count", "comments", "data",
)  # fmt: skip
"""Fields of articles that are None unless requested (``ExtractOptions``)."""
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
#: calendar day; ``Article`` has a field called ``date``
Day = date


@dataclass(slots=True)
class PageItem:
    """A fetched page: input of ``NewsExtractPipeline``."""

    #: URL of the page after redirects
    url: str
    #: body of the response without content encoding (gzip, br)
    html: bytes
    #: charset of the HTTP ``Content-Type`` header
    encoding: str | None = None
    #: time of the response (aware, UTC)
    fetched_at: datetime | None = None
    #: key of the site in the site list: its host, with a port that is not the default
    site: str | None = None
    #: absolute URLs of the style sheets of the page, if known
    stylesheets: list[str] | None = None
    #: ``title``, ``date`` and ``language`` from a news sitemap or feed entry, with :data:`LISTED`
    hints: dict[str, str] = field(default_factory=dict)
    #: whether an archive marks the body as incomplete
    truncated: bool = False
    #: HTML and its article, if a worker has extracted the page when it classified it
    extracted: tuple[bytes, dict[str, Any]] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Source of a field, with a confidence."""

    #: for example ``nce``, ``json-ld``, ``meta:article:published_time``, ``time``, ``url``
    source: str
    #: in 0..1
    confidence: float


def plain_evidence(evidence: Mapping[str, Evidence]) -> dict[str, dict[str, str | float]]:
    """Return *evidence* as JSON values; Scrapy's encoder is slow with objects."""
    return {
        name: {"source": it.source, "confidence": round(it.confidence, 4)}
        for name, it in evidence.items()
    }


@dataclass(frozen=True, slots=True)
class BodyLink:
    """A link in the body."""

    #: absolute, ``http`` or ``https``
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """An image, a video or a recording of an article."""

    #: absolute, ``http`` or ``https``
    url: str
    caption: str | None = None
    #: photographer or agency
    credit: str | None = None
    #: alternative text of an image
    alt: str | None = None
    #: in pixels, as stated
    width: int | None = None


@dataclass(frozen=True, slots=True)
class AuthorProfile:
    """An author, with what the page states of them."""

    name: str
    #: absolute URL of their page
    url: str | None = None
    #: absolute URL of their portrait
    image: str | None = None
    job_title: str | None = None


@dataclass(frozen=True, slots=True)
class Publisher:
    """The publisher of an article."""

    name: str
    #: absolute URL
    url: str | None = None
    #: absolute URL of an image
    logo: str | None = None


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of a reader."""

    text: str
    author: str | None = None
    #: the instant in ISO 8601 if the page has it, else the text of the page
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Breadcrumb:
    """A section of a site that contains the page."""

    name: str
    #: absolute URL
    url: str | None = None


@dataclass(slots=True)
class ListedArticle:
    """An article that a site lists and that was not fetched, of ``newscrawl discover``."""

    url: str
    #: title or text of the link
    title: str | None
    #: publication according to the listing or the URL: a month, a day or an instant in ISO 8601
    date: str | None
    #: last change according to the listing, an instant in ISO 8601
    changed: str | None
    #: URL of the feed, sitemap or page that lists it
    source: str
    #: key of the site, as in :class:`PageItem`
    site: str


@dataclass(slots=True)
class Article:
    """A clean article. Unknown fields are None."""

    #: URL of the page, as given
    url: str | None = None
    #: canonical URL in the page, made absolute
    canonical_url: str | None = None
    #: headline without the name of the site
    title: str | None = None
    #: publication: a day, or an instant (aware if the page has a time zone)
    date: Day | datetime | None = None
    #: text of ``date`` in the page
    date_raw: str | None = None
    #: last modification; never used in place of ``date``
    date_modified: Day | datetime | None = None
    #: paragraphs separated by blank lines
    body: str = ""
    #: BCP 47 tag that the page declares, else detected (extra ``newscrawl[language]``)
    language: str | None = None
    #: names, in the order of the page
    authors: list[str] = field(default_factory=list)
    #: summary that the page states for search engines and social networks, or its standfirst
    description: str | None = None
    #: name of the publication
    site_name: str | None = None
    #: section of the site
    section: str | None = None
    #: keywords, in the order of the page
    tags: tuple[str, ...] = ()
    #: main image
    image: Media | None = None
    #: sections that contain the page, outermost first
    breadcrumbs: tuple[Breadcrumb, ...] = ()
    #: kind of the page
    kind: ArticleKind = "article"
    #: True if the page shows only a part of the article, None if unknown
    paywalled: bool | None = None
    #: True if a browser has rendered the page (``NEWSCRAWL_RENDER``)
    rendered: bool = False
    #: False if a style sheet was missing, None if styles were not used
    style_complete: bool | None = None
    #: number of pages of the story that ``body`` has the text of
    pages: int = 1
    #: URLs at which the story continues, if further pages were not read
    next_pages: tuple[str, ...] = ()
    #: time of the fetch (aware)
    fetched_at: datetime | None = None
    #: field name -> source and confidence
    evidence: dict[str, Evidence] = field(
        default_factory=dict, metadata={"serializer": plain_evidence}
    )
    #: problems of the page: ``depth_exceeded``, ``attributes_dropped``, ``encoding_repaired``,
    #: ``truncated``
    flags: list[str] = field(default_factory=list)
    #: near-duplicate cluster, set by ``NearDuplicatePipeline``
    cluster: dict[str, Any] | None = None

    # On request; see EXTRA_FIELDS.

    #: the body as Markdown
    body_markdown: str | None = None
    #: the body as HTML without scripts and styles
    body_html: str | None = None
    #: links of the body
    links: list[BodyLink] | None = None
    #: main image, others that the page states, and those of the body
    images: list[Media] | None = None
    #: videos that the page states, and players of the body
    videos: list[Media] | None = None
    #: recordings that the page states, and players of the body
    audio: list[Media] | None = None
    #: of each of ``authors``
    author_profiles: list[AuthorProfile] | None = None
    publisher: Publisher | None = None
    #: words of ``body``; in scripts without spaces, characters
    word_count: int | None = None
    #: URL of the AMP version
    amp_url: str | None = None
    #: BCP 47 tag, or ``x-default`` -> URL of the page in that language
    alternates: dict[str, str] | None = None
    #: URL of the licence, else its text
    licence: str | None = None
    #: place, date or agency before the text, as written: ``BERLIN (dpa)``
    dateline: str | None = None
    #: name of the place that the article is about or was written in
    place: str | None = None
    #: number of readers' comments
    comment_count: int | None = None
    #: readers' comments in the page
    comments: list[Comment] | None = None
    #: values of the JSON-LD of the page
    data: list[Any] | None = None

    @property
    def published(self) -> datetime | None:
        """The publication as an aware instant, which sorts and compares; None without a date.

        A day begins at midnight; without a time zone, UTC is assumed.
        """
        return instant(self.date)

    def remove_body(self) -> None:
        """Remove the body, with its formats and links; the other fields stay."""
        self.body, self.next_pages = "", ()
        self.body_markdown = self.body_html = self.links = None
        self.evidence.pop("body", None)

    def to_dict(self) -> dict[str, Any]:
        """Return the article as JSON values: ISO 8601 dates, nested dicts.

        Fields of :data:`EXTRA_FIELDS` that are None are left out.
        """
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in EXTRA_FIELDS:
            if plain[name] is None:
                del plain[name]
        for name in _NESTED.keys() & plain.keys():
            if plain[name] is not None:
                found = plain[name]
                is_list = isinstance(found, list | tuple)
                plain[name] = list(map(asdict, found)) if is_list else asdict(found)
        for name in ("date", "date_modified", "fetched_at"):
            if plain[name] is not None:
                plain[name] = plain[name].isoformat()
        plain["tags"] = list(self.tags)
        plain["next_pages"] = list(self.next_pages)
        plain["evidence"] = plain_evidence(self.evidence)
        return plain

    def to_markdown(self, *, front_matter: bool = False) -> str:
        """Return title and body as Markdown.

        With *front_matter*, the title is in a YAML header instead of a heading, with date, authors,
        URL, description, tags and language, as Hugo, Obsidian and readers of corpora expect it.

        Raises ``ValueError`` unless ``body_markdown`` was requested.
        """
        body = self._formatted_body("body_markdown", self.body_markdown)
        if front_matter:
            return "\n".join([*self._front_matter(), "", body]).rstrip("\n") + "\n"
        title = f"# {escape_markdown(squeeze(self.title))}" if self.title else ""
        if title.endswith("#"):  # would end the heading
            title = title[:-1] + "\\#"
        return "\n\n".join(part for part in (title, body) if part) + "\n"

    def to_html(self) -> str:
        """Return title and body as an HTML ``article`` element, without scripts and styles.

        Raises ``ValueError`` unless ``body_html`` was requested.
        """
        body = self._formatted_body("body_html", self.body_html)
        title = f"<h1>{escape(squeeze(self.title))}</h1>" if self.title else ""
        return "\n".join(part for part in ("<article>", title, body, "</article>") if part) + "\n"

    def to_schema_org(self) -> dict[str, Any]:
        """Return the article as JSON-LD: ``NewsArticle`` of https://schema.org, known values."""
        profiles = self.author_profiles or [AuthorProfile(name) for name in self.authors]
        publisher = self.publisher or (self.site_name and Publisher(self.site_name))
        values: dict[str, Any] = {
            "url": self.canonical_url or self.url,
            "headline": self.title,
            "datePublished": _iso(self.date),
            "dateModified": _iso(self.date_modified),
            "author": [_schema_object("Person", author) for author in profiles],
            "publisher": publisher and _schema_object("Organization", publisher),
            "description": self.description,
            "articleSection": self.section,
            "keywords": list(self.tags),
            "inLanguage": self.language,
            "image": self.image and _schema_object("ImageObject", self.image),
            "video": [_schema_object("VideoObject", video) for video in self.videos or ()],
            "audio": [_schema_object("AudioObject", audio) for audio in self.audio or ()],
            "wordCount": self.word_count,
            "license": self.licence,
            "dateline": self.dateline,
            "contentLocation": self.place and {"@type": "Place", "name": self.place},
            "commentCount": self.comment_count,
            "comment": [_schema_comment(comment) for comment in self.comments or ()],
            "isAccessibleForFree": None if self.paywalled is None else not self.paywalled,
            "articleBody": self.body,
        }
        if self.images and len(self.images) > 1:
            values["image"] = [_schema_object("ImageObject", image) for image in self.images]
        known = {name: value for name, value in values.items() if value not in (None, "", [])}
        return {"@context": "https://schema.org", "@type": "NewsArticle", **known}

    def _front_matter(self) -> list[str]:
        """Return the lines of the YAML header; strings are quoted, dates are not."""
        values = {
            "title": self.title,
            "date": self.date,
            "authors": self.authors,
            "url": self.canonical_url or self.url,
            "description": self.description,
            "tags": list(self.tags),
            "language": self.language,
        }
        lines = [
            f"{name}: {value.isoformat() if isinstance(value, date) else _yaml(value)}"
            for name, value in values.items()
            if value
        ]
        return ["---", *lines, "---"]

    def _formatted_body(self, name: str, body: str | None) -> str:
        if body is None and self.body:
            form = name.removeprefix("body_")
            raise ValueError(f"no {name}: extract with ExtractOptions(formats={{{form!r}}})")
        return body or ""

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Article:
        """Return the article of a result of :meth:`to_dict`."""
        values = dict(plain)
        for name in ("date", "date_modified"):
            if values.get(name) is not None:
                values[name] = parse_iso(values[name])
        if values.get("fetched_at") is not None:
            values["fetched_at"] = datetime.fromisoformat(values["fetched_at"])
        for name in ("tags", "next_pages"):
            values[name] = tuple(values.get(name, ()))
        for name, item in _NESTED.items():
            found = values.get(name)
            if isinstance(found, list | tuple):
                made = [item(**value) for value in found]
                values[name] = tuple(made) if name == "breadcrumbs" else made
            elif found is not None:
                values[name] = item(**found)
        values["evidence"] = {
            name: Evidence(**evidence) for name, evidence in values.get("evidence", {}).items()
        }
        return cls(**values)


#: fields with items or lists of them
_NESTED: dict[str, Any] = {
    "image": Media, "images": Media, "videos": Media, "audio": Media, "links": BodyLink,
    "breadcrumbs": Breadcrumb, "author_profiles": AuthorProfile, "publisher": Publisher,
    "comments": Comment,
}  # fmt: skip
#: properties of schema.org that have another name than the field
_SCHEMA_NAMES = {"credit": "creditText", "job_title": "jobTitle", "alt": "description"}


def _schema_object(kind: str, item: AuthorProfile | Media | Publisher) -> dict[str, Any]:
    """Return the known values of *item* as an object of the schema.org type *kind*."""
    known = {_SCHEMA_NAMES.get(name, name): value for name, value in asdict(item).items() if value}
    return {"@type": kind, **known}


def _schema_comment(comment: Comment) -> dict[str, Any]:
    author = comment.author and {"@type": "Person", "name": comment.author}
    known = {"author": author, "dateCreated": comment.date}
    return {
        "@type": "Comment",
        "text": comment.text,
        **{name: value for name, value in known.items() if value},
    }


def _iso(moment: Day | None) -> str | None:
    return moment.isoformat() if moment else None


def _yaml(value: str | list[str]) -> str:
    """Return *value* in YAML: JSON, without the line breaks and signs that are special in YAML."""
    text = json.dumps(value, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def parse_iso(text: str) -> date | datetime:
    """Parse the result of ``date.isoformat`` or ``datetime.isoformat``. Raises ``ValueError``."""
    return (
        date.fromisoformat(text) if len(text) == len("2026-01-31") else datetime.fromisoformat(text)
    )


def instant(moment: Any) -> datetime | None:
    """Return *moment*, a date, a datetime or ISO 8601 text, as an aware datetime.

    The time of a date is midnight, the default time zone UTC. Returns None for anything else.
    """
    if isinstance(moment, str):
        try:
            moment = parse_iso(moment)
        except ValueError:
            return None
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    if not isinstance(moment, datetime):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
