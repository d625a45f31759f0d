"""Extension that writes feeds, and keeps the items that a feed has not got in the crawl state.

An item is delivered once the file of its feed has it.

Local feeds in formats of independent items, such as JSON Lines: the commit that ends a request also
has the bytes of its items, which are then flushed. The next crawl after a crash completes the file.
Other feeds (one document, compressed, uploaded at the end) have an item when their file is stored:
until then the state has it, too, as it has the items of feeds that cannot be written. The next
crawl writes them first.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import stat
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from itemadapter import ItemAdapter
from scrapy import exporters, signals
from scrapy.extensions import feedexport
from scrapy.extensions.postprocessing import PostProcessingManager
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.defer import ensure_awaitable

from newscrawl.crawling.crawl_store import CrawlStore, CrawlStoreError, state_tables
from newscrawl.crawling.frontier.leases import LEASE, LeaseBook, outbox_row
from newscrawl.crawling.logs import mask_secrets
from newscrawl.defaults import setting
from newscrawl.exporters.feed_files import FeedFile, StdoutFile, complete_file
from newscrawl.items import Article
from newscrawl.sqlite import checksum

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot
    from scrapy.http import Response

logger = logging.getLogger(__name__)

state_tables("""
CREATE TABLE IF NOT EXISTS undelivered (
    id INTEGER PRIMARY KEY,
    feed TEXT NOT NULL,
    is_article INTEGER NOT NULL,
    item TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS undelivered_feed ON undelivered (feed, id);
CREATE TABLE IF NOT EXISTS feed_end (
    path TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    data BLOB NOT NULL
);
""")
"""``undelivered``: items that a feed, a key of ``FEEDS`` without secrets, has not got yet.
``feed_end``: what local files have, or are about to get, from a position on."""

FEED_FAILED: Final = "newscrawl_feed_failed"
"""Stat ``finish_reason`` of a crawl that could not write any of its feeds."""
REDELIVERED_COUNT: Final = "newscrawl/feeds/redelivered_count"
"""Stat: items of former crawls that were written to feeds, in each feed once."""

_INSERT: Final = "INSERT INTO undelivered VALUES (?, ?, ?, ?, ?)"
_DELETE: Final = "DELETE FROM undelivered WHERE id = ?"
_SET_END: Final = "INSERT OR REPLACE INTO feed_end VALUES (?, ?, ?)"
_DELETE_END: Final = "DELETE FROM feed_end WHERE path = ?"
_COUNT: Final = "SELECT feed, count(*), max(id) FROM undelivered GROUP BY feed"
_SELECT: Final = """
SELECT id, is_article, item, checksum FROM undelivered
WHERE feed = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT 200
"""
_INDEPENDENT: Final = (
    exporters.CsvItemExporter,
    exporters.JsonLinesItemExporter,
    exporters.MarshalItemExporter,
    exporters.PickleItemExporter,
)
"""Exporters that write an item at once, so that it can be taken back."""
_MAX_HELD: Final = 2**22
"""Bytes of a feed in memory until the next commit."""


class _Export(NamedTuple):
    """An item that was exported, or is about to be."""

    item: Any
    #: ID of the lease of its request, and of its row in ``undelivered``; 0 for none
    lease: int
    row: int = 0
    #: bytes that the exporter has written
    data: bytes = b""


@dataclass(slots=True, eq=False)
class _File:
    """The file of a slot that is open."""

    #: whether its items are independent: a local file, or standard output
    is_direct: bool
    #: absolute path of a local file, and its size before the crawl
    path: str
    start: int
    #: items of a direct feed that are in no commit yet, and those in one that is not confirmed
    held: list[_Export] = field(default_factory=list)
    committing: list[_Export] = field(default_factory=list)
    #: whether the file is a batch that is complete
    is_closing: bool = False
    #: lease and row of each item of another feed
    rows: list[tuple[int, int]] = field(default_factory=list)


class FeedExporter(feedexport.FeedExporter):
    """Scrapy's extension for ``FEEDS``, which loses no item that a feed could not take.

    A feed that cannot be written gets no more items in this crawl. The crawl closes with the reason
    ``newscrawl_feed_failed`` when that is the case for all feeds, unless it writes segments. In
    both cases, and if single items could not be exported, the command ends with exit code 1.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension; Scrapy's own one without asyncio."""
        with suppress(RuntimeError):  # neither a reactor nor a running loop
            if is_asyncio_available():
                return super().from_crawler(crawler)
        return feedexport.FeedExporter.from_crawler(crawler)  # type: ignore[return-value]

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._store = CrawlStore.for_crawler(crawler)
        self._store.prepare_commits(self._prepare_commit)
        crawler.signals.connect(self._start, signals.engine_started)
        self._book = LeaseBook.for_crawler(crawler)
        self._stats = crawler.stats
        self._has_segments = bool(setting(crawler.settings, "NEWSCRAWL_SEGMENTS"))
        self._is_kept = self._store.path is not None
        self._names = {uri: mask_secrets(uri) for uri in self.feeds}
        self._files: dict[FeedSlot, _File] = {}
        #: why a feed gets no more items, and why single items were not exported, by URI template
        self._failed: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        #: number of items that a feed has not got, and the state neither
        self._lost: Counter[str] = Counter()
        #: feeds with items that the state cannot have
        self._unserializable: set[str] = set()
        #: paths of files that the last items of a killed crawl could not be written to
        self._incomplete: set[str] = set()
        self._ids = count(1)
        self._is_running = False
        self._closing: asyncio.Task[None] | None = None

    async def open_spider(self, spider: Spider) -> None:  # type: ignore[override]
        """Open the feeds and write what former crawls have not delivered."""
        super().open_spider(spider)
        if self.settings["JOBDIR"] and not self._is_kept:
            logger.warning("JOBDIR without NEWSCRAWL_STATE: feeds that fail lose items")
        with suppress(CrawlStoreError):  # the store closes the spider
            if self._is_kept:
                await self._complete_files()
                await self._redeliver()

    async def _complete_files(self) -> None:
        """Write the last items of a crawl that was killed."""
        for path, position, data in await self._store.read("SELECT * FROM feed_end"):
            try:
                complete_file(Path(path), position, data)
            except OSError as error:
                self._store.damage.append(f"{path} lacks items: {error.strerror}")
                self._incomplete.add(path)
            else:
                self._store.write(_DELETE_END, [(path,)])

    async def _redeliver(self) -> None:
        rows = await self._store.read(_COUNT)
        last = max((row[2] for row in rows), default=0)
        self._ids = count(last + 1)
        numbers = {feed: number for feed, number, _ in rows}
        for uri, name in self._names.items():
            if number := numbers.pop(name, 0):
                logger.info("Writing %d items of former crawls to the feed %s", number, name)
                await self._redeliver_to(uri, last)
        for name, number in numbers.items():
            message = "The state has %d items for the feed %s; a crawl with this feed writes them"
            logger.warning(message, number, name)

    async def _redeliver_to(self, uri: str, last: int) -> None:
        row = 0
        while uri not in self._failed and (
            rows := await self._store.read(_SELECT, (self._names[uri], row + 1, last))
        ):
            for row, is_article, text, stored in rows:
                if checksum(text) != stored:
                    self._store.write(_DELETE, [(row,)])
                    self._store.damage.append(f"{self._store.path}: item {row} of {uri} is damaged")
                    continue
                item = Article.from_dict(json.loads(text)) if is_article else json.loads(text)
                index = next(i for i, slot in enumerate(self.slots) if slot.uri_template == uri)
                self.slots[index] = self._export(self.slots[index], _Export(item, 0, row))

    def item_scraped(
        self,
        item: Any,
        spider: Spider,  # noqa: ARG002  # of the base class
        response: Response | None = None,
    ) -> None:
        """Export *item* to the feeds that accept it."""
        if self._store.failure:
            return  # its request remains pending
        request = getattr(response, "request", None)
        export = _Export(item, request.meta.get(LEASE, 0) if request else 0)
        self.slots = [
            self._export(slot, export) if self._accepts(slot, export) else slot
            for slot in self.slots
        ]

    def _accepts(self, slot: FeedSlot, export: _Export) -> bool:
        try:
            return slot.filter.accepts(export.item)
        except Exception as error:  # noqa: BLE001  # of the project
            self._refuse(slot.uri_template, export, error)
            return False

    def _export(self, slot: FeedSlot, export: _Export) -> FeedSlot:
        """Export an item to *slot*; return the slot of the next item."""
        uri = slot.uri_template
        if uri in self._failed:
            self._keep(uri, export)
            return slot
        mark: int | None = None
        try:
            file = self._opened(slot)
            mark = _position(slot)
            slot.exporter.export_item(export.item)  # type: ignore[union-attr]
        except OSError as error:
            self._fail(slot, error, [export])
            return slot
        except Exception as error:  # noqa: BLE001  # of an exporter
            if slot not in self._files:  # the file could not be opened
                self._fail(slot, error, [export])
            else:
                self._refuse(uri, export, error)
                self._take_back(slot, mark)
            return slot
        slot.itemcount += 1
        if export.row:
            self._stats.inc_value(REDELIVERED_COUNT)
        if file.is_direct:
            self._hold(slot, file, export)
        elif self._is_kept and (row := export.row or self._write_row(uri, export)):
            file.rows.append((export.lease, row))
        size = self.feeds[uri]["batch_item_count"]
        is_complete = size and slot.itemcount >= size and uri not in self._failed
        return self._next_batch(slot, file) if is_complete else slot

    def _hold(self, slot: FeedSlot, file: _File, export: _Export) -> None:
        """Hold what was exported to a local file until the commit that ends its request."""
        feed: Any = slot.file
        if not file.path:  # standard output has it
            if export.row:
                self._store.write(_DELETE, [(export.row,)])
            return
        export = export._replace(data=feed.take())
        if self._is_kept:
            file.held.append(export)
            self._store.commit_soon()
        else:
            file.committing.append(export)
            self._flush(slot, file, 1)

    def _next_batch(self, slot: FeedSlot, file: _File) -> FeedSlot:
        uri = slot.uri_template
        params = self._get_uri_params(slot.spider, self.feeds[uri]["uri_params"], slot)
        file.is_closing = True
        self._schedule_slot_close(slot, slot.spider)
        return self._start_new_batch(
            batch_id=slot.batch_id + 1,
            uri=feedexport.apply_uri_params(uri, params),
            feed_options=self.feeds[uri],
            spider=slot.spider,
            uri_template=uri,
        )

    def _opened(self, slot: FeedSlot) -> _File:
        slot.start_exporting()
        if slot not in self._files:
            feed: Any = slot.file
            path, start = "", 0
            is_direct = isinstance(feed, StdoutFile)
            if isinstance(feed, FeedFile):
                path, start = os.path.realpath(feed.name), feed.flushed
                is_direct = isinstance(slot.exporter, _INDEPENDENT)
                if is_direct:
                    feed.buffer_size = _MAX_HELD
            elif not is_direct:
                start = _size(feed)
            self._files[slot] = _File(is_direct, path, start)
            if path in self._incomplete:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._files[slot]

    def _prepare_commit(self) -> Callable[[], None]:
        """Add items to the commit that ends their requests; the files get them after it."""
        commits = []
        for slot, file in self._files.items():
            if not (ready := self._take_ready(slot, file)):
                continue
            if rows := [(export.row,) for export in ready if export.row]:
                self._store.write(_DELETE, rows)
            file.committing += [export._replace(row=0) for export in ready]
            feed: Any = slot.file
            data = b"".join(export.data for export in file.committing)
            self._store.write(_SET_END, [(file.path, feed.flushed, data)])
            commits.append((slot, file, len(ready)))
        return partial(self._flush_committed, commits)

    def _take_ready(self, slot: FeedSlot, file: _File) -> list[_Export]:
        """Return the held items whose requests have ended; all if they are too many."""
        held = file.held
        if file.is_closing or sum(len(export.data) for export in held) > _MAX_HELD:
            file.held = []
            return held
        is_first = slot.itemcount == len(held)  # it has the header of CSV
        ready: list[_Export] = []
        file.held = []
        for export in held:
            is_ready = (is_first and not ready) or not self._book.get(export.lease)
            (ready if is_ready else file.held).append(export)
        return ready

    def _flush_committed(self, commits: list[tuple[FeedSlot, _File, int]]) -> None:
        for slot, file, number in commits:
            if self._files.get(slot) is file:
                self._flush(slot, file, number)

    def _flush(self, slot: FeedSlot, file: _File, number: int) -> None:
        """Write the first *number* items that are committed."""
        feed: Any = slot.file
        try:
            feed.write(b"".join(export.data for export in file.committing[:number]))
            feed.flush()
        except OSError as error:
            self._fail(slot, error)
        else:
            del file.committing[:number]

    def _fail(self, slot: FeedSlot, error: Exception, exports: list[_Export] | None = None) -> None:
        """Write nothing more to the feed of *slot*; keep its items for the next crawl."""
        uri = slot.uri_template
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        if uri not in self._failed:
            self._failed[uri] = reason
            self._stats.inc_value("newscrawl/feeds/failed_count")
            what = "kept for the next crawl" if self._is_kept else "lost"
            message = "Could not write the feed %s (%s); its further items are %s"
            logger.error(message, self._names[uri], reason, what)
        if file := self._files.pop(slot, None):
            self._lost[uri] += 0 if file.is_direct else slot.itemcount - len(file.rows)
            exports = [*file.committing, *file.held, *(exports or ())]
            if file.path not in self._incomplete:
                self._store.write(_DELETE_END, [(file.path,)])
            self._discard(slot, None if file.is_direct else file.start)
        for export in exports or ():
            self._keep(uri, export)
        self._close_without_outlet()

    def _start(self) -> None:
        self._is_running = True
        self._close_without_outlet()

    def _close_without_outlet(self) -> None:
        """Close the spider if neither feeds nor segments can be written."""
        has_failed = self._failed.keys() == self.feeds.keys() and not self._has_segments
        if has_failed and self._is_running and not self._closing:
            logger.critical("No feed can be written, closing the spider")
            close = self.crawler.engine.close_spider_async(reason=FEED_FAILED)
            self._closing = asyncio.ensure_future(close)

    def _refuse(self, uri: str, export: _Export, error: Exception) -> None:
        """Keep an item that cannot be exported."""
        url = ItemAdapter(export.item).get("url") if ItemAdapter.is_item(export.item) else None
        reason = f"{type(error).__name__}: {error}"
        logger.error("Could not export %s to the feed %s: %s", url, self._names[uri], reason)
        self._refused[uri] = reason
        self._keep(uri, export)

    def _keep(self, uri: str, export: _Export) -> None:
        """Write an item that its feed has not got to the state."""
        if not (self._is_kept and (export.row or self._write_row(uri, export))):
            self._lost[uri] += 1

    def _write_row(self, uri: str, export: _Export) -> int:
        """Write an item to the state with the end of its request; return its row, 0 if lost."""
        try:
            _, text, stored = outbox_row(export.item)
        except (TypeError, ValueError) as error:
            self._stats.inc_value("newscrawl/feeds/unserializable_count")
            if uri not in self._unserializable:
                self._unserializable.add(uri)
                name = type(export.item).__qualname__
                message = "A feed that fails loses items: no JSON for a %s of %s (%s)"
                logger.warning(message, name, self._names[uri], error)
            return 0
        row = next(self._ids)
        is_article = isinstance(export.item, Article)
        values = (row, self._names[uri], is_article, text, stored)
        self._book.write_with_lease(self._book.get(export.lease), _INSERT, [values])
        return row

    def _take_back(self, slot: FeedSlot, mark: int | None) -> None:
        """Remove what an exporter has written of an item, from *mark* on, before it failed."""
        if mark is None:
            return
        with suppress(OSError):
            slot.file.truncate(mark)  # type: ignore[union-attr]
            slot.file.seek(mark)  # type: ignore[union-attr]
        if not slot.itemcount:  # the exporter believes that its header is written
            self._discard(slot, self._files.pop(slot).start)

    def _discard(self, slot: FeedSlot, position: int | None) -> None:
        """Close the file without what was written after *position*, None for the last flush."""
        file: Any = slot.file
        exporter: Any = slot.exporter
        slot.file = slot.exporter = None
        slot._fileloaded = slot._exporting = False  # noqa: SLF001  # opens it again
        with suppress(Exception):
            if isinstance(file, FeedFile):
                file.discard(file.flushed if position is None else position)
            elif position is not None and not isinstance(file, PostProcessingManager):
                # What the file object holds can be written once there is room again.
                os.ftruncate(file.fileno(), position)
                file.flush()
                os.ftruncate(file.fileno(), position)
        with suppress(Exception):
            exporter.finish_exporting()
        with suppress(Exception):
            file.close()

    async def close_spider(self, spider: Spider) -> None:
        """Close the files; report which feeds lack items."""
        self._is_running = False
        await super().close_spider(spider)
        kept: dict[str, int] = {}
        with suppress(CrawlStoreError):
            if self._is_kept:
                kept = {feed: number for feed, number, _ in await self._store.read(_COUNT)}
        for uri, reason in {**self._refused, **self._failed}.items():
            texts = []
            for what, number in (("kept", kept.get(self._names[uri])), ("lost", self._lost[uri])):
                if number:
                    texts.append(f"{number} {what}")
                    self._stats.inc_value(f"newscrawl/feeds/{what}_count", number)
            line = f"the feed {self._names[uri]} lacks items: {', '.join(texts)} ({reason})"
            self._store.damage.append(line)

    async def _close_slot(self, slot: FeedSlot, spider: Spider) -> None:  # noqa: ARG002
        with suppress(CrawlStoreError):
            await self._store.commit()  # then flush
        file = self._files.get(slot)
        if self._store.failure:  # the next crawl repeats what is not committed
            if file:
                self._discard(slot, None if file.is_direct else file.start)
            return
        is_empty_file = slot.store_empty and slot.batch_id == 1 and not slot.itemcount
        if not file and (slot.uri_template in self._failed or not is_empty_file):
            return
        kind = type(slot.storage).__name__
        try:
            file = self._opened(slot)
            slot.finish_exporting()
            await ensure_awaitable(slot.storage.store(self._get_file(slot)))
        except Exception as error:  # noqa: BLE001  # of an exporter or storage
            self._stats.inc_value(f"feedexport/failed_count/{kind}")
            self._fail(slot, error)
            return
        del self._files[slot]
        self._store.write(_DELETE_END, [(file.path,)])
        for lease, row in file.rows:
            self._book.write_with_lease(self._book.get(lease), _DELETE, [(row,)])
        logger.info("Stored %s feed (%d items) in: %s", slot.format, slot.itemcount, slot.uri)
        self._stats.inc_value(f"feedexport/success_count/{kind}")
        await self.crawler.signals.send_catch_log_async(signals.feed_slot_closed, slot=slot)


def _position(slot: FeedSlot) -> int | None:
    """Return the size of a file that can be cut, None for another one."""
    file: Any = slot.file
    if isinstance(file, PostProcessingManager) or not file.seekable():
        return None
    return int(file.tell())


def _size(file: Any) -> int:
    """Return the size on disk of a file that was just opened, 0 if it has none."""
    with suppress(AttributeError, OSError):
        status = os.fstat(file.fileno())
        return status.st_size if stat.S_ISREG(status.st_mode) else 0
    return 0
