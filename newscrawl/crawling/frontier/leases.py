"""Leases: the state of requests in progress, each ended in one transaction with its results."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.utils.serialize import ScrapyJSONEncoder

from newscrawl.component import Component
from newscrawl.crawling.crawl_store import CrawlStore, state_tables
from newscrawl.crawling.urls import site_key_or
from newscrawl.defaults import setting
from newscrawl.sqlite import checksum
from newscrawl.workers.child import is_stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

LEASE: Final = "newscrawl_lease"
"""Meta key of a request in progress: the number of its lease."""
PARENT: Final = "newscrawl_parent"
"""Meta key of a new request until it is scheduled: the number of its parent's lease."""

OUTCOME: Final = "newscrawl_outcome"
"""Meta key with which a spider overrides the outcome of a request."""
PLANNED: Final = "newscrawl_planned"
"""Meta key of a request that its spider makes again when the crawl is resumed."""
NO_KEY: Final = 0
"""The key of a planned request."""

state_tables("""
CREATE TABLE IF NOT EXISTS request (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL,
    slot TEXT NOT NULL,
    rank INTEGER NOT NULL,
    request TEXT,
    checksum INTEGER
);
CREATE TABLE IF NOT EXISTS outcome (
    request INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    final_url TEXT NOT NULL,
    outcome TEXT NOT NULL,
    site TEXT NOT NULL,
    role TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    folder TEXT NOT NULL,
    key BLOB NOT NULL,
    item TEXT,
    checksum INTEGER NOT NULL,
    error TEXT,
    UNIQUE (folder, key)
);
""")
"""A request is pending until *request* is NULL; the row then marks its *key* as seen. ``outbox``:
items in the order of *id*, for the segments in a folder. A delivered item has NULL as *item* and
keeps its *key* until the crawl finishes, so that a request repeated after a crash does not add it
again; one with an *error* cannot be delivered, and is not tried again."""

INSERT: Final = "INSERT INTO request VALUES (?, ?, ?, ?, ?, ?)"
DELETE_DELIVERED: Final = "DELETE FROM outbox WHERE item IS NULL"
_INSERT_ITEM: Final = (
    "INSERT OR IGNORE INTO outbox (folder, key, item, checksum) VALUES (?, ?, ?, ?)"
)
_FINISH: Final = "UPDATE request SET request = NULL WHERE id = ?"
_INSERT_OUTCOME: Final = "INSERT INTO outcome VALUES (?, ?, ?, ?, ?, ?)"
_SELECT_OUTCOMES: Final = "SELECT site, role, url, final_url, outcome FROM outcome ORDER BY request"
#: fields that differ between two fetches of a page
_VOLATILE_FIELDS: Final = ("fetched_at", "cluster", "newscrawl_status")
_encode = ScrapyJSONEncoder(ensure_ascii=False).encode

#: a row of the table ``request``
RequestRow = tuple[int, int, str, int, str | None, int | None]


class FinishedRequest(NamedTuple):
    """A finished request and its outcome."""

    #: purpose of the request (meta ``newscrawl_role``)
    role: Any
    url: str
    final_url: str
    outcome: str


#: outcomes of a request, the best one last
_OUTCOMES: Final = ("read", "unchanged", "failed", "dropped", "article")


@dataclass(slots=True, eq=False)
class Lease:
    """A request returned by the scheduler, until all its results are processed."""

    id: int
    #: key of the request, the same after a crash
    key: int
    url: str
    #: download slot of the request
    slot: str
    #: False for a request that is only in memory
    durable: bool = True
    #: lease that must not end before this one
    parent: Lease | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    final_url: str = ""
    #: no response or failure yet; its callback or errback is running; neither
    phase: Literal["download", "callback", "done"] = "download"
    #: number of items in the pipelines and of requests on their way to the scheduler
    outputs: int = 0
    #: number of in-memory requests that must end before this lease
    children: int = 0
    #: the crawl was stopped before all results: the request stays pending
    stopped: bool = False
    #: ``article``, ``dropped/<reason>``, ``failed/<reason>``, ``unchanged`` or ``read``
    outcome: str = _OUTCOMES[0]
    #: keys of the URLs that it was redirected to
    redirects: set[int] = field(default_factory=set)
    #: number of unfiltered child requests by fingerprint
    fingerprint_counts: Counter[bytes] = field(default_factory=Counter)
    #: keys of child requests that are not in the file yet
    unwritten_keys: list[int] = field(default_factory=list)
    #: statements to write at the end
    writes: list[tuple[str, list[tuple[Any, ...]]]] = field(default_factory=list)

    def record(self, outcome: str) -> None:
        """Set the outcome unless a better one is known."""
        if _rank(outcome) >= _rank(self.outcome):
            self.outcome = outcome

    @property
    def is_finished(self) -> bool:
        """True if no more results can follow."""
        return self.phase == "done" and not (self.stopped or self.outputs or self.children)


