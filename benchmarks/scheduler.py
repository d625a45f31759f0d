"""What leases cost: CPU of the reactor's thread for each request, beside Scrapy's own scheduler.

``python -m benchmarks.scheduler [PAGES [ROUNDS]]``: one spider crawls one site on loopback, in turn
under each scheduler. Times are this machine's; read the ratios.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.servers.tree_site import TreeSite

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[1]
IN_MEMORY = {"SCHEDULER": "scrapy.core.scheduler.Scheduler", "SPIDER_MIDDLEWARES": "{}"}
VARIANTS: dict[str, dict[str, object]] = {
    "Scrapy, in memory": IN_MEMORY,
    "Scrapy, JOBDIR": {**IN_MEMORY, "JOBDIR": "job"},
    "leases, in memory": {"NEWSCRAWL_STATE": ""},
    "leases, in a file": {},
    "leases, in a file, items in the outbox": {"NEWSCRAWL_SEGMENTS": "segments"},
}


def crawl(url: str, settings: dict[str, object]) -> dict[str, Any]:
    """Return the stats of a crawl."""
    extensions = json.dumps({"benchmarks.crawlload.Meter": 0})
    given = {"EXTENSIONS": extensions, "NEWSCRAWL_SEGMENTS": "", "LOG_LEVEL": "ERROR", **settings}
    options = [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
    spider = REPOSITORY / "tests" / "tree_spider.py"
    with TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "scrapy", "runspider", spider, "-a", f"url={url}", *options],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(REPOSITORY),
                "SCRAPY_SETTINGS_MODULE": "tests.spiders.tree_settings",
            },
            check=True,
        )
        stats: dict[str, Any] = json.loads(Path(folder, "stats.json").read_text())
    return stats


def measure(pages: int, rounds: int) -> Iterator[tuple[str, float]]:
    """Yield variant and milliseconds of CPU for each response."""
    for _ in range(rounds):
        for name, settings in VARIANTS.items():
            with TreeSite(pages, delay=0) as site:
                stats = crawl(site.url, settings)
            yield name, 1000 * stats["meter/reactor"] / stats["downloader/response_count"]


def main(pages: int = 2000, rounds: int = 5) -> None:
    """Print a table."""
    times: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for name, milliseconds in measure(pages, rounds):
        times[name].append(milliseconds)
    first = statistics.median(next(iter(times.values())))
    for name, values in times.items():
        median = statistics.median(values)
        print(
            f"{name:40} {median:6.2f} ms  {median / first:5.2f}   ({min(values):.2f}-{max(values):.2f})"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
