"""Delivery of a segment folder to a sink, by the command and at the end of a crawl."""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import run_in_thread

from newscrawl.component import Component
from newscrawl.crawling.crawl_store import CrawlStore
from newscrawl.crawling.output.segment_writer import segments_closed
from newscrawl.crawling.output.segments import (
    MANIFEST,
    SegmentError,
    list_unverified,
    verify_segment,
)
from newscrawl.defaults import SettingError, setting
from newscrawl.optional import MissingPackageError
from newscrawl.sinks.sink import SinkError, SinkUrlError, check_url, open_sink

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from newscrawl.crawling.output.segments import Segment
    from newscrawl.sinks.sink import RefusedRow, Sink


logger = logging.getLogger(__name__)

_MAX_LINES: Final = 10
"""Problems that are logged."""


@dataclass(slots=True)
class Delivery:
    """Result of a delivery."""

    sink: str
    segments: int = 0
    items: int = 0
    skipped: int = 0
    #: segment -> its refused items
    refused: dict[str, list[RefusedRow]] = field(default_factory=dict)
    #: reasons why other segments, or the rest, were not delivered
    failures: list[str] = field(default_factory=list)

    @property
    def refused_count(self) -> int:
        """Number of refused items."""
        return sum(map(len, self.refused.values()))

    @property
    def problems(self) -> list[str]:
        """Lines about everything that was not delivered."""
        rows = [
            f"refused item {row.number} of {segment} ({row.url}): {row.error}"
            for segment, refused in self.refused.items()
            for row in refused
        ]
        return [f"{self.sink}: {line}" for line in (*rows, *self.failures)]

    def __str__(self) -> str:
        counts = [f"{self.items} items in {self.segments} segments delivered to {self.sink}"]
        if self.skipped:
            counts.append(f"{self.skipped} without URL skipped")
        if self.refused:
            counts.append(f"{self.refused_count} refused")
        return ", ".join(counts)


def deliver(
    folder: Path,
    url: str,
    settings: BaseSettings,
    *,
    retry: bool = False,
    on_segment: Callable[[int], object] = lambda _: None,
) -> Delivery:
    """Deliver the segments under *folder* that the sink at *url* does not hold.

    With *retry*, segments with refused items are delivered again. *on_segment* is called with the
    number of items of each segment. Raises ``OSError``,
    :class:`~newscrawl.crawling.output.segments.SegmentError` if there is no manifest, and
    :class:`~newscrawl.sinks.sink.SinkUrlError`. All other problems are in the result.
    """
    delivery = Delivery(check_url(url))
    listed = list_unverified(folder)
    try:
        with closing(open_sink(url, settings)) as sink:
            known = sink.refused_counts(listed)
            for path, segment in listed:
                refused = known.get(segment.sha256)
                if refused is None or (refused and retry):
                    _deliver(delivery, sink, path, segment)
                on_segment(segment.items)
    except SinkError as error:
        delivery.failures.append(str(error))
    return delivery


def _deliver(delivery: Delivery, sink: Sink, path: Path, segment: Segment) -> None:
    try:
        verify_segment(path, segment)
    except SegmentError as error:
        delivery.failures.append(str(error))
        return
    done = sink.deliver(path, segment)
    delivery.segments += 1
    delivery.items += done.items
    delivery.skipped += done.skipped
    if done.refused:
        delivery.refused[segment.name] = done.refused


class SinkDelivery(Component):
    """Delivers ``NEWSCRAWL_SEGMENTS`` to ``NEWSCRAWL_SINKS``.

    What could not be delivered is logged, and the crawl ends with exit code 1; the next crawl tries
    again.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._settings = crawler.settings
        self._urls = setting(self._settings, "NEWSCRAWL_SINKS")
        if not self._urls:
            raise NotConfigured  # without a message, because disabled is the default
        if not setting(self._settings, "NEWSCRAWL_SEGMENTS"):
            raise SettingError("NEWSCRAWL_SINKS needs NEWSCRAWL_SEGMENTS")
        try:
            for url in self._urls:
                check_url(url)
        except (MissingPackageError, SinkUrlError) as error:
            raise SettingError(f"NEWSCRAWL_SINKS: {error}") from None
        self._stats = crawler.stats
        self._store = CrawlStore.for_crawler(crawler)
        crawler.signals.connect(self._deliver, segments_closed)

    async def _deliver(self, folder: Path) -> None:
        for url in self._urls:
            problems = await run_in_thread(self._deliver_to, url, folder)
            for line in problems[:_MAX_LINES]:
                logger.error("Could not deliver: %s", line)
            if problems:
                self._store.damage.append(f"{len(problems)} deliveries failed ({problems[0]})")

    def _deliver_to(self, url: str, folder: Path) -> list[str]:
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
