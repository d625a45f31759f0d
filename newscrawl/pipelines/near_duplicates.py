"""Item pipeline that assigns clusters of near-duplicates to articles."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import DropItem, NotConfigured
from scrapy.utils.asyncio import is_asyncio_available, run_in_thread

from newscrawl import clock
from newscrawl.crawl.discovery.urls import registered_domain
from newscrawl.crawl.frontier.shards import shard_path
from newscrawl.defaults import setting
from newscrawl.feeds.story_reader import StoryReader
from newscrawl.items import Article
from newscrawl.neardup import NearDuplicateIndexError
from newscrawl.pipeline_options import field_converters, neardup_options
from newscrawl.pipelines.index_thread import IndexThread
from newscrawl.pipelines.item_filler import ItemFiller

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from newscrawl.neardup import Story, Verdict

logger = logging.getLogger(__name__)


class NearDuplicate(DropItem):  # without the suffix Error, like DropItem
    """The article is a near-duplicate of an earlier one."""


class NearDuplicatePipeline:
    """Sets the cluster of each article, or drops all articles of a cluster but the first.

    Place it after :class:`~newscrawl.pipelines.NewsExtractPipeline`. It accepts any item with a
    text and a URL, in the fields that ``NEWSCRAWL_FIELDS`` names; other items pass unchanged. Later
    crawls continue the index file ``NEWSCRAWL_NEARDUP_INDEX``.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        names = setting(settings, "NEWSCRAWL_FIELDS")
        self._stories = StoryReader(names)
        self._filler = ItemFiller(names, field_converters(settings))
        self._drop = setting(settings, "NEWSCRAWL_NEARDUP_DROP")
        index = setting(settings, "NEWSCRAWL_NEARDUP_INDEX")
        path = str(shard_path(crawler, index)) if index else None
        self._index = IndexThread(path, neardup_options(settings))
        self._stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the pipeline; raise ``NotConfigured`` if it is disabled.

        Raises ``ValueError`` for an invalid setting.
        """
        if not setting(crawler.settings, "NEWSCRAWL_NEARDUP_ENABLED"):
            raise NotConfigured  # without a message, because disabled is the default of sitelist
        if not is_asyncio_available():
            raise NotConfigured("newscrawl requires Scrapy's default asyncio reactor")
        return cls(crawler)

    async def open_spider(self) -> None:
        """Open the index; raise ``NearDuplicateIndexError`` if the file is not an index."""
        await self._index.open()
        await run_in_thread(registered_domain, "example.com")  # loads the public suffix list

    async def close_spider(self) -> None:
        """Close the index."""
        await self._index.close()

    async def process_item(self, item: Any) -> Any:
        """Return *item* with its cluster, or raise :class:`NearDuplicate`."""
        story = self._stories.read(item, clock.now())
        if story is None:
            self._count("passed")
            return item
        try:
            verdict = await self._index.add(story)
        except NearDuplicateIndexError as error:  # keep the article if the disk is full
            self._count("failed")
            logger.error("Could not assign a cluster to %s: %s", story.url, error)  # noqa: TRY400
            return item
        return self._finish(item, story, verdict)

    def _finish(self, item: Any, story: Story, verdict: Verdict) -> Any:
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
