"""Stalls of the event loop while large pages are extracted.

Measured is the maximum delay of a ticker with a period of 5 ms. Needs an idle machine.
``python benchmarks/reactor_stall.py``
"""

from __future__ import annotations

import argparse
import asyncio
import logging
from time import perf_counter

from scrapy.utils.test import get_crawler

from newscrawl.items import Article, PageItem
from newscrawl.pipelines import NewsExtractPipeline
from newscrawl.workers.pool import WorkerPool

TICK = 0.005
PARAGRAPH = (
    "<p>The harbour opens again, said the mayor, after a winter of work on its walls. "
    "Nobody on the quay wanted to say when the first ferry will leave.</p>\n"
)


def large_page(megabytes: float) -> bytes:
    """Return an article of the given size."""
    text = PARAGRAPH * int(megabytes * 2**20 / len(PARAGRAPH))
    return f"<html><body><h1>Harbour</h1><article>{text}</article></body></html>".encode()


def attributes_page(number: int) -> bytes:
    """Return a page with *number* attributes in one tag, which libxml2 parses in quadratic time."""
    attributes = " ".join(f"a{n}=1" for n in range(number))
    return f"<html><body><p {attributes}>{PARAGRAPH * 20}</p></body></html>".encode()


async def tick(delays: list[float]) -> None:
    """Append the delay of each tick."""
    while True:
        start = perf_counter()
        await asyncio.sleep(TICK)
        delays.append(perf_counter() - start - TICK)


async def measure(workers: int, pages: list[bytes]) -> tuple[list[float], float, int]:
    """Return the delays of the ticker, the total seconds and the number of articles."""
    crawler = get_crawler(settings_dict={"NEWSCRAWL_WORKERS": workers})
    pipeline = NewsExtractPipeline.from_crawler(crawler)
    delays: list[float] = []
    ticker = asyncio.create_task(tick(delays))
    start = perf_counter()
    items = [PageItem(url="http://example.test/", html=page) for page in pages]
    results = await asyncio.gather(*map(pipeline.process_item, items), return_exceptions=True)
    took = perf_counter() - start
    await asyncio.sleep(20 * TICK)
    ticker.cancel()
    await WorkerPool.for_crawler(crawler).close()
    return delays, took, sum(isinstance(result, Article) for result in results)


def main() -> None:
    """Print the stalls of each load, with worker processes and with a thread."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=8)
    parser.add_argument("--megabytes", type=float, default=10)
    options = parser.parse_args()
    logging.disable()
    loads = {
        "no page": [],
        f"{options.megabytes:g} MB": [large_page(options.megabytes)] * options.pages,
        "300,000 attributes": [attributes_page(300_000)] * options.pages,
    }
    print(f"{'load':>20} {'workers':>8} {'max ms':>8} {'p99 ms':>8} {'s/page':>8} {'articles':>8}")
    for name, pages in loads.items():
        for workers in (2, 0):
            delays, took, articles = asyncio.run(measure(workers, pages))
            delays.sort()
            worst, p99 = delays[-1] * 1000, delays[int(len(delays) * 0.99)] * 1000
            each = took / max(1, len(pages))
            print(f"{name:>20} {workers:>8} {worst:>8.0f} {p99:>8.0f} {each:>8.2f} {articles:>8}")


if __name__ == "__main__":
    main()
