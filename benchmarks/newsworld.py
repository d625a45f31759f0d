"""Hourly crawls of a simulated news world: recall, delay, updates, requests, alarms.

Sites publish and change made-up stories by a clock that the crawls share; some of them break or are
down for hours. A naive poller reads each listing every hour and each story once; the ideal
reads a listing in the hours that have news, and each version of a story once.

    python -m benchmarks.newsworld [--world mixed] [--hours 54] [--seed 1] [--out PAGE]
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.utils.project import get_project_settings
from scrapy.utils.reactor import install_reactor

from benchmarks.dots import Dot, dot_chart
from benchmarks.newsworld_sites import HOUR, LISTINGS, START, WORLDS, WorldServer, make_sites
from benchmarks.result_page import Figure, write_page
from newscrawl import clock
from newscrawl.lab.corpora.tables import Table
from newscrawl.reports.alarms import AlarmBook
from newscrawl.reports.crawl_records import read_crawls
from newscrawl.reports.drift import find_alarms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.newsworld_sites import Site, World
    from tests.servers import LoggedRequest

_MINUTE = 180.0
"""Seconds after the full hour at which a crawl starts."""
_WINDOW = 24 * HOUR
"""Age up to which updates are counted."""
_START = """\
# Scheduled crawls

    {command}

