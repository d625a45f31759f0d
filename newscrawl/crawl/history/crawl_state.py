"""``CrawlState``: the history of pages and sources across crawls, in the file of the crawl store.

New pages of a listing are written in the transaction that stores its validators, so that a later
"not modified" response hides no page. The row of an article is written in the transaction that
emits the article.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from scrapy import signals

from newscrawl import clock
from newscrawl.crawl.discovery.target import Target
from newscrawl.crawl.discovery.urls import page_key
from newscrawl.crawl.history import schema
from newscrawl.crawl.history.change_rates import HOUR
from newscrawl.crawl.history.page_history import PageHistory
from newscrawl.crawl.history.source_history import NO_PAUSE, SourceHistory
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from newscrawl.crawl.discovery.site_plan import SitePlan
    from newscrawl.crawl.discovery.target import KnownSource, Role
    from newscrawl.crawl.frontier.leases import StalledRequest
    from newscrawl.crawl.history.page_history import ClassifiedEntries
    from newscrawl.crawl.history.schema import SourceRow
    from newscrawl.crawl.history.source_history import Pause

logger = logging.getLogger(__name__)

# Seconds that two machines' clocks may differ.
_CLOCK_TOLERANCE: Final = 60.0
_DAY: Final = 24 * HOUR
_NEXT_DUE_STAT: Final = "newscrawl/state/next_due"


@dataclass(frozen=True, slots=True)
class SiteHistory:
    """The history of one site."""

    #: by role and page key
    known_sources: dict[tuple[Role, str], KnownSource]
    #: sources to start with
    sources: list[SourceRow]
    #: pages that are due, as entries with ``depth``, ``certain`` and ``history``
    pages: list[dict[str, Any]]
    #: tracking parameters that were compared, True for those that tell pages apart
    parameters: dict[str, bool]


class CrawlState(schema.History):
    """The history of a crawl: :class:`PageHistory` and :class:`SourceHistory`."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self.pages = PageHistory(crawler)
        self.sources = SourceHistory(crawler)
        self._all_due = setting(settings, "NEWSCRAWL_ALL_DUE")
        self._max_age = setting(settings, "NEWSCRAWL_MAX_AGE") * _DAY
        self._retention = setting(settings, "NEWSCRAWL_STATE_DAYS") * _DAY
        self._stats = crawler.stats
        crawler.signals.connect(self.pages.item_error, signals.item_error)
        crawler.signals.connect(self.pages.item_done, signals.item_scraped)
        crawler.signals.connect(self.pages.item_done, signals.item_dropped)
        crawler.signals.connect(self.close, signals.spider_closed)

    @classmethod
    def of(cls, crawler: Crawler) -> CrawlState | None:
        """Return the state of *crawler* if :meth:`for_crawler` has created it."""
        return cls._shared.get(crawler, {}).get(cls)

    async def open(self) -> None:
        """Delete pages and sources not seen for ``NEWSCRAWL_STATE_DAYS``.

        So are the oldest ones of sites above ``NEWSCRAWL_STATE_SITE_SIZE``. If the clock was ahead
        in an earlier crawl, all is due.
        """
        now = clock.now().timestamp()
        [(newest,)] = await self._store.read(schema.NEWEST_INSTANT)
        newest = newest or now
        is_ahead = newest > now + _CLOCK_TOLERANCE
        if is_ahead:
            message = (
                "The crawl starts at %s, before the newest entry of its state (%s):"
                " the system clock is or was wrong, all is due"
            )
            logger.warning(message, _iso(now), _iso(newest))
        if self._all_due or is_ahead:
            self._write_all(schema.ALL_DUE, now)
        if is_ahead or 0 < self._retention < now - newest:
            # After a long pause or a jump of the clock, the history gets another period.
            self._write_all(schema.ALL_SEEN, now)
        elif self._retention:
            self._write_all(schema.DELETE_OLD, now - self._retention)
        await self._sizes.reduce(self._store)
        self._store.write(schema.DELETE_UNUSED_ALIASES)

    def _write_all(self, statements: Iterable[str], time: float) -> None:
        for sql in statements:
            self._store.write(sql, [(time,)])

    async def load(self, site: str, *, limit: int) -> SiteHistory:
        """Return the history of *site*.

        *limit*: maximum number of entries read per listing, and of pages of each kind to return.
        """
        since = clock.now().timestamp() - self._max_age if self._max_age else float("-inf")
        known, rows = await self.sources.load(site, limit=limit)
        sections = [{"key": row.key} for row in rows if row.role == "section"]
        kept = {entry["key"] for entry in await self.pages.without_articles(sections)}
        rows = [row for row in rows if row.role != "section" or row.key in kept]
        pages = await self.pages.due(site, since=since, limit=limit)
        found = await self._store.read(schema.SELECT_PARAMETERS, (site,))
        return SiteHistory(known, rows, pages, {name: bool(kept) for name, kept in found})

    def record_parameters(self, site: str, names: Iterable[str], *, kept: bool) -> None:
        """Record whether tracking parameters tell pages of *site* apart."""
        self._store.write(schema.INSERT_PARAMETER, [(site, name, kept) for name in names])

    def record_listing(
        self,
        plan: SitePlan,
        target: Target,
        response: Response,
        entries: ClassifiedEntries,
        *,
        depth: int = 0,
        certain: bool = False,
        cut: int = 0,
        pause: Pause = NO_PAUSE,
    ) -> bool:
        """Record the entries and sources of *target*, and that it was read.

        The latter is written at the end of the request, after everything else. *cut*: the limit
        that truncated the entries, if any; *pause*: when the site asks not to poll. A *target*
        fetched as an article is recorded as a page without article. Returns whether all entries of
        a known source are new.
        """
        site = plan.site.key
        plan.record_read(target)
        self.pages.record_entries(site, entries, depth=depth, certain=certain)
        self.sources.record_new(plan)
        if target.role == "article":
            self.pages.record_failure(target, response.request, "not_article")
            return False
        return self.sources.record_read(site, target, response, entries, cut=cut, pause=pause)

    def record_unchanged(self, plan: SitePlan, target: Target, response: Response) -> None:
        """Record that *target* has not changed since the last fetch."""
        plan.record_read(target)
        self.sources.record_new(plan)
        if target.role == "article":
            self.pages.record_unchanged(target, response)
        else:
            self.sources.record_unchanged(plan.site.key, target, response)

    def record_failure(
        self, plan: SitePlan, target: Target, request: Request | None, reason: str
    ) -> None:
        """Record that *target* could not be fetched or read."""
        plan.record_failure(target, reason)
        self.sources.record_new(plan)
        if target.role == "article":
            self.pages.record_failure(target, request, reason)
        else:
            self.sources.record_failure(plan.site.key, target, request, reason)

    async def record_stall(self, stalled: StalledRequest) -> None:
        """Record the failure of a request that blocked the run that this one resumes."""
        site, role, url = stalled.site, cast("Role", stalled.role), stalled.url
        if role == "article":
            await self.pages.record_stall(url)
        else:
            known, _ = await self.sources.load(site, limit=0)
            source = known.get((role, page_key(url)))
            target = Target(role, url, history=source.history if source else {})
            self.sources.record_failure(site, target, None, "stalled")

    def close(self) -> None:
        """Store the changes of sites; set the stat ``newscrawl/state/next_due`` (ISO 8601)."""
        self.pages.save()
        if (due := self.sources.next_due) is not None:
            self._stats.set_value(_NEXT_DUE_STAT, _iso(due))


def _iso(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="seconds")
