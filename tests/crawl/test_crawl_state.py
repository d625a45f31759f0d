"""What a crawl remembers of the crawls before it."""

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
from newscrawl.crawl.frontier.frontier_store import CrawlStore
from newscrawl.crawl.history.conditional_requests import MAX_VALIDATOR, conditions, validators
from newscrawl.crawl.history.crawl_state import CrawlState
from newscrawl.crawl.history.page_history import Sifted
from newscrawl.crawl.history.revisit_policy import body_hash
from newscrawl.items import Article
from newscrawl.spiders.sitelist import SitelistSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from contextlib import AbstractAsyncContextManager

    from newscrawl.crawl.history.revisit_policy import Verdict

    Opening = Callable[..., AbstractAsyncContextManager[CrawlState]]

SITE = "site.example"
HOME = f"http://{SITE}/"
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
BUDGETS = Budgets(articles=10, requests=100, sitemaps=5, feeds=5, sections=5, depth=2, window=2)


class Hands:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = NOON
        clock.set_clock(lambda: self.now)

    def forward(self, hours: float) -> None:
        """Let *hours* go by."""
        self.now += timedelta(hours=hours)


@pytest.fixture
def hands() -> Iterator[Hands]:
    """Return the hands of the clock."""
    yield Hands()
    clock.set_clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the state is."""
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
    """Return what opens the state as the next crawl does."""
    return partial(opened, path)


def entry(path: str, when: datetime | None = None, changed: datetime | None = None) -> Any:
    url = f"{HOME}{path}"
    return {
        "url": url,
        "key": page_key(url),
        "when": when and when.timestamp(),
        "changed": changed and changed.timestamp(),
        "hints": {"title": path},
    }


def target(listed: Any) -> Target:
    return Target("article", listed["url"], when=listed["when"], past=listed.get("past", {}))


def answer(url: str, **headers: str) -> HtmlResponse:
    return HtmlResponse(url, headers=headers, request=Request(url))


async def put_out(
    state: CrawlState,
    listed: Any,
    text: str,
    *,
    at: str = "",
    canonical: str | None = None,
    **headers: str,
) -> Verdict | None:
    """Fetch a page, make an article of it, and return what it is to the output."""
    url = f"{HOME}{at}" if at else listed["url"]
    state.pages.taken(target(listed), answer(url, **headers))
    article = Article(url=url, canonical_url=canonical, body=text)
    return await state.pages.judge(article, url, body_hash(text))


async def due(state: CrawlState, *entries: Any) -> list[str]:
    """List *entries*; return those that are due."""
    sifted = await state.pages.sift(list(entries))
    state.pages.write_listed(SITE, sifted)
    return [found["url"].removeprefix(HOME) for found in sifted.due]


async def left(state: CrawlState, limit: int = 10) -> list[str]:
    """Return what former crawls leave to fetch."""
    memory = await state.recall(SITE, limit=limit)
    return [found["url"].removeprefix(HOME) for found in memory.pages]


async def the_page(state: CrawlState) -> Any:
    """Return the one page that is to be visited."""
    (page,) = (await state.recall(SITE, limit=10)).pages
    return page


def in_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Have pytest run a test that is a coroutine."""

    @wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(test(**fixtures))  # type: ignore[arg-type]

    return run


@in_loop
async def test_a_listed_page_is_due_until_it_is_fetched(crawl: Opening, hands: Hands):
    """What a crawl had no time for is there for the next, newest first, whatever listings say."""
    async with crawl() as state:
        old, new = entry("old", NOON - timedelta(days=2)), entry("new", NOON)
        assert await due(state, old, entry("undated"), new) == ["old", "undated", "new"]
    async with crawl() as state:
        assert await left(state) == ["new", "old", "undated"]
        assert await left(state, limit=1) == ["new"]
        assert await due(state, new) == ["new"]
    async with crawl(NEWSCRAWL_MAX_AGE=1) as state:
        assert await left(state) == ["new", "undated"]


@in_loop
async def test_what_the_listing_said_comes_back(crawl: Opening, hands: Hands):
    """Hints, depth and certainty are those of the first listing."""
    async with crawl() as state:
        sifted = await state.pages.sift([entry("a", NOON)])
        state.pages.write_listed(SITE, sifted, depth=2, certain=True)
    async with crawl() as state:
        found = await the_page(state)
        assert found["hints"] == {"title": "a"}
        assert (found["depth"], found["certain"]) == (2, True)
        assert not target(found).is_revisit


