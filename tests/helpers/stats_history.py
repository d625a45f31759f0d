"""Stats collector of spidermon that also writes a file for the tests."""

from __future__ import annotations

from typing import Any

from spidermon.contrib.stats.statscollectors.local_storage import LocalStorageStatsHistoryCollector

from tests.helpers.crawls import FileStatsCollector


class HistoryStatsCollector(LocalStorageStatsHistoryCollector, FileStatsCollector):
    """Keeps the stats of earlier crawls, and writes those of this one to ``STATS_FILE``."""

    def _persist_stats(self, stats: Any, spider: Any = None) -> None:
        super()._persist_stats(stats, spider)
        FileStatsCollector._persist_stats(self, stats)
