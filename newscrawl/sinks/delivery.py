"""Delivery of a segment folder to a sink."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from newscrawl.crawl.output.segments import SegmentError, list_unverified, verify_segment
from newscrawl.sinks.sink import SinkError, check_url, open_sink

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from newscrawl.crawl.output.segments import Segment
    from newscrawl.sinks.sink import RefusedRow, Sink


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
    :class:`~newscrawl.crawl.output.segments.SegmentError` if there is no manifest, and
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