@in_loop
async def test_an_article_is_put_out_once(crawl: Opening, hands: Hands):
    """Then it is known, until its time for another look has come."""
    a = entry("a", NOON)
    async with crawl() as state:
        await due(state, a)
        assert await put_out(state, a, "Text") == "new"
    async with crawl() as state:
        assert await left(state) == []
        assert await due(state, a) == []
        assert (await state.pages.sift([a])).known == [a["key"]]
    hands.forward(1)
    async with crawl() as state:
        again = await the_page(state)
        assert target(again).is_revisit
        assert await put_out(state, again, "Text") == "unchanged"
        assert await left(state) == []
    hands.forward(2)
    async with crawl() as state:
        again = await the_page(state)
        assert await put_out(state, again, "Other text") == "updated"
    hands.forward(22)
    async with crawl() as state:
        assert await left(state) == [], "the window is over, also for a visit that is late"
        assert await due(state, a) == []


@in_loop
async def test_validators_come_back_as_conditions(crawl: Opening, hands: Hands):
    """Those of the last answer, also of one that says 304; a 304 without any keeps the old."""
    a = entry("a", NOON)
    async with crawl() as state:
        await due(state, a)
        await put_out(state, a, "Text", ETag='"1"', **{"Last-Modified": "yesterday"})
    hands.forward(1)
    async with crawl() as state:
        again = await the_page(state)
        assert conditions(again["past"]) == {
            "If-None-Match": '"1"',
            "If-Modified-Since": "yesterday",
        }
        state.pages.unchanged(target(again), answer(again["url"], ETag='"2"'))
    hands.forward(2)
    async with crawl() as state:
        again = await the_page(state)
        assert again["past"]["etag"] == '"2"'
        assert again["past"]["last_modified"] == "yesterday"


@in_loop
async def test_what_gave_no_article_is_asked_for_without_conditions(crawl: Opening, hands: Hands):
    """A page too short to be a story may be one in an hour."""
    a = entry("a", NOON)
    async with crawl() as state:
        await due(state, a)
        state.pages.taken(target(a), answer(a["url"], ETag='"1"'))
    hands.forward(1)
    async with crawl() as state:
        again = await the_page(state)
        assert conditions(again["past"]) == {}
        assert await put_out(state, again, "Text") == "new"


def test_long_validators_are_not_kept():
    """Nor are empty ones."""
    assert validators(answer(HOME, ETag="x" * (MAX_VALIDATOR + 1))) == {}
    assert validators(answer(HOME, ETag="")) == {}
    assert validators(answer(HOME, ETag=' W/"1" ')) == {"etag": 'W/"1"'}


@in_loop
async def test_a_change_that_a_listing_tells_is_looked_at(crawl: Opening, hands: Hands):
    """At once, but only once where it is not true, and never beyond the window."""
    a = entry("a", NOON, NOON)
    async with crawl() as state:
        await due(state, a)
        await put_out(state, a, "Text")
    hands.forward(0.1)
    told = entry("a", NOON, NOON + timedelta(minutes=5))
    async with crawl() as state:
        assert await due(state, a) == [], "it tells nothing new"
        (listed,) = (await state.pages.sift([told])).due
        assert await due(state, told) == ["a"]
        assert await left(state) == ["a"], "whether or not this crawl gets to it"
        assert await put_out(state, listed, "Text") == "unchanged"
        assert await due(state, entry("a", NOON, NOON + timedelta(minutes=6))) == []
    hands.forward(48)
    fresh = entry("b", NOON, NOON)
    async with crawl() as state:
        await due(state, fresh)
        await put_out(state, fresh, "Text b")
        assert await due(state, entry("b", NOON, hands.now)) == []


@in_loop
async def test_a_change_that_is_true_restores_trust(crawl: Opening, hands: Hands):
    """A listing that was right is believed again."""
    a = entry("a", NOON, NOON)
    async with crawl() as state:
        await due(state, a)
        await put_out(state, a, "Text 0")
        for hour in (1, 2, 3):
            hands.forward(0.1)
            told = entry("a", NOON, NOON + timedelta(hours=hour))
            (listed,) = (await state.pages.sift([told])).due
            assert await due(state, told) == ["a"]
            assert await put_out(state, listed, f"Text {hour}") == "updated"


