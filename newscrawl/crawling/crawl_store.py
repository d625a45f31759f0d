"""``CrawlStore``: the durable state of a crawl, in one SQLite file.

Requests, outcomes, items and the crawl history are written to one queue, which a thread commits in
batches and in order: the file always holds a prefix of the writes. Writes without an ``await`` in
between are in the same transaction.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import ref

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.project import data_path
from scrapy.utils.spider import DefaultSpider

from newscrawl import clock
from newscrawl.component import Component
from newscrawl.crawling.logs import shorten_start_errors
from newscrawl.crawling.shards import shard_path
from newscrawl.defaults import DEFAULTS, setting
from newscrawl.sqlite import FileError, FileType, execute_all, transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar, TypeVarTuple

    from scrapy import Spider
    from scrapy.crawler import Crawler

    Ts = TypeVarTuple("Ts")
    T = TypeVar("T")

logger = logging.getLogger(__name__)

STATE_FAILED: Final = "newscrawl_state_failed"
"""Stat ``finish_reason`` of a crawl whose state could not be written."""


class CrawlStoreError(FileError):
    """The file cannot be opened, read or written; the message names it."""


_FILE: Final = FileType(
    name="the state of a crawl",
    application=0x4E43_4352,  # "NCCR"
    format=5,
    schema="""
