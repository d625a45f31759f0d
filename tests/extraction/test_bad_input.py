"""Faulty pages end as an article or as one counted failure, and do not affect other pages."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from newscrawl.text import squeeze
from newscrawl.workers.child import WorkerError
from newscrawl.workers.pool import WorkerPool
from newscrawl.workers.process import Limits
from tests.helpers.crawls import MAX_READ, Crawl, crawl_sites, total
from tests.servers import pages
from tests.servers.faulty_pages import FAULT_SITES, PAGES, FaultServer, FaultSite

pytestmark = pytest.mark.slow

DEADLINE = 30.0
TASK = "newscrawl.workers.tasks:extract_page"
URL = "http://paper.example/2026/03/14/story.html"


class Outcome(NamedTuple):
    """Outcome of a faulty page, and the body of the page after it."""

    body: str | None
    reason: str | None
    next_body: str


def extract_in_worker(name: str) -> Outcome:
    """Extract the faulty page *name* in a worker process, then a healthy page in the same pool."""
    fault = PAGES[name]

    async def both() -> Outcome:
        pool = WorkerPool(1, Limits(deadline=DEADLINE))
        try:
            body = reason = None
            try:
                call = pool.call(TASK, fault.make(), url=URL, encoding=fault.charset)
                body = (await call)["body"]
            except WorkerError as error:
                reason = error.reason
            healthy = await pool.call(TASK, pages.article_page(7).encode(), url=URL)
            return Outcome(body, reason, healthy["body"])
        finally:
            await pool.close()

    return asyncio.run(both())


@pytest.mark.parametrize("name", PAGES)
def test_worker_survives_faulty_pages(name: str):
    outcome = extract_in_worker(name)
    fault = PAGES[name]
    if fault.outcome == "failure":
        assert outcome.reason == "document"
    elif fault.outcome == "article":
        assert outcome.reason is None
    else:
        assert outcome.reason in {None, "document", "timeout", "memory"}
    if outcome.body is not None:
        assert [text for text in fault.text if text not in squeeze(outcome.body)] == []
    for paragraph in pages.paragraphs(7):
        assert paragraph in outcome.next_body


def crawl_faults(folder: Path, *, fronts: bool = False, **settings: object) -> Crawl:
    """Crawl all fault sites."""
    with FaultServer(fronts=fronts) as server:
        return crawl_sites(
            folder,
            [f"http://{site.host}/" for site in FAULT_SITES],
            server.proxy_environment(),
            DOWNLOAD_TIMEOUT=15,
            RETRY_TIMES=1,
            NEWSCRAWL_DEADLINE=DEADLINE,
            NEWSCRAWL_MAX_AGE=0,
            **settings,
        )


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """Return a crawl of sites with one faulty page between two healthy ones."""
    return crawl_faults(tmp_path_factory.mktemp("faults"))


def test_crawl_finishes_without_exceptions(crawl: Crawl):
    assert crawl.returncode == 0, crawl.output[-5000:]
    assert crawl.stats["finish_reason"] == "finished"
    assert "Traceback" not in crawl.output
    assert "Unhandled" not in crawl.output


def test_memory_stays_bounded(crawl: Crawl):
    assert crawl.stats["process/memory"] < 500 * 1024 * 1024


def test_no_page_blocks_the_reactor(crawl: Crawl):
    assert crawl.stats["reactor/read"] <= MAX_READ


def test_extracts_all_healthy_pages(crawl: Crawl):
    items = {item["url"]: item for item in crawl.items}
    for site in FAULT_SITES:
        for url, number in site.healthy.items():
            assert url in items, url
            assert items[url]["title"] == pages.title(number)
            assert set(pages.paragraphs(number)) <= set(items[url]["body"].split("\n\n"))


@pytest.mark.parametrize("site", FAULT_SITES, ids=lambda site: site.name)
def test_counts_each_faulty_page_once(crawl: Crawl, site: FaultSite):
    counts = crawl.site_counts(site.host)
    assert counts["discovered_count"] == 3, counts
    bodies = [item["body"] for item in crawl.items if item["url"] == site.faulty_url]
    losses = total(counts, "dropped_count") + total(counts, "failed_count")
    assert len(bodies) + losses == 1, counts
    assert counts["article_count"] == 2 + len(bodies), counts
    if site.fault.outcome != "either" and site.name not in TOO_LARGE:
        assert bool(bodies) == (site.fault.outcome == "article"), counts
    for body in bodies:
        assert [text for text in site.fault.text if text not in squeeze(body)] == []


#: pages above ``DOWNLOAD_MAXSIZE``
TOO_LARGE = {"big-page", "long-href"}


@pytest.mark.parametrize("name", [*sorted(TOO_LARGE), "gzip-bomb", "infinite"])
def test_counts_pages_above_the_size_limit(crawl: Crawl, name: str):
    assert crawl.site_counts(f"{name}.example")["failed_count/too_large"] == 1


@pytest.mark.parametrize("name", ["slow-loris", "hang"])
def test_counts_timeouts(crawl: Crawl, name: str):
    assert crawl.site_counts(f"{name}.example")["failed_count/timeout"] == 1


def test_totals_equal_the_sums_over_sites(crawl: Crawl):
    counts = sum((crawl.site_counts(site.host) for site in FAULT_SITES), Counter[str]())
    assert counts["discovered_count"] == 3 * len(FAULT_SITES)
    assert crawl.stats["newscrawl/extract/article_count"] == counts["article_count"]
    assert counts["article_count"] == len(crawl.items)
    failed = crawl.stats.get("newscrawl/extract/dropped_count/failed", 0)
    assert failed == counts["dropped_count/failed"]


def test_extracts_sitemap_pages_of_faulty_front_pages(tmp_path: Path):
    # Some of the pages link to a thousand articles that do not exist.
    crawl = crawl_faults(tmp_path, fronts=True, NEWSCRAWL_SITE_REQUESTS=20)
    assert crawl.returncode == 0, crawl.output[-5000:]
    assert crawl.stats["finish_reason"] == "finished"
    assert "Traceback" not in crawl.output
    assert crawl.stats["reactor/read"] <= MAX_READ
    found = {item["url"] for item in crawl.items}
    healthy = [url for site in FAULT_SITES for url in site.healthy]
    assert [url for url in healthy if url not in found] == []
    for site in FAULT_SITES:
        counts = crawl.site_counts(site.host)
        ends = ("fetched_count", "failed_count", "skipped_count")
        assert counts["discovered_count"] == sum(total(counts, end) for end in ends), counts
