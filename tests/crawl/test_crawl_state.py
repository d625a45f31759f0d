"""Crawl state: history of pages and sources across crawls."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial, wraps
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from newscrawl import clock
from newscrawl.crawl.discovery.site_frontier import SiteFrontier
from newscrawl.crawl.discovery.site_list import Site
from newscrawl.crawl.discovery.target import Budgets, KnownSource, Target
from newscrawl.crawl.discovery.urls import page_key
from newscrawl.crawl.frontier.crawl_store import CrawlStore
from newscrawl.crawl.history.conditional_requests import (
    MAX_VALIDATOR,
    conditional_headers,
    validators,
)
from newscrawl.crawl.history.crawl_state import CrawlState
from newscrawl.crawl.history.page_history import ClassifiedEntries
from newscrawl.crawl.history.revisit_policy import body_hash
from newscrawl.items import Article
from newscrawl.spiders.sitelist import SitelistSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from contextlib import AbstractAsyncContextManager

    from newscrawl.crawl.history.revisit_policy import ArticleStatus

    Opening = Callable[..., AbstractAsyncContextManager[CrawlState]]

SITE = "site.example"
HOME = f"http://{SITE}/"
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
BUDGETS = Budgets(articles=10, requests=100, sitemaps=5, feeds=5, sections=5, depth=2, window=2)


class FakeClock:
    """A clock that stops until it is set forward."""

    def __init__(self) -> None:
        self.now = NOON
        clock.set_clock(lambda: self.now)

    def forward(self, hours: float) -> None:
        """Set the clock forward."""
        self.now += timedelta(hours=hours)


@pytest.fixture
def fake_clock() -> Iterator[FakeClock]:
    """Return the clock of the test."""
    yield FakeClock()
    clock.set_clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of the state."""
    return tmp_path / "state.sqlite"


@asynccontextmanager
async def opened(path: Path | str, **settings: Any) -> AsyncIterator[CrawlState]:
    """Open the state as a crawl does."""
    crawler = get_crawler(SitelistSpider, settings_dict={"NEWSCRAWL_STATE": str(path)} | settings)
    state = CrawlState.for_crawler(crawler)
    try:
        await state.open()
        yield state
    finally:
        await CrawlStore.for_crawler(crawler).close()


@pytest.fixture
def crawl(path: Path) -> Opening:
    """Return a function that opens the state as the next crawl does."""
    return partial(opened, path)


def entry(path: str, when: datetime | None = None, changed: datetime | None = None) -> Any:
    url = f"{HOME}{path}"
    return {
        "url": url,
        "key": page_key(url),
        "timestamp": when and when.timestamp(),
        "changed": changed and changed.timestamp(),
        "hints": {"title": path},
    }


def target(listed: Any) -> Target:
    return Target(
        "article", listed["url"], timestamp=listed["timestamp"], history=listed.get("history", {})
    )


def response(url: str, **headers: str) -> HtmlResponse:
    return HtmlResponse(url, headers=headers, request=Request(url))


async def emit(
    state: CrawlState,
    listed: Any,
    text: str,
    *,
    at: str = "",
    canonical: str | None = None,
    **headers: str,
) -> ArticleStatus | None:
    """Fetch the page *listed*, extract an article with *text*, and return its status."""
    url = f"{HOME}{at}" if at else listed["url"]
    state.pages.record_fetch(target(listed), response(url, **headers))
    article = Article(url=url, canonical_url=canonical, body=text)
    return await state.pages.judge(article, url, body_hash(text))


async def listed_as_due(state: CrawlState, *entries: Any) -> list[str]:
    """List *entries*; return the paths of those that are due."""
    classified = await state.pages.classify(list(entries))
    state.pages.record_entries(SITE, classified)
    return [page["url"].removeprefix(HOME) for page in classified.due]