@in_loop
async def test_failures_are_retried_with_back_off_and_given_up(crawl: Opening, hands: Hands):
    """In the next crawl, after 1, 2 and 4 hours, then never; no listing changes that."""
    a = entry("a", NOON)
    async with crawl() as state:
        await due(state, a)
        state.pages.failed(target(a), None, "timeout")
    for hours in (0, 1, 2, 4):
        if hours:
            async with crawl() as state:
                assert await left(state) == []
                assert await due(state, a) == []
        hands.forward(hours)
        async with crawl() as state:
            again = await the_page(state)
            state.pages.failed(target(again), None, "http_503")
    hands.forward(1000)
    async with crawl() as state:
        assert await left(state) == []
        assert await due(state, a) == []


@pytest.mark.parametrize("reason", ["http_404", "http_410"])
@in_loop
async def test_an_article_that_is_gone(crawl: Opening, hands: Hands, reason: str):
    """It is not asked for again, and stays known."""
    a = entry("a", NOON)
    async with crawl() as state:
        await due(state, a)
        await put_out(state, a, "Text")
    hands.forward(1)
    async with crawl() as state:
        again = await the_page(state)
        state.pages.failed(target(again), None, reason)
    hands.forward(5)
    async with crawl() as state:
        assert await left(state) == []
        assert await due(state, a) == []


@in_loop
async def test_a_revisit_that_fails_changes_nothing(crawl: Opening, hands: Hands):
    """The article is out; the next look comes when it would."""
    a = entry("a", NOON)
    async with crawl() as state:
        await due(state, a)
        await put_out(state, a, "Text")
    hands.forward(1)
    async with crawl() as state:
        again = await the_page(state)
        state.pages.failed(target(again), None, "timeout")
        assert await left(state) == []
    hands.forward(2)
    async with crawl() as state:
        again = await the_page(state)
        assert await put_out(state, again, "Text") == "unchanged"


@in_loop
async def test_the_canonical_url_of_a_known_page(crawl: Opening, hands: Hands):
    """An article of another URL that names it is known, in a later crawl too, whatever its text."""
    a, amp = entry("a"), entry("amp/a")
    async with crawl() as state:
        await due(state, a, amp)
        await put_out(state, a, "Text")
        assert await put_out(state, amp, "Text, printed", canonical=a["url"]) == "known"
    async with crawl() as state:
        late = entry("late/a")
        assert await due(state, amp, late) == ["late/a"]
        assert await put_out(state, late, "Text", canonical=f"{a['url']}#top") == "known"
    hands.forward(5)
    async with crawl() as state:
        assert await left(state) == ["a"]


@in_loop
async def test_pages_that_share_a_canonical_url(crawl: Opening, hands: Hands):
    """With the same text they are one article, in either order, at the same time too."""
    main = f"{HOME}a"
    first, second, third = entry("amp/a"), entry("print/a"), entry("mobile/a")
    async with crawl() as state:
        await due(state, first, second)
        verdicts = await asyncio.gather(
            put_out(state, first, "Text", canonical=main),
            put_out(state, second, "Text", canonical=main),
        )
        assert sorted(verdicts) == ["known", "new"]
    async with crawl() as state:
        assert await due(state, third) == ["mobile/a"]
        assert await put_out(state, third, "Text", canonical=main) == "known"
        (listed,) = (await state.pages.sift([entry("a")])).due
        assert await put_out(state, listed, "Text", canonical=main) == "known"


@in_loop
async def test_a_site_that_names_its_front_page_in_all_articles(crawl: Opening, hands: Hands):
    """It loses none of them."""
    async with crawl() as state:
        for number in range(3):
            page = entry(str(number))
            await due(state, page)
            assert await put_out(state, page, f"Text {number}", canonical=HOME) == "new"


@in_loop
async def test_the_canonical_url_of_another_site_says_nothing(crawl: Opening, hands: Hands):
    """Whose article it is, is for near-duplicates to tell."""
    ours = entry("a")
    theirs = {**entry("b"), "url": "http://other.example/b", "key": "other.example/b"}
    async with crawl() as state:
        await due(state, ours, theirs)
        await put_out(state, ours, "Text")
        assert await put_out(state, theirs, "Text", canonical=ours["url"]) == "new"


