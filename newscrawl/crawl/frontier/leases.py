"""Leases: what a request led to, and its end in one transaction."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import WeakKeyDictionary

from scrapy import signals

from newscrawl import clock
from newscrawl.crawl.discovery.urls import site_key
from newscrawl.crawl.frontier import outbox
from newscrawl.crawl.frontier.frontier_store import CrawlStore
from newscrawl.crawl.frontier.lease import NO_KEY, Ended, Lease
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

LEASE: Final = "newscrawl_lease"
"""Meta of a request that is under way: the number of its lease."""
PARENT: Final = "newscrawl_parent"
"""Meta of a new request until it is scheduled: the number of the lease that it comes from."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS request (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL,
    slot TEXT NOT NULL,
    rank INTEGER NOT NULL,
    request TEXT
);
CREATE INDEX IF NOT EXISTS request_pending ON request (slot, rank, id) WHERE request IS NOT NULL;
CREATE TABLE IF NOT EXISTS outcome (
    request INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    final_url TEXT NOT NULL,
    outcome TEXT NOT NULL,
    site TEXT NOT NULL,
    role TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS spent (
    site TEXT PRIMARY KEY,
    requests INTEGER NOT NULL
) WITHOUT ROWID;
"""
"""A request is pending until *request* is NULL; then its key tells that it was there. ``spent``:
requests on the network, of sites that have a budget."""

_ENDED: Final = "SELECT site, role, url, final_url, outcome FROM outcome ORDER BY request"
INSERT: Final = "INSERT INTO request VALUES (?, ?, ?, ?, ?)"
_DONE: Final = "UPDATE request SET request = NULL WHERE id = ?"
_SPEND: Final = """
INSERT INTO spent VALUES (?, 1) ON CONFLICT DO UPDATE SET requests = requests + 1
"""
_OUTCOME: Final = "INSERT INTO outcome VALUES (?, ?, ?, ?, ?, ?, ?)"


#: of the table ``request``
Row = tuple[int, int, str, int, str | None]


class LeaseBook:
    """The leases of a crawl, and what ends them.

    A lease ends when the output of its callback is exhausted and all items in it are through the
    pipelines. One transaction then has its items, its requests, how it ended, and that it is done.
    Its requests need not wait for that: one that ends before it is written with its own end.
    """

    _books: ClassVar[WeakKeyDictionary[Crawler, LeaseBook]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        self.store = CrawlStore.for_crawler(crawler)
        self._leases: dict[int, Lease] = {}
        self._over: deque[Lease] = deque()
        #: by key, the requests that the file gets with the end of a lease
        self._unwritten: dict[int, Row] = {}
        self._stats = crawler.stats
        #: False where another scheduler does not tell one crawl from the next
        self.tells_crawls = False
        self._delivers = bool(setting(crawler.settings, "NEWSCRAWL_SEGMENTS"))
        #: called with the download slot of each request that has come back
        self.on_landing: Callable[[str], None] = _ignore
        crawler.signals.connect(self._item_scraped, signals.item_scraped)
        crawler.signals.connect(self._item_dropped, signals.item_dropped)
        crawler.signals.connect(self._item_error, signals.item_error)

    @classmethod
    def for_crawler(cls, crawler: Crawler) -> LeaseBook:
        """Return the one book of *crawler*."""
        if crawler not in cls._books:
            cls._books[crawler] = cls(crawler)
        return cls._books[crawler]

    def __len__(self) -> int:
        return len(self._leases)

    @property
    def numbers(self) -> frozenset[int]:
        """The requests that are under way."""
        return frozenset(self._leases)

    def add(self, lease: Lease) -> None:
        """Begin a lease."""
        self._leases[lease.id] = lease

    def find(self, request: Request | None) -> Lease | None:
        """Return the lease that *request* is made under."""
        return None if request is None else self._leases.get(request.meta.get(LEASE, 0))

    def get(self, number: int | None) -> Lease | None:
        """Return a lease by its number."""
        return None if number is None else self._leases.get(number)

    def add_request(self, row: Row, parent: Lease | None) -> None:
        """Write a new request, with the end of *parent*; at once where it has none."""
        if parent is None:
            self.store.write(INSERT, [row])
        else:
            self._unwritten[row[1]] = row
            parent.offspring.append(row[1])

    def share(self, key: int, lease: Lease | None) -> None:
        """Note that *lease* leads to a known request, too: it must not end without that."""
        if lease is not None and key in self._unwritten:
            lease.offspring.append(key)

    def holds_back(self, key: int) -> bool:
        """Return True for a request that the file does not have yet."""
        return key in self._unwritten

    def land(self, lease: Lease, request: Request) -> None:
        """Note that *request*, the last made under *lease*, has come back."""
        if lease.flying:
            lease.flying = False
            lease.meta = request.meta
            self.on_landing(lease.slot)

    def exhaust(self, lease: Lease) -> None:
        """Note that the callback of *lease* yields no more."""
        lease.running = False
        self.check(lease)

    def abandon(self) -> None:
        """End all leases of an idle spider: nothing answers for them any more."""
        self.settle()
        for lease in list(self._leases.values()):
            logger.warning("Lost: %s", lease.url)
            self.give_up(lease, "lost")
            lease.items = lease.requests = 0
            lease.running = False
            self.check(lease)
        self.settle()

    def give_up(self, lease: Lease, reason: str) -> None:
        """Note that *lease* has failed without a response."""
        lease.failed = lease.failed or reason
        if lease.flying:
            lease.flying = False
            self.on_landing(lease.slot)
        self.check(lease)

    def write_with_end(
        self, request: Request | None, sql: str, rows: Iterable[tuple[Any, ...]]
    ) -> None:
        """Write *rows* in the transaction that ends *request*; without a lease, with the next."""
        lease = self.find(request)
        if lease is None:
            self.store.write(sql, rows)
        else:
            lease.writes.append((sql, list(rows)))

    async def ended(self) -> dict[str, list[Ended]]:
        """Return the requests of each site that have ended in this crawl, before it was resumed."""
        await self.store.open(SCHEMA)
        sites = defaultdict(list)
        for site, *row in await self.store.read(_ENDED):
            sites[site].append(Ended(*row))
        return dict(sites)

    def spend(self, site: str) -> None:
        """Note a request to *site*, which counts towards its budget in a resumed crawl, too."""
        if self.tells_crawls:
            self.store.write(_SPEND, [(site,)])

    async def spent(self) -> dict[str, int]:
        """Return how many requests were made to each site before the crawl was resumed."""
        return dict(await self.store.read("SELECT site, requests FROM spent"))

    def check(self, lease: Lease) -> None:
        """End *lease* if it is over, as soon as whoever is told of it now has heard."""
        if lease.is_over and not lease.settling:
            lease.settling = True
            self._over.append(lease)
            if len(self._over) == 1:
                asyncio.get_running_loop().call_soon(self.settle)

    def settle(self) -> None:
        """End all leases that are over."""
        while self._over:
            lease = self._over.popleft()
            lease.settling = False
            if lease.is_over and lease.id in self._leases:
                del self._leases[lease.id]
                self._end(lease)

    def _end(self, lease: Lease) -> None:
        for sql, rows in lease.writes:
            self.store.write(sql, rows)
        offspring = [self._unwritten.pop(key, None) for key in lease.offspring]
        if new := [row for row in offspring if row]:
            self.store.write(INSERT, new)
        unwritten = self._unwritten.pop(lease.key, None)
        if lease.durable and not unwritten:
            self.store.write(_DONE, [(lease.id,)])
        elif lease.key != NO_KEY:
            self.store.write(INSERT, [(lease.id, lease.key, "", 0, None)])
        self._record(lease)
        if lease.parent:
            lease.parent.children -= 1
            self.check(lease.parent)

    def _record(self, lease: Lease) -> None:
        outcome = lease.outcome
        self._stats.inc_value(f"newscrawl/outcome_count/{outcome}")
        site = lease.meta.get("newscrawl_site") or _site(lease.url)
        role = lease.meta.get("newscrawl_role") or ""
        at = clock.now().isoformat(timespec="seconds")
        row = (lease.id, lease.url, lease.final_url or lease.url, outcome, site, role, at)
        self.store.write(_OUTCOME, [row])

    def _item_scraped(self, item: Any, response: Response | Failure | None) -> None:
        lease = self._lease_of(response)
        if lease:
            lease.delivered = True
        if self._delivers:
            self._deliver(item, lease)
        self._item_done(lease)

    def _deliver(self, item: Any, lease: Lease | None) -> None:
        try:
            row = outbox.outbox_row(item)
        except (TypeError, ValueError) as error:  # bytes, for example
            self._stats.inc_value("newscrawl/frontier/unserializable_item_count")
            message = "Not delivered, JSON cannot hold it: %s (%s)"
            logger.error(message, type(item), error)  # noqa: TRY400  # its place says nothing
            if lease:
                lease.delivered, lease.failed = False, "unserializable"
            return
        if lease:
            lease.writes.append((outbox.INSERT, [row]))
        else:
            self.store.write(outbox.INSERT, [row])

    def _item_dropped(self, response: Response | Failure | None, exception: BaseException) -> None:
        if lease := self._lease_of(response):
            lease.dropped = _drop_outcome(exception)
            self._item_done(lease)

    def _item_error(self, response: Response | Failure | None) -> None:
        if lease := self._lease_of(response):
            lease.failed = "pipeline"
            self._item_done(lease)

    def _item_done(self, lease: Lease | None) -> None:
        if lease:
            lease.items -= 1
            self.check(lease)

    def _lease_of(self, response: Response | Failure | None) -> Lease | None:
        return self.find(getattr(response, "request", None))


def _ignore(slot: str) -> None:
    """Do nothing."""


def _drop_outcome(error: BaseException) -> str:
    """Return the outcome of a dropped item, by its reason or else the name of its class."""
    status = getattr(error, "status", None)
    if isinstance(status, str) and status.startswith("failed/"):
        return status
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()
    return f"dropped/{getattr(error, 'reason', None) or name}"


def _site(url: str) -> str:
    try:
        return site_key(url)
    except ValueError:
        return ""
