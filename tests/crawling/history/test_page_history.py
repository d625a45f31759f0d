"""Page history: due pages, article status, revisits."""

import asyncio
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from newscrawl.crawling.history import page_history, schema
from newscrawl.crawling.history.conditional_requests import (
    MAX_VALIDATOR_LENGTH,
    conditional_headers,
    validators,
)
from newscrawl.crawling.history.crawl_state import CrawlState
from tests.helpers.crawl_history import (
    HOME,
    NOON,
    SITE,
    FakeClock,
    Opening,
    due_page,
    due_pages,
    emit,
    entry,
    listed_as_due,
    opened,
    response,
    target,
)

pytestmark = pytest.mark.usefixtures("fake_clock")


async def test_listed_page_is_due_until_it_is_fetched(crawl: Opening):
    async with crawl() as state:
        old, new = entry("old", NOON - timedelta(days=2)), entry("new", NOON)
        assert await listed_as_due(state, old, entry("undated"), new) == ["old", "undated", "new"]
    async with crawl() as state:
        assert await due_pages(state) == ["new", "old", "undated"]
        assert await due_pages(state, limit=1) == ["new"]
        assert await listed_as_due(state, new) == ["new"]
        state._max_age = 24 * 3600.0
        assert await due_pages(state) == ["new", "undated"]


async def test_another_query_knows_which_pages_are_gone_or_of_another_day(crawl: Opening):
    listed = [entry(path) for path in ("gone", "missing", "yesterday", "today")]
    async with crawl() as state:
        assert len(await listed_as_due(state, *listed)) == 4
        for page, reason in zip(listed, ("http_410", "http_404"), strict=False):
            state.pages.record_failure(target(page), None, reason)
        for page, day in zip(listed[2:], (NOON - timedelta(days=1), NOON), strict=True):
            state.pages.record_fetch(target(page), response(page.url))
            state.pages.record_date(page.url, day)
    topic = {"NEWSCRAWL_KEYWORDS": ["bridge"]}
    day = {"NEWSCRAWL_SINCE": "2026-11-22"}
    for query, due in (
        (topic, ["missing", "yesterday", "today"]),  # the first retry is in the next crawl
        (day, ["missing", "today"]),
        (
            day | {"NEWSCRAWL_ALL_DUE": True, "NEWSCRAWL_LIMIT": 8},
            [page.hints["title"] for page in listed],
        ),
    ):
        async with crawl(**query) as state:
            assert await listed_as_due(state, *listed) == due
            assert await listed_as_due(state, *listed) == due


async def test_keeps_hints_depth_and_certainty_of_the_first_listing(crawl: Opening):
    async with crawl() as state:
        entries = await state.pages.classify([entry("a", NOON)])
        state.pages.record_entries(SITE, entries, depth=2, certain=True)
    async with crawl() as state:
        found = await due_page(state)
        assert found.hints == {"title": "a"}
        assert (found.depth, found.certain) == (2, True)
        assert not target(found).is_revisit


async def test_emits_an_article_once_and_revisits_it(crawl: Opening, fake_clock: FakeClock):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        assert await emit(state, a, "Text") == "new"
    async with crawl() as state:
        assert await due_pages(state) == []
        assert await listed_as_due(state, a) == []
        assert (await state.pages.classify([a])).known == [a.key]
    fake_clock.forward(7)
    async with crawl() as state:
        again = await due_page(state)
        assert target(again).is_revisit
        assert await emit(state, again, "Text") == "unchanged"
        assert await due_pages(state) == []
    fake_clock.forward(17)
    async with crawl() as state:
        again = await due_page(state)
        assert await emit(state, again, "Other text") == "updated"
    fake_clock.forward(8)
    async with crawl() as state:
        assert await due_pages(state) == [], "the update window has passed, also for a late visit"
        assert await listed_as_due(state, a) == []


async def test_sends_the_latest_validators(crawl: Opening, fake_clock: FakeClock):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        await emit(state, a, "Text", ETag='"1"', **{"Last-Modified": "yesterday"})
    fake_clock.forward(7)
    async with crawl() as state:
        again = await due_page(state)
        assert conditional_headers(again.history) == {
            "If-None-Match": '"1"',
            "If-Modified-Since": "yesterday",
        }
        state.pages.record_unchanged(target(again), response(again.url, ETag='"2"'))
    fake_clock.forward(17)
    async with crawl() as state:
        again = await due_page(state)
        assert again.history["etag"] == '"2"'
        assert again.history["last_modified"] == "yesterday"


