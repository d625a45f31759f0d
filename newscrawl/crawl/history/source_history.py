"""History of feeds, sitemaps, section pages and robots.txt: when to fetch them again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from newscrawl import clock
from newscrawl.crawl.discovery.target import KnownSource
from newscrawl.crawl.history import schema
from newscrawl.crawl.history.conditional_requests import validators
from newscrawl.crawl.history.revisit_policy import due_at
from newscrawl.crawl.history.schema import SourceRow

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from newscrawl.crawl.discovery.site_plan import SitePlan
    from newscrawl.crawl.discovery.target import Role, Target
    from newscrawl.crawl.frontier.crawl_store import CrawlStore
    from newscrawl.crawl.frontier.leases import LeaseBook
    from newscrawl.crawl.history.revisit_policy import RevisitPolicy
    from newscrawl.crawl.history.site_sizes import SiteSizes

MAX_SOURCES: Final = 200
"""Maximum number of stored sources per role that a crawl of a site starts with, the newest."""


class SourceHistory:
    """The table ``source``. If *only_new* is False, it is written but not read."""

    def __init__(
        self,
        store: CrawlStore,
        leases: LeaseBook,
        policy: RevisitPolicy,
        sizes: SiteSizes,
        *,
        only_new: bool,
    ) -> None:
        self._store = store
        self._sizes = sizes
        self._leases = leases
        self._policy = policy
        self._only_new = only_new
        #: time when the next source of this crawl is due, in seconds
        self.next_due: float | None = None

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
            "interval": row.interval,
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
        self, site: str, target: Target, response: Response, *, new: int, listed: int, cut: int = 0
    ) -> None:
        """Record that *target* was read with *listed* entries, *new* of them new.

        *cut*: the limit that truncated the entries, if any.
        """
        values = (*validators(response), listed, cut)
        counts = {"new": new, "listed": listed}
        self._record_poll(schema.SOURCE_READ, values, site, target, response.request, **counts)

    def record_unchanged(self, site: str, target: Target, response: Response) -> None:
        """Record that *target* has not changed since the last fetch."""
        self._record_poll(
            schema.SOURCE_UNCHANGED, validators(response), site, target, response.request
        )

    def _record_poll(
        self,
        sql: str,
        values: tuple[Any, ...],
        site: str,
        target: Target,
        request: Request | None,
        *,
        new: int = 0,
        listed: int = 0,
    ) -> None:
        now, role = clock.now().timestamp(), target.role
        previous = target.history.get("interval") or self._policy.first_interval(role)
        interval = self._policy.after_poll(role, previous, new=new, listed=listed)
        due = due_at(now, interval)
        self._update_next_due(due)
        row = (*values, now, interval, due, site, role, target.key)
        # At the end of the request: the source stays due if the crawl is killed before.
        self._leases.write_with_end(request, sql, [row])

    def record_failure(self, site: str, target: Target, request: Request | None) -> None:
        """Record that *target* could not be fetched or read."""
        failures = target.history.get("failures", 0) + 1
        due = due_at(clock.now().timestamp(), self._policy.after_source_failure(failures))
        self._update_next_due(due)
        row = (due, failures, site, target.role, target.key)
        self._leases.write_with_end(request, schema.SOURCE_FAILED, [row])
