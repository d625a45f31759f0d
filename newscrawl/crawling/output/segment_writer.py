"""Extension that writes the items of the outbox to segments, each exactly once.

Three steps make a segment: its span is committed to the crawl state, its files and the manifest
are written, its items are removed from the outbox. After a crash the next start repeats the
remaining steps and writes the same bytes under the same names.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call, run_in_thread
from scrapy.utils.misc import load_object

from newscrawl import clock
from newscrawl.component import Component
from newscrawl.crawling.crawl_store import CrawlStore, CrawlStoreError, SiteMemory
from newscrawl.crawling.frontier import LeaseScheduler
from newscrawl.crawling.frontier.leases import LeaseBook
from newscrawl.crawling.output.segments import SegmentSpan, write_span
from newscrawl.defaults import SettingError, setting
from newscrawl.sqlite import checksum

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_PENDING: Final = (
    "SELECT id, item, checksum FROM outbox WHERE item IS NOT NULL AND error IS NULL "
    "AND folder = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT ?"
)
_DELIVERED: Final = """
UPDATE outbox SET item = NULL WHERE error IS NULL AND folder = ? AND id BETWEEN ? AND ?
"""
#: name in the memory: the span of a folder that is not written yet
_SPAN: Final = "segment"
_SET_ASIDE: Final = "UPDATE outbox SET error = 'damaged' WHERE id = ?"
_MAX_ID: Final = 2**63 - 1

segments_closed: Final = object()
"""Signal sent when the last segment of a crawl is written, with its *folder*. Handlers may be
coroutines, and set stats."""


class SegmentWriter(Component):
    """Writes emitted items to segments in the folder ``NEWSCRAWL_SEGMENTS``.

    Requires :class:`~newscrawl.crawling.frontier.LeaseScheduler`.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        folder = setting(settings, "NEWSCRAWL_SEGMENTS")
        if not folder:
            raise NotConfigured  # without a message, because disabled is the default
        # issubclass() only compares methods, and Scrapy's scheduler has the same ones.
        if LeaseScheduler not in load_object(settings["SCHEDULER"]).__mro__:
            raise SettingError(
                "NEWSCRAWL_SEGMENTS needs the scheduler newscrawl.crawling.frontier.LeaseScheduler"
                " (with the add-on: NEWSCRAWL_FRONTIER_ENABLED = True)"
            )
        self._folder = Path(folder)
        #: name of the folder in the outbox
        self._outbox = str(folder)
        self._items = max(1, setting(settings, "NEWSCRAWL_SEGMENT_ITEMS"))
        self._seconds = setting(settings, "NEWSCRAWL_SEGMENT_SECONDS")
        self._store = CrawlStore.for_crawler(crawler)
        self._memory = SiteMemory.for_crawler(crawler)
        LeaseBook.for_crawler(crawler)  # stores items in the outbox
        self._stats = crawler.stats
        self._send = crawler.signals.send_catch_log_async
        #: name prefix of the segments; each crawl has its own, so that a copy of the state never
        #: writes other items under the names of the original. Sorts by time
        self._name = f"{int(clock.now().timestamp()):08x}{secrets.token_hex(4)}"
        #: number of the last item that is in a segment
        self._last = 0
        self._lock = asyncio.Lock()
        self._new_items = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop = create_looping_call(self._start)
        crawler.signals.connect(self._open, signals.spider_opened)
        crawler.signals.connect(self._scraped, signals.item_scraped)
        crawler.signals.connect(self._close, signals.spider_closed)

    async def _open(self) -> None:
        if self._store.path is None:
            logger.warning(
                "NEWSCRAWL_SEGMENTS without NEWSCRAWL_STATE: a crash loses unwritten items"
            )
        await self._write_segments()
        if self._seconds:
            self._loop.start(self._seconds, now=False)

    def _scraped(self) -> None:
        self._new_items += 1
        if self._new_items >= self._items:
            self._new_items = 0
            self._start(only_full=True)

    def _start(self, *, only_full: bool = False) -> None:
        task = asyncio.create_task(self._write_segments(only_full=only_full))
        self._tasks.add(task)  # the event loop only keeps weak references
        task.add_done_callback(self._tasks.discard)

    async def _close(self) -> None:
        if self._loop.running:
            self._loop.stop()
        if error := await self._write_segments():
            self._store.damage.append(f"the next crawl writes the last segments ({error})")
        await self._send(segments_closed, folder=self._folder)

    async def _write_segments(self, *, only_full: bool = False) -> Exception | None:
        """Write the items of the outbox to segments; return the error that prevents it.

        With *only_full* leave a partial segment.
        """
        try:
            async with self._lock:
                await self._write_span()
                while items := await self._pending(only_full=only_full):
                    await self._add_span(items)
                    await self._write_span()
        except (CrawlStoreError, OSError) as error:
            # The items stay in the outbox until the next attempt.
            self._stats.inc_value("newscrawl/segments/failed_count")
            logger.error("Could not write a segment, retrying later: %s", error)  # noqa: TRY400
            return error
        return None

    async def _pending(self, *, only_full: bool) -> list[tuple[int, str, int]]:
        args = (self._outbox, self._last + 1, _MAX_ID, self._items)
        rows = await self._store.read(_PENDING, args)
        return [] if only_full and len(rows) < self._items else rows

    async def _add_span(self, rows: list[tuple[int, str, int]]) -> None:
        span = SegmentSpan(self._name, f"{clock.now():%Y-%m-%d}", rows[0][0], rows[-1][0])
        self._memory.put(_SPAN, self._outbox, json.dumps(span), inf)
        await self._store.commit()

    async def _write_span(self) -> None:
        folder = self._outbox
        for _, text, _ in await self._memory.find(_SPAN, folder):
            span = SegmentSpan(*json.loads(text))
            rows = await self._store.read(_PENDING, (folder, span.first, span.last, _MAX_ID))
            damaged = {number for number, text, stored in rows if checksum(text) != stored}
            await self._set_aside(damaged)
            items = [(number, text) for number, text, _ in rows if number not in damaged]
            if items:
                await run_in_thread(write_span, self._folder, span, items)
                self._stats.inc_value("newscrawl/segments/segment_count")
            self._store.write(_DELIVERED, [(folder, span.first, span.last)])
            self._memory.put(_SPAN, folder, "", 0)
            await self._store.commit()
            self._last = span.last
            self._stats.inc_value("newscrawl/segments/item_count", len(items))

    async def _set_aside(self, damaged: set[int]) -> None:
        """Keep *damaged* items in the outbox with an error; the crawl ends with exit code 1."""
        for number in damaged:
            logger.error("Could not deliver item %d of the outbox: damaged", number)
            self._store.damage.append(f"{self._store.path}: item {number} set aside (damaged)")
        if damaged:
            self._stats.inc_value("newscrawl/segments/set_aside_count", len(damaged))
            self._store.write(_SET_ASIDE, [(number,) for number in damaged])
            await self._store.commit()