async def test_sends_no_validators_of_a_page_without_article(crawl: Opening, fake_clock: FakeClock):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        state.pages.record_fetch(target(a), response(a.url, ETag='"1"'))
    fake_clock.forward(7)
    async with crawl() as state:
        again = await due_page(state)
        assert conditional_headers(again.history) == {}
        assert await emit(state, again, "Text") == "new"


def test_ignores_long_and_empty_validators():
    assert validators(response(HOME, ETag="x" * (MAX_VALIDATOR_LENGTH + 1))) == (None, None)
    assert validators(response(HOME, ETag="")) == (None, None)
    assert validators(response(HOME, ETag=' W/"1" ')) == ('W/"1"', None)


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


async def test_failed_revisit_does_not_change_the_schedule(crawl: Opening, fake_clock: FakeClock):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        await emit(state, a, "Text")
    fake_clock.forward(7)
    async with crawl() as state:
        again = await due_page(state)
        state.pages.record_failure(target(again), None, "timeout")
        assert await due_pages(state) == []
    fake_clock.forward(17)
    async with crawl() as state:
        again = await due_page(state)
        assert await emit(state, again, "Text") == "unchanged"


async def test_article_with_a_known_canonical_url_is_known(crawl: Opening, fake_clock: FakeClock):
    a, amp = entry("a"), entry("light/a")
    async with crawl() as state:
        await listed_as_due(state, a, amp)
        await emit(state, a, "Text")
        assert await emit(state, amp, "Text, printed", canonical=a.url) == "known"
    async with crawl() as state:
        late = entry("late/a")
        assert await listed_as_due(state, amp, late) == ["late/a"]
        assert await emit(state, late, "Text", canonical=f"{a.url}#top") == "known"
    fake_clock.forward(7)
    async with crawl() as state:
        assert await due_pages(state) == ["a"]


async def test_same_text_and_canonical_url_is_one_article(crawl: Opening):
    main = f"{HOME}a"
    first, second, third = entry("light/a"), entry("print/a"), entry("mobile/a")
    async with crawl() as state:
        await listed_as_due(state, first, second)
        verdicts = await asyncio.gather(
            emit(state, first, "Text", canonical=main), emit(state, second, "Text", canonical=main)
        )
        assert sorted(verdicts) == ["known", "new"]
    async with crawl() as state:
        assert await listed_as_due(state, third) == ["mobile/a"]
        assert await emit(state, third, "Text", canonical=main) == "known"
        (listed,) = (await state.pages.classify([entry("a")])).due
        assert await emit(state, listed, "Text", canonical=main) == "known"


async def test_keeps_articles_with_the_home_page_as_canonical_url(crawl: Opening):
    async with crawl() as state:
        for number in range(3):
            page = entry(str(number))
            await listed_as_due(state, page)
            assert await emit(state, page, f"Text {number}", canonical=HOME) == "new"


async def test_ignores_canonical_urls_of_other_stories(crawl: Opening):
    titles = (
        "Night trains will run again from May",
        "Night trains to run again from May, minister says",
        "Late frost destroys half of the harvest",
    )
    pages = [replace(entry(str(n)), hints={"link_text": t}) for n, t in enumerate(titles)]
    async with crawl() as state:
        await listed_as_due(state, *pages)
        statuses = [
            await emit(state, page, f"Text {title}", canonical=pages[0].url, title=title)
            for page, title in zip(pages, titles, strict=True)
        ]
        assert statuses == ["new", "known", "new"]


async def test_ignores_canonical_urls_of_other_sites(crawl: Opening):
    ours = entry("a")
    theirs = replace(entry("b"), url="http://other.example/b", key="other.example/b")
    async with crawl() as state:
        await listed_as_due(state, ours, theirs)
        await emit(state, ours, "Text")
        assert await emit(state, theirs, "Text, printed", canonical=ours.url) == "new"


async def test_same_text_of_another_crawl_is_known(crawl: Opening):
    """Under another URL, and under one of the domain that the site has moved to."""
    text = "A sentence of a story that moves. " * 30
    moved = replace(entry("a"), url="http://new.example/a", key="new.example/a")
    async with crawl() as state:
        await listed_as_due(state, entry("a"))
        await emit(state, entry("a"), text)
    async with crawl() as state:
        await listed_as_due(state, entry("b"), moved)
        assert await emit(state, entry("b"), text) == "known"
        assert await emit(state, moved, text) == "known"
    async with crawl(NEWSCRAWL_ONLY_NEW=False) as state:
        assert await emit(state, entry("b"), text) == "new"


