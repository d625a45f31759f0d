"""Item pipeline that assigns clusters of near-duplicates to articles."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem, NotConfigured
from scrapy.utils.asyncio import is_asyncio_available, run_in_thread

from newscrawl import clock, neardup
from newscrawl.component import Component
from newscrawl.crawling.shards import shard_path
from newscrawl.crawling.urls import registered_domain
from newscrawl.defaults import setting
from newscrawl.feeds.story_reader import read_story
from newscrawl.items import Article
from newscrawl.pipeline_options import field_converters, neardup_options
from newscrawl.pipelines.item_filler import ItemFiller

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from newscrawl.neardup import Index, Story, Verdict

logger = logging.getLogger(__name__)

MAX_BATCH = 50
"""Stories in a transaction. A crash loses one transaction, and closing waits for one."""


class NearDuplicate(DropItem):  # without the suffix Error, like DropItem
    """The article is a near-duplicate of an earlier one."""


class NearDuplicatePipeline(Component):
    """Sets the cluster of each article, or drops all articles of a cluster but the first.

    Place it after :class:`~newscrawl.pipelines.NewsExtractPipeline`. It accepts any item with a
    text and a URL, in the fields that ``NEWSCRAWL_FIELDS`` names; other items pass unchanged. Later
    crawls continue the index file ``NEWSCRAWL_NEARDUP_INDEX``.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not setting(settings, "NEWSCRAWL_NEARDUP_ENABLED"):
            raise NotConfigured  # without a message, because disabled is the default of sitelist
        if not is_asyncio_available():
            raise NotConfigured("newscrawl requires Scrapy's default asyncio reactor")
        self._names = setting(settings, "NEWSCRAWL_FIELDS")
        self._filler = ItemFiller(self._names, field_converters(settings))
        self._drop = setting(settings, "NEWSCRAWL_NEARDUP_DROP")
        index = setting(settings, "NEWSCRAWL_NEARDUP_INDEX")
        self._path = str(shard_path(crawler, index)) if index else None
        self._options = neardup_options(settings)
        # One thread, since SQLite connections are bound to their thread.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="neardup")
        self._index: Index | None = None
        self._pending: deque[tuple[Story, Future[Verdict]]] = deque()
        self._stats = crawler.stats

    async def open_spider(self) -> None:
        """Open the index; raise ``NearDuplicateIndexError`` if the file is not an index."""
        opening = self._thread.submit(neardup.Index, self._path, self._options)
        self._index = await asyncio.wrap_future(opening)
        await run_in_thread(registered_domain, "example.com")  # loads the public suffix list

    async def close_spider(self) -> None:
        """Add all pending stories and close the index."""
        if self._index:
            await asyncio.wrap_future(self._thread.submit(self._index.close))
        self._thread.shutdown(wait=False)

    async def process_item(self, item: Any) -> Any:
        """Return *item* with its cluster, or raise :class:`NearDuplicate`."""
        story = read_story(item, self._names, clock.now())
        if story is None:
            self._count("passed")
            return item
        future: Future[Verdict] = Future()
        self._pending.append((story, future))
        self._thread.submit(self._add_pending)
        try:
            verdict = await asyncio.wrap_future(future)
        except neardup.NearDuplicateIndexError as error:  # keep the article if the disk is full
            self._count("failed")
            logger.error("Could not assign a cluster to %s: %s", story.url, error)  # noqa: TRY400
            return item
        self._count("article")
        self._count("cluster" if verdict.is_first else "duplicate")
        if self._drop and not verdict.is_first:
            self._count("dropped")
            raise NearDuplicate(
                f"near-duplicate in {verdict.cluster}: {story.url}", log_level="DEBUG"
            )
        if isinstance(item, Article):
            item.cluster = cluster_of(verdict)
        else:
            self._filler.write(item, "cluster", cluster_of(verdict))
        return item

    def _add_pending(self) -> None:
        """Add the next stories, in the thread; earlier calls may have added all of them.

        Stories that arrive during a transaction share the next one, so that a burst of articles
        does not wait for one fsync per article.
        """
        assert self._index is not None  # noqa: S101  # opened before the first item
        taken = [self._pending.popleft() for _ in range(min(MAX_BATCH, len(self._pending)))]
        batch = [pair for pair in taken if pair[1].set_running_or_notify_cancel()]
        if not batch:
            return
        try:
            verdicts = self._index.add_many([story for story, _ in batch])
        except Exception as error:  # noqa: BLE001  # for process_item()
            for _, future in batch:
                future.set_exception(error)
        else:
            for (_, future), verdict in zip(batch, verdicts, strict=True):
                future.set_result(verdict)

    def _count(self, name: str) -> None:
        self._stats.inc_value(f"newscrawl/neardup/{name}_count")


def cluster_of(verdict: Verdict) -> dict[str, Any]:
    """Return the field ``cluster`` of an article, as JSON values."""
    return {
        "id": verdict.cluster,
        "size": verdict.size,
        "is_first": verdict.is_first,
        "similarity": verdict.similarity,
        "near_duplicates": list(verdict.near_duplicates),
    }
