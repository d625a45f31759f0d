"""History of feeds, sitemaps, section pages and robots.txt: when to fetch them again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Final

from newscrawl import clock
from newscrawl.crawl.discovery.target import KnownSource
from newscrawl.crawl.history import schema
from newscrawl.crawl.history.change_rates import HOUR
from newscrawl.crawl.history.conditional_requests import cache_time, validators
from newscrawl.crawl.history.revisit_policy import REDUNDANT_CREDIT, due_at
from newscrawl.crawl.history.schema import SourceRow

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from newscrawl.crawl.discovery.site_plan import SitePlan
    from newscrawl.crawl.discovery.target import Role, Target
    from newscrawl.crawl.history.page_history import ClassifiedEntries

MAX_SOURCES: Final = 200
"""Maximum number of stored sources per role that a crawl of a site starts with, the newest."""

#: failures of sources that do not exist
_MISSING: Final = frozenset({"http_404", "http_410", "unreadable"})


@dataclass(frozen=True, slots=True)
class Pause:
    """When a feed asks not to be polled: ``ttl`` or ``sy:updatePeriod``, and ``skipHours``."""

    seconds: float = 0.0
    #: hours of the day (UTC)
    hours: frozenset[int] = frozenset()

    def end(self, due: float) -> float:
        """Return the first time from *due* on, in seconds, that is in none of the hours."""
        for _ in self.hours:
            if int(due // HOUR) % 24 in self.hours:
                due = (due // HOUR + 1) * HOUR
        return due


NO_PAUSE: Final = Pause()


class SourceHistory(schema.History):
    """The table ``source``."""

    #: time when the next source of this crawl is due, in seconds
    next_due: float | None = None

    async def load(
        self, site: str, *, limit: int
    ) -> tuple[dict[tuple[Role, str], KnownSource], list[SourceRow]]:
        """Return all sources of *site* by role and page key, and those to start with.

        *limit*: maximum number of entries that this crawl reads per listing.
        """
        known: dict[tuple[Role, str], KnownSource] = {}
        first: list[SourceRow] = []
        counts: Counter[str] = Counter()
        rows = await self._store.read(schema.SELECT_SOURCES, (site,)) if self._only_new else []
        for row in (SourceRow(*values) for values in rows):
            known[row.role, row.key] = self._known_source(row, limit)
            counts[row.role] += 1
            if counts[row.role] <= MAX_SOURCES:
                first.append(row)
        return known, first

    def _known_source(self, row: SourceRow, limit: int) -> KnownSource:
        history: dict[str, Any] = {
            "fetched_at": row.fetched_at,
            "first_seen": row.first_seen,
            "rate": row.rate,
            "failures": row.failures,
            "listed": row.listed,
        }
        due = row.next_due <= clock.now().timestamp()
        if 0 < row.cut < limit:
            due = True  # a lower limit truncated it: fetch it without validators
        else:
            history |= {"etag": row.etag, "last_modified": row.last_modified}
        if not due:
            self._update_next_due(row.next_due)
        return KnownSource(
            due, {name: value for name, value in history.items() if value is not None}
        )

    def _update_next_due(self, due: float) -> None:
        self.next_due = due if self.next_due is None else min(self.next_due, due)

    def record_new(self, frontier: SitePlan) -> None:
        """Record the new sources of *frontier*."""
        now, site = clock.now().timestamp(), frontier.site.key
        rows = [
            (site, target.role, target.key, target.url, target.depth, target.timestamp, now)
            for target in frontier.new_sources
            if self._sizes.admits("source", site, target.key, target.url)
        ]
        frontier.new_sources.clear()
        if rows:
            self._store.write(schema.INSERT_SOURCE, rows)

    def record_read(
        self,
        site: str,
        target: Target,
        response: Response,
        entries: ClassifiedEntries,
        *,
        cut: int = 0,
        pause: Pause = NO_PAUSE,
    ) -> bool:
        """Record that *target* was read; return whether it rolled over since the last poll.

        *cut*: the limit that truncated the entries, if any; *pause*: when the site asks not to
        poll. A source has rolled over if all its entries are new: there may have been others.
        """
        new, listed = len(entries.new), len(entries.due) + len(entries.known)
        credit: float = new + len(entries.signals)
        elapsed = self._elapsed(target)
        turnover = inf
        if elapsed is None:
            is_page = target.role == "section"
            credit = self._policy.first_credit(
                new, None if is_page else entries.recent, is_start=target.is_start
            )
            if is_page and not target.is_start and listed and not entries.is_first_new:
                credit = REDUNDANT_CREDIT
        elif new + entries.shared:
            turnover = elapsed * listed / (new + entries.shared)
        rolled_over = elapsed is not None and 0 < listed <= new + entries.shared
        if rolled_over:
            turnover, pause = 0.0, NO_PAUSE
        self._record_poll(
            schema.SOURCE_READ,
            (*validators(response), listed, cut),
            site,
            target,
            response,
            credit=credit,
            shared=0 if new or entries.signals else entries.shared,
            turnover=turnover,
            pause=pause,
        )
        return rolled_over

    def record_unchanged(self, site: str, target: Target, response: Response) -> None:
        """Record that *target* has not changed since the last fetch."""
        self._record_poll(schema.SOURCE_UNCHANGED, validators(response), site, target, response)

    def _elapsed(self, target: Target, since: str = "fetched_at") -> float | None:
        before = target.history.get(since)
        return None if before is None else max(0.0, clock.now().timestamp() - before)

    def _record_poll(
        self,
        sql: str,
        values: tuple[Any, ...],
        site: str,
        target: Target,
        response: Response,
        *,
        credit: float = 0.0,
        shared: int = 0,
        turnover: float = inf,
        pause: Pause = NO_PAUSE,
    ) -> None:
        now, role, policy = clock.now().timestamp(), target.role, self._policy
        rate = policy.source_rate(
            target.history.get("rate"),
            credit,
            elapsed=self._elapsed(target) or 0.0,
            known=self._elapsed(target, "first_seen") or 0.0,
            shared=shared,
            is_start=target.is_start,
        )
        wait = max(pause.seconds, cache_time(response))
        interval = policy.after_poll(
            role, rate, turnover=turnover, wait=wait, is_start=target.is_start
        )
        due = pause.end(due_at(now, interval))
        self._update_next_due(due)
        row = (*values, now, rate, due, site, role, target.key)
        # At the end of the request: the source stays due if the crawl is killed before.
        self._leases.write_with_end(response.request, sql, [row])

    def record_failure(
        self, site: str, target: Target, request: Request | None, reason: str
    ) -> None:
        """Record that *target* could not be fetched or read."""
        failures = target.history.get("failures", 0) + 1
        never_read = "fetched_at" not in target.history and reason in _MISSING
        delay = self._policy.after_source_failure(failures, never_read=never_read)
        due = due_at(clock.now().timestamp(), delay)
        self._update_next_due(due)
        row = (due, failures, site, target.role, target.key)
        self._leases.write_with_end(request, schema.SOURCE_FAILED, [row])