@pytest.mark.parametrize("notice", ["Subscribe now.", "A sentence. " * 40])
async def test_update_that_loses_most_of_its_text_is_held(
    crawl: Opening, fake_clock: FakeClock, notice: str
):
    """The next visit compares with the emitted text, which may come back or change."""
    text, verdicts = "A sentence of the story. " * 40, []
    async with crawl() as state:
        await listed_as_due(state, entry("a", NOON))
        await emit(state, entry("a", NOON), text, ETag="1")
    for found in (notice, text, notice, text[: len(text) * 2 // 3]):
        fake_clock.forward(8)
        async with crawl(NEWSCRAWL_UPDATE_WINDOW=100, NEWSCRAWL_ALL_DUE=True) as state:
            again = await due_page(state)
            verdicts.append(await emit(state, again, found, ETag="2"))
    assert verdicts == ["shrunk", "unchanged", "shrunk", "updated"]


async def test_update_with_the_text_of_another_page_is_held(crawl: Opening, fake_clock: FakeClock):
    """A page in place of deleted stories is no update, of a short story neither."""
    gone, pages = "This page does not exist any more.", [entry(name, NOON) for name in "abc"]
    async with crawl() as state:
        await listed_as_due(state, *pages)
        for number, page in enumerate(pages):
            await emit(state, page, f"Short text {number}")
    fake_clock.forward(7)
    async with crawl() as state:
        due = (await state.load(SITE, limit=10)).pages
        assert [await emit(state, page, gone) for page in due[:2]] == ["updated", "soft_404"]
    fake_clock.forward(1)
    async with crawl() as state:
        late = next(p for p in (await state.load(SITE, limit=10)).pages if p.url[-1] == "c")
        assert await emit(state, late, gone) == "known"
        assert state.pages.is_revisit(late.url)


async def test_article_behind_a_redirect_is_known_by_both_urls(crawl: Opening):
    async with crawl() as state:
        short, other = entry("s/1"), entry("s/2")
        await listed_as_due(state, short, other)
        await emit(state, short, "Text", at="2026/story")
        assert await emit(state, other, "Text", at="2026/story") == "known"
    async with crawl() as state:
        assert await listed_as_due(state, entry("2026/story"), short) == []


async def test_known_articles_are_not_sections(crawl: Opening):
    a, section = entry("news/a"), entry("news")
    async with crawl() as state:
        await listed_as_due(state, a)
        await emit(state, a, "Text", at="news/long-story")
    async with crawl() as state:
        keys = [link.key for link in (a, section, entry("news/long-story"))]
        assert await state.pages.emitted(keys) == {keys[0], keys[2]}


async def test_fetches_an_article_again_after_a_pipeline_error(crawl: Opening):
    a = entry("a", NOON)
    async with crawl() as state:
        await listed_as_due(state, a)
        await emit(state, a, "Text")
        state.pages.item_error(response(a.url))
    async with crawl() as state:
        again = await due_page(state)
        assert await emit(state, again, "Text") == "new"


async def test_without_only_new_emits_and_records_everything(crawl: Opening):
    a = entry("a", NOON)
    for _ in range(2):
        async with crawl(NEWSCRAWL_ONLY_NEW=False) as state:
            assert await due_pages(state) == []
            assert await listed_as_due(state, a) == ["a"]
            assert await emit(state, a, "Text") == "new"
    async with crawl() as state:
        assert await listed_as_due(state, a) == []


async def test_state_in_memory_ends_with_the_crawl():
    for _ in range(2):
        async with opened("") as state:
            a = entry("a")
            assert await listed_as_due(state, a) == ["a"]
            assert await emit(state, a, "Text") == "new"
            assert await listed_as_due(state, a) == []


async def test_deletes_pages_that_are_no_longer_listed(
    crawl: Opening, state_file: Path, fake_clock: FakeClock
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
    with sqlite3.connect(state_file) as connection:
        assert connection.execute("SELECT count(*) FROM alias").fetchone() == (0,)


async def test_memory_of_a_site_is_bounded(
    crawl: Opening,
    fake_clock: FakeClock,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    """Fresh URLs of each crawl replace the oldest ones; other sites keep theirs."""
    monkeypatch.setitem(schema.MAX_SITE_ROWS, "page", 24)
    async with crawl() as state:
        state.pages.record_entries("other.example", await state.pages.classify([entry("other")]))
    for day in range(10):
        async with crawl() as state:
            fresh = [entry(f"{day}-{number}") for number in range(10)]
            state.pages.record_entries(SITE, await state.pages.classify(fresh))
            stored = [row[0] for row in await state._store.read("SELECT key FROM page")]
        fake_clock.forward(24)
    days = {key.split("/")[1].split("-")[0] for key in stored}
    assert "other" in days
    assert {"8", "9"} <= days
    assert "0" not in days
    assert len(stored) <= 35
    assert "More pages than can be remembered" in caplog.text


async def test_reads_the_headlines_of_each_address_of_a_story_once(
    crawl: Opening, monkeypatch: pytest.MonkeyPatch
):
    """Not for each pair of a listed address and a page with the same path."""
    title = {"title": "A headline of more than five words"}
    path = "2026/05/04/a-story-about-the-old-bridge.html?id="
    async with crawl() as state:
        first = [replace(entry(f"{path}{number}"), hints=title) for number in range(20)]
        await listed_as_due(state, *first)
        for number, page in enumerate(first):
            await emit(state, page, f"Text {number}")
        later = [replace(entry(f"{path}{number}"), hints=title) for number in range(100, 120)]
        read, headlines = [], page_history._headlines
        monkeypatch.setattr(
            page_history, "_headlines", lambda hints: read.append(hints) or headlines(hints)
        )
        found = await state.pages._find_by_path(later, SITE)
        assert found.keys() == {page.key for page in later}
        assert len(read) == len(first) + len(later)


async def publish(
    state: CrawlState, fake_clock: FakeClock, number: int, *, changes_at: float, announced: bool
) -> int:
    """Emit an article that changes at an age in hours; return the number of its later visits."""
    published, age, visits, text = fake_clock.now, 0, 0, "Text"
    page = entry(str(number), published)
    await listed_as_due(state, page)
    await emit(state, page, f"{text} {number}")
    while age < 30:
        fake_clock.forward(1)
        age += 1
        if age == changes_at:
            text = "Other text"
        changed = (
            published + timedelta(hours=changes_at) if announced and age >= changes_at else None
        )
        listed = (await state.pages.classify([entry(str(number), published, changed)], SITE)).due
        for found in listed:
            visits += 1
            await emit(state, found, f"{text} {number}")
    return visits


@pytest.mark.parametrize(
    ("changes_at", "announced", "expected"),
    [(100, False, 0.5), (2, False, 3), (2, True, 1.5)],
    ids=["never", "early", "announced"],
)
async def test_visits_follow_the_changes_of_the_site(
    crawl: Opening, fake_clock: FakeClock, changes_at: float, announced: bool, expected: float
):
    async with crawl() as state:
        visits = [
            await publish(state, fake_clock, n, changes_at=changes_at, announced=announced)
            for n in range(120)
        ]
    assert visits[0] >= 2
    assert sum(visits[-40:]) / 40 <= expected
    assert sum(visits[-40:]) / 40 >= min(changes_at < 24, expected)


async def test_knows_an_article_by_path_and_headline(crawl: Opening):
    """A home page states the place of each link: ``?src=home-3``."""

    def link(query: str, text: str, path: str = "news/council-decides-about-the-old-bridge") -> Any:
        return replace(entry(f"{path}?{query}", NOON), hints={"link_text": text})

    headline = "Council decides about the old bridge"
    async with crawl() as state:
        await listed_as_due(state, link("src=home-1", headline), link("id=1", headline, "a.php"))
        assert await emit(state, link("src=home-1", headline), "Text " * 200) == "new"
        assert await emit(state, link("id=1", headline, "a.php"), "Other text " * 200) == "new"
    async with crawl() as state:
        moved = link("src=home-2", headline)
        assert await listed_as_due(state, moved) == []
        assert (await state.pages.classify([moved])).known == [moved.key]
        other = link("src=home-2", "Council decides nothing about the old bridge")
        assert (await state.pages.classify([other])).new == [other]
        other = link("id=2", headline, "a.php")
        assert (await state.pages.classify([other])).new == [other]
