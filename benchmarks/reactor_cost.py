"""CPU time of the crawling process per page, with newscrawl and with plain Scrapy.

``trivial``: a spider that does nothing, with Scrapy's default settings; ``lean``: the same with
newscrawl's ``CONCURRENT_ITEMS`` and ``LOG_LEVEL``; ``newscrawl``: ``sitelist`` with state, safety,
extraction in workers, style sheets, near-duplicates and segments. *reactor* is the thread of the
event loop, which limits the throughput; *process* includes threads that wait for disk and workers.
Worker processes are not included.

Each round has all three crawls, every second round in reverse order; the result is the median of
the ratios. Objects that exist before the first request are excluded from garbage collection.

    python -m benchmarks.reactor_cost [--pages 1000] [--kilobytes 100] [--rounds 5]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.crawlload import articles, crawl_plugin, crawl_trivially, served
from newscrawl.settings import base

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.helpers.crawls import Crawl

LIMIT = 2.0


class Cost(NamedTuple):
    """CPU milliseconds per page."""

    reactor: float
    process: float


def crawl_leanly(folder: Path, site: str, pages: int) -> Crawl:
    """Crawl trivially with cheaper settings of Scrapy."""
    settings = {name: getattr(base, name) for name in ("CONCURRENT_ITEMS", "LOG_LEVEL")}
    return crawl_trivially(folder, site, pages, **settings)


CRAWLS: Mapping[str, Callable[[Path, str, int], Crawl]] = {
    "trivial": crawl_trivially,
    "lean": crawl_leanly,
    "newscrawl": crawl_plugin,
}


def measure(name: str, site: str, pages: int) -> Cost:
    """Crawl *pages* of *site* and return the cost per page."""
    with tempfile.TemporaryDirectory() as folder:
        crawl = CRAWLS[name](Path(folder), site, pages)
    if crawl.returncode or articles(crawl) != pages:
        raise RuntimeError(f"{articles(crawl)} of {pages} pages\n{crawl.output[-5000:]}")
    stats = crawl.stats
    return Cost(*(1000 * stats[f"meter/{part}"] / pages for part in Cost._fields))


def ratios(rounds: Sequence[Mapping[str, Cost]], to: str, part: str) -> list[float]:
    """Return the sorted ratios of newscrawl to the crawl *to*, in *part*."""
    return sorted(getattr(costs["newscrawl"], part) / getattr(costs[to], part) for costs in rounds)


def main() -> None:
    """Print the cost of each crawl and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--kilobytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rounds: list[dict[str, Cost]] = []
    print(f"{'round':>5} {'crawl':>10} {'reactor, ms':>12} {'process, ms':>12}")
    with served(options.pages, options.kilobytes * 1000) as site:
        for number in range(1, options.rounds + 1):
            costs: dict[str, Cost] = {}
            for name in CRAWLS if number % 2 else reversed(CRAWLS):
                costs[name] = cost = measure(name, site, options.pages)
                print(
                    f"{number:>5} {name:>10} {cost.reactor:>12.2f} {cost.process:>12.2f}",
                    flush=True,
                )
            rounds.append(costs)
    for to in ("trivial", "lean"):
        for part in Cost._fields:
            found = ratios(rounds, to, part)
            limit = f", limit {LIMIT:g}" if (to, part) == ("trivial", "reactor") else ""
            interval = f"{found[0]:.2f} to {found[-1]:.2f}"
            print(f"newscrawl to {to}, {part}: {median(found):.2f} ({interval}{limit})")


if __name__ == "__main__":
    main()
