"""Extension that delivers the segments of a crawl to sinks when the crawl ends."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import run_in_thread

from newscrawl.crawl.frontier.crawl_store import CrawlStore
from newscrawl.crawl.output.segment_writer import segments_closed
from newscrawl.crawl.output.segments import MANIFEST, SegmentError
from newscrawl.defaults import SettingError, setting
from newscrawl.optional import MissingPackageError
from newscrawl.sinks.delivery import deliver
from newscrawl.sinks.sink import SinkUrlError, check_url

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scrapy.crawler import Crawler

    from newscrawl.sinks.delivery import Delivery

logger = logging.getLogger(__name__)

_MAX_LINES = 10


class SinkDelivery:
    """Delivers ``NEWSCRAWL_SEGMENTS`` to ``NEWSCRAWL_SINKS``.

    What could not be delivered is logged, and the crawl ends with exit code 1; the next crawl tries
    again.
    """

    def __init__(self, crawler: Crawler, urls: Sequence[str]) -> None:
        self._settings = crawler.settings
        self._urls = urls
        self._stats = crawler.stats
        self._store = CrawlStore.for_crawler(crawler)
        crawler.signals.connect(self._deliver, segments_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension; raise ``NotConfigured`` without sinks.

        Raises ``ValueError`` for an invalid setting.
        """
        urls = setting(crawler.settings, "NEWSCRAWL_SINKS")
        if not urls:
            raise NotConfigured  # without a message, because disabled is the default
        if not setting(crawler.settings, "NEWSCRAWL_SEGMENTS"):
            raise SettingError("NEWSCRAWL_SINKS needs NEWSCRAWL_SEGMENTS")
        try:
            for url in urls:
                check_url(url)
        except (MissingPackageError, SinkUrlError) as error:
            raise SettingError(f"NEWSCRAWL_SINKS: {error}") from None
        return cls(crawler, urls)

    async def _deliver(self, folder: Path) -> None:
        for url in self._urls:
            problems = await run_in_thread(self._deliver_to, url, folder)
            for line in problems[:_MAX_LINES]:
                logger.error("Could not deliver: %s", line)
            if problems:
                self._store.damage.append(f"{len(problems)} deliveries failed ({problems[0]})")

    def _deliver_to(self, url: str, folder: Path) -> list[str]:
        """Deliver in a thread; return the problems."""
        if next(folder.rglob(f"*{MANIFEST}"), None) is None:
            return []
        try:
            delivery = deliver(folder, url, self._settings)
        except (OSError, SegmentError, SinkUrlError) as error:
            self._stats.inc_value("newscrawl/sinks/failed_count")
            return [str(error)]
        self._count(delivery)
        return delivery.problems

    def _count(self, delivery: Delivery) -> None:
        logger.info("%s", delivery)
        for name, number in (
            ("segment", delivery.segments),
            ("item", delivery.items),
            ("refused", delivery.refused_count),
            ("failed", len(delivery.failures)),
        ):
            if number:
                self._stats.inc_value(f"newscrawl/sinks/{name}_count", number)
