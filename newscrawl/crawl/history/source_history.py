"""What a crawl remembers of feeds, sitemaps, section pages and robots.txt: when to ask again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from newscrawl import clock
from newscrawl.crawl.discovery.target import KnownSource
from newscrawl.crawl.history import schema as tables
from newscrawl.crawl.history.conditional_requests import validators
from newscrawl.crawl.history.revisit_policy import due_at
from newscrawl.crawl.history.schema import SourceRow

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from newscrawl.crawl.discovery.site_frontier import SiteFrontier
    from newscrawl.crawl.discovery.target import Role, Target
    from newscrawl.crawl.frontier.frontier_store import CrawlStore
    from newscrawl.crawl.frontier.leases import LeaseBook
    from newscrawl.crawl.history.revisit_policy import Policy

MOST: Final = 200
"""Sources of a role that a crawl of a site begins with, the newest."""


@dataclass(slots=True)
class Remembered:
    """The sources of a site."""

    #: by role and page key
    known: dict[tuple[Role, str], KnownSource] = field(default_factory=dict)
    rows: list[SourceRow] = field(default_factory=list)


class SourceHistory:
    """The table ``source``. *asks* False writes it and asks nothing of it."""

    def __init__(self, store: CrawlStore, leases: LeaseBook, policy: Policy, *, asks: bool) -> None:
        self._store = store
        self._leases = leases
        self._policy = policy
        self._asks = asks
        #: when the next of the sources that were met is due, in seconds
        self.next_due: float | None = None

    async def recall(self, site: str, *, limit: int) -> Remembered:
        """Return the sources of *site*; *limit*: entries of a listing that are read now."""
        found = Remembered()
        if not self._asks:
            return found
        counts: dict[str, int] = {}
        for values in await self._store.read(tables.SOURCES, (site,)):
            row = SourceRow(*values)
            found.known[row.role, row.key] = self._known(row, limit)
            counts[row.role] = counts.get(row.role, 0) + 1
            if counts[row.role] <= MOST:
                found.rows.append(row)
        return found

    def _known(self, row: SourceRow, limit: int) -> KnownSource:
        past: dict[str, Any] = {
            "fetched_at": row.fetched_at,
            "interval": row.interval,
            "failures": row.failures,
            "listed": row.listed,
        }
        due = row.next_due <= clock.now().timestamp()
        if 0 < row.cut < limit:
            due = True  # it was cut shorter than it would be now
        else:
            past |= {"etag": row.etag, "last_modified": row.last_modified}
        if not due:
            self._note(row.next_due)
        return KnownSource(due, {name: value for name, value in past.items() if value is not None})

    def _note(self, due: float) -> None:
        self.next_due = due if self.next_due is None else min(self.next_due, due)

    def write_found(self, frontier: SiteFrontier) -> None:
        """Write down the sources that *frontier* has found since."""
        now, site = clock.now().timestamp(), frontier.site.key
        rows = [
            (site, target.role, target.key, target.url, target.depth, target.when, now)
            for target in frontier.found
        ]
        frontier.found.clear()
        if rows:
            self._store.write(tables.LIST_SOURCE, rows)

    def read(
        self, site: str, target: Target, response: Response, *, new: int, listed: int, cut: int = 0
    ) -> None:
        """Write down that *target* was read: *new* of *listed* entries were never seen before.

        *cut*: the limit, where it left entries out.
        """
        found = validators(response)
        values = (found.get("etag"), found.get("last_modified"), listed, cut)
        counts = {"new": new, "listed": listed}
        self._polled(tables.READ_SOURCE, values, site, target, response.request, **counts)

    def unchanged(self, site: str, target: Target, response: Response) -> None:
        """Write down that *target* has not changed since it was read."""
        found = validators(response)
        values = (found.get("etag"), found.get("last_modified"))
        self._polled(tables.KEEP_SOURCE, values, site, target, response.request, new=0, listed=0)

    def _polled(
        self,
        sql: str,
        values: tuple[Any, ...],
        site: str,
        target: Target,
        request: Request | None,
        *,
        new: int,
        listed: int,
    ) -> None:
        now, role = clock.now().timestamp(), target.role
        before = target.past.get("interval") or self._policy.first(role)
        interval = self._policy.after_poll(role, before, new=new, listed=listed)
        due = due_at(now, interval)
        self._note(due)
        key = (site, role, target.key)
        # With the end of the request: until then, a crash makes it due again.
        self._leases.write_with_end(request, sql, [(*values, now, interval, due, *key)])

    def failed(self, site: str, target: Target, request: Request | None) -> None:
        """Write down that *target* could not be had, or not be read."""
        failures = target.past.get("failures", 0) + 1
        due = due_at(clock.now().timestamp(), self._policy.after_source_failure(failures))
        self._note(due)
        row = (due, failures, site, target.role, target.key)
        self._leases.write_with_end(request, tables.FAIL_SOURCE, [row])
