"""Extension that writes feeds, and keeps the items that a feed has not got in the crawl state.

An item is a row of ``undelivered`` from the commit that ends its request until its feed has it. It
is exported after that commit. Local files in formats of independent items, such as JSON Lines, have
it at once; the next commit deletes its row. Other feeds (one document, compressed, uploaded at the
end) have their items when the file is stored. The next crawl exports what is left first.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from itemadapter import ItemAdapter
from scrapy import exporters, signals
from scrapy.extensions import feedexport
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.defer import ensure_awaitable

from newscrawl.crawling.crawl_store import CrawlStore, CrawlStoreError, SiteMemory, state_tables
from newscrawl.crawling.frontier.leases import LEASE, LeaseBook, outbox_row
from newscrawl.crawling.logs import mask_secrets
from newscrawl.defaults import setting
from newscrawl.exporters.feed_files import FeedFile, StdoutFile, read_from
from newscrawl.exporters.markdown_folder import MarkdownFolder
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
""")
"""Items that a feed, a key of ``FEEDS`` without secrets, has not got yet."""

FEED_FAILED: Final = "newscrawl_feed_failed"
"""Stat ``finish_reason`` of a crawl that could not write any of its feeds."""
REDELIVERED_COUNT: Final = "newscrawl/feeds/redelivered_count"
"""Stat: items of former crawls that were written to feeds, in each feed once."""

_INSERT: Final = "INSERT INTO undelivered VALUES (?, ?, ?, ?, ?)"
_DELETE: Final = "DELETE FROM undelivered WHERE id = ?"
#: name in the memory: feed and size of a local file at a commit; after a kill, rows may follow
_END: Final = "feed_end"
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
"""Bytes of an item up to which a file gets all of them or none."""


class _Delivery(NamedTuple):
    """An item that a feed has not got."""

    #: key of ``FEEDS``
    uri: str
    item: Any
    #: ID of the lease of its request, 0 for none
    lease: int = 0
    #: ID in ``undelivered``, 0 if it is only in memory
    row: int = 0