{sites} simulated sites, crawled once an hour for {hours} hours. Delay: hours from the publication to the crawl
that emitted the story. Updates: changes up to a day after the publication that were emitted. A naive poller
reads each listing every hour and each story once, and no updates; the ideal reads a listing in the hours that have
news, and each version of a story once.
"""


class Item(NamedTuple):
    """An item that a crawl has emitted."""

    host: str
    path: str
    #: time of the crawl
    time: float


async def crawl(world: WorldServer, sites: Sequence[Site], folder: Path, hours: int) -> list[Item]:
    """Crawl *sites* once an hour, with a report after each crawl; return the items."""
    state, found = folder / "state.sqlite", list[Item]()
    settings = get_project_settings()
    settings.setdict(
        {
            "DOWNLOAD_DELAY": 0,
            "LOG_LEVEL": "ERROR",
            "NEWSCRAWL_ALLOWED_ADDRESSES": "127.0.0.0/8",
            "NEWSCRAWL_BACKOFF_DELAY": 1,
            "NEWSCRAWL_CSS_ENABLED": False,
            "NEWSCRAWL_NEARDUP_ENABLED": False,
            "NEWSCRAWL_PROGRESS_ENABLED": False,
            "NEWSCRAWL_SITES": [world.front_page(site) for site in sites],
            "NEWSCRAWL_STATE": str(state),
            "NEWSCRAWL_WORKERS": 1,
        },
        "cmdline",
    )
    runner = AsyncCrawlerRunner(settings)

    def keep(item: Any) -> None:
        parts = urlsplit(item.url)
        found.append(Item(parts.hostname or "", parts.path, world.now))

    for hour in range(hours + 1):
        world.now = START + hour * HOUR + _MINUTE
        shift = datetime.fromtimestamp(world.now, UTC) - datetime.now(UTC)
        clock.set_clock(lambda shift=shift: datetime.now(UTC) + shift)  # type: ignore[misc]
        crawler = runner.create_crawler("sitelist")
        crawler.signals.connect(keep, signals.item_scraped, weak=False)
        await runner.crawl(crawler)
        crawls = read_crawls(str(state))
        with AlarmBook(str(state)) as book:
            book.update(find_alarms(crawls, book.past), crawls[-1].ended)
        print(f"hour {hour}: {len(found)} items, {len(world.entries)} requests", flush=True)
    return found


class Score(NamedTuple):
    """Sums over sites of a kind, from the first crawl to the last."""

    #: stories, with those of the day before the first crawl
    articles: int
    #: stories since the first crawl
    published: int
    #: hours from the publication of each story to its item
    delays: list[float]
    updates: int
    updates_found: int
    requests: int
    naive: int
    ideal: int
    #: items of stories that had not changed since their last one
    doubled: int


def score(
    sites: Sequence[Site], found: Sequence[Item], entries: Sequence[LoggedRequest], hours: int
) -> Score:
    """Return the score of *sites*; stories of the last hour are left out."""
    end, hosts = START + (hours - 1) * HOUR, {site.host for site in sites}
    times: dict[tuple[str, str], list[float]] = {}
    for item in found:
        times.setdefault((item.host, item.path), []).append(item.time)
    articles = published = updates = updates_found = naive = ideal = doubled = 0
    delays = list[float]()
    for site in sites:
        news = set[int]()
        for story in site.stories:
            emitted = times.get((site.host, story.path), [])
            articles += story.published < end
            doubled += max(0, len(emitted) - 1 - len(story.changes))
            if START < story.published < end:
                published += 1
                news.add(int((story.published - START) / HOUR))
                delays += [(time - story.published) / HOUR for time in emitted[:1]]
            for change in story.changes:
                if START + HOUR < change < end - 2 * HOUR and emitted and emitted[0] < change:
                    updates += 1
                    limit = story.published + _WINDOW + HOUR
                    updates_found += any(change < time < limit for time in emitted)
        naive += hours * len(LISTINGS[site.kind])
        ideal += len(news)
    requests = sum(entry.host in hosts for entry in entries)
    return Score(
        articles,
        published,
        delays,
        updates,
        updates_found,
        requests,
        naive + articles,
        ideal + articles + updates,
        doubled,
    )


def parts(
    sites: Sequence[Site],
    found: Sequence[Item],
    entries: Sequence[LoggedRequest],
    hours: int,
    state: Path,
    *,
    name: str,
) -> Iterator[Table | Figure]:
    """Yield the tables and the chart of the page."""
    sound = [site for site in sites if site.fault is None]
    groups = {kind: [site for site in sound if site.kind == kind] for kind in LISTINGS}
    groups = {kind: chosen for kind, chosen in groups.items() if chosen}
    groups |= {"all without faults": sound}
    groups |= {f"fault: {site.fault}": [site] for site in sites if site.fault}
    scores = {name: score(chosen, found, entries, hours) for name, chosen in groups.items()}
    head = (
        "Sites", "Stories", "Recall", "Delay, median", "p90", "Updates found", "Doubled",
        "Requests an article", "Naive poller", "Ideal",
    )  # fmt: skip
    yield Table("By kind of site", head, [_row(name, it) for name, it in scores.items()])
    dots = {
        name: {
            "newscrawl": Dot(it.requests / it.articles),
            "naive poller": Dot(it.naive / it.articles),
            "ideal": Dot(it.ideal / it.articles),
        }
        for name, it in scores.items()
        if it.articles and it.requests
    }
    chart = dot_chart("Requests an article", "requests an article", dots, log=True)
    yield Figure(name, "Requests an article by kind of site", chart)
    robots = sum(entry.target == "/robots.txt" for entry in entries) / len(entries)
    answers = Counter(entry.status for entry in entries)
    rows = [[str(status), f"{number:,}"] for status, number in sorted(answers.items())]
    yield Table(
        "Requests by status", ("Status", "Requests"), [*rows, ["robots.txt", f"{robots:.1%}"]]
    )
    faults = {site.host: str(site.fault) for site in sites if site.fault}
    with AlarmBook(str(state)) as book:
        alarms = [
            [
                faults.get(past.site.partition(":")[0], past.site),
                past.measure,
                _hour(past.since),
                _hour(past.closed) if past.closed else "",
            ]
            for past in book.past
        ]
    yield Table("Alarms", ("Site", "Measure", "Opened, hour", "Closed, hour"), alarms)


def _row(name: str, it: Score) -> list[str]:
    delays = it.delays or [0.0]
    late = quantiles(delays, n=10)[-1] if len(delays) > 1 else delays[0]
    requests, naive, ideal = (
        f"{number / max(it.articles, 1):.1f}" for number in (it.requests, it.naive, it.ideal)
    )
    return [
        name,
        f"{it.articles:,}",
        f"{len(it.delays) / max(it.published, 1):.3f}",
        f"{median(delays):.2f}",
        f"{late:.2f}",
        f"{it.updates_found} of {it.updates}",
        f"{it.doubled}",
        requests,
        naive,
        ideal,
    ]


def _hour(time: float) -> str:
    return f"{(time - START) / HOUR:.0f}"


async def run(options: argparse.Namespace, out: Path) -> None:
    """Crawl the world and write the page."""
    world, hours = WORLDS[options.world], options.hours
    sites = make_sites(world, hours, options.seed)
    named = "" if options.world == "mixed" else f"--world {options.world} "
    command = f"make newsworld ARGS='{named}--out {options.out}'"
    with TemporaryDirectory() as folder, WorldServer(world, sites) as server:
        found = await crawl(server, sites, Path(folder), hours)
        clock.set_clock()
        start = _START.format(sites=len(sites), hours=hours, command=command)
        shown = parts(
            sites, found, server.entries, hours, Path(folder, "state.sqlite"), name=out.stem
        )
        write_page(out, command, start, shown, {"Alarms": _note(world)})


def _note(world: World) -> str:
    outage = world.outage
    return (
        f"Sites with a fault of their pages are broken from hour {world.broken} on; those that are "
        f"unavailable or send Retry-After are down in hours {outage.start} to {outage.stop}."
    )


def main() -> None:
    """Run the crawls in one process, one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", choices=WORLDS, default="mixed")
    parser.add_argument("--hours", type=int, default=54)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="page to write")
    options = parser.parse_args()
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    reactor: Any = importlib.import_module("twisted.internet.reactor")

    async def start() -> None:
        try:
            await run(options, options.out or Path(tempfile.gettempdir(), "newsworld.md"))
        finally:
            reactor.stop()

    reactor.callWhenRunning(lambda: tasks.append(asyncio.ensure_future(start())))
    tasks: list[asyncio.Task[None]] = []
    reactor.run()
    tasks[0].result()


if __name__ == "__main__":
    main()
