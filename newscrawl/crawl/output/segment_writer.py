"""``SegmentWriter``: brings the items of the outbox into segments, each exactly once.

In this order, so that a crash between two steps costs nothing: the span of a segment is committed
to the crawl's state; its files and the manifest are written; the items go from the outbox. What
was left half done is done again at the next start, with the same bytes under the same names.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call, run_in_thread
from scrapy.utils.misc import load_object

from newscrawl import clock
from newscrawl.crawl.frontier import LeaseScheduler
from newscrawl.crawl.frontier.crawl_store import CrawlStore, CrawlStoreError
from newscrawl.crawl.frontier.leases import LeaseBook
from newscrawl.crawl.frontier.outbox import SCHEMA as OUTBOX
from newscrawl.crawl.output.segments import SUFFIXES, Item, SegmentSpan, write_span
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS segment (
    first INTEGER PRIMARY KEY, last INTEGER NOT NULL, day TEXT NOT NULL, format TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS segment_writer (
    id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL
);
"""
"""*segment* has the spans that are not all written; *segment_writer* names the file's segments."""

_WAITING: Final = (
    "SELECT id, kind, item FROM outbox WHERE item IS NOT NULL AND id BETWEEN ? AND ? "
    "ORDER BY id LIMIT ?"
)
_ALL: Final = 2**63 - 1


class SegmentWriter:
    """An extension; see ``NEWSCRAWL_SEGMENTS``."""

    def __init__(self, crawler: Crawler, folder: Path) -> None:
        settings = crawler.settings
        self._folder = folder
        self._format = _format(settings)
        self._items = max(1, setting(settings, "NEWSCRAWL_SEGMENT_ITEMS"))
        self._seconds = setting(settings, "NEWSCRAWL_SEGMENT_SECONDS")
        self._store = CrawlStore.for_crawler(crawler)
        LeaseBook.for_crawler(crawler)  # puts items into the outbox
        self._stats = crawler.stats
        self._name = ""
        #: number of the last item that is in a segment
        self._last = 0
        self._turn = asyncio.Lock()
        self._new = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = create_looping_call(self._start)
        crawler.signals.connect(self._open, signals.spider_opened)
        crawler.signals.connect(self._scraped, signals.item_scraped)
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension; raise ``NotConfigured`` without ``NEWSCRAWL_SEGMENTS``.

        Raises ``ValueError`` for a setting that it cannot use.
        """
        folder = setting(crawler.settings, "NEWSCRAWL_SEGMENTS")
        if not folder:
            raise NotConfigured  # without a word: nobody asked for it
        # issubclass() would ask for the methods alone, which Scrapy's own scheduler has.
        if LeaseScheduler not in load_object(crawler.settings["SCHEDULER"]).__mro__:
            raise ValueError(
                "NEWSCRAWL_SEGMENTS needs the scheduler newscrawl.crawl.frontier.LeaseScheduler"
                " (with the add-on: NEWSCRAWL_FRONTIER_ENABLED = True)"
            )
        return cls(crawler, Path(folder))

    async def _open(self) -> None:
        if self._store.path is None:
            logger.warning(
                "Segments without NEWSCRAWL_STATE: a crash loses what is not yet written"
            )
        await self._store.open(OUTBOX + SCHEMA)
        self._store.write(
            "INSERT OR IGNORE INTO segment_writer VALUES (1, ?)", [(secrets.token_hex(4),)]
        )
        [(self._name,)] = await self._store.read("SELECT name FROM segment_writer")
        await self._deliver()
        if self._seconds:
            self._loop.start(self._seconds, now=False)

    def _scraped(self) -> None:
        self._new += 1
        if self._new >= self._items:
            self._new = 0
            self._start(full=True)

    def _start(self, *, full: bool = False) -> None:
        task = asyncio.create_task(self._deliver(full=full))
        self._tasks.add(task)  # the loop itself holds tasks weakly
        task.add_done_callback(self._tasks.discard)

    async def _close(self) -> None:
        if self._loop.running:
            self._loop.stop()
        await self._deliver()

    async def _deliver(self, *, full: bool = False) -> None:
        """Write segments of all that waits; of *full* segments only, if told so."""
        try:
            async with self._turn:
                await self._finish()
                while items := await self._waiting(full=full):
                    await self._begin(items)
                    await self._finish()
        except (CrawlStoreError, OSError) as error:
            # The items stay in the outbox, and the next turn begins with them.
            self._stats.inc_value("newscrawl/segments/failed_count")
            logger.error("No segment: %s", error)  # noqa: TRY400  # no bug

    async def _waiting(self, *, full: bool) -> list[tuple[int, str, str]]:
        rows = await self._store.read(_WAITING, (self._last + 1, _ALL, self._items))
        return [] if full and len(rows) < self._items else rows

    async def _begin(self, rows: list[tuple[int, str, str]]) -> None:
        span = (rows[0][0], rows[-1][0], f"{clock.now():%Y-%m-%d}", self._format)
        self._store.write("INSERT INTO segment VALUES (?, ?, ?, ?)", [span])
        await self._store.commit()

    async def _finish(self) -> None:
        """Write the segments whose spans are fixed."""
        for row in await self._store.read("SELECT * FROM segment ORDER BY first"):
            first, last, day, kind = row
            rows = await self._store.read(_WAITING, (first, last, _ALL))
            span = SegmentSpan(self._name, day, first, last, kind)
            segments = await run_in_thread(
                write_span, self._folder, span, [Item(*item) for item in rows]
            )
            self._store.write("UPDATE outbox SET item = NULL WHERE id BETWEEN ? AND ?", [row[:2]])
            self._store.write("DELETE FROM segment WHERE first = ?", [(first,)])
            await self._store.commit()
            self._last = last
            self._stats.inc_value("newscrawl/segments/segment_count", len(segments))
            self._stats.inc_value("newscrawl/segments/item_count", len(rows))


def _format(settings: BaseSettings) -> str:
    name: str = setting(settings, "NEWSCRAWL_SEGMENT_FORMAT")
    if name not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise ValueError(f"NEWSCRAWL_SEGMENT_FORMAT: {name!r} is not one of {known}")
    if name == "parquet" and find_spec("pyarrow") is None:
        raise ValueError("NEWSCRAWL_SEGMENT_FORMAT: parquet needs pip install 'newscrawl[parquet]'")
    return name
