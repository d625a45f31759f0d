"""``CrawlStore``: the state of a crawl, in one SQLite file that always holds a whole past.

Whatever a crawl must not forget is written to one log, in the order in which it happened: what
the frontier has pending and done, the items on their way out, how requests ended. A thread commits
the log in batches, each of them one transaction, so that the file holds a prefix of the log at any
time. Writes that belong together are made without an ``await`` in between: a batch never divides
them.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import WeakKeyDictionary, ref

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.project import data_path
from scrapy.utils.spider import DefaultSpider

from newscrawl.crawl.frontier.shards import shard_path
from newscrawl.defaults import DEFAULTS, setting
from newscrawl.sqlite import FileType, execute_all, transaction

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable
    from typing import ParamSpec, TypeVar

    from scrapy.crawler import Crawler

    P = ParamSpec("P")
    T = TypeVar("T")

logger = logging.getLogger(__name__)

FAILED: Final = "newscrawl_state_failed"
"""Why a crawl ends whose state cannot be written (stat ``finish_reason``)."""


class CrawlStoreError(Exception):
    """The file cannot be used as the state of a crawl, or not any more; the message names it."""


_FILE: Final = FileType(
    name="the state of a crawl",
    application=0x4E43_4352,  # "NCCR"
    format=1,
    schema="CREATE TABLE run (id INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT);",
    error=CrawlStoreError,
    synchronous="FULL",
)


class CrawlStore:
    """The state of a crawl in the file at *path*; in memory where that is None.

    *checkpoint*: seconds from the first write of a batch to its commit. *on_failure* is called, in
    the event loop and once, when a batch cannot be written, with the reason; nothing is written
    after that.
    """

    _stores: ClassVar[WeakKeyDictionary[Crawler, CrawlStore]] = WeakKeyDictionary()

    def __init__(
        self,
        path: Path | None = None,
        *,
        checkpoint: float = DEFAULTS["NEWSCRAWL_CHECKPOINT"],
        on_failure: Callable[[CrawlStoreError], None] | None = None,
    ) -> None:
        self.path = path
        #: why nothing is written any more
        self.failure: CrawlStoreError | None = None
        self._checkpoint = checkpoint
        self._on_failure = on_failure
        # SQLite wants the thread that opened the file, and one thread keeps the order.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="crawl-state")
        self._connection: sqlite3.Connection | None = None
        self._batch: list[tuple[str, list[Any]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._last: asyncio.Future[None] | None = None

    @classmethod
    def for_crawler(cls, crawler: Crawler) -> CrawlStore:
        """Return the one store of *crawler*, which is closed when its engine has stopped.

        Raises :class:`CrawlStoreError` for a file that cannot be used, ``NotConfigured`` where
        Scrapy runs without asyncio.
        """
        if crawler not in cls._stores:
            cls._stores[crawler] = cls._from_crawler(crawler)
        return cls._stores[crawler]

    @classmethod
    def _from_crawler(cls, crawler: Crawler) -> CrawlStore:
        if not is_asyncio_available():
            raise NotConfigured("newscrawl needs Scrapy's asyncio reactor, the default")
        end = _End(crawler)
        store = end.store = cls(
            state_path(crawler),
            checkpoint=setting(crawler.settings, "NEWSCRAWL_CHECKPOINT"),
            on_failure=end.hasten,
        )
        # At once: a crawl that cannot have its file is refused before it has begun.
        store._thread.submit(store._connect).result()
        # After spider_closed, where components write their last.
        crawler.signals.connect(end.come, signals.engine_stopped)
        return store

    async def open(self, schema: str = "") -> None:
        """Open the file, unless it is open, and create what is missing of *schema*.

        *schema*: statements such as ``CREATE TABLE IF NOT EXISTS``, each ended by a semicolon.
        Raises :class:`CrawlStoreError`.
        """
        await self._run(self._connect)
        await self._run(self._extend, schema)

    async def close(self) -> None:
        """Commit what is written, and close the file."""
        self._flush()
        await self._run(self._disconnect)
        self._thread.shutdown(wait=False)

    def write(self, sql: str, rows: Iterable[tuple[Any, ...]] = ((),)) -> None:
        """Execute *sql* for each of *rows*, with the next commit."""
        if self.failure:
            return
        if self._batch and self._batch[-1][0] == sql:
            self._batch[-1][1].extend(rows)
        else:
            self._batch.append((sql, list(rows)))
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._checkpoint, self._flush)

    async def commit(self) -> None:
        """Commit now; return when everything written so far is durable.

        Raises :class:`CrawlStoreError` where it cannot be made so.
        """
        self._flush()
        if self._last is not None:
            await asyncio.wait([self._last])
        if self.failure:
            raise self.failure

    async def read(self, sql: str, args: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query over everything written so far, which is committed first.

        Raises :class:`CrawlStoreError`.
        """
        self._flush()
        return await self._run(self._select, sql, args)

    def _flush(self) -> None:
        """Hand the batch to the thread."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._batch:
            batch, self._batch = self._batch, []
            self._last = self._run(self._commit, batch)
            self._last.add_done_callback(self._committed)

    def _committed(self, job: asyncio.Future[None]) -> None:
        error = job.exception()
        if error is None or self.failure:
            return
        self._batch.clear()
        self.failure = self._explained(error)
        if self._on_failure:
            self._on_failure(self.failure)

    def _explained(self, error: BaseException) -> CrawlStoreError:
        if isinstance(error, CrawlStoreError):
            return error
        return CrawlStoreError(f"{self.path}: {type(error).__name__}: {error}")

    def _run(
        self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        """Call *function* in the thread, after all that it was given before."""
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(self._thread, lambda: function(*args, **kwargs))

    # In the thread:

    def _connect(self) -> None:
        if self._connection is None:
            self._connection = _FILE.connect(self.path)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _extend(self, schema: str) -> None:
        with _FILE.translated_errors(self.path), transaction(self._opened):
            execute_all(self._opened, schema)

    def _commit(self, batch: list[tuple[str, list[Any]]]) -> None:
        try:
            with _FILE.translated_errors(self.path), transaction(self._opened):
                for sql, rows in batch:
                    self._opened.executemany(sql, rows)
        except BaseException:
            # What follows a gap in the log must not get into the file.
            self._disconnect()
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
    """Return the file of ``NEWSCRAWL_STATE``, its folder made; None for a state in memory.

    The latter is what the spider of ``scrapy fetch`` and ``scrapy shell`` has.

    A relative path begins at the project's data directory, ``.scrapy`` beside its scrapy.cfg; in
    the working directory where there is none. ``%(name)s`` in it stands for the spider. Each shard
    of a site list has a file of its own.
    """
    name = setting(crawler.settings, "NEWSCRAWL_STATE")
    if not name or crawler.spidercls is DefaultSpider:
        return None
    name %= {"name": crawler.spidercls.name}
    name = str(shard_path(crawler, name))
    try:
        path = Path(data_path(name))
    except NotConfigured:  # scrapyd runs projects without their scrapy.cfg
        path = Path(".scrapy", name).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


class _End:
    """The end of a crawl, which comes early where its store fails."""

    store: CrawlStore

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = ref(crawler)  # which holds the store that holds this
        self._task: asyncio.Future[None] | None = None

    async def come(self) -> None:
        """Close the store; where it has failed, the crawl has."""
        await self.store.close()
        if (crawler := self._crawler()) and self.store.failure:
            logger.critical("The crawl has failed, exit code 1: %s", self.store.failure)
            # By this Scrapy's commands tell whether theirs is 0.
            crawler.spider = None

    def hasten(self, error: CrawlStoreError) -> None:
        """End the crawl in order."""
        logger.critical("The crawl ends, its state cannot be written: %s", error)
        crawler = self._crawler()
        if crawler and crawler.engine.spider:
            self._task = asyncio.ensure_future(crawler.engine.close_spider_async(reason=FAILED))
