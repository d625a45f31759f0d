"""CPU of the crawling process for each page, with all of newscrawl on and with none of it.

The same pages, in turn: a trivial spider in Scrapy as it comes, and ``sitelist`` with state,
safety, extraction in workers, style sheets, near-duplicates and segments. *reactor* is the event
loop's thread, which bounds the pages a second; *process* has the threads that wait for disk and
workers, too. Workers are processes of their own and count in neither. CPU time, since the clock on
the wall measures the others; ratios of two crawls that follow each other, the median of the rounds.

    python -m benchmarks.reactor_cost [--pages 1000] [--kilobytes 100] [--rounds 3]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.crawlload import articles, crawl_plugin, crawl_trivially, served

if TYPE_CHECKING:
    from tests.crawls import Crawl

BAR = 2.0


def cost(crawl: Crawl, pages: int) -> tuple[float, float]:
    """Return milliseconds a page of the reactor's thread and of the process."""
    if crawl.returncode or articles(crawl) != pages:
        raise RuntimeError(f"{articles(crawl)} of {pages} pages\n{crawl.output[-5000:]}")
    stats = crawl.stats
    return 1000 * stats["meter/reactor"] / pages, 1000 * stats["meter/process"] / pages


def main() -> None:
    """Print the cost of each crawl, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--kilobytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    pages, ratios = options.pages, []
    print(f"{'round':>5} {'crawl':>10} {'reactor, ms':>12} {'process, ms':>12}")
    with served(pages, options.kilobytes * 1000) as site:
        for number in range(1, options.rounds + 1):
            costs = []
            for name, crawl in (("trivial", crawl_trivially), ("newscrawl", crawl_plugin)):
                with tempfile.TemporaryDirectory() as folder:
                    costs.append(cost(crawl(Path(folder), site, pages), pages))
                reactor, process = costs[-1]
                print(f"{number:>5} {name:>10} {reactor:>12.2f} {process:>12.2f}", flush=True)
            ratios.append([ours / theirs for theirs, ours in zip(*costs, strict=True)])
    reactor, process = (median(column) for column in zip(*ratios, strict=True))
    print(f"ratio: reactor {reactor:.2f} (bar {BAR:g}), process {process:.2f}")


if __name__ == "__main__":
    main()
