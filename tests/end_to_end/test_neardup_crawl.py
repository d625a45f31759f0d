"""Near-duplicate clusters in crawls of this project and of a new Scrapy project."""

import os
from collections import Counter
from pathlib import Path

import pytest

from newscrawl.neardup import Index
from samples import SampleSites, expected_pages
from tests.helpers.crawls import MAX_READ, Crawl, crawl_sites, run_scrapy

pytestmark = pytest.mark.slow

TOTAL = sum(page.is_article for page in expected_pages())


def crawl_samples(folder: Path, sites: SampleSites, **settings: object) -> Crawl:
    """Crawl the sample sites with clustering enabled and the index in *folder*."""
    done = crawl_sites(
        folder,
        sites.urls.values(),
        os.environ,
        NEWSCRAWL_MAX_AGE=0,
        NEWSCRAWL_NEARDUP_ENABLED=True,
        NEWSCRAWL_NEARDUP_INDEX=folder / "index.sqlite",
        **settings,
    )
    assert done.returncode == 0, done.output
    return done


def test_feed_carries_clusters(tmp_path: Path) -> None:
    """Each article has a cluster; a second crawl gives the same clusters."""
    with SampleSites() as sites:
        first = crawl_samples(tmp_path, sites)
        assert first.errors() == []
        # Without the state of the first crawl, all articles are fetched again.
        second = crawl_samples(tmp_path, sites, NEWSCRAWL_STATE=tmp_path / "none.sqlite")
    clusters = {item["url"]: item["cluster"] for item in first.items}
    assert {item["url"]: item["cluster"] for item in second.items} == clusters
    sizes = Counter(cluster["id"] for cluster in clusters.values())
    assert sorted(sizes.values()) == [1] * (TOTAL - 3) + [3]
    counts = {
        name.removeprefix("newscrawl/neardup/"): value
        for name, value in first.stats.items()
        if name.startswith("newscrawl/neardup/")
    }
    assert counts == {"article_count": TOTAL, "cluster_count": TOTAL - 2, "duplicate_count": 2}


def test_drops_duplicates_on_request(tmp_path: Path) -> None:
    """One article of the wire story is kept, and dropped pages are not errors."""
    with SampleSites() as sites:
        done = crawl_samples(tmp_path, sites, NEWSCRAWL_NEARDUP_DROP=True)
    assert done.errors() == []
    assert len(done.items) == TOTAL - 2
    assert done.stats["item_dropped_reasons_count/NearDuplicate"] == 2


def test_refuses_to_start_with_an_index_in_use(tmp_path: Path) -> None:
    """A second crawl with the same index is refused and makes no request."""
    with SampleSites() as sites, Index(tmp_path / "index.sqlite"):
        done = crawl_sites(
            tmp_path,
            sites.urls.values(),
            os.environ,
            NEWSCRAWL_NEARDUP_ENABLED=True,
            NEWSCRAWL_NEARDUP_INDEX=tmp_path / "index.sqlite",
        )
        assert list(sites.requests) == []
    assert "in use by another process" in done.output
    assert done.items == []


def test_index_work_leaves_the_event_loop_free(tmp_path: Path) -> None:
    """Articles of 1 MB are sketched on another thread than the event loop's."""
    settings = {"NEWSCRAWL_NEARDUP_INDEX": tmp_path / "index.sqlite"}
    done = run_scrapy(
        tmp_path, ["runspider", "tests/spiders/long_body_spider.py"], os.environ, settings
    )
    assert done.errors() == []
    assert done.stats["newscrawl/neardup/duplicate_count"] == 10
    assert done.stats["thread/read"] == 2**20
    assert done.stats["reactor/read"] <= MAX_READ
