"""Memory growth of a long crawl, and of a worker that extracts many pages.

``crawl``: one site with thousands of pages and all features enabled. The memory of the crawling
process is sampled every hundred pages; growth is the slope of a line through the second half of the
samples (caches fill in the first half), in MB per 10,000 pages. ``worker``: one worker process that
is never replaced extracts the pages of a corpus repeatedly; its memory is printed every 1,000 pages.

    python -m benchmarks.crawl_memory crawl [--pages 20000] [--kilobytes 15]
    python -m benchmarks.crawl_memory worker [--pages 20000] [--corpus DIR]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from itertools import cycle, islice
from pathlib import Path
from statistics import linear_regression
from typing import TYPE_CHECKING

import psutil

from benchmarks.crawlload import MB, articles, crawl_plugin, served
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.workers.child import WorkerError
from newscrawl.workers.pool import WorkerPool
from newscrawl.workers.process import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "news212"
TASK = "newscrawl.workers.tasks:extract_page"
LIMIT = 15.0
_STEP = 1000


def growth(sizes: Sequence[tuple[int, float]]) -> float:
    """Return the slope of the second half of (pages, bytes), in MB per 10,000 pages."""
    steady = sizes[len(sizes) // 2 :]
    return linear_regression(*zip(*steady, strict=True)).slope * 10_000 / MB


def measure_crawl(pages: int, size: int) -> None:
    """Print the memory of the crawling process."""
    with served(pages, size) as site, tempfile.TemporaryDirectory() as folder:
        crawl = crawl_plugin(Path(folder), site, pages)
    if crawl.returncode or articles(crawl) != pages:
        raise RuntimeError(f"{articles(crawl)} of {pages} pages\n{crawl.output[-5000:]}")
    sizes = crawl.stats["meter/sizes"]
    print(f"{'pages':>8} {'MB':>8}")
    for number, size_then in sizes[:: max(1, len(sizes) // 10)]:
        print(f"{number:>8} {size_then / MB:>8.1f}")
    print(f"growth: {growth(sizes):.1f} MB per 10,000 pages (limit {LIMIT:g})")


async def extract_all(pages: int, corpus: Path) -> list[tuple[int, float]]:
    """Extract *pages* pages in one worker; return samples of (pages, bytes)."""
    print(f"{'pages':>8} {'MB':>8}")
    htmls = [page.html() for page in load_corpus(corpus).pages]
    pool = WorkerPool(1, Limits(deadline=120, tasks=0))
    sizes: list[tuple[int, float]] = []
    try:
        for number, html in enumerate(islice(cycle(htmls), pages), start=1):
            try:
                await pool.call(TASK, html, url="http://paper.example/")
            except WorkerError as error:
                print(f"page {number}: {error.reason}")
            if number % (_STEP // 5) == 0:
                sizes.append((number, sum(worker_sizes())))
            if number % _STEP == 0:
                print(f"{number:>8} {sizes[-1][1] / MB:>8.1f}", flush=True)
    finally:
        await pool.close()
    return sizes


def worker_sizes() -> list[float]:
    """Return the memory of each child of this process, in bytes."""
    return [child.memory_info().rss for child in psutil.Process().children()]


def measure_worker(pages: int, corpus: Path) -> None:
    """Print the memory of a worker."""
    sizes = asyncio.run(extract_all(pages, corpus))
    print(f"growth: {growth(sizes):.1f} MB per 10,000 pages")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("process", choices=["crawl", "worker"])
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--kilobytes", type=int, default=15)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    options = parser.parse_args()
    if options.process == "crawl":
        measure_crawl(options.pages, options.kilobytes * 1000)
    else:
        measure_worker(options.pages, options.corpus)


if __name__ == "__main__":
    main()