CREATE TABLE memory (
    owner TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, until REAL NOT NULL,
    PRIMARY KEY (name, owner)
) WITHOUT ROWID;
""",
    error=CrawlStoreError,
    synchronous="FULL",
    shared=True,
)


_CLOSING_INTERVAL: Final = 0.05
_schemas: Final[list[str]] = []


def state_tables(schema: str) -> str:
    """Return *schema*, ``CREATE ... IF NOT EXISTS`` statements of a component.

    Its tables are checked and created when a file is opened, before anything of the crawl has
    started. Each statement is followed by a semicolon.
    """
    _schemas.append(schema)
    return schema


class CrawlStore(Component):
    """The state of a crawl in the file at *path*, or in memory if that is None.

    *checkpoint*: seconds from the first write of a batch to its commit. If a batch cannot be
    written, the spider of *crawler* is closed, and later writes are ignored.
    """

    def __init__(
        self,
        path: Path | None = None,
        crawler: Crawler | None = None,
        *,
        checkpoint: float = DEFAULTS["NEWSCRAWL_CHECKPOINT"],
    ) -> None:
        self.path = path
        #: the error after which writes are ignored
        self.failure: CrawlStoreError | None = None
        #: damage that was worked around; the crawl ends with exit code 1
        self.damage: list[str] = []
        self._checkpoint = checkpoint
        self._crawler = ref(crawler) if crawler else lambda: None  # no reference cycle
        self._closing: asyncio.Future[None] | None = None
        # A single thread keeps the order of the writes.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="crawl-state")
        self._connection: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._files = ExitStack()
        self._batch: list[tuple[str, list[Any]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._last: asyncio.Future[None] | None = None
        self._preparations: list[Callable[[], Callable[[], None]]] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return a store that is closed when the engine of *crawler* stops.

        Raises :class:`CrawlStoreError` if the file cannot be used, ``NotConfigured`` if Scrapy runs
        without asyncio.
        """
        if not is_asyncio_available():
            raise NotConfigured("newscrawl needs Scrapy's asyncio reactor, the default")
        shorten_start_errors()
        checkpoint = setting(crawler.settings, "NEWSCRAWL_CHECKPOINT")
        store = cls(state_path(crawler), crawler, checkpoint=checkpoint)
        store.open()  # if that fails, the crawl does not start
        # After spider_closed, when other components still write.
        crawler.signals.connect(store._close_last, signals.engine_stopped)
        return store

    def open(self) -> None:
        """Open the file, with the tables of all components; raise :class:`CrawlStoreError`."""
        self._thread.submit(self._connect).result()

    async def close(self) -> None:
        """Commit all writes and close the file."""
        self._flush()
        if self._reader:
            self._reader.close()
        await self._run(self._disconnect)
        self._thread.shutdown(wait=False)

    async def _close_last(self) -> None:
        """Close the file after the spider; make the command fail if there was a problem."""
        # A signal while the spider is closing stops the engine, which would not wait for it.
        while (crawler := self._crawler()) and crawler.engine.spider:  # noqa: ASYNC110
            await asyncio.sleep(_CLOSING_INTERVAL)
        await self.close()
        problems = [str(self.failure)] if self.failure else self.damage
        if (crawler := self._crawler()) and problems:
            logger.critical("The crawl has failed, exit code 1: %s", "; ".join(problems))
            # Scrapy's commands return exit code 1 for a crawler without spider.
            crawler.spider = None

    def write(self, sql: str, rows: Iterable[tuple[Any, ...]] = ((),)) -> None:
        """Add *sql*, executed for each of *rows*, to the next commit."""
        if self.failure:
            return
        if self._batch and self._batch[-1][0] == sql:
            self._batch[-1][1].extend(rows)
        else:
            self._batch.append((sql, list(rows)))
        self.commit_soon()

    def commit_soon(self) -> None:
        """Commit at the next checkpoint."""
        if self._timer is None and not self.failure:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._checkpoint, self._flush)

    def prepare_commits(self, prepare: Callable[[], Callable[[], None]]) -> None:
        """Call *prepare* before each commit, and what it returns once that is durable.

        Its writes are part of the commit.
        """
        self._preparations.append(prepare)

    async def commit(self) -> None:
        """Commit and wait until all writes so far are durable; raises :class:`CrawlStoreError`."""
        self._flush()
        if self._last is not None:
            await asyncio.wait([self._last])
        if self.failure:
            raise self.failure

    async def read(self, sql: str, args: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Commit all writes so far and return the rows of a query.

        Raises :class:`CrawlStoreError`.
        """
        self._flush()
        return await self._run(self._select, sql, args)

    def read_committed(self, sql: str, args: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Return the rows of a query of the file, as last committed; for single rows by their ID.

        Raises :class:`CrawlStoreError`.
        """
        with _FILE.translated_errors(self.path):
            if self._reader is None:
                self._reader = sqlite3.connect(str(self.path))
            return self._reader.execute(sql, args).fetchall()

    def _flush(self) -> None:
        """Commit the batch in the thread."""
        confirmations = [] if self.failure else [prepare() for prepare in self._preparations]
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._batch:
            batch, self._batch = self._batch, []
            self._last = self._run(self._commit, batch)
            self._last.add_done_callback(partial(self._committed, confirmations))
        else:
            for confirm in confirmations:
                confirm()

    def _committed(
        self, confirmations: list[Callable[[], None]], job: asyncio.Future[None]
    ) -> None:
        error = job.exception()
        if error is None:
            for confirm in confirmations:
                confirm()
        if error is None or self.failure:
            return
        self._batch.clear()
        if not isinstance(error, CrawlStoreError):
            error = CrawlStoreError(f"{self.path}: {type(error).__name__}: {error}")
        self.failure = error
        crawler = self._crawler()
        if crawler and crawler.engine.spider:
            logger.critical("Could not write the crawl's state, closing the spider: %s", error)
            close = crawler.engine.close_spider_async(reason=STATE_FAILED)
            self._closing = asyncio.ensure_future(close)

    def _run(self, function: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Call *function* in the thread, after all earlier calls."""
        return asyncio.get_running_loop().run_in_executor(self._thread, function, *args)

    # The methods below run in the thread.

    def _connect(self) -> None:
        with ExitStack() as files:
            if self.path:
                files.enter_context(closing(_FILE.lock(self.path)))
            connection = files.enter_context(closing(_FILE.connect(self.path)))
            with _FILE.translated_errors(self.path), transaction(connection):
                for schema in _schemas:
                    _FILE.check_columns(connection, self.path, schema)
                    execute_all(connection, schema)
            self._files = files.pop_all()
        self._connection = connection

    def _disconnect(self) -> None:
        self._files.close()
        self._connection = None

    def _commit(self, batch: list[tuple[str, list[Any]]]) -> None:
        try:
            with _FILE.translated_errors(self.path), transaction(self._opened):
                for sql, rows in batch:
                    self._opened.executemany(sql, rows)
        except BaseException:
            self._disconnect()  # later batches must not be committed after a gap
            raise

    def _select(self, sql: str, args: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with _FILE.translated_errors(self.path):
            return self._opened.execute(sql, args).fetchall()

    @property
    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            raise CrawlStoreError(f"{self.path}: not open")
        return self._connection


def state_path(crawler: Crawler) -> Path | None:
    """Return the path of ``NEWSCRAWL_STATE`` and create its folder; None for a state in memory.

    ``scrapy fetch`` and ``scrapy shell`` keep their state in memory. A relative path is relative to
    the project's data directory (``.scrapy`` next to scrapy.cfg, or in the working directory).
    ``%(name)s`` is replaced by the spider's name. Each shard of a site list has its own file.
    """
    name = setting(crawler.settings, "NEWSCRAWL_STATE")
    if not name or crawler.spidercls is DefaultSpider:
        return None
    name %= {"name": crawler.spidercls.name}
    name = str(shard_path(crawler, name))
    try:
        path = Path(data_path(name))
    except NotConfigured:  # scrapyd runs projects without scrapy.cfg
        path = Path(".scrapy", name).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def query_of(spider: Spider | None) -> tuple[int, str]:
    """Return number and JSON of the query of *spider*; ``(0, "{}")`` if it crawls no sites."""
    query = getattr(spider, "query", None)
    return getattr(query, "id", 0), getattr(query, "text", "{}")


_DELETE: Final = "DELETE FROM memory WHERE until <= ?"
_SELECT: Final = "SELECT owner, value, until FROM memory WHERE name = ? AND until > ?"
_SELECT_OWNER: Final = f"{_SELECT} AND owner = ?"
_PUT: Final = """
INSERT INTO memory VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET value = excluded.value, until = excluded.until
"""


class SiteMemory(Component):
    """The table ``memory``: values of an *owner*, such as a host, until a time in seconds.

    For example the rules of robots.txt until they expire, or the end of a Retry-After.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._store = CrawlStore.for_crawler(crawler)
        self._is_clean = False

    @classmethod
    def of(cls, crawler: Crawler) -> SiteMemory | None:
        """Return the memory of *crawler*, None if it has no state file."""
        return None if state_path(crawler) is None else cls.for_crawler(crawler)

    async def find(self, name: str, owner: str | None = None) -> list[tuple[str, str, float]]:
        """Return the (owner, value, until) of *name*, of all owners unless one is given."""
        now = clock.now().timestamp()
        if not self._is_clean:
            self._is_clean = True
            self._store.write(_DELETE, [(now,)])
        if owner is None:
            return await self._store.read(_SELECT, (name, now))
        return await self._store.read(_SELECT_OWNER, (name, now, owner))

    def find_committed(self, name: str, owner: str) -> tuple[str, float] | None:
        """Return the value of *owner* and its end, None without; at once, as last committed."""
        args = (name, clock.now().timestamp(), owner)
        found = self._store.read_committed(_SELECT_OWNER, args)
        return found[0][1:] if found else None

    def put(self, name: str, owner: str, value: str, until: float) -> None:
        """Remember *value* of *owner* until a time in seconds since 1970."""
        self._store.write(_PUT, [(owner, name, value, until)])
