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
from tests.servers.faulty_pages import PAGES, TRANSPORTS, FaultSite, FaultWeb, page_case

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


class Faults(NamedTuple):
    """A crawl of sites with one faulty page between two healthy ones."""

    crawl: Crawl
    sites: dict[str, FaultSite]

    def counts(self, name: str) -> Counter[str]:
        return self.crawl.site_counts(self.sites[name].host)


FAULTS = (*PAGES, *TRANSPORTS)


def crawl_faults(folder: Path, *, fronts: bool = False, **settings: object) -> Faults:
    """Crawl the sites of all faults."""
    with FaultWeb({name: page_case(name, front=fronts) for name in FAULTS}) as web:
        crawl = crawl_sites(
            folder,
            [f"http://{site.host}/" for site in web.sites.values()],
            DOWNLOAD_TIMEOUT=15,
            RETRY_TIMES=1,
            NEWSCRAWL_DEADLINE=DEADLINE,
            NEWSCRAWL_MAX_AGE=0,
            **settings,
        )
    assert crawl.returncode == 0, crawl.output[-5000:]
    assert crawl.stats["finish_reason"] == "finished"
    assert "Traceback" not in crawl.output
    assert "Unhandled" not in crawl.output
    assert crawl.stats["process/memory"] < 500 * 1024 * 1024
    assert crawl.stats["reactor/read"] <= MAX_READ
    return Faults(crawl, web.sites)


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Faults:
    return crawl_faults(tmp_path_factory.mktemp("faults"))


def test_extracts_all_healthy_pages(faults: Faults):
    items = {item["url"]: item for item in faults.crawl.items}
    for site in faults.sites.values():
        for url, number in site.healthy.items():
            assert url in items, url
            assert items[url]["title"] == pages.title(number)
            assert set(pages.paragraphs(number)) <= set(items[url]["body"].split("\n\n"))


@pytest.mark.parametrize("name", FAULTS)
def test_counts_each_faulty_page_once(faults: Faults, name: str):
    site, counts = faults.sites[name], faults.counts(name)
    assert counts["discovered_count"] == 3, counts
    bodies = [item["body"] for item in faults.crawl.items if item["url"] == site.faulty_url]
    losses = total(counts, "dropped_count") + total(counts, "failed_count")
    assert len(bodies) + losses == 1, counts
    assert counts["article_count"] == 2 + len(bodies), counts
    if site.fault.outcome != "either" and name not in TOO_LARGE:
        assert bool(bodies) == (site.fault.outcome == "article"), counts
    for body in bodies:
        assert [text for text in site.fault.text if text not in squeeze(body)] == []


#: pages above ``DOWNLOAD_MAXSIZE``
TOO_LARGE = {"big-page", "long-href"}


@pytest.mark.parametrize(
    ("reason", "names"),
    [
        ("too_large", [*sorted(TOO_LARGE), "gzip-bomb", "infinite"]),
        ("timeout", ["slow-loris", "hang"]),
    ],
)
def test_reasons(faults: Faults, reason: str, names: list[str]):
    assert [faults.counts(name)[f"failed_count/{reason}"] for name in names] == [1] * len(names)


def test_totals_equal_the_sums_over_sites(faults: Faults):
    crawl, counts = faults.crawl, sum(map(faults.counts, FAULTS), Counter[str]())
    assert counts["discovered_count"] == 3 * len(FAULTS)
    assert crawl.stats["newscrawl/extract/article_count"] == counts["article_count"]
    assert counts["article_count"] == len(crawl.items)
    failed = crawl.stats.get("newscrawl/extract/dropped_count/failed", 0)
    assert failed == counts["dropped_count/failed"]


def test_extracts_sitemap_pages_of_faulty_front_pages(tmp_path: Path):
    # Some of the pages link to a thousand articles that do not exist.
    faults = crawl_faults(tmp_path, fronts=True, NEWSCRAWL_SITE_REQUESTS=20)
    found = {item["url"] for item in faults.crawl.items}
    healthy = [url for site in faults.sites.values() for url in site.healthy]
    assert [url for url in healthy if url not in found] == []
    for name in FAULTS:
        counts = faults.counts(name)
        ends = ("fetched_count", "failed_count", "skipped_count")
        assert counts["discovered_count"] == sum(total(counts, end) for end in ends), counts