def _rank(outcome: str) -> int:
    return _OUTCOMES.index(outcome.partition("/")[0])


class LeaseBook(Component):
    """The leases of a crawl.

    A lease ends when its callback has finished and all its items have left the pipelines. One
    transaction then writes the items, the child requests, the outcome and the end of the request.
    A child that ends before its parent is written with its own end.
    """

    #: method of the scheduler for a request of a download slot that is no longer in flight
    release_slot: Callable[[str], None]

    def __init__(self, crawler: Crawler) -> None:
        self.store = CrawlStore.for_crawler(crawler)
        self._leases: dict[int, Lease] = {}
        #: by ID, to be ended after the current event
        self._finished: dict[int, Lease] = {}
        #: child requests that are not in the file yet, by key
        self._unwritten: dict[int, RequestRow] = {}
        self._stats = crawler.stats
        #: folder of the segments; without, there is no outbox
        self._segments = str(setting(crawler.settings, "NEWSCRAWL_SEGMENTS"))
        crawler.signals.connect(self._item_scraped, signals.item_scraped)
        crawler.signals.connect(self._item_dropped, signals.item_dropped)
        crawler.signals.connect(self._item_error, signals.item_error)

    def __len__(self) -> int:
        return len(self._leases)

    def add(self, lease: Lease) -> None:
        """Add a lease."""
        self._leases[lease.id] = lease

    def find(self, request: Request | None) -> Lease | None:
        """Return the lease of *request*."""
        return None if request is None else self._leases.get(request.meta.get(LEASE, 0))

    def get(self, lease_id: int | None) -> Lease | None:
        """Return the lease with the ID *lease_id*."""
        return None if lease_id is None else self._leases.get(lease_id)

    def add_request(self, row: RequestRow, parent: Lease | None) -> None:
        """Write a new request at the end of *parent*, or now if there is no parent."""
        if parent is None:
            self.store.write(INSERT, [row])
        else:
            self._unwritten[row[1]] = row
            parent.unwritten_keys.append(row[1])

    def add_duplicate(self, key: int, lease: Lease | None) -> None:
        """Record that *lease* yielded a known request: it must be written when *lease* ends."""
        if lease is not None and key in self._unwritten:
            lease.unwritten_keys.append(key)

    def is_unwritten(self, key: int) -> bool:
        """Return True if the request is not in the file yet."""
        return key in self._unwritten

    def response_received(self, lease: Lease, request: Request) -> None:
        """Record a response or failure of *request*, the last one made under *lease*."""
        if lease.phase == "download":
            lease.meta = request.meta
            self._release(lease)

    def _release(self, lease: Lease) -> None:
        lease.phase = "done"
        self.release_slot(lease.slot)

    def callback_finished(self, lease: Lease) -> None:
        """Record that the callback of *lease* yields nothing more."""
        lease.phase = "done"
        self.check(lease)

    def fail(self, lease: Lease, reason: str) -> None:
        """Record that *lease* has failed, if nothing else is known of it."""
        if lease.outcome == "read":
            lease.outcome = f"failed/{reason}"
        if lease.phase == "download":
            self._release(lease)
        self.check(lease)

    def fail_all(self) -> None:
        """End all leases of an idle spider, whose results can no longer arrive."""
        self.end_finished()
        for lease in list(self._leases.values()):
            logger.warning("Request lost (no response reached its callback): %s", lease.url)
            lease.outputs = 0
            self.fail(lease, "lost")
            self.callback_finished(lease)
        self.end_finished()

    def write_with_end(
        self, request: Request | None, sql: str, rows: Iterable[tuple[Any, ...]]
    ) -> None:
        """Write *rows* in the transaction that ends *request*, or now if it has no lease."""
        self.write_with_lease(self.find(request), sql, rows)

    def write_with_lease(
        self, lease: Lease | None, sql: str, rows: Iterable[tuple[Any, ...]]
    ) -> None:
        """Write *rows* in the transaction that ends *lease*, or now if there is none."""
        if lease is None:
            self.store.write(sql, rows)
        else:
            lease.writes.append((sql, list(rows)))

    async def finished_requests(self) -> dict[str, list[FinishedRequest]]:
        """Return the requests by site that the crawl finished before it was resumed."""
        sites = defaultdict(list)
        for site, *row in await self.store.read(_SELECT_OUTCOMES):
            sites[site].append(FinishedRequest(*row))
        return dict(sites)

    def check(self, lease: Lease) -> None:
        """End *lease* if it is finished, after all other handlers of the current event."""
        if lease.is_finished:
            if not self._finished:
                asyncio.get_running_loop().call_soon(self.end_finished)
            self._finished[lease.id] = lease

    def end_finished(self) -> None:
        """End all finished leases."""
        while self._finished:
            lease = self._finished.pop(next(iter(self._finished)))
            if lease.is_finished and lease.id in self._leases:
                del self._leases[lease.id]
                self._end(lease)

    def _end(self, lease: Lease) -> None:
        for sql, rows in lease.writes:
            self.store.write(sql, rows)
        children = [self._unwritten.pop(key, None) for key in lease.unwritten_keys]
        if new := [row for row in children if row]:
            self.store.write(INSERT, new)
        unwritten = self._unwritten.pop(lease.key, None)
        if lease.durable and not unwritten:
            self.store.write(_FINISH, [(lease.id,)])
        elif lease.key != NO_KEY:
            self.store.write(INSERT, [(lease.id, lease.key, "", 0, None, None)])
        self._record_outcome(lease)
        if lease.parent:
            lease.parent.children -= 1
            self.check(lease.parent)

    def _record_outcome(self, lease: Lease) -> None:
        outcome = str(lease.meta.get(OUTCOME) or lease.outcome)
        self._stats.inc_value(f"newscrawl/outcome_count/{outcome}")
        site = lease.meta.get("newscrawl_site") or site_key_or(lease.url, "")
        role = lease.meta.get("newscrawl_role") or ""
        row = (lease.id, lease.url, lease.final_url or lease.url, outcome, site, role)
        self.store.write(_INSERT_OUTCOME, [row])

    def _item_scraped(self, item: Any, response: Response | Failure | None) -> None:
        lease = self._lease_of(response)
        outcome = self._add_to_outbox(item, lease) if self._segments else "article"
        self._item_done(lease, outcome)

    def _add_to_outbox(self, item: Any, lease: Lease | None) -> str:
        """Write *item* with the end of *lease*; return the outcome."""
        try:
            row = outbox_row(item)
        except (TypeError, ValueError) as error:
            self._stats.inc_value("newscrawl/frontier/unserializable_item_count")
            message = "Could not serialize a %s as JSON, the item is lost: %s"
            logger.error(message, type(item).__qualname__, error)  # noqa: TRY400
            return "failed/unserializable"
        self.write_with_lease(lease, _INSERT_ITEM, [(self._segments, *row)])
        return "article"

    def _item_dropped(self, response: Response | Failure | None, exception: BaseException) -> None:
        if lease := self._lease_of(response):
            lease.stopped |= is_stopped(exception)
            self._item_done(lease, _drop_outcome(exception))

    def _item_error(self, response: Response | Failure | None) -> None:
        self._item_done(self._lease_of(response), "failed/pipeline")

    def _item_done(self, lease: Lease | None, outcome: str) -> None:
        if lease:
            lease.record(outcome)
            lease.outputs -= 1
            self.check(lease)

    def _lease_of(self, response: Response | Failure | None) -> Lease | None:
        return self.find(getattr(response, "request", None))


