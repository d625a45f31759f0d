"""Consecutive crawls at given hours of a simulated clock, in a separate process.

``python -m tests.helpers.scheduled_crawls JOB`` runs the crawls described in the JSON file JOB;
:func:`crawl_hours` forks it from a test.
"""

import asyncio
import json
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.utils.log import configure_logging
from scrapy.utils.project import get_project_settings
from scrapy.utils.reactor import install_reactor

from newscrawl import clock
from newscrawl.crawling.site_stats import site_counts
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import ForkedScrapy
from tests.servers.newsroom import CLOCK, NewsServer, instant


@dataclass(frozen=True, slots=True)
class HourlyCrawl:
    """Result of the crawl of an hour."""

    hour: int
    items: list[dict[str, Any]]
    stats: dict[str, Any]

    def counts(self, site: str) -> Counter[str]:
        """Return the counts of *site*."""
        return site_counts(self.stats).get(site, Counter())


def crawl_hours(
    folder: Path,
    server: NewsServer,
    hours: Iterable[int],
    days_ahead: Mapping[int, float] | None = None,
    **settings: object,
) -> tuple[list[HourlyCrawl], str]:
    """Crawl the sites of *server* once at each of *hours*; return the crawls and their log.

    *days_ahead*: error of the crawler's clock, by hour.
    """
    steps = [(hour, {}) for hour in hours]
    return crawl_steps(folder, server, steps, days_ahead, **settings)


def crawl_steps(
    folder: Path,
    server: NewsServer,
    steps: Iterable[tuple[int, Mapping[str, object]]],
    days_ahead: Mapping[int, float] | None = None,
    **settings: object,
) -> tuple[list[HourlyCrawl], str]:
    """Crawl the sites of *server* at each hour of *steps* with its settings."""
    run = start_steps(folder, server, steps, days_ahead, **settings)
    status, log = run.wait(500), run.log_path.read_text(encoding="utf-8")
    assert status == 0, log[-5000:]
    crawls = json.loads((folder / "crawls.json").read_text(encoding="utf-8"))
    return [HourlyCrawl(**crawl) for crawl in crawls], log


def start_steps(
    folder: Path,
    server: NewsServer,
    steps: Iterable[tuple[int, Mapping[str, object]]],
    days_ahead: Mapping[int, float] | None = None,
    **settings: object,
) -> ForkedScrapy:
    """Start the crawls of :func:`crawl_steps`; return their process."""
    job = {
        "steps": [(hour, asked, {}) for hour, asked in steps],
        "days_ahead": days_ahead or {},
        "sites": [room.url for room in server.rooms.values()],
        "result": str(folder / "crawls.json"),
        "settings": {
            "NEWSCRAWL_STATE": str(folder / "state.sqlite"),
            "NEWSCRAWL_CSS_ENABLED": False,
            "NEWSCRAWL_WORKERS": 0,
            "NEWSCRAWL_ALLOWED_ADDRESSES": "127.0.0.1",
            "DOWNLOAD_DELAY": 0,
            "RETRY_TIMES": 0,
            "DNSCACHE_ENABLED": False,
            **settings,
        },
    }
    job_file = folder / "job.json"
    job_file.write_text(json.dumps(job), encoding="utf-8")
    return ForkedScrapy(
        [str(job_file)],
        REPOSITORY,
        server.proxy_environment(),
        folder / "crawl.log",
        program=f"{__name__}:main",
    )


async def run(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run the crawls of *job*; return the fields of each :class:`HourlyCrawl`."""
    settings = get_project_settings()
    settings.setdict(job["settings"], "cmdline")
    configure_logging(settings)
    runner = AsyncCrawlerRunner(settings)
    crawls = []
    for hour, asked, arguments in job["steps"]:
        set_hour(hour, job["days_ahead"].get(str(hour), 0))
        crawler = runner.create_crawler("sitelist")
        items: list[dict[str, Any]] = []
        crawler.signals.connect(
            lambda item, into=items: into.append(item.to_dict()), signals.item_scraped, weak=False
        )
        crawler.settings.setdict({"NEWSCRAWL_SITES": job["sites"], **asked}, "cmdline")
        await runner.crawl(crawler, **arguments)
        stats = json.loads(json.dumps(crawler.stats.get_stats(), default=str))
        crawls.append({"hour": hour, "items": items, "stats": stats})
    return crawls


def set_hour(hour: int, days_ahead: float) -> None:
    """Set the clock of the server to *hour*, that of this process *days_ahead* of it."""
    urllib.request.urlopen(f"http://{CLOCK}/{hour}").close()
    start = time.monotonic()
    skewed = instant(hour) + timedelta(days=days_ahead)
    clock.set_clock(lambda: skewed + timedelta(seconds=time.monotonic() - start))


def main() -> None:
    """Run the job file given on the command line."""
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor  # must be installed first

    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    tasks: list[asyncio.Task[list[dict[str, Any]]]] = []

    def start() -> None:
        tasks.append(asyncio.ensure_future(run(job)))
        tasks[0].add_done_callback(lambda _: reactor.stop())

    reactor.callWhenRunning(start)
    reactor.run()
    Path(job["result"]).write_text(json.dumps(tasks[0].result()), encoding="utf-8")


if __name__ == "__main__":
    main()
