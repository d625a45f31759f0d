"""Pages that go wrong end as an article or as one counted failure, and hurt nobody else."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest

from newscrawl.crawl.workers.pool import WorkerError, WorkerPool
from newscrawl.text import squeeze
from tests.helpers.crawls import MAX_READ, Crawl, crawl_sites, total
from tests.servers import pages
from tests.servers.faulty_pages import FAULT_SITES, PAGES, FaultServer, FaultSite

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

DEADLINE = 10.0
TASK = "newscrawl.crawl.workers.tasks:extract_page"
URL = "http://paper.example/2026/03/14/story.html"


class Ending(NamedTuple):
    """How the extraction of a page ended, and how the page after it fared."""

    body: str | None
    reason: str | None
    next_body: str


def extract_in_worker(name: str) -> Ending:
    """Extract the faulty page *name* in a worker process, then a healthy page in the same pool."""
    fault = PAGES[name]

    async def both() -> Ending:
        pool = WorkerPool(1, deadline=DEADLINE)
        try:
            body = reason = None
            try:
                call = pool.call(TASK, fault.make(), url=URL, encoding=fault.charset)
                body = (await call)["body"]
            except WorkerError as error:
                reason = error.reason
            healthy = await pool.call(TASK, pages.article_page(7).encode(), url=URL)
            return Ending(body, reason, healthy["body"])
        finally:
            await pool.close()

    return asyncio.run(both())


@pytest.mark.parametrize("name", PAGES)
def test_faulty_page_in_a_worker(name: str):
    """An article, whole and without mojibake, or a failure with a name; the next page is well."""
    ending = extract_in_worker(name)
    fault = PAGES[name]
    if fault.outcome == "failure":
        assert ending.reason == "document"
    elif fault.outcome == "article":
        assert ending.reason is None
    else:
        assert ending.reason in {None, "document", "timeout", "memory"}
    if ending.body is not None:
        assert [text for text in fault.text if text not in squeeze(ending.body)] == []
    for paragraph in pages.paragraphs(7):
        assert paragraph in ending.next_body


def crawl_faults(folder: Path, *, fronts: bool = False, **settings: object) -> Crawl:
    """Crawl all fault sites at once."""
    with FaultServer(fronts=fronts) as server:
        return crawl_sites(
            folder,
            [f"http://{site.host}/" for site in FAULT_SITES],
            server.proxy_environment(),
            DOWNLOAD_TIMEOUT=4,
            RETRY_TIMES=1,
            NEWSCRAWL_DEADLINE=DEADLINE,
            NEWSCRAWL_MAX_AGE=0,
            **settings,
        )


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """Return a crawl of sites with one faulty page between two healthy ones."""
    return crawl_faults(tmp_path_factory.mktemp("faults"))


def test_crawl_ends_well(crawl: Crawl):
    """The crawl finishes by itself, and no exception is in its log."""
    assert crawl.returncode == 0, crawl.output[-5000:]
    assert crawl.stats["finish_reason"] == "finished"
    assert "Traceback" not in crawl.output
    assert "Unhandled" not in crawl.output


def test_memory_stays_bounded(crawl: Crawl):
    """Bombs and endless bodies are cut at the limit, so the crawler stays small."""
    assert crawl.stats["process/memory"] < 500 * 1024 * 1024


def test_reactor_is_never_held(crawl: Crawl):
    """No page holds the event loop: what reads downloaded bytes runs elsewhere."""
    assert crawl.stats["reactor/read"] <= MAX_READ


def test_every_healthy_neighbour_is_extracted(crawl: Crawl):
    """All healthy pages are in the feed, title and every paragraph."""
    items = {item["url"]: item for item in crawl.items}
    for site in FAULT_SITES:
        for url, number in site.healthy.items():
            assert url in items, url
            assert items[url]["title"] == pages.title(number)
            assert set(pages.paragraphs(number)) <= set(items[url]["body"].split("\n\n"))


@pytest.mark.parametrize("site", FAULT_SITES, ids=lambda site: site.name)
def test_faulty_page_has_one_outcome(crawl: Crawl, site: FaultSite):
    """The faulty page is an article, or dropped once, or failed once, as its fault demands."""
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


#: more than ``DOWNLOAD_MAXSIZE``, so that a crawl never sees the page
TOO_LARGE = {"big-page", "long-href"}


@pytest.mark.parametrize("name", [*sorted(TOO_LARGE), "gzip-bomb", "infinite"])
def test_too_large_pages_are_named_so(crawl: Crawl, name: str):
    """What exceeds the size limit fails for that reason, whether it says its size or not."""
    assert crawl.site_counts(f"{name}.example")["failed_count/too_large"] == 1


@pytest.mark.parametrize("name", ["slow-loris", "hang"])
def test_slow_pages_are_named_so(crawl: Crawl, name: str):
    """What outlasts the download timeout fails for that reason."""
    assert crawl.site_counts(f"{name}.example")["failed_count/timeout"] == 1


def test_totals_agree_with_sites(crawl: Crawl):
    """Every page that was discovered is in exactly one of the totals."""
    counts = sum((crawl.site_counts(site.host) for site in FAULT_SITES), Counter[str]())
    assert counts["discovered_count"] == 3 * len(FAULT_SITES)
    assert crawl.stats["newscrawl/extract/article_count"] == counts["article_count"]
    assert counts["article_count"] == len(crawl.items)
    failed = crawl.stats.get("newscrawl/extract/dropped_count/failed", 0)
    assert failed == counts["dropped_count/failed"]


def test_faulty_front_pages(tmp_path: Path):
    """A front page that goes wrong costs its links: what the sitemap names is extracted."""
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
