"""Caches of the rules of hosts."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from newscrawl import clock
from newscrawl.crawling.network import rules_cache
from newscrawl.crawling.network.rules_cache import (
    MAX_REMEMBERED,
    HostRules,
    ParserCache,
    RulesCache,
    SizedCache,
)

NOW = datetime(2026, 5, 4, tzinfo=UTC)


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
def test_rules_of_all_hosts_are_limited(text: str):
    """Rules that were removed are fetched again."""
    fetched: list[int] = []

    async def crawl() -> RulesCache:
        cache = RulesCache()
        for host in [*range(2000), 0]:

            async def fetch(host: int = host) -> HostRules:
                fetched.append(host)
                return HostRules(clock.now() + timedelta(hours=1), f"{host}{text}")

            await cache.get(host, fetch)
            await cache.get(host, fetch)
        return cache

    cache = asyncio.run(crawl())
    assert fetched == [*range(2000), 0]
    assert cache._kept.size <= rules_cache.MAX_CACHE_SIZE
    assert 50 < len(cache._kept._entries) < 500


@pytest.mark.parametrize("size", [1000, 20_000])
def test_long_rules_are_not_remembered(size: int):
    """A site can have many hosts."""
    kept: list[str] = []

    class Memory:
        async def find(self, *_: str) -> list[tuple[str, str, float]]:
            return []

        def put(self, _: str, owner: str, *__: object) -> None:
            kept.append(owner)

    async def fetch() -> HostRules:
        return HostRules(clock.now() + timedelta(hours=1), "x" * size)

    asyncio.run(RulesCache("robots", Memory()).get("a", fetch))  # type: ignore[arg-type]
    assert kept == (["a"] if size < MAX_REMEMBERED else [])


def test_requests_share_a_fetch_and_rules_expire():
    calls = 0
    try:
        clock.set_clock(lambda: NOW)

        async def fetch() -> HostRules:
            nonlocal calls
            calls += 1
            await asyncio.sleep(0)
            return HostRules(clock.now() + timedelta(hours=1))

        async def crawl() -> None:
            cache = RulesCache()
            await asyncio.gather(*(cache.get("a", fetch) for _ in range(5)))
            assert calls == 1
            for hours in (-2, 2):  # by which the system clock is set meanwhile
                system = NOW + timedelta(hours=hours)
                clock.set_clock(lambda now=system: now, lambda: NOW)
                await cache.get("a", fetch)
                assert calls == 1
            clock.set_clock(lambda: NOW + timedelta(hours=2))
            await cache.get("a", fetch)
            assert calls == 2

        asyncio.run(crawl())
    finally:
        clock.set_clock()


def test_failed_fetch_is_repeated():
    async def fail() -> HostRules:
        raise OSError("refused")

    async def crawl() -> None:
        cache = RulesCache()
        for _ in range(2):
            with pytest.raises(OSError, match="refused"):
                await cache.get("a", fail)

    asyncio.run(crawl())


def test_parsers_are_shared_and_limited():
    parsed: list[str] = []
    parsers = ParserCache(lambda text: parsed.append(text[:4]) or text)
    rules = "Disallow: /*a\n" * 5000
    for number in range(50):
        parsers.get(f"{number:04}{rules}")
        parsers.get(f"{number:04}{rules}")
    assert len(parsed) == 50
    assert parsers._parsers.size <= rules_cache.MAX_PARSER_SIZE
