"""``CrawlState``: the history of pages and sources across crawls, in the file of the crawl store.

New pages of a listing are written in the transaction that stores its validators, so that a later
"not modified" response hides no page. The row of an article is written in the transaction that
emits the article.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals

from newscrawl import clock
from newscrawl.crawling.discovery.target import KnownSource, Target
from newscrawl.crawling.history import schema
from newscrawl.crawling.history.conditional_requests import cache_time, validators
from newscrawl.crawling.history.page_history import PageHistory
from newscrawl.crawling.history.revisit_policy import DAY, REDUNDANT_CREDIT, due_at
from newscrawl.crawling.history.schema import SourceRow
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from newscrawl.crawling.discovery.entries import Entry
    from newscrawl.crawling.discovery.site_plan import SitePlan
    from newscrawl.crawling.discovery.target import Role
    from newscrawl.crawling.history.page_history import ClassifiedEntries

logger = logging.getLogger(__name__)

# Seconds that two machines' clocks may differ.
_CLOCK_TOLERANCE: Final = 60.0
_SOURCE_HISTORY: Final = (
    "fetched_at", "first_seen", "rate", "failures", "listed", "etag", "last_modified"
)  # fmt: skip
_NEXT_DUE_STAT: Final = "newscrawl/state/next_due"
MAX_SOURCES: Final = 200
"""Maximum number of stored sources per role that a crawl of a site starts with, the newest."""

#: failures of sources that do not exist
_MISSING: Final = frozenset({"http_404", "http_410", "unreadable"})


@dataclass(frozen=True, slots=True)
class SiteHistory:
    """The history of one site."""

    #: by role and page key
    known_sources: dict[tuple[Role, str], KnownSource]
    #: sources to start with
    sources: list[SourceRow]
    #: pages that are due
    pages: list[Entry]


class CrawlState(schema.History):
    """The history of a crawl: its :class:`PageHistory`, and when to fetch sources again."""

    #: time when the next source of this crawl is due, in seconds
    next_due: float | None = None

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self.pages = PageHistory(crawler)
        self._all_due = setting(settings, "NEWSCRAWL_ALL_DUE")
        self._max_age = setting(settings, "NEWSCRAWL_MAX_AGE") * DAY
        self._retention = setting(settings, "NEWSCRAWL_STATE_DAYS") * DAY
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

        So are the oldest ones of sites with more than :data:`schema.MAX_SITE_ROWS`. If the clock
        was ahead in an earlier crawl, all is due.
        """
        now = clock.now().timestamp()
        [(newest,)] = await self._store.read(schema.NEWEST_INSTANT)
        newest = newest or now
        if is_ahead := newest > now + _CLOCK_TOLERANCE:
            message = (
                "The crawl starts at %s, before the newest entry of its state (%s):"
                " the system clock is or was wrong, all is due"
            )
            logger.warning(message, _iso(now), _iso(newest))
            self._write_all(schema.ALL_DUE, now)
        if is_ahead or 0 < self._retention < now - newest:
            # After a long pause or a jump of the clock, the history gets another period.
            self._write_all(schema.ALL_SEEN, now)
        elif self._retention:
            self._write_all(schema.DELETE_OLD, now - self._retention)
        for table, limit in schema.MAX_SITE_ROWS.items():
            sql = schema.SELECT_FULL_SITES.format(table)
            if full := [site for (site,) in await self._store.read(sql, (limit,))]:
                message = (
                    "More pages than can be remembered (%d): %s;"
                    " articles of the forgotten ones may be emitted again"
                )
                logger.warning(message, limit, ", ".join(full))
                kept = json.dumps(full), int(schema.KEPT_RATIO * limit)
                self._store.write(schema.DELETE_OLDEST[table], [kept])
        self._store.write(schema.DELETE_UNUSED_ALIASES)

    def _write_all(self, statements: Iterable[str], time: float) -> None:
        for sql in statements:
            self._store.write(sql, [(time,)])

    async def load(self, site: str, *, limit: int) -> SiteHistory:
        """Return the history of the query that is put to *site*.

        *limit*: maximum number of pages of each kind to return.
        """
        if self._all_due:
            now, query = clock.now().timestamp(), self._queries.of(site).id
            for sql in schema.SITE_DUE:
                self._store.write(sql, [(now, site, query)])
        since = clock.now().timestamp() - self._max_age if self._max_age else float("-inf")
        args = site, self._queries.of(site).id
        found = await self._store.read(schema.SELECT_SOURCES, args) if self._only_new else []
        rows = [SourceRow(*values) for values in found]
        known = {(row.role, row.key): self._known_source(row) for row in rows}
        numbers: defaultdict[str, count[int]] = defaultdict(count)
        rows = [row for row in rows if next(numbers[row.role]) < MAX_SOURCES]
        sections = [row.key for row in rows if row.role == "section"]
        emitted = await self.pages.emitted(sections, site)
        rows = [row for row in rows if row.role != "section" or row.key not in emitted]
        pages = await self.pages.due(site, since=since, limit=limit)
        return SiteHistory(known, rows, pages)

    def _known_source(self, row: SourceRow) -> KnownSource:
        due = row.next_due <= clock.now().timestamp()
        if not due:
            self._update_next_due(row.next_due)
        values = ((name, getattr(row, name)) for name in _SOURCE_HISTORY)
        return KnownSource(due, {name: value for name, value in values if value is not None})

    def _update_next_due(self, due: float) -> None:
        self.next_due = due if self.next_due is None else min(self.next_due, due)

    def record_listing(
        self,
        plan: SitePlan,
        target: Target,
        response: Response,
        entries: ClassifiedEntries,
        *,
        depth: int = 0,
        certain: bool = False,
        pause: float = 0.0,
    ) -> bool:
        """Record the entries and sources of *target*, and that it was read.

        The latter is written at the end of the request, after everything else. *pause*: seconds for
        which the site asks not to poll. A *target* fetched as an article is recorded as a page
        without article. Returns whether a known source has rolled over: all its entries are new, so
        there may have been others.
        """
        plan.record_read(target)
        self.pages.record_entries(plan.site.key, entries, depth=depth, certain=certain)
        self._record_new_sources(plan)
        if target.role == "article":
            self.pages.record_failure(target, response.request, "not_article")
            return False
        new, listed = len(entries.new), len(entries.due) + len(entries.known)
        credit: float = new + len(entries.signals)
        turned, elapsed, turnover = new + entries.shared, self._elapsed(target), inf
        if elapsed is None:
            recent = None if target.role == "section" else entries.recent
            credit = self._policy.first_credit(new, recent, is_start=target.is_start)
            if target.role == "section" and not target.is_start:
                credit = REDUNDANT_CREDIT if listed and not entries.is_first_new else credit
        elif turned:
            turnover = elapsed * listed / turned
        rolled_over = elapsed is not None and 0 < listed <= turned
        if rolled_over:
            turnover = pause = 0.0
        shared = 0 if new or entries.signals else entries.shared
        values = (
            *validators(response),
            listed,
            *self._poll(target, response, credit, shared=shared, turnover=turnover, pause=pause),
        )
        self._write_source(plan, target, response.request, schema.SOURCE_READ, values)
        return rolled_over

    def _record_new_sources(self, plan: SitePlan) -> None:
        now, site = clock.now().timestamp(), plan.site.key
        query = self._queries.of(site).id
        rows = [
            (site, query, target.role, target.key, target.url, target.depth, target.timestamp, now)
            for target in plan.new_sources
        ]
        plan.new_sources.clear()
        if rows:
            self._store.write(schema.INSERT_SOURCE, rows)

    def _elapsed(self, target: Target, since: str = "fetched_at") -> float | None:
        before = target.history.get(since)
        return None if before is None else max(0.0, clock.now().timestamp() - before)

    def _poll(
        self,
        target: Target,
        response: Response,
        credit: float = 0.0,
        *,
        shared: int = 0,
        turnover: float = inf,
        pause: float = 0.0,
    ) -> tuple[float, float, float]:
        """Return the current time, the rate of a source, and when it is due again."""
        now, policy = clock.now().timestamp(), self._policy
        rate = policy.source_rate(
            target.history.get("rate"),
            credit,
            elapsed=self._elapsed(target) or 0.0,
            known=self._elapsed(target, "first_seen") or 0.0,
            shared=shared,
            is_start=target.is_start,
        )
        wait = max(pause, cache_time(response))
        interval = policy.after_poll(
            target.role, rate, turnover=turnover, wait=wait, is_start=target.is_start
        )
        due = due_at(now, interval)
        self._update_next_due(due)
        return now, rate, due

    def _write_source(
        self,
        plan: SitePlan,
        target: Target,
        request: Request | None,
        sql: str,
        values: tuple[Any, ...],
    ) -> None:
        site = plan.site.key
        row = (*values, site, self._queries.of(site).id, target.role, target.key)
        # At the end of the request: the source stays due if the crawl is killed before.
        self._leases.write_with_end(request, sql, [row])

    def record_unchanged(self, plan: SitePlan, target: Target, response: Response) -> None:
        """Record that *target* has not changed since the last fetch."""
        plan.record_read(target)
        self._record_new_sources(plan)
        if target.role == "article":
            self.pages.record_unchanged(target, response)
        else:
            values = *validators(response), *self._poll(target, response)
            self._write_source(plan, target, response.request, schema.SOURCE_UNCHANGED, values)

    def record_failure(
        self, plan: SitePlan, target: Target, request: Request | None, reason: str
    ) -> None:
        """Record that *target* could not be fetched or read."""
        plan.record_failure(target, reason)
        self._record_new_sources(plan)
        if target.role == "article":
            self.pages.record_failure(target, request, reason)
            return
        failures = target.history.get("failures", 0) + 1
        never_read = "fetched_at" not in target.history and reason in _MISSING
        delay = self._policy.after_source_failure(failures, never_read=never_read)
        due = due_at(clock.now().timestamp(), delay)
        self._update_next_due(due)
        self._write_source(plan, target, request, schema.SOURCE_FAILED, (due, failures))

    def close(self) -> None:
        """Store the changes of sites; set the stat ``newscrawl/state/next_due`` (ISO 8601)."""
        self.pages.save()
        if (due := self.next_due) is not None:
            self._stats.set_value(_NEXT_DUE_STAT, _iso(due))


def _iso(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="seconds")