@dataclass(slots=True, eq=False)
class _File:
    """The file of a slot that is open."""

    #: whether it has an item once that is written: independent items in a local file, in files of
    #: their own or on stdout
    is_direct: bool
    #: absolute path of a local file, and its size before the crawl
    path: str = ""
    start: int = 0
    #: rows of its items, to be deleted once they are delivered
    rows: list[int] = field(default_factory=list)


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
        self._memory = SiteMemory.for_crawler(crawler)
        crawler.signals.connect(self._start, signals.engine_started)
        self._book = LeaseBook.for_crawler(crawler)
        self._stats = crawler.stats
        self._has_segments = bool(setting(crawler.settings, "NEWSCRAWL_SEGMENTS"))
        self._is_kept = self._store.path is not None
        if self._is_kept:
            self._store.prepare_commits(self._prepare_commit)
        self._names = {uri: mask_secrets(uri) for uri in self.feeds}
        self._files: dict[FeedSlot, _File] = {}
        #: why a feed gets no more items, and why single items were not exported, by URI template
        self._failed: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        #: number of items that a feed has not got, and the state neither
        self._lost: Counter[str] = Counter()
        #: items to be exported after the commit that ends their requests
        self._waiting: list[_Delivery] = []
        #: ends of files at the last commit of the former crawl, and what a feed has from there on
        self._ends: dict[str, int] = {}
        self._tail = b""
        #: the last row of former crawls
        self._last = 0
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
                await self._redeliver()

    async def _redeliver(self) -> None:
        tails: defaultdict[str, bytes] = defaultdict(bytes)
        feeds: dict[str, str] = {}
        for path, text, _ in await self._memory.find(_END):
            feeds[path], self._ends[path] = json.loads(text)
            with suppress(OSError):
                tails[feeds[path]] += read_from(path, self._ends[path])
        rows = await self._store.read(_COUNT)
        self._last = max((row[2] for row in rows), default=0)
        self._ids = count(self._last + 1)
        numbers = {feed: number for feed, number, _ in rows}
        for uri, name in self._names.items():
            if number := numbers.pop(name, 0):
                logger.info("Writing %d items of former crawls to the feed %s", number, name)
                self._tail = tails[name]
                await self._redeliver_to(uri)
        for name, number in numbers.items():
            message = "The state has %d items for the feed %s; a crawl with this feed writes them"
            logger.warning(message, number, name)
        done = {name for uri, name in self._names.items() if uri not in self._failed}
        for path in (path for path, feed in feeds.items() if feed in done):
            self._memory.put(_END, path, "", 0)
        self._ends, self._tail = {}, b""

    async def _redeliver_to(self, uri: str) -> None:
        row = 0
        while uri not in self._failed and (
            rows := await self._store.read(_SELECT, (self._names[uri], row + 1, self._last))
        ):
            for row, is_article, text, stored in rows:
                if checksum(text) != stored:
                    self._store.write(_DELETE, [(row,)])
                    self._store.damage.append(f"{self._store.path}: item {row} of {uri} is damaged")
                    continue
                item = Article.from_dict(json.loads(text)) if is_article else json.loads(text)
                self._waiting.append(_Delivery(uri, item, 0, row))
            while self._waiting:
                await self._store.commit()

    def item_scraped(
        self,
        item: Any,
        spider: Spider,  # noqa: ARG002  # of the base class
        response: Response | None = None,
    ) -> None:
        """Export *item* to the feeds that accept it, after the commit that ends its request."""
        if self._store.failure:
            return  # its request remains pending
        request = getattr(response, "request", None)
        lease = request.meta.get(LEASE, 0) if request else 0
        for slot in list(self.slots):
            entry = _Delivery(slot.uri_template, item, lease)
            try:
                if not slot.filter.accepts(item):
                    continue
            except Exception as error:  # noqa: BLE001  # of the project
                self._refuse(self._with_row(entry), error)
                continue
            entry = self._with_row(entry)
            if entry.row:
                self._waiting.append(entry)
            else:
                self._export(entry)

    def _prepare_commit(self) -> Callable[[], None]:
        """Add to a commit which items the files have; export its durable ones after it."""
        ready = [entry for entry in self._waiting if not self._book.get(entry.lease)]
        self._waiting = [entry for entry in self._waiting if self._book.get(entry.lease)]
        for uri in {entry.uri for entry in ready} - self._failed.keys():
            slot = self._slot(uri)
            try:
                self._record_end(slot, self._opened(slot))
            except Exception as error:  # noqa: BLE001  # of a storage or an exporter
                self._fail(slot, error)
        for slot, file in self._files.items():
            if file.is_direct and file.rows:
                self._record_end(slot, file)
        return partial(self._export_committed, ready)

    def _record_end(self, slot: FeedSlot, file: _File) -> None:
        """Record the size of a file, and that it has its items up to there."""
        if not file.is_direct:
            return
        self._delete(file)
        if file.path:
            feed: Any = slot.file
            end = self._ends.get(file.path, feed.flushed)
            value = json.dumps([self._names[slot.uri_template], end])
            self._memory.put(_END, file.path, value, inf)

    def _delete(self, file: _File) -> None:
        self._store.write(_DELETE, [(row,) for row in file.rows])
        file.rows.clear()

    def _export_committed(self, entries: list[_Delivery]) -> None:
        later = []
        for entry in entries:
            if entry.uri in self._failed or self._slot(entry.uri) in self._files:
                self._export(entry)
            else:  # the next commit opens the file, of the next batch
                later.append(entry)
        if later:
            self._waiting[:0] = later
            self._store.commit_soon()

    def _slot(self, uri: str) -> FeedSlot:
        return next(slot for slot in self.slots if slot.uri_template == uri)

    def _export(self, entry: _Delivery) -> None:
        """Export an item to its feed."""
        if entry.uri in self._failed:
            self._lost[entry.uri] += not entry.row
            return
        slot = self._slot(entry.uri)
        try:
            file = self._opened(slot)
        except Exception as error:  # noqa: BLE001  # of a storage or an exporter
            self._fail(slot, error, entry)
            return
        try:
            self._write(slot, file, entry.item)
        except OSError as error:
            self._fail(slot, error, entry)
        except Exception as error:  # noqa: BLE001  # of an exporter
            self._refuse(entry, error)
        else:
            slot.itemcount += 1
            file.rows += [entry.row] if entry.row else ()
            if 0 < entry.row <= self._last:
                self._stats.inc_value(REDELIVERED_COUNT)
            if slot.itemcount == self.feeds[entry.uri]["batch_item_count"]:
                self._start_next_batch(slot)

    def _write(self, slot: FeedSlot, file: _File, item: Any) -> None:
        """Write an item to its file, unless a crawl that was killed has done so."""
        feed: Any = slot.file
        exporter: Any = slot.exporter
        mark = feed.tell() if isinstance(feed, FeedFile) else None
        try:
            exporter.export_item(item)
        except Exception:
            if mark is not None:
                feed.truncate(mark)
            if not slot.itemcount:  # the exporter believes that its header is written
                self._discard(slot, self._files.pop(slot))
            raise
        if file.is_direct:
            if self._tail and mark is not None:
                data = feed.take()
                # A line that was cut before its end has been ended since.
                feed.write(b"" if data.strip() in self._tail else data)
            feed.flush()

    def _start_next_batch(self, slot: FeedSlot) -> None:
        uri = slot.uri_template
        params = self._get_uri_params(slot.spider, self.feeds[uri]["uri_params"], slot)
        self._schedule_slot_close(slot, slot.spider)
        self.slots[self.slots.index(slot)] = self._start_new_batch(
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
            file = self._files[slot] = _File(isinstance(feed, MarkdownFolder | StdoutFile))
            if isinstance(feed, FeedFile):
                file.path, file.start = os.path.realpath(feed.name), feed.flushed
                if isinstance(slot.exporter, _INDEPENDENT):
                    file.is_direct, feed.buffer_size = True, _MAX_HELD
        return self._files[slot]

    def _fail(self, slot: FeedSlot, error: Exception, entry: _Delivery | None = None) -> None:
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
            self._record_end(slot, file)
            self._discard(slot, file)
        self._lost[uri] += bool(entry and not entry.row)
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

    def _refuse(self, entry: _Delivery, error: Exception) -> None:
        """Report an item that cannot be exported."""
        uri, item = entry.uri, entry.item
        url = ItemAdapter(item).get("url") if ItemAdapter.is_item(item) else None
        reason = f"{type(error).__name__}: {error}"
        logger.error("Could not export %s to the feed %s: %s", url, self._names[uri], reason)
        self._refused[uri] = reason
        self._lost[uri] += not entry.row

    def _with_row(self, entry: _Delivery) -> _Delivery:
        """Write an item to the state with the end of its request, if the state can have it."""
        if not self._is_kept:
            return entry
        uri, item = entry.uri, entry.item
        try:
            _, text, stored = outbox_row(item)
        except (TypeError, ValueError) as error:
            self._stats.inc_value("newscrawl/feeds/unserializable_count")
            message = "If the feed %s fails, it loses a %s: no JSON for it (%s)"
            logger.warning(message, self._names[uri], type(item).__qualname__, error)
            return entry
        row = next(self._ids)
        values = (row, self._names[uri], isinstance(item, Article), text, stored)
        self._book.write_with_lease(self._book.get(entry.lease), _INSERT, [values])
        return entry._replace(row=row)

    def _discard(self, slot: FeedSlot, file: _File) -> None:
        """Close the file without the items that it has not got."""
        feed: Any = slot.file
        exporter: Any = slot.exporter
        slot.file = slot.exporter = None
        slot._fileloaded = slot._exporting = False  # noqa: SLF001  # opens it again
        with suppress(Exception):
            if isinstance(feed, FeedFile):
                feed.discard(feed.flushed if file.is_direct else file.start)
        with suppress(Exception):
            exporter.finish_exporting()
        with suppress(Exception):
            feed.close()

    async def close_spider(self, spider: Spider) -> None:
        """Close the files; report which feeds lack items."""
        self._is_running = False
        with suppress(CrawlStoreError):
            while any(not self._book.get(entry.lease) for entry in self._waiting):
                await self._store.commit()
        self._waiting.clear()  # the next crawl repeats their requests
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
        file = self._files.get(slot)
        if self._store.failure:  # the next crawl repeats what is not committed
            if file:
                self._discard(slot, file)
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
        self._delete(file)
        self._memory.put(_END, file.path, "", 0)
        logger.info("Stored %s feed (%d items) in: %s", slot.format, slot.itemcount, slot.uri)
        self._stats.inc_value(f"feedexport/success_count/{kind}")
        await self.crawler.signals.send_catch_log_async(signals.feed_slot_closed, slot=slot)
