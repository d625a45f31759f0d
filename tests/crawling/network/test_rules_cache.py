"""Caches of the rules of hosts."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from scrapy.crawler import Crawler
from scrapy.utils.test import get_crawler

from newscrawl import clock
from newscrawl.crawling.crawl_store import CrawlStore
from newscrawl.crawling.network import rules_cache
from newscrawl.crawling.network.rules_cache import (
    MAX_REMEMBERED,
    HostRules,
    ParserCache,
    RulesCache,
    SizedCache,
)
from newscrawl.spiders.sitelist import SitelistSpider
from tests.helpers.crawl_history import NOON, FakeClock


def crawler(state: Path | str = "") -> Crawler:
    return get_crawler(SitelistSpider, settings_dict={"NEWSCRAWL_STATE": str(state)})


def test_sized_cache_removes_the_least_recently_used():
    cache: SizedCache[str] = SizedCache(10)
    for key in "abc":
        cache.put(key, key.upper(), 4)
        cache.get("a")
    assert [cache.get(key) for key in "abc"] == ["A", None, "C"]
    cache.put("a", "A", 9)
    assert ([cache.get(key) for key in "ac"], cache.size) == (["A", None], 9)
    cache.put("d", "D", 11)
    assert (cache.get("d"), cache.size) == (None, 0)


@pytest.mark.parametrize("text", ["x" * 100_000, "\U0001f600" * 25_000])
async def test_rules_of_all_hosts_are_limited(text: str):
    """Rules that were removed are fetched again."""
    fetched: list[int] = []
    cache = RulesCache(crawler(), "robots")
    for host in [*range(2000), 0]:

        async def fetch(host: int = host) -> HostRules:
            fetched.append(host)
            return HostRules(text=f"{host}{text}")

        await cache.get(host, fetch)
        await cache.get(host, fetch)
    assert fetched == [*range(2000), 0]
    assert cache._kept.size <= rules_cache.MAX_CACHE_SIZE
    assert 50 < len(cache._kept._entries) < 500


@pytest.mark.parametrize("size", [1000, 20_000])
async def test_rules_are_remembered_whole_unless_they_are_long(
    tmp_path: Path, fake_clock: FakeClock, size: int
):
    """A site can have many hosts."""
    fetched: list[HostRules] = []

    async def fetch() -> HostRules:
        fetched.append(HostRules(url="/r", text="x" * size, sitemaps=["/a"], failure="http_404"))
        return fetched[-1]

    async def crawl() -> HostRules:
        running = crawler(tmp_path / "state")
        try:
            return await RulesCache(running, "robots").get("a", fetch)
        finally:
            await CrawlStore.for_crawler(running).close()

    assert await crawl() == fetched[0]
    is_kept = size < MAX_REMEMBERED
    assert await crawl() == replace(fetched[0], remembered=is_kept)
    assert len(fetched) == (1 if is_kept else 2)


async def test_requests_share_a_fetch_and_rules_expire(fake_clock: FakeClock):
    calls = 0

    async def fetch() -> HostRules:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0)
        return HostRules(clock.now() + timedelta(hours=1))

    cache = RulesCache(crawler(), "robots")
    await asyncio.gather(*(cache.get("a", fetch) for _ in range(5)))
    assert calls == 1
    for hours in (-2, 2):  # by which the system clock is set meanwhile
        clock.set_clock(lambda now=NOON + timedelta(hours=hours): now, lambda: NOON)
        await cache.get("a", fetch)
        assert calls == 1
    clock.set_clock(lambda: NOON + timedelta(hours=2))
    await cache.get("a", fetch)
    assert calls == 2


async def test_failed_fetch_is_repeated():
    async def fail() -> HostRules:
        raise OSError("refused")

    cache = RulesCache(crawler(), "robots")
    for _ in range(2):
        with pytest.raises(OSError, match="refused"):
            await cache.get("a", fail)


def test_parsers_are_shared_and_limited():
    parsed: list[str] = []
    parsers = ParserCache(lambda text: parsed.append(text[:4]) or text)
    rules = "Disallow: /*a\n" * 5000
    for number in range(50):
        parsers.of(f"{number:04}{rules}")
        parsers.of(f"{number:04}{rules}")
    assert len(parsed) == 50
    assert parsers.size <= rules_cache.MAX_PARSER_SIZE
