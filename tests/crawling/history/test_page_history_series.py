"""Page history: invariants over random series of crawls."""

import asyncio
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from newscrawl import clock
from newscrawl.crawling.history.crawl_state import CrawlState
from newscrawl.crawling.urls import page_key
from tests.helpers.crawl_history import (
    HOME,
    NOON,
    SITE,
    FakeClock,
    emit,
    entry,
    opened,
    response,
    target,
)


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
        self.due, self.requested = {page.key: page for page in history.pages}, set()

    async def list(self, state: CrawlState, page: str, *, changed: bool = False) -> None:
        """List *page*, as just *changed* or not."""
        entries = await state.pages.classify(
            [entry(page, NOON, self.fake_clock.now if changed else None)]
        )
        state.pages.record_entries(SITE, entries)
        for found in entries.due:
            self.listed.add(found.key)
            if found.key not in self.requested:
                self.due.setdefault(found.key, found)

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
            self.failures[wanted.key] += 1

    async def lose(self, state: CrawlState, page: str, text: str) -> None:
        """Let a pipeline fail with the article of *page*."""
        if wanted := self._pop(page):
            if await emit(state, wanted, f"{page} {text}") != "unchanged":
                state.pages.item_error(response(wanted.url))
            self.failures[wanted.key] += 1

    async def read(self, state: CrawlState, page: str, text: str) -> None:
        """Emit the article of *page*."""
        if wanted := self._pop(page):
            texts, text = self.emitted.setdefault(wanted.key, []), f"{page} {text}"
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