@in_loop
async def test_where_a_redirect_led(crawl: Opening, hands: Hands):
    """Both URLs are known then, and another that leads there is no article of its own."""
    async with crawl() as state:
        short, other = entry("s/1"), entry("s/2")
        await due(state, short, other)
        await put_out(state, short, "Text", at="2026/story")
        assert await put_out(state, other, "Text", at="2026/story") == "known"
    async with crawl() as state:
        assert await due(state, entry("2026/story"), short) == []


class Newsstand:
    """Two pages in one crawl an hour after the other, and what must be true of them."""

    def __init__(self, path: Path, hands: Hands) -> None:
        self.path, self.hands = path, hands
        #: page -> texts that were put out
        self.out: dict[str, list[str]] = {}
        self.failures: Counter[str] = Counter()
        self.listed: set[str] = set()
        self.waiting: dict[str, Any] = {}
        self.asked: set[str] = set()

    async def run(self, events: list[tuple[Any, ...]]) -> None:
        """Let *events* happen, in as many crawls as they tell."""
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
            self.hands.forward(1)
        self.hands.forward(10)
        async with opened(self.path) as state:
            await self._begin(state)
        given_up = {page for page, times in self.failures.items() if times >= 5}
        assert self.listed - self.out.keys() - given_up <= self.waiting.keys(), "nothing is lost"

    async def _begin(self, state: CrawlState) -> None:
        memory = await state.recall(SITE, limit=10)
        self.waiting, self.asked = {page["key"]: page for page in memory.pages}, set()

    async def list(self, state: CrawlState, page: str, *, told: bool = False) -> None:
        """List *page*; *told*: as just changed."""
        sifted = await state.pages.sift([entry(page, NOON, self.hands.now if told else None)])
        state.pages.write_listed(SITE, sifted)
        for found in sifted.due:
            self.listed.add(found["key"])
            if found["key"] not in self.asked:
                self.waiting.setdefault(found["key"], found)

    async def told(self, state: CrawlState, page: str) -> None:
        """List *page* as just changed."""
        await self.list(state, page, told=True)

    async def wait(self, _: CrawlState, hours: float) -> None:
        """Let time go by."""
        self.hands.forward(hours)

    async def fail(self, state: CrawlState, page: str) -> None:
        """Ask for *page* in vain."""
        if wanted := self._pop(page):
            state.pages.failed(target(wanted), None, "timeout")
            self.failures[wanted["key"]] += 1

    async def lose(self, state: CrawlState, page: str, text: str) -> None:
        """Have a pipeline fail on the article of *page*."""
        if wanted := self._pop(page):
            if await put_out(state, wanted, f"{page} {text}") != "unchanged":
                state.pages.item_error(answer(wanted["url"]))
            self.failures[wanted["key"]] += 1

    async def read(self, state: CrawlState, page: str, text: str) -> None:
        """Put the article of *page* out."""
        if wanted := self._pop(page):
            texts, text = self.out.setdefault(wanted["key"], []), f"{page} {text}"
            expected = "new" if not texts else "unchanged" if texts[-1] == text else "updated"
            assert await put_out(state, wanted, text) == expected
            if expected != "unchanged":
                texts.append(text)

    def _pop(self, page: str) -> Any:
        key = page_key(f"{HOME}{page}")
        self.asked.add(key)
        return self.waiting.pop(key, None)


