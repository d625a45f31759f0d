"""What walks through a crawl: page items in, articles out."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import Any, Literal

ArticleKind = Literal["article", "live", "gallery", "index", "other"]
NO_ARTICLES: frozenset[ArticleKind] = frozenset({"index", "other"})
"""Kinds of the pages that are no articles."""
LISTED = "listed"
"""Hint that a feed or a news sitemap names the page."""
#: a calendar day; named so because ``Article`` has a field called ``date``
Day = date


@dataclass(slots=True)
class PageItem:
    """A fetched page, as a spider hands it to ``NewsExtractPipeline``."""

    #: URL the page was fetched from, after redirects
    url: str
    #: the bytes as received, content encodings (gzip, br) undone
    html: bytes
    #: charset of the HTTP ``Content-Type`` header, if it names one
    encoding: str | None = None
    #: when the response arrived (aware, UTC)
    fetched_at: datetime | None = None
    #: key of the site in the site list (its host, with the port where it is not the default)
    site: str | None = None
    #: absolute URLs of the style sheets that the page refers to, where they are known
    stylesheets: list[str] | None = None
    #: what discovery already knows: ``title``, ``date``, ``language`` of a news sitemap or feed
    #: entry, and :data:`LISTED` where there is one
    hints: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a field came from, and how sure we are of it."""

    #: for example ``nce``, ``json-ld``, ``meta:article:published_time``, ``time``, ``url``
    source: str
    #: 0..1
    confidence: float


@dataclass(slots=True)
class Article:
    """A clean article. Every field but ``url`` and ``body`` may be unknown."""

    #: the page's URL, as given
    url: str | None = None
    #: the URL that the page names as its own, made absolute
    canonical_url: str | None = None
    #: the headline, without the site's name
    title: str | None = None
    #: publication: a day, or an instant (aware where the page gives a zone)
    date: Day | datetime | None = None
    #: the text that ``date`` was read from
    date_raw: str | None = None
    #: last modification; never stands in for ``date``
    date_modified: Day | datetime | None = None
    #: paragraphs separated by blank lines
    body: str = ""
    #: BCP 47 tag, as the page declares it
    language: str | None = None
    #: names, in the page's order
    authors: list[str] = field(default_factory=list)
    #: what the page is
    kind: ArticleKind = "article"
    #: True where the page says that it shows a part only; None where it says nothing
    paywalled: bool | None = None
    #: False where a style sheet was missing; None where styles were not asked for
    style_complete: bool | None = None
    #: when the page was fetched (aware)
    fetched_at: datetime | None = None
    #: field name -> source and confidence
    evidence: dict[str, Evidence] = field(default_factory=dict)
    #: what is doubtful about the page itself: ``depth_exceeded``, ``attributes_dropped``, ...
    flags: list[str] = field(default_factory=list)
    #: near-duplicate cluster, filled by ``NearDuplicatePipeline``
    cluster: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the article as plain JSON values: ISO 8601 dates, nested dicts."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in ("date", "date_modified", "fetched_at"):
            if plain[name] is not None:
                plain[name] = plain[name].isoformat()
        plain["evidence"] = {
            name: {"source": evidence.source, "confidence": round(evidence.confidence, 4)}
            for name, evidence in self.evidence.items()
        }
        return plain

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Article:
        """Return the article that :meth:`to_dict` made *plain* from."""
        values = dict(plain)
        for name in ("date", "date_modified"):
            if values.get(name) is not None:
                values[name] = parse_iso(values[name])
        if values.get("fetched_at") is not None:
            values["fetched_at"] = datetime.fromisoformat(values["fetched_at"])
        values["evidence"] = {
            name: Evidence(**evidence) for name, evidence in values.get("evidence", {}).items()
        }
        return cls(**values)


def parse_iso(text: str) -> date | datetime:
    """Return the day or instant that :meth:`date.isoformat` or :meth:`datetime.isoformat` wrote.

    Raises ``ValueError`` for anything else.
    """
    return (
        date.fromisoformat(text) if len(text) == len("2026-01-31") else datetime.fromisoformat(text)
    )
