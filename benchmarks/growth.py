"""Growth of a crawl of 100,000 pages: memory, state, index and CPU time per page by decile.

The sites, their templates and the texts are generated, so that each page is new to the state and to
the near-duplicate index; one page in fifty repeats the text of another site. One worker, everything
enabled: state, history, style sheets, near-duplicates, segments. In each tenth of the crawl, the CPU
time of the crawling process and of the worker is divided by the pages. The target fails if the cost
grows by more than :data:`MAX_RATIO`, or the memory by more than :data:`MAX_MEMORY`; caches fill in the
first tenth.

    python -m benchmarks.growth [--pages 100000] [--out PAGE]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.growth_meter import GrowthMeter, Sample
from benchmarks.growth_web import PAGES_PER_SITE, GrowthServer, site_urls
from newscrawl.lab.corpora.tables import Table, markdown, print_tables
from tests.helpers.crawls import run_scrapy
from tests.servers.direct_web import direct_environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

MB = 2**20
MAX_RATIO = 1.25
"""CPU time per page of the second half of the crawl divided by that of the first."""
MAX_MEMORY = 100.0
"""Growth of the memory of the crawling process from the second to the last tenth, in MB."""
_TIMEOUT = 6 * 3600.0


@contextmanager
def served(pages: int) -> Iterator[int]:
    """Serve *pages* pages in another process; yield its port."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(pages, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _serve(pages: int, connection: Connection) -> None:
    with GrowthServer(pages) as server:
        connection.send(server.port)
        connection.poll(None)


def crawl(folder: Path, pages: int) -> list[Sample]:
    """Crawl *pages* generated pages with one worker; return the samples."""
    settings = {
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
        "EXTENSIONS": json.dumps({f"{GrowthMeter.__module__}.GrowthMeter": 0}),
        "GROWTH_PAGES": pages,
        "LOG_LEVEL": "WARNING",
        "NEWSCRAWL_MAX_AGE": 0,
        "NEWSCRAWL_NEARDUP_ENABLED": True,
        "NEWSCRAWL_NEARDUP_INDEX": folder / "index.sqlite",
        "NEWSCRAWL_SEGMENTS": folder / "segments",
        "NEWSCRAWL_SITE_LIMIT": PAGES_PER_SITE,
        "NEWSCRAWL_SITE_REQUESTS": 2 * PAGES_PER_SITE,
        "NEWSCRAWL_WORKERS": 1,
        "TWISTED_DNS_RESOLVER": "tests.servers.direct_web.FakeResolver",
    }
    with served(pages) as port:
        sites = folder / "sites.txt"
        sites.write_text("\n".join(site_urls(pages, port)), encoding="utf-8")
        command = ["crawl", "sitelist", "-a", f"sites={sites}"]
        environment = {**direct_environment(), "OMP_NUM_THREADS": "1"}
        done = run_scrapy(folder, command, environment, settings, _TIMEOUT, with_feed=False)
    found = done.stats.get("item_scraped_count", 0)
    if done.returncode or found < 0.99 * pages:
        raise RuntimeError(f"{found} of {pages} pages\n{done.output[-5000:]}")
    return [Sample(*values) for values in done.stats["growth/samples"]]


def table_of(samples: Sequence[Sample]) -> Table:
    """Return the table by tenth."""
    rows = []
    for before, sample in pairwise(samples):
        main, worker = costs(before, sample)
        sizes = (sample.main_memory, sample.worker_memory, sample.state, sample.index)
        rows.append(
            [
                f"{sample.pages:,}",
                f"{main:.1f}",
                f"{worker:.1f}",
                *(f"{size / MB:.0f}" for size in sizes),
                f"{(sample.state - before.state) / (sample.pages - before.pages) / 1000:.2f}",
            ]
        )
    head = (
        "pages", "crawl, CPU ms/page", "worker, CPU ms/page", "crawl, MB", "worker, MB",
        "state, MB", "index, MB", "state, KB/page",
    )  # fmt: skip
    return Table("By tenth of the crawl", head, rows)


def costs(before: Sample, after: Sample) -> tuple[float, float]:
    """Return the CPU milliseconds per page of the crawling process and of the workers."""
    pages = (after.pages - before.pages) / 1000
    return (
        (after.main_cpu - before.main_cpu) / pages,
        (after.worker_cpu - before.worker_cpu) / pages,
    )


def growth(samples: Sequence[Sample]) -> tuple[float, float]:
    """Return the growth of the cost of the crawling process (1: none), and of its memory in MB.

    Its cost is a multiple of the worker's in the same tenth: the worker does the same work all the
    time, so that other load of the machine affects both. The second half of the crawl is compared
    with the first without its first tenth.
    """
    ratios = [main / worker for main, worker in (costs(*pair) for pair in pairwise(samples))]
    half = len(ratios) // 2
    slower = median(ratios[half:]) / median(ratios[1:half])
    return slower, (samples[-1].main_memory - samples[2].main_memory) / MB


_HEAD = """\
<!-- Written by `make growth ARGS='--out docs/results/growth.md'`: do not edit. -->

# Growth of a crawl

    make growth ARGS='--out docs/results/growth.md'

A crawl of {pages:,} generated pages on {sites:,} sites with one worker and everything enabled: state,
history, style sheets, near-duplicates, segments ({{doc}}`crawls`). One page in fifty repeats the text of
another site. The worker is replaced every 1,000 pages. In the second half the crawling process costs
{ratio:.2f} times the CPU time per page of the first (without its first tenth, as a multiple of the
worker's; the limit is {max_ratio:g}). Its memory grows by {memory:.0f} MB from the second to the last
tenth (the limit is {max_memory:g}).
"""


def main() -> None:
    """Run the crawl; exit with 1 if it grows by more than the limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--out", type=Path, help="page to write")
    options = parser.parse_args()
    with TemporaryDirectory(dir=os.environ.get("GROWTH_FOLDER")) as folder:
        samples = crawl(Path(folder), options.pages)
    table = table_of(samples)
    print_tables([table], sys.stdout)
    ratio, memory = growth(samples)
    print(f"second half to the first: {ratio:.2f} of the CPU time; memory: {memory:+.0f} MB")
    if options.out:
        head = _HEAD.format(
            pages=options.pages,
            sites=len(list(site_urls(options.pages, 80))),
            ratio=ratio,
            max_ratio=MAX_RATIO,
            memory=memory,
            max_memory=MAX_MEMORY,
        )
        options.out.write_text(f"{head}\n{markdown(table)}", encoding="utf-8")
    sys.exit(ratio > MAX_RATIO or memory > MAX_MEMORY)


if __name__ == "__main__":
    main()