numbers = st.sampled_from("01")
texts = st.sampled_from(["then", "now"])
events = st.one_of(
    st.tuples(st.just("list"), numbers),
    st.tuples(st.just("told"), numbers),
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
def test_whatever_happens(events: list[tuple[Any, ...]]):
    """A text is put out once, as new or as an update, and no listed page is lost."""
    with TemporaryDirectory() as folder:
        try:
            asyncio.run(Newsstand(Path(folder) / "state.sqlite", Hands()).run(events))
        finally:
            clock.set_clock()


@in_loop
async def test_an_article_is_no_section(crawl: Opening, hands: Hands):
    """However a page links to it."""
    a, section = entry("news/a"), entry("news")
    async with crawl() as state:
        await due(state, a)
        await put_out(state, a, "Text", at="news/long-story")
    async with crawl() as state:
        links = [a, section, entry("news/long-story")]
        assert await state.pages.not_articles(links) == [section]


@in_loop
async def test_a_section_that_was_an_article_is_read_no_more(crawl: Opening, hands: Hands):
    """The next crawl knows it, and looks at it as at other articles."""
    section = entry("news/a")
    async with crawl() as state:
        site = await remembered(state)
        for listed in (section, entry("news")):
            site.add_section(listed, 1)
        state.sources.write_found(site)
        await due(state, section)
        await put_out(state, section, "Text")
    async with crawl() as state:
        rows = (await state.recall(SITE, limit=10)).sources.rows
        assert {row.key for row in rows if row.role == "section"} == {
            page_key(HOME),
            page_key(f"{HOME}news"),
        }


@in_loop
async def test_an_article_that_a_pipeline_lost(crawl: Opening, hands: Hands):
    """It was not put out: the next crawl fetches it again, and it is new."""
    a = entry("a", NOON)
    async with crawl() as state:
        await due(state, a)
        await put_out(state, a, "Text")
        state.pages.item_error(answer(a["url"]))
    async with crawl() as state:
        again = await the_page(state)
        assert await put_out(state, again, "Text") == "new"


@in_loop
async def test_a_page_that_no_site_list_asked_for(crawl: Opening, hands: Hands):
    """Other spiders' articles pass."""
    async with crawl() as state:
        article = Article(url=HOME, body="Text")
        assert await state.pages.judge(article, HOME, body_hash(article.body)) is None


@in_loop
async def test_all_again(crawl: Opening, hands: Hands):
    """With NEWSCRAWL_ONLY_NEW off everything is new each time, and yet remembered."""
    a = entry("a", NOON)
    for _ in range(2):
        async with crawl(NEWSCRAWL_ONLY_NEW=False) as state:
            assert await left(state) == []
            assert await due(state, a) == ["a"]
            assert await put_out(state, a, "Text") == "new"
    async with crawl() as state:
        assert await due(state, a) == []


@in_loop
async def test_in_memory(hands: Hands):
    """Without a file a crawl is the first, and knows its own articles."""
    for _ in range(2):
        async with opened("") as state:
            a = entry("a")
            assert await due(state, a) == ["a"]
            assert await put_out(state, a, "Text") == "new"
            assert await due(state, a) == []


@in_loop
async def test_what_is_listed_no_more_is_forgotten(crawl: Opening, path: Path, hands: Hands):
    """After NEWSCRAWL_STATE_DAYS, and not while listings name it."""
    a, b = entry("a"), entry("b")
    async with crawl() as state:
        await due(state, a, b)
        await put_out(state, a, "Text a", canonical=f"{HOME}main/a")
        await put_out(state, b, "Text b")
    hands.forward(24 * 100)
    async with crawl() as state:
        assert await due(state, b) == []
    hands.forward(24 * 100)
    async with crawl() as state:
        assert await due(state, a, b) == ["a"]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM alias").fetchone() == (0,)


def frontier(known: Any = None, **options: Any) -> SiteFrontier:
    return SiteFrontier(Site(HOME, **options), BUDGETS, known or {})


def asked(site: SiteFrontier) -> list[str]:
    """Return what *site* asks for, all of it answered with nothing."""
    found = []
    while targets := list(site.next_targets()):
        for ticket, wanted in targets:
            site.close(ticket)
            found.append(wanted.url.removeprefix(HOME))
    return found


async def poll(
    state: CrawlState, site: SiteFrontier, *, new: int = 0, cut: int = 0, **headers: str
) -> list[str]:
    """Answer what *site* asks for, each listing with *new* pages; return what it asked for."""
    found = []
    while targets := list(site.next_targets()):
        for ticket, wanted in targets:
            site.close(ticket)
            at = clock.now().timestamp()
            sifted = Sifted([entry(f"{wanted.role}/{n}/{at}") for n in range(new)], known=["old"])
            state.listed(site, wanted, answer(wanted.url, **headers), sifted, cut=cut)
            found.append(wanted.url.removeprefix(HOME))
    return found


async def remembered(state: CrawlState, limit: int = 20) -> SiteFrontier:
    """Return the frontier of the site as a crawl begins with it."""
    memory = await state.recall(SITE, limit=limit)
    site = frontier(memory.sources.known)
    for row in memory.sources.rows:
        site.add_source(row.role, row.url, depth=row.depth, when=row.published)
    return site


@in_loop
async def test_sources_rest_until_they_are_due(crawl: Opening, hands: Hands):
    """Those that the site list gives and those found, with their validators."""
    async with crawl() as state:
        site = await remembered(state)
        site.add_feed(f"{HOME}feed")
        assert await poll(state, site, ETag='"1"') == ["robots.txt", "", "feed"]
    async with crawl() as state:
        site = await remembered(state)
        assert await poll(state, site) == []
        assert site.resting == {"robots": 1, "section": 1, "feed": 1}
        assert state.sources.next_due is not None
    hands.forward(1)
    async with crawl() as state:
        site = await remembered(state)
        targets = [wanted for _, wanted in site.next_targets()]
        assert [wanted.url for wanted in targets] == [HOME, f"{HOME}feed"]
        assert {conditions(wanted.past)["If-None-Match"] for wanted in targets} == {'"1"'}


@in_loop
async def test_sources_that_bring_news_are_asked_sooner(path: Path, hands: Hands):
    """And those that do not later."""
    polls: dict[int, int] = {0: 0, 1: 0}
    for new in polls:
        async with opened(path.with_name(f"{new}.sqlite")) as state:
            for _ in range(48):
                polls[new] += "" in await poll(state, await remembered(state), new=new)
                hands.forward(0.5)
    assert polls[1] == 48
    assert polls[0] < 12


@in_loop
async def test_a_source_that_fails_is_left_alone(crawl: Opening, hands: Hands):
    """Longer each time; found and failed in the same crawl it is remembered, too."""
    tries = []
    for hour in range(48):
        async with crawl() as state:
            site = await remembered(state)
            site.add_feed(f"{HOME}feed")
            for ticket, wanted in list(site.next_targets()):
                site.close(ticket)
                if wanted.role == "feed":
                    tries.append(hour)
                state.failed(site, wanted, None, "timeout")
        hands.forward(1)
    gaps = [after - before for before, after in pairwise(tries)]
    assert gaps == sorted(gaps)
    assert 4 <= len(tries) <= 8


@in_loop
async def test_a_listing_that_was_cut_short_is_read_again_for_more(crawl: Opening, hands: Hands):
    """By a crawl that takes more, at once and without conditions."""
    async with crawl() as state:
        site = await remembered(state, limit=20)
        site.add_sitemap(f"{HOME}map.xml")
        await poll(state, site, cut=20, ETag='"1"')
    async with crawl() as state:
        assert asked(await remembered(state, limit=20)) == []
        site = await remembered(state, limit=40)
        found = {wanted.url: wanted for _, wanted in site.next_targets()}
        assert conditions(found[HOME].past) == {}


def test_a_sitemap_that_its_index_calls_new_is_due():
    """Whatever its own interval says."""
    past = {"fetched_at": NOON.timestamp(), "interval": 1e6}
    known = {("sitemap", page_key(f"{HOME}map.xml")): KnownSource(due=False, past=past)}
    before, after = NOON.timestamp() - 1, NOON.timestamp() + 1
    for when, is_due in ((None, False), (before, False), (after, True)):
        site = frontier(known)
        site.add_sitemap(f"{HOME}map.xml", when=when)
        assert ("map.xml" in asked(site)) is is_due


def test_sections_are_not_read_for_want_of_news(path: Path, hands: Hands):
    """Where the listings name as many articles as the limit asks for, known ones included."""
    for listed, is_read in ((9, True), (10, False)):
        for due in (True, False):
            past = {"fetched_at": NOON.timestamp(), "listed": listed}
            site = frontier({("feed", page_key(f"{HOME}feed")): KnownSource(due, past)})
            site.add_feed(f"{HOME}feed")
            for _, wanted in list(site.next_targets()):
                site.close(next(iter(site.open)))
                if wanted.role == "feed":
                    site.add_known(str(n) for n in range(listed))
            site.add_section({"url": f"{HOME}news/", "key": page_key(f"{HOME}news/")}, 1)
            assert ("news/" in asked(site)) is is_read


def test_revisits_come_last_and_do_not_count(hands: Hands):
    """The site's limit is for news."""
    site = frontier()
    asked(site)
    past = {"hash": "00" * 16}
    for number in range(3):
        site.add_article({**entry(f"old/{number}", NOON), "past": past})
    for number in range(12):
        site.add_article(entry(f"new/{number}"))
    first = []
    while targets := list(site.next_targets()):
        for ticket, wanted in targets:
            site.close(ticket)
            site.taken += not wanted.is_revisit
            first.append(wanted.url.removeprefix(HOME))
    assert first == [f"new/{n}" for n in range(10)] + [f"old/{n}" for n in range(3)]
    assert site.waiting == 2
