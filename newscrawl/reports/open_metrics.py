"""Figures of the last crawl in the text format of OpenMetrics.

All are gauges with a label for the site, so that Prometheus reads the format as well, and a folder
may have the files of several shards (https://prometheus.io/docs/specs/om/open_metrics_spec/).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from newscrawl.crawling.output.atomic_write import write_file
from newscrawl.reports.crawl_records import mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from newscrawl.reports.crawl_records import CrawlRecord
    from newscrawl.reports.drift import Alarm

_HELP: Final = {
    "crawl_ended_timestamp_seconds": "End of the last crawl.",
    "discovered_pages": "Pages found in the last crawl.",
    "fetched_pages": "Pages fetched in the last crawl.",
    "articles": "Articles of the last crawl.",
    "failed_pages": "Requests of the last crawl that failed, by reason.",
    "dropped_pages": "Pages of the last crawl that were dropped, by reason.",
    "body_confidence": "Mean confidence in the bodies of the last crawl, from 0 to 1.",
    "alarm": "Open alarms, by measure.",
}
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def write_metrics(crawls: Sequence[CrawlRecord], alarms: Sequence[Alarm], path: Path) -> None:
    """Create or replace the file *path* by the figures of the last of *crawls* and open *alarms*.

    A reader sees either the old or the new file. Raises ``OSError``.
    """
    samples: dict[str, list[str]] = {name: [] for name in _HELP}
    for name, labels, value in (*_crawl_samples(crawls[-1]), *_alarm_samples(alarms)):
        pairs = ",".join(f'{key}="{text.translate(_ESCAPES)}"' for key, text in labels.items())
        samples[name].append(f"newscrawl_{name}{{{pairs}}} {value}")
    lines: list[str] = []
    for name, found in samples.items():
        lines += (
            f"# TYPE newscrawl_{name} gauge",
            f"# HELP newscrawl_{name} {_HELP[name]}",
            *found,
        )
    text = "\n".join([*lines, "# EOF\n"])
    write_file(path, lambda file: file.write(text.encode("utf-8", "replace")))


def _crawl_samples(crawl: CrawlRecord) -> Iterator[tuple[str, dict[str, str], float]]:
    for site, record in sorted(crawl.sites.items()):
        labels = {"site": site}
        yield "crawl_ended_timestamp_seconds", labels, crawl.ended
        yield "articles", labels, record.article_count
        confidence = mean(a.confidence for a in record.articles if a.confidence is not None)
        if confidence is not None:
            yield "body_confidence", labels, confidence
        yield "discovered_pages", labels, record.counts["discovered"]
        yield "fetched_pages", labels, record.counts["fetched"]
        for reason, number in sorted(record.failures.items()):
            yield "failed_pages", {**labels, "reason": reason}, number
        for reason, number in sorted(record.counts.reasons("dropped").items()):
            yield "dropped_pages", {**labels, "reason": reason}, number


def _alarm_samples(alarms: Sequence[Alarm]) -> Iterator[tuple[str, dict[str, str], float]]:
    for site, measure in sorted({(alarm.site, alarm.measure) for alarm in alarms}):
        yield "alarm", {"site": site, "measure": measure}, 1
