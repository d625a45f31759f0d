"""Frontier: request serialization, request queue, leases, item keys and outcomes."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.core.scheduler import Scheduler
from scrapy.http import JsonRequest
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

from newscrawl.crawling.frontier import LeaseMiddleware, LeaseScheduler
from newscrawl.crawling.frontier.leases import Lease, LeaseBook, item_key, outbox_row
from newscrawl.crawling.frontier.request_queue import (
    PendingRequests,
    QueueEntry,
    SerializationError,
    dump_request,
    load_request,
)
from newscrawl.items import Article
from tests.end_to_end.test_frontier_crawl import TreeCrawl
from tests.servers.tree_site import TreeSite


class Callbacks(Spider):
    name = "callbacks"

    def callback(self, response: Any) -> None: ...

    def errback(self, failure: Any) -> None: ...


SPIDER = Callbacks()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(
    options=st.fixed_dictionaries(
        {},
        optional={
            "meta": st.dictionaries(st.text(), JSON),
            "cb_kwargs": st.dictionaries(st.text(), JSON),
            "priority": st.integers(-(10**9), 10**9),
            "dont_filter": st.booleans(),
            "method": st.sampled_from(["GET", "POST", "HEAD"]),
            "body": st.binary(),
            "headers": st.dictionaries(
                st.sampled_from(["A", "B"]), st.text(st.characters(codec="utf-8"), min_size=1)
            ),
            "flags": st.lists(st.text()),
            "cookies": st.dictionaries(st.text(), st.text()),
            "callback": st.just(SPIDER.callback),
            "errback": st.just(SPIDER.errback),
        },
    )
)
def test_serialization_round_trip(options: dict[str, Any]):
    request = Request("https://a.example/ü?q=1", **options)
    loaded = load_request(dump_request(request, SPIDER), SPIDER)
    assert loaded.to_dict(spider=SPIDER) == request.to_dict(spider=SPIDER)


@pytest.mark.parametrize(
    "request_",
    [
        FormRequest("https://a.example/", formdata={"a": "ü", "b": "1"}),
        JsonRequest("https://a.example/", data={"a": [1, 2]}),
    ],
)
def test_serialization_keeps_request_subclasses(request_: Request):
    loaded = load_request(dump_request(request_, SPIDER), SPIDER)
    assert type(loaded) is type(request_)
    assert (loaded.method, loaded.body, loaded.headers) == (
        request_.method,
        request_.body,
        request_.headers,
    )


@pytest.mark.parametrize(
    "request_",
    [
        Request("https://a.example/", lambda response: None),
        Request("https://a.example/", Callbacks().callback),
        Request("https://a.example/", meta={"a": {1, 2}}),
        Request("https://a.example/", cb_kwargs={"a": object()}),
    ],
)
def test_rejects_unserializable_requests(request_: Request):
    with pytest.raises(SerializationError):
        dump_request(request_, SPIDER)


def test_load_names_a_missing_callback():
    text = dump_request(Request("https://a.example/", SPIDER.callback), SPIDER)
    with pytest.raises(SerializationError, match="has no method 'callback'"):
        load_request(text, Spider("other"))


def test_load_imports_no_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A state file must not choose code to run, not even a module on the path."""
    (tmp_path / "planted.py").write_text("raise SystemExit", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    names = ("subprocess.Popen", "planted.Request", "planted", "newscrawl.cli.main.Request", "")
    for name in names:
        with pytest.raises(SerializationError, match=name or None):
            load_request(json.dumps({"url": "https://a.example/", "class": name}), SPIDER)
    assert "planted" not in sys.modules


async def test_writes_a_request_when_a_parent_ends():
    crawler = get_crawler(settings_dict={"NEWSCRAWL_STATE": ""})
    book = LeaseBook.for_crawler(crawler)
    released: list[str] = []
    book.release_slot = released.append
    await book.finished_requests()  # opens the file
    first, second, early = (Lease(n, n, f"http://a.example/{n}", "a") for n in (1, 2, 3))
    for lease in (first, second):
        book.add_request((lease.id, lease.key, "a", 0, "{}", 0), None)
        book.add(lease)
    book.add_request((early.id, early.key, "a", 0, "{}", 0), first)
    book.add_request((4, 4, "a", 0, "{}", 0), first)
    book.add(early)
    for lease in (first, second):
        book.add_duplicate(4, lease)

    async def rows_after(done: Lease | None) -> dict[int, bool]:
        if done:
            book.fail(done, "gone")
            book.end_finished()
        found = await book.store.read("SELECT key, request IS NOT NULL FROM request")
        return {key: bool(pending) for key, pending in found}

    assert await rows_after(None) == {1: True, 2: True}
    assert await rows_after(early) == {1: True, 2: True, 3: False}
    assert await rows_after(second) == {1: True, 2: False, 3: False, 4: True}
    assert await rows_after(first) == {1: False, 2: False, 3: False, 4: True}
    assert released == ["a"] * 3
    await book.store.close()


def pop_all(pending: PendingRequests) -> list[int]:
    """Return the IDs of the next requests, which stay in flight."""
    return [popped[1].id for popped in iter(pending.pop, None)]


def test_orders_by_slot_load_then_priority():
    pending = PendingRequests()
    for number, (name, rank) in enumerate([("a", 0), ("a", -5), ("b", 0), ("b", 0)], 1):
        pending.push(name, QueueEntry(rank, number, number))
    assert len(pending) == 4
    assert pop_all(pending) == [2, 3, 1, 4]
    assert len(pending) == 0


def test_the_slot_with_the_fewest_requests_in_flight_is_next():
    pending = PendingRequests()
    for number, name in enumerate("aaabbb", 1):
        pending.push(name, QueueEntry(0, number, number))
    assert [popped[1].id for _ in range(3) if (popped := pending.pop())] == [1, 4, 2]
    for name in "aa":
        pending.release(name)
    assert pop_all(pending) == [3, 5, 6]
    pending.release("a")
    pending.push("a", QueueEntry(0, 7, 7))
    assert pop_all(pending) == [7]


def test_item_keys():
    first, again, other = (
        Article(url=url, canonical_url="https://a.example/1", body=body)
        for url, body in [("https://a.example/1?x", "A"), ("https://a.example/1", "A"), ("", "B")]
    )
    keys = [outbox_row(item)[0] for item in (first, again, other)]
    assert keys[0] == keys[1] != keys[2]
    assert item_key({"a": 1, "fetched_at": "x"}) == item_key({"fetched_at": "y", "a": 1})
    assert item_key({"a": 1}) != item_key({"a": 2})


def test_addon_enables_the_scheduler_on_request():
    addons = {"ADDONS": {"newscrawl.Addon": 500}}
    enabled = {**addons, "NEWSCRAWL_FRONTIER_ENABLED": True}
    custom = {**enabled, "SCHEDULER": "scrapy.core.scheduler.Scheduler"}
    schedulers = [
        load_object(get_crawler(settings_dict=settings).settings["SCHEDULER"])
        for settings in (addons, enabled, custom)
    ]
    assert schedulers == [Scheduler, LeaseScheduler, Scheduler]
    assert LeaseMiddleware in get_crawler(settings_dict=enabled).settings["SPIDER_MIDDLEWARES"]


# Requests of an extension or an idle spider may be repeated after a crash: they have random keys.
REPEATABLE = {("35", "article"), ("36", "article")}


@pytest.mark.slow
@pytest.mark.parametrize("kills", [[], [4, 9, 15]])
def test_outcomes(tmp_path: Path, kills: list[int]):
    """Each request has one outcome, also after kill -9."""
    with TreeSite(100) as site:
        site.loops, site.gone = {9}, {19}
        crawl = TreeCrawl(tmp_path, site, spider="odd_spider.py")
        crawl.options = {"DOWNLOAD_DELAY": 0.05, "NEWSCRAWL_CHECKPOINT": 0.05}
        for served in kills:
            assert crawl.kill_at(served), crawl.output
        crawl.finish()
        rows = crawl.rows("SELECT url, outcome FROM outcome")
        items = {json.loads(item)["url"] for (item,) in crawl.rows("SELECT item FROM outbox")}
    found = Counter((url.removeprefix(f"{site.url}/"), outcome) for url, outcome in rows)
    articles = [1, 1, 4, 4, 4, 5, 7, 8, 31, 32, 32, 32, 33, 34, 41]
    assert {end: count for end, count in found.items() if end not in REPEATABLE} == {
        **{(str(n), "article"): articles.count(n) for n in articles},
        ("57.html", "article"): 1,
        ("57", "dropped/duplicate"): 1,
        ("2", "failed/error"): 1,
        ("3", "failed/error"): 1,
        ("6", "read"): 1,
        ("10", "read"): 1,
        ("19", "failed/http_404"): 1,
        ("19", "article"): 1,
        ("9", "failed/redirects"): 1,
        ("http://127.0.0.1:1/", "failed/connection"): 1,
        ("40", "failed/lost"): 1,
    }
    assert found.keys() >= REPEATABLE
    pages = {*(str(n) for n in (*articles, 35, 36) if n != 7), "7.html", "57.html"}
    assert items == {"start", "errback", *(f"{site.url}/{page}" for page in pages)}