async def due_pages(state: CrawlState, limit: int = 10) -> list[str]:
    """Return the paths of the due pages at the start of a crawl."""
    history = await state.load(SITE, limit=limit)
    return [page["url"].removeprefix(HOME) for page in history.pages]


async def due_page(state: CrawlState) -> Any:
    """Return the only due page."""
    (page,) = (await state.load(SITE, limit=10)).pages
    return page


def in_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run an async test in an event loop."""

    @wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(test(**fixtures))  # type: ignore[arg-type]

    return run


@in_loop
async def test_listed_page_is_due_until_it_is_fetched(crawl: Opening, fake_clock: FakeClock):
    async with crawl() as state:
        old, new = entry("old", NOON - timedelta(days=2)), entry("new", NOON)
        assert await listed_as_due(state, old, entry("undated"), new) == ["old", "undated", "new"]
    async with crawl() as state:
        assert await due_pages(state) == ["new", "old", "undated"]
        assert await due_pages(state, limit=1) == ["new"]
        assert await listed_as_due(state, new) == ["new"]
    async with crawl(NEWSCRAWL_MAX_AGE=1) as state:
        assert await due_pages(state) == ["new", "undated"]


@in_loop
async def test_keeps_hints_depth_and_certainty_of_the_first_listing(
    crawl: Opening, fake_clock: FakeClock
):
    async with crawl() as state:
        entries = await state.pages.classify([entry("a", NOON)])
        state.pages.record_entries(SITE, entries, depth=2, certain=True)
    async with crawl() as state:
        found = await due_page(state)
        assert found["hints"] == {"title": "a"}
        assert (found["depth"], found["certain"]) == (2, True)
        assert not target(found).is_revisit


@in_loop
async def test_emits_an_article_once_and_revisits_it(crawl: Opening, fake_clock: FakeClock):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        assert await emit(state, a, "Text") == "new"
    async with crawl() as state:
        assert await due_pages(state) == []
        assert await listed_as_due(state, a) == []
        assert (await state.pages.classify([a])).known == [a["key"]]
    fake_clock.forward(1)
    async with crawl() as state:
        again = await due_page(state)
        assert target(again).is_revisit
        assert await emit(state, again, "Text") == "unchanged"
        assert await due_pages(state) == []
    fake_clock.forward(2)
    async with crawl() as state:
        again = await due_page(state)
        assert await emit(state, again, "Other text") == "updated"
    fake_clock.forward(22)
    async with crawl() as state:
        assert await due_pages(state) == [], "the update window has passed, also for a late visit"
        assert await listed_as_due(state, a) == []


@in_loop
async def test_sends_the_latest_validators(crawl: Opening, fake_clock: FakeClock):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        await emit(state, a, "Text", ETag='"1"', **{"Last-Modified": "yesterday"})
    fake_clock.forward(1)
    async with crawl() as state:
        again = await due_page(state)
        assert conditional_headers(again["history"]) == {
            "If-None-Match": '"1"',
            "If-Modified-Since": "yesterday",
        }
        state.pages.record_unchanged(target(again), response(again["url"], ETag='"2"'))
    fake_clock.forward(2)
    async with crawl() as state:
        again = await due_page(state)
        assert again["history"]["etag"] == '"2"'
        assert again["history"]["last_modified"] == "yesterday"


@in_loop
async def test_sends_no_validators_of_a_page_without_article(crawl: Opening, fake_clock: FakeClock):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        state.pages.record_fetch(target(a), response(a["url"], ETag='"1"'))
    fake_clock.forward(1)
    async with crawl() as state:
        again = await due_page(state)
        assert conditional_headers(again["history"]) == {}
        assert await emit(state, again, "Text") == "new"


def test_ignores_long_and_empty_validators():
    assert validators(response(HOME, ETag="x" * (MAX_VALIDATOR + 1))) == (None, None)
    assert validators(response(HOME, ETag="")) == (None, None)
    assert validators(response(HOME, ETag=' W/"1" ')) == ('W/"1"', None)


@in_loop
async def test_checks_a_signalled_change(crawl: Opening, fake_clock: FakeClock):
    """Once if the page is unchanged, and only in the update window."""
    a = entry("a", NOON, NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        await emit(state, a, "Text")
    fake_clock.forward(0.1)
    changed = entry("a", NOON, NOON + timedelta(minutes=5))
    async with crawl() as state:
        assert await listed_as_due(state, a) == [], "the modification time is the same"
        (listed,) = (await state.pages.classify([changed])).due
        assert await listed_as_due(state, changed) == ["a"]
        assert await due_pages(state) == ["a"], "also in the next crawl"
        assert await emit(state, listed, "Text") == "unchanged"
        assert await listed_as_due(state, entry("a", NOON, NOON + timedelta(minutes=6))) == []
    fake_clock.forward(48)
    new = entry("b", NOON, NOON)
    async with crawl() as state:
        await listed_as_due(state, new)
        await emit(state, new, "Text b")
        assert await listed_as_due(state, entry("b", NOON, fake_clock.now)) == []


@in_loop
async def test_checks_further_changes_after_a_real_one(crawl: Opening, fake_clock: FakeClock):
    a = entry("a", NOON, NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        await emit(state, a, "Text 0")
        for hour in (1, 2, 3):
            fake_clock.forward(0.1)
            changed = entry("a", NOON, NOON + timedelta(hours=hour))
            (listed,) = (await state.pages.classify([changed])).due
            assert await listed_as_due(state, changed) == ["a"]
            assert await emit(state, listed, f"Text {hour}") == "updated"


@in_loop
async def test_page_failures_back_off_and_give_up(crawl: Opening, fake_clock: FakeClock):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        state.pages.record_failure(target(a), None, "timeout")
    for hours in (0, 1, 2, 4):
        if hours:
            async with crawl() as state:
                assert await due_pages(state) == []
                assert await listed_as_due(state, a) == []
        fake_clock.forward(hours)
        async with crawl() as state:
            again = await due_page(state)
            state.pages.record_failure(target(again), None, "http_503")
    fake_clock.forward(1000)
    async with crawl() as state:
        assert await due_pages(state) == []
        assert await listed_as_due(state, a) == []


@pytest.mark.parametrize("reason", ["http_404", "http_410"])
@in_loop
async def test_does_not_fetch_a_deleted_article_again(
    crawl: Opening, fake_clock: FakeClock, reason: str
):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        await emit(state, a, "Text")
    fake_clock.forward(1)
    async with crawl() as state:
        again = await due_page(state)
        state.pages.record_failure(target(again), None, reason)
    fake_clock.forward(5)
    async with crawl() as state:
        assert await due_pages(state) == []
        assert await listed_as_due(state, a) == []


@in_loop
async def test_failed_revisit_does_not_change_the_schedule(crawl: Opening, fake_clock: FakeClock):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        await emit(state, a, "Text")
    fake_clock.forward(1)
    async with crawl() as state:
        again = await due_page(state)
        state.pages.record_failure(target(again), None, "timeout")
        assert await due_pages(state) == []
    fake_clock.forward(2)
    async with crawl() as state:
        again = await due_page(state)
        assert await emit(state, again, "Text") == "unchanged"


@in_loop
async def test_article_with_a_known_canonical_url_is_known(crawl: Opening, fake_clock: FakeClock):
    a, amp = entry("a"), entry("amp/a")
    async with crawl() as state:
        await listed_as_due(state, a, amp)
        await emit(state, a, "Text")
        assert await emit(state, amp, "Text, printed", canonical=a["url"]) == "known"
    async with crawl() as state:
        late = entry("late/a")
        assert await listed_as_due(state, amp, late) == ["late/a"]
        assert await emit(state, late, "Text", canonical=f"{a['url']}#top") == "known"
    fake_clock.forward(5)
    async with crawl() as state:
        assert await due_pages(state) == ["a"]


@in_loop
async def test_same_text_and_canonical_url_is_one_article(crawl: Opening, fake_clock: FakeClock):
    main = f"{HOME}a"
    first, second, third = entry("amp/a"), entry("print/a"), entry("mobile/a")
    async with crawl() as state:
        await listed_as_due(state, first, second)
        verdicts = await asyncio.gather(
            emit(state, first, "Text", canonical=main),
            emit(state, second, "Text", canonical=main),
        )
        assert sorted(verdicts) == ["known", "new"]
    async with crawl() as state:
        assert await listed_as_due(state, third) == ["mobile/a"]
        assert await emit(state, third, "Text", canonical=main) == "known"
        (listed,) = (await state.pages.classify([entry("a")])).due
        assert await emit(state, listed, "Text", canonical=main) == "known"


@in_loop
async def test_keeps_articles_with_the_home_page_as_canonical_url(
    crawl: Opening, fake_clock: FakeClock
):
    async with crawl() as state:
        for number in range(3):
            page = entry(str(number))
            await listed_as_due(state, page)
            assert await emit(state, page, f"Text {number}", canonical=HOME) == "new"


@in_loop
async def test_ignores_canonical_urls_of_other_sites(crawl: Opening, fake_clock: FakeClock):
    ours = entry("a")
    theirs = {**entry("b"), "url": "http://other.example/b", "key": "other.example/b"}
    async with crawl() as state:
        await listed_as_due(state, ours, theirs)
        await emit(state, ours, "Text")
        assert await emit(state, theirs, "Text", canonical=ours["url"]) == "new"


@in_loop
async def test_article_behind_a_redirect_is_known_by_both_urls(
    crawl: Opening, fake_clock: FakeClock
):
    async with crawl() as state:
        short, other = entry("s/1"), entry("s/2")
        await listed_as_due(state, short, other)
        await emit(state, short, "Text", at="2026/story")
        assert await emit(state, other, "Text", at="2026/story") == "known"
    async with crawl() as state:
        assert await listed_as_due(state, entry("2026/story"), short) == []


class CrawlSeries:
    """Crawls of two pages, one hour after the other, and their invariants."""

    def __init__(self, path: Path, fake_clock: FakeClock) -> None:
        self.path, self.fake_clock = path, fake_clock
        #: page -> emitted texts
        self.emitted: dict[str, list[str]] = {}
        self.failures: Counter[str] = Counter()
        self.listed: set[str] = set()
        self.due: dict[str, Any] = {}
        self.requested: set[str] = set()

    async def run(self, events: list[tuple[Any, ...]]) -> None:
        """Execute *events*; ``("end",)`` ends a crawl and starts the next."""
        crawls: list[list[tuple[Any, ...]]] = [[]]
        for event in events:
            if event == ("end",):
                crawls.append([])
            else:
                crawls[-1].append(event)
        for crawl_events in crawls:
            async with opened(self.path) as state:
                await self._begin(state)
                for what, *arguments in crawl_events:
                    await getattr(self, what)(state, *arguments)
            self.fake_clock.forward(1)
        self.fake_clock.forward(10)
        async with opened(self.path) as state:
            await self._begin(state)
        given_up = {page for page, times in self.failures.items() if times >= 5}
        assert self.listed - self.emitted.keys() - given_up <= self.due.keys(), "no page is lost"

    async def _begin(self, state: CrawlState) -> None:
        history = await state.load(SITE, limit=10)
        self.due, self.requested = {page["key"]: page for page in history.pages}, set()

    async def list(self, state: CrawlState, page: str, *, changed: bool = False) -> None:
        """List *page*, as just *changed* or not."""
        entries = await state.pages.classify(
            [entry(page, NOON, self.fake_clock.now if changed else None)]
        )
        state.pages.record_entries(SITE, entries)
        for found in entries.due:
            self.listed.add(found["key"])
            if found["key"] not in self.requested:
                self.due.setdefault(found["key"], found)

    async def list_changed(self, state: CrawlState, page: str) -> None:
        """List *page* as just changed."""
        await self.list(state, page, changed=True)

    async def wait(self, _: CrawlState, hours: float) -> None:
        """Set the clock forward."""
        self.fake_clock.forward(hours)

    async def fail(self, state: CrawlState, page: str) -> None:
        """Let the request of *page* fail."""
        if wanted := self._pop(page):
            state.pages.record_failure(target(wanted), None, "timeout")
            self.failures[wanted["key"]] += 1

    async def lose(self, state: CrawlState, page: str, text: str) -> None:
        """Let a pipeline fail with the article of *page*."""
        if wanted := self._pop(page):
            if await emit(state, wanted, f"{page} {text}") != "unchanged":
                state.pages.item_error(response(wanted["url"]))
            self.failures[wanted["key"]] += 1

    async def read(self, state: CrawlState, page: str, text: str) -> None:
        """Emit the article of *page*."""
        if wanted := self._pop(page):
            texts, text = self.emitted.setdefault(wanted["key"], []), f"{page} {text}"
            expected = "new" if not texts else "unchanged" if texts[-1] == text else "updated"
            assert await emit(state, wanted, text) == expected
            if expected != "unchanged":
                texts.append(text)

    def _pop(self, page: str) -> Any:
        key = page_key(f"{HOME}{page}")
        self.requested.add(key)
        return self.due.pop(key, None)


numbers = st.sampled_from("01")
texts = st.sampled_from(["then", "now"])
events = st.one_of(
    st.tuples(st.just("list"), numbers),
    st.tuples(st.just("list_changed"), numbers),
    st.tuples(st.just("wait"), st.sampled_from([0.2, 3.0])),
    st.tuples(st.just("fail"), numbers),
    st.tuples(st.just("lose"), numbers, texts),
    st.tuples(st.just("read"), numbers, texts),
    st.just(("end",)),
)


@settings(max_examples=20)
@example(
    [
        ("list", "0"),
        ("read", "0", "then"),
        *[("end",), ("fail", "0")] * 3,
        ("end",),
        ("read", "0", "then"),
    ]
)
@example([("list", "0"), *[("lose", "0", "then"), ("end",)] * 3, ("read", "0", "then")])
@given(st.lists(events, min_size=10, max_size=40))
def test_emits_each_text_once_and_loses_no_page(events: list[tuple[Any, ...]]):
    with TemporaryDirectory() as folder:
        try:
            asyncio.run(CrawlSeries(Path(folder) / "state.sqlite", FakeClock()).run(events))
        finally:
            clock.set_clock()


@in_loop
async def test_known_articles_are_not_sections(crawl: Opening, fake_clock: FakeClock):
    a, section = entry("news/a"), entry("news")
    async with crawl() as state:
        await listed_as_due(state, a)
        await emit(state, a, "Text", at="news/long-story")
    async with crawl() as state:
        links = [a, section, entry("news/long-story")]
        assert await state.pages.without_articles(links) == [section]


@in_loop
async def test_does_not_read_a_section_that_was_an_article(crawl: Opening, fake_clock: FakeClock):
    section = entry("news/a")
    async with crawl() as state:
        site = await restored_frontier(state)
        for listed in (section, entry("news")):
            site.add_section(listed, 1)
        state.sources.record_new(site)
        await listed_as_due(state, section)
        await emit(state, section, "Text")
    async with crawl() as state:
        rows = (await state.load(SITE, limit=10)).sources
        assert {row.key for row in rows if row.role == "section"} == {
            page_key(HOME),
            page_key(f"{HOME}news"),
        }


@in_loop
async def test_fetches_an_article_again_after_a_pipeline_error(
    crawl: Opening, fake_clock: FakeClock
):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        await emit(state, a, "Text")
        state.pages.item_error(response(a["url"]))
    async with crawl() as state:
        again = await due_page(state)
        assert await emit(state, again, "Text") == "new"


@in_loop
async def test_article_of_another_spider_has_no_status(crawl: Opening, fake_clock: FakeClock):
    async with crawl() as state:
        article = Article(url=HOME, body="Text")
        assert await state.pages.judge(article, HOME, body_hash(article.body)) is None


@in_loop
async def test_without_only_new_emits_and_records_everything(crawl: Opening, fake_clock: FakeClock):
    a = entry("a", NOON)
    for _ in range(2):
        async with crawl(NEWSCRAWL_ONLY_NEW=False) as state:
            assert await due_pages(state) == []
            assert await listed_as_due(state, a) == ["a"]
            assert await emit(state, a, "Text") == "new"
    async with crawl() as state:
        assert await listed_as_due(state, a) == []


@in_loop
async def test_state_in_memory_ends_with_the_crawl(fake_clock: FakeClock):
    for _ in range(2):
        async with opened("") as state:
            a = entry("a")
            assert await listed_as_due(state, a) == ["a"]
            assert await emit(state, a, "Text") == "new"
            assert await listed_as_due(state, a) == []


@in_loop
async def test_deletes_pages_that_are_no_longer_listed(
    crawl: Opening, path: Path, fake_clock: FakeClock
):
    a, b = entry("a"), entry("b")
    async with crawl() as state:
        await listed_as_due(state, a, b)
        await emit(state, a, "Text a", canonical=f"{HOME}main/a")
        await emit(state, b, "Text b")
    fake_clock.forward(24 * 100)
    async with crawl() as state:
        assert await listed_as_due(state, b) == []
    fake_clock.forward(24 * 100)
    async with crawl() as state:
        assert await listed_as_due(state, a, b) == ["a"]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM alias").fetchone() == (0,)


def frontier(known: Any = None, **options: Any) -> SiteFrontier:
    return SiteFrontier(Site(HOME, **options), BUDGETS, known or {})


def fetched(site: SiteFrontier) -> list[str]:
    """Close all targets of *site*; return their paths."""
    found = []
    while targets := list(site.next_targets()):
        for ticket, wanted in targets:
            site.close(ticket)
            found.append(wanted.url.removeprefix(HOME))
    return found


async def poll(
    state: CrawlState, site: SiteFrontier, *, new: int = 0, cut: int = 0, **headers: str
) -> list[str]:
    """Record a listing with *new* pages for all targets of *site*; return their paths."""
    found = []
    while targets := list(site.next_targets()):
        for ticket, wanted in targets:
            site.close(ticket)
            at = clock.now().timestamp()
            entries = ClassifiedEntries(
                [entry(f"{wanted.role}/{n}/{at}") for n in range(new)], known=["old"]
            )
            state.record_listing(site, wanted, response(wanted.url, **headers), entries, cut=cut)
            found.append(wanted.url.removeprefix(HOME))
    return found


async def restored_frontier(state: CrawlState, limit: int = 20) -> SiteFrontier:
    """Return the frontier of the site at the start of a crawl."""
    history = await state.load(SITE, limit=limit)
    site = frontier(history.known_sources)
    for row in history.sources:
        site.add_source(row.role, row.url, depth=row.depth, timestamp=row.published)
    return site


@in_loop
async def test_skips_sources_that_are_not_due(crawl: Opening, fake_clock: FakeClock):
    async with crawl() as state:
        site = await restored_frontier(state)
        site.add_feed(f"{HOME}feed")
        assert await poll(state, site, ETag='"1"') == ["robots.txt", "", "feed"]
    async with crawl() as state:
        site = await restored_frontier(state)
        assert await poll(state, site) == []
        assert site.not_due == {"robots": 1, "section": 1, "feed": 1}
        assert state.sources.next_due is not None
    fake_clock.forward(1)
    async with crawl() as state:
        site = await restored_frontier(state)
        targets = [wanted for _, wanted in site.next_targets()]
        assert [wanted.url for wanted in targets] == [HOME, f"{HOME}feed"]
        assert {conditional_headers(wanted.history)["If-None-Match"] for wanted in targets} == {
            '"1"'
        }


@in_loop
async def test_polls_sources_with_news_more_often(path: Path, fake_clock: FakeClock):
    polls: dict[int, int] = {0: 0, 1: 0}
    for new in polls:
        async with opened(path.with_name(f"{new}.sqlite")) as state:
            for _ in range(48):
                polls[new] += "" in await poll(state, await restored_frontier(state), new=new)
                fake_clock.forward(0.5)
    assert polls[1] == 48
    assert polls[0] < 12


@in_loop
async def test_source_failures_back_off(crawl: Opening, fake_clock: FakeClock):
    tries = []
    for hour in range(48):
        async with crawl() as state:
            site = await restored_frontier(state)
            site.add_feed(f"{HOME}feed")
            for ticket, wanted in list(site.next_targets()):
                site.close(ticket)
                if wanted.role == "feed":
                    tries.append(hour)
                state.record_failure(site, wanted, None, "timeout")
        fake_clock.forward(1)
    gaps = [after - before for before, after in pairwise(tries)]
    assert gaps == sorted(gaps)
    assert 4 <= len(tries) <= 8


@in_loop
async def test_reads_a_truncated_listing_again_with_a_higher_limit(
    crawl: Opening, fake_clock: FakeClock
):
    async with crawl() as state:
        site = await restored_frontier(state, limit=20)
        site.add_sitemap(f"{HOME}map.xml")
        await poll(state, site, cut=20, ETag='"1"')
    async with crawl() as state:
        assert fetched(await restored_frontier(state, limit=20)) == []
        site = await restored_frontier(state, limit=40)
        found = {wanted.url: wanted for _, wanted in site.next_targets()}
        assert conditional_headers(found[HOME].history) == {}


def test_sitemap_changed_according_to_its_index_is_due():
    history = {"fetched_at": NOON.timestamp(), "interval": 1e6}
    known = {("sitemap", page_key(f"{HOME}map.xml")): KnownSource(due=False, history=history)}
    before, after = NOON.timestamp() - 1, NOON.timestamp() + 1
    for timestamp, is_due in ((None, False), (before, False), (after, True)):
        site = frontier(known)
        site.add_sitemap(f"{HOME}map.xml", timestamp=timestamp)
        assert ("map.xml" in fetched(site)) is is_due


def test_does_not_read_sections_if_listings_are_long_enough(path: Path, fake_clock: FakeClock):
    for listed, is_read in ((9, True), (10, False)):
        for due in (True, False):
            history = {"fetched_at": NOON.timestamp(), "listed": listed}
            site = frontier({("feed", page_key(f"{HOME}feed")): KnownSource(due, history)})
            site.add_feed(f"{HOME}feed")
            for _, wanted in list(site.next_targets()):
                site.close(next(iter(site.in_flight)))
                if wanted.role == "feed":
                    site.add_known_pages(str(n) for n in range(listed))
            site.add_section({"url": f"{HOME}news/", "key": page_key(f"{HOME}news/")}, 1)
            assert ("news/" in fetched(site)) is is_read


def test_revisits_come_last_and_do_not_count(fake_clock: FakeClock):
    site = frontier()
    fetched(site)
    history = {"hash": "00" * 16}
    for number in range(3):
        site.add_article({**entry(f"old/{number}", NOON), "history": history})
    for number in range(12):
        site.add_article(entry(f"new/{number}"))
    first = []
    while targets := list(site.next_targets()):
        for ticket, wanted in targets:
            site.close(ticket)
            site.accepted += not wanted.is_revisit
            first.append(wanted.url.removeprefix(HOME))
    assert first == [f"new/{n}" for n in range(10)] + [f"old/{n}" for n in range(3)]
    assert site.candidate_count == 2
