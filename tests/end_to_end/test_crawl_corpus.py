"""Crawl of about 400 recorded sites: each page has one outcome, and articles match the labels."""

from __future__ import annotations

from collections import Counter
from statistics import mean, median
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import pytest

from newscrawl.lab.corpora.metrics import bag_score
from newscrawl.text import words
from tests.helpers.crawls import MAX_READ, Crawl, crawl_sites, total
from tests.servers.replay import RecordedPage, ReplayServer, Site, load_pages, make_sites

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers import LoggedRequest

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


class Recorded(NamedTuple):
    """Two consecutive crawls, with the requests to the server."""

    crawl: Crawl
    server: ReplayServer
    #: labelled page -> requests in the first crawl
    served: Counter[RecordedPage]
    #: second crawl and its requests
    second: Crawl
    second_log: list[LoggedRequest]

    @property
    def listed(self) -> list[Site]:
        """Sites with a sitemap or feed; on the others, links are classified by their URL."""
        return [site for site in self.server.sites.values() if site.discovery != "section"]


@pytest.fixture(scope="module")
def recorded(corpus_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Crawl the recorded sites twice."""
    sites = make_sites(load_pages(corpus_dir, "news212", "fundus"))
    folder = tmp_path_factory.mktemp("crawl")
    crawls, logs = [], []
    with ReplayServer(sites) as server:
        for _ in range(2):
            crawl = crawl_sites(
                folder,
                [site.url for site in sites],
                server.proxy_environment(),
                NEWSCRAWL_MAX_AGE=0,  # the pages are years old
                NEWSCRAWL_POLL_MIN=0,  # the second crawl reads all listings again
                NEWSCRAWL_POLL_MAX=0,
                CONCURRENT_REQUESTS_PER_DOMAIN=4,
            )
            crawls.append(crawl)
            logs.append(list(server.log))
            server.log.clear()
    server.log += logs[0]
    pages = (server.page_of(line.host, line.target) for line in server.log if line.status == 200)
    return Recorded(crawls[0], server, Counter(page for page in pages if page), crawls[1], logs[1])


def test_crawl_finishes(recorded: Recorded):
    """The crawl ends with the reason "finished" and no error in the log."""
    assert recorded.crawl.returncode == 0, recorded.crawl.output[-5000:]
    assert recorded.crawl.stats["finish_reason"] == "finished"
    assert recorded.crawl.errors() == []


def test_never_blocks_the_event_loop(recorded: Recorded):
    """No page is parsed on the event loop's thread."""
    assert recorded.crawl.stats["reactor/read"] <= MAX_READ


def test_fetches_no_page_twice(recorded: Recorded):
    """Each page is requested once, even if several lists and links contain its URL."""
    assert [page.url for page, times in recorded.served.items() if times > 1] == []


def test_fetches_every_listed_page(recorded: Recorded):
    """All pages in sitemaps, news sitemaps and feeds are fetched."""
    listed = [page for site in recorded.listed for page in site.pages]
    assert len(listed) > 500
    assert len(recorded.listed) > 100
    assert [page.url for page in listed if page not in recorded.served] == []


def test_second_crawl_fetches_no_article(recorded: Recorded):
    """It reads the listings, which contain only known articles, and logs that nothing is new."""
    second, server = recorded.second, recorded.server
    assert second.returncode == 0
    assert second.errors() == []
    assert second.items == []
    counts = sum(map(second.site_counts, server.sites), Counter[str]())
    assert counts["fetched_count"] == 0
    assert counts["known_count"] >= len(recorded.crawl.items)
    emitted = {urlsplit(item["url"])[1:4] for item in recorded.crawl.items}
    requested = {urlsplit(f"http://{line.host}{line.target}")[1:4] for line in recorded.second_log}
    assert emitted & requested == set()
    assert "Nothing new. From former crawls: articles known: " in second.output


def test_fetches_most_linked_pages(recorded: Recorded):
    """Most links to articles on front and section pages are classified as articles."""
    sites = [s for s in recorded.server.sites.values() if s.discovery == "section"]
    linked = [page for site in sites for page in site.pages]
    assert mean(page in recorded.served for page in linked) > 0.9


def test_answers_every_request(recorded: Recorded):
    """The downloader counts as many requests as the server, which answers 200 or 404."""
    assert {line.status for line in recorded.server.log} == {200, 404}
    assert recorded.crawl.stats["downloader/request_count"] == len(recorded.server.log)


def test_each_page_has_one_outcome(recorded: Recorded):
    """The counts of each site add up and match the server's log."""
    items = Counter(item["url"] for item in recorded.crawl.items)
    assert max(items.values()) == 1
    by_host = Counter(url.split("/")[2] for url in items)
    for host, site in recorded.server.sites.items():
        counts = recorded.crawl.site_counts(host)
        fetched = counts["fetched_count"]
        lost = total(counts, "failed_count") + total(counts, "skipped_count")
        assert counts["discovered_count"] == fetched + lost, (host, counts)
        assert fetched == counts["article_count"] + total(counts, "dropped_count"), (host, counts)
        assert counts["article_count"] == by_host[host], (host, counts)
        if site.discovery != "section":
            assert fetched == len(site.pages), (host, counts)


def test_totals_agree_with_sites(recorded: Recorded):
    """Extraction counts are the sums over sites, and the feed has all articles."""
    stats = recorded.crawl.stats
    counts = sum(map(recorded.crawl.site_counts, recorded.server.sites), Counter[str]())
    assert stats["newscrawl/extract/article_count"] == counts["article_count"]
    assert counts["article_count"] == len(recorded.crawl.items) == stats["item_scraped_count"]
    for reason in ("not_article", "too_short", "failed"):
        extracted = stats.get(f"newscrawl/extract/dropped_count/{reason}", 0)
        assert extracted <= counts[f"dropped_count/{reason}"]


def test_table_lists_every_site(recorded: Recorded):
    """The closing table has a row for each site."""
    output = recorded.crawl.output
    assert [host for host in recorded.server.sites if f" {host} " not in output] == []


def test_emits_the_labelled_articles(recorded: Recorded):
    """Nearly all pages become articles, with the labelled body and title."""
    bodies, titles = [], []
    for item in recorded.crawl.items:
        parts = urlsplit(item["url"])
        page = recorded.server.page_of(parts.netloc, f"{parts.path}?{parts.query}")
        if page is not None:
            bodies.append(bag_score(words(item["body"]), words(page.labels.body or "")).f1)
            titles.append(bag_score(words(item["title"] or ""), words(page.title)).f1)
    assert len(bodies) > 0.95 * len(recorded.served)
    assert mean(bodies) > 0.85
    assert median(bodies) > 0.92
    assert mean(titles) > 0.9


def test_articles_carry_provenance(recorded: Recorded):
    """Each article has the time of its fetch and the source of its body."""
    assert all(item["fetched_at"] for item in recorded.crawl.items)
    sources = Counter(item["evidence"]["body"]["source"] for item in recorded.crawl.items)
    assert set(sources) == {"blocks", "page-data"}
    assert sources["page-data"] == 2, "two pages have an article in their embedded data"