def _drop_outcome(error: BaseException) -> str:
    """Return the outcome of a dropped item: the reason of *error*, or the name of its class."""
    status = getattr(error, "status", None)
    if isinstance(status, str) and status.startswith("failed/"):
        return status
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()
    return f"dropped/{getattr(error, 'reason', None) or name}"


def outbox_row(item: Any) -> tuple[bytes, str, int]:
    """Return the key and JSON of *item*, and the checksum of the latter.

    Raises ``TypeError`` or ``ValueError`` if it cannot be serialized as JSON.
    """
    fields = item.to_dict() if hasattr(item, "to_dict") else ItemAdapter(item).asdict()
    text = _encode(fields).encode(errors="replace").decode()  # SQLite stores no lone surrogates
    return item_key(fields), text, checksum(text)


def item_key(fields: Mapping[str, Any]) -> bytes:
    """Return a key that is the same for all items of a page with the same content.

    It covers canonical URL (or URL) and body of an article, and all but the volatile fields of
    other items.
    """
    if fields.get("url") and fields.get("body"):
        text = f"{fields.get('canonical_url') or fields['url']}\n{fields['body']}"
    else:
        stable = {name: value for name, value in fields.items() if name not in _VOLATILE_FIELDS}
        text = json.dumps(stable, sort_keys=True, default=_encode)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
