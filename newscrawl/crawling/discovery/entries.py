"""Entries of listings and pages, as parsers find them and the history completes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Plain:
    """Results of workers, which return JSON values."""

    __slots__: ClassVar[tuple[str, ...]] = ()
    #: names of lists of entries
    _ENTRIES: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the values by name, entries as dicts."""
        values = {name: getattr(self, name) for name in self.__slots__}
        lists = {name: [entry.to_dict() for entry in values[name]] for name in self._ENTRIES}
        return values | lists

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the result that :meth:`to_dict` has returned as *values*."""
        lists = {name: [Entry(**entry) for entry in values[name]] for name in cls._ENTRIES}
        return cls(**{**values, **lists})


@dataclass(slots=True)
class Entry(_Plain):
    """A page or source that a listing names."""

    url: str
    #: :func:`~newscrawl.crawling.urls.page_key`
    key: str
    #: publication, else last modification, in seconds
    timestamp: float | None = None
    #: last modification according to the listing, in seconds
    changed: float | None = None
    #: ``title``, ``date``, ``updated``, ``language``, ``link_text``, as far as known
    hints: dict[str, str] = field(default_factory=dict)
    #: key of the entry whose further page this may be
    story: str | None = None
    #: of a page that the history knows, as in :class:`~newscrawl.crawling.discovery.target.Target`
    depth: int = 0
    certain: bool = False
    history: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Listing(_Plain):
    """The entries of a feed, sitemap or robots.txt, newest first, undated last."""

    _ENTRIES = ("entries",)

    #: ``index`` (the entries are feeds or sitemaps), ``feed``, ``news``, ``urlset``, ``text``,
    #: ``article`` and ``section`` (links of a page) or ``unknown``
    kind: str
    entries: list[Entry] = field(default_factory=list)
    #: skipped entries by reason
    left_out: dict[str, int] = field(default_factory=dict)
    #: keys of pages that are dated outside of the period
    outside: list[str] = field(default_factory=list)
    #: address of the next page (RFC 5005)
    next: str | None = None
    #: seconds between two polls
    ttl: float = 0.0


@dataclass(slots=True)
class ClassifiedPage(_Plain):
    """Kind and links of a page."""

    _ENTRIES = ("articles", "sections")

    #: with the threshold for pages before extraction, which drops fewer pages
    kind: str
    confidence: float
    #: :func:`newscrawl.fields.kind.barriers.find_barrier`
    barrier: str | None
    #: its kind is an article, and its JSON-LD confirms it
    is_article: bool = False
    #: result of :func:`newscrawl.workers.tasks.extract_page`, if asked for
    article: dict[str, Any] | None = None
    articles: list[Entry] = field(default_factory=list)
    sections: list[Entry] = field(default_factory=list)
    #: the articles are those of scripts and attributes, for want of links
    scripted: bool = False
    #: URLs of feeds
    feeds: list[str] = field(default_factory=list)
    #: URL of the next page of a list
    next: str | None = None
    #: as in :class:`Listing`
    left_out: dict[str, int] = field(default_factory=dict)
