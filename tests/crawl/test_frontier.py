"""Requests as rows, their keys, the queue in memory and file, and how requests end."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.core.scheduler import Scheduler
from scrapy.http import JsonRequest
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

from newscrawl.crawl.frontier import LeaseMiddleware, LeaseScheduler
from newscrawl.crawl.frontier.lease import Lease
from newscrawl.crawl.frontier.leases import LeaseBook
from newscrawl.crawl.frontier.outbox import item_key, outbox_row
from newscrawl.crawl.frontier.request_queue import Entry, PendingRequests, Slot
from newscrawl.crawl.frontier.serialization import NotPlainError, dump_request, load_request
from newscrawl.items import Article
from tests.end_to_end.test_frontier_crawl import TreeCrawl
from tests.servers.tree_site import TreeSite

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Callbacks(Spider):
    name = "callbacks"

    def one(self, response: Any) -> None: ...

    def two(self, failure: Any) -> None: ...


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
            "callback": st.just(SPIDER.one),
            "errback": st.just(SPIDER.two),
        },
    )
)
def test_a_request_comes_back_from_its_row(options: dict[str, Any]):
    """Whatever JSON can hold is the same afterwards."""
    request = Request("https://a.example/ü?q=1", **options)
    back = load_request(dump_request(request, SPIDER), SPIDER)
    assert back.to_dict(spider=SPIDER) == request.to_dict(spider=SPIDER)


@pytest.mark.parametrize(
    "request_",
    [
        FormRequest("https://a.example/", formdata={"a": "ü", "b": "1"}),
        JsonRequest("https://a.example/", data={"a": [1, 2]}),
    ],
)
def test_classes_of_requests(request_: Request):
    """A subclass comes back as such, its body as it was made."""
    back = load_request(dump_request(request_, SPIDER), SPIDER)
    assert type(back) is type(request_)
    assert (back.method, back.body, back.headers) == (
        request_.method,
        request_.body,
        request_.headers,
    )


@pytest.mark.parametrize(
    "request_",
    [
        Request("https://a.example/", lambda response: None),
        Request("https://a.example/", Callbacks().one),
        Request("https://a.example/", meta={"a": {1, 2}}),
        Request("https://a.example/", cb_kwargs={"a": object()}),
    ],
)
def test_what_json_cannot_hold(request_: Request):
    """Functions, another spider's methods and objects are refused, not pickled."""
    with pytest.raises(NotPlainError):
        dump_request(request_, SPIDER)


def test_a_callback_that_is_gone():
    """A row of another version of the spider says what is missing."""
    text = dump_request(Request("https://a.example/", SPIDER.one), SPIDER)
    with pytest.raises(NotPlainError, match="has no method 'one'"):
        load_request(text, Spider("other"))


def test_rows_name_no_other_classes():
    """A row cannot have something else called."""
    with pytest.raises(NotPlainError, match="subprocess"):
        load_request('{"url": "https://a.example/", "class": "subprocess.Popen"}', SPIDER)


STEPS = [*["push", "yield"] * 3, "write", "pop", "end", "read", "finish_reads"]


class File:
    """The pending requests of a Pending in a file, of which reading takes a while."""

    def __init__(self, memory: int) -> None:
        self.rows: dict[int, tuple[str, int]] = {}
        #: those that the file gets later
        self.unwritten: set[int] = set()
        self.under_way: set[int] = set()
        self.asked: list[Slot] = []
        self.reads: list[tuple[Slot, list[Entry], frozenset[int], bool]] = []
        self.pending = PendingRequests(
            memory, self.asked.append, lambda e: e.id not in self.unwritten
        )
        self.pushed = 0
        self.popped: list[int] = []

    def push(self, name: str, rank: int, *, written: bool = True) -> None:
        self.pushed += 1
        self.rows[self.pushed] = (name, rank)
        if not written:
            self.unwritten.add(self.pushed)
        self.pending.push(name, Entry(rank, self.pushed, self.pushed, ""))

    def pop(self) -> bool:
        found = self.pending.pop()
        if found:
            name, entry = found
            assert self.rows[entry.id] == (name, entry.rank)
            self.popped.append(entry.id)
            self.under_way.add(entry.id)
        return found is not None

    def end(self) -> None:
        if self.under_way:
            number = min(self.under_way)
            self.under_way.remove(number)
            self.unwritten.discard(number)
            self.pending.land(self.rows.pop(number)[0])

    def write(self) -> None:
        self.unwritten.clear()

    def read(self) -> None:
        for slot in self.asked:
            assert slot.horizon is not None
            limit = self.pending.share + len(self.under_way) + len(slot.held)
            entries = sorted(
                Entry(rank, number, number, "")
                for number, (name, rank) in self.rows.items()
                if name == slot.name
                and (rank, number) >= slot.horizon
                and number not in self.unwritten
            )
            known = frozenset(self.under_way)
            self.reads.append((slot, entries[:limit], known, len(entries) < limit))
        self.asked.clear()

    def finish_reads(self) -> None:
        reads, self.reads = self.reads, []
        for slot, entries, known, complete in reads:
            self.pending.loaded(slot, entries, known=known, complete=complete)


def play(memory: int, steps: Iterable[tuple[str, str, int]]) -> None:
    """Do *steps* with a File, hand out the rest, and check that each came once."""
    file = File(memory)
    for step, name, rank in steps:
        if step in ("push", "yield"):
            file.push(name, rank, written=step == "push")
        else:
            getattr(file, step)()
        assert len(file.pending) == file.pushed - len(file.popped)
    while len(file.pending):
        if not file.pop():
            file.read()
            assert file.reads
            file.finish_reads()
        file.end()
    assert sorted(file.popped) == list(range(1, file.pushed + 1))


@given(
    memory=st.integers(1, 12),
    steps=st.lists(
        st.tuples(st.sampled_from(STEPS), st.sampled_from("ab"), st.integers(-2, 2)), max_size=200
    ),
)
def test_every_request_is_handed_out_once(memory: int, steps: list[tuple[str, str, int]]):
    """However pushing, popping, ending and reading mix, none is lost, and none comes twice."""
    play(memory, steps)


def test_every_request_is_handed_out_once_in_the_long_run():
    """The same over histories in which memory is full most of the time."""
    for seed in range(600):
        chance = random.Random(seed)
        steps = [
            (chance.choice(STEPS), chance.choice("ab"), chance.randint(-2, 2))
            for _ in range(chance.randint(50, 200))
        ]
        play(chance.randint(1, 12), steps)


def test_a_request_is_in_the_file_once_one_that_led_to_it_is_done():
    """Not before; a request that is done before them is written as done."""

    async def test() -> None:
        crawler = get_crawler(settings_dict={"NEWSCRAWL_STATE": ""})
        book = LeaseBook.for_crawler(crawler)
        await book.ended()  # opens the file
        first, second, early = (Lease(n, n, f"http://a.example/{n}", "a") for n in (1, 2, 3))
        for lease in (first, second):
            book.add_request((lease.id, lease.key, "a", 0, "{}"), None)
            book.add(lease)
        book.add_request((early.id, early.key, "a", 0, "{}"), first)
        book.add_request((4, 4, "a", 0, "{}"), first)
        book.add(early)
        for lease in (first, second):
            book.share(4, lease)

        async def rows_after(done: Lease | None) -> dict[int, bool]:
            if done:
                book.give_up(done, "gone")
                book.settle()
            found = await book.store.read("SELECT key, request IS NOT NULL FROM request")
            return {key: bool(pending) for key, pending in found}

        assert await rows_after(None) == {1: True, 2: True}
        assert await rows_after(early) == {1: True, 2: True, 3: False}
        assert await rows_after(second) == {1: True, 2: False, 3: False, 4: True}
        assert await rows_after(first) == {1: False, 2: False, 3: False, 4: True}
        await book.store.close()

    asyncio.run(test())


def test_slots_take_turns_and_priorities_count():
    """The slot with the fewest requests under way goes first; in it, the highest priority."""
    file = File(100)
    for name, rank in [("a", 0), ("a", -5), ("b", 0), ("b", 0)]:
        file.push(name, rank)
    assert all(file.pop() for _ in range(4))
    assert file.popped == [2, 3, 1, 4]


def test_little_is_in_memory():
    """Of many requests, memory holds what was asked for."""
    file = File(50)
    for _ in range(10_000):
        file.push("a", 0)
    (slot,) = file.pending._slots.values()
    assert len(slot.heap) <= 100
    assert len(file.pending) == 10_000


def test_keys_of_items():
    """An article is told by canonical URL and body, any other item by all but its time."""
    first, again, other = (
        Article(url=url, canonical_url="https://a.example/1", body=body)
        for url, body in [("https://a.example/1?x", "A"), ("https://a.example/1", "A"), ("", "B")]
    )
    keys = [outbox_row(item)[0] for item in (first, again, other)]
    assert keys[0] == keys[1] != keys[2]
    assert item_key({"a": 1, "fetched_at": "x"}) == item_key({"fetched_at": "y", "a": 1})
    assert item_key({"a": 1}) != item_key({"a": 2})


def test_the_addon_switches_it_on():
    """By choice only, and a scheduler that the project names stays."""
    addons = {"ADDONS": {"newscrawl.Addon": 500}}
    chosen = {**addons, "NEWSCRAWL_FRONTIER_ENABLED": True}
    theirs = {**chosen, "SCHEDULER": "scrapy.core.scheduler.Scheduler"}
    schedulers = [
        load_object(get_crawler(settings_dict=settings).settings["SCHEDULER"])
        for settings in (addons, chosen, theirs)
    ]
    assert schedulers == [Scheduler, LeaseScheduler, Scheduler]
    assert LeaseMiddleware in get_crawler(settings_dict=chosen).settings["SPIDER_MIDDLEWARES"]


# What an extension or an idle spider asks for may come twice after a crash: nothing tells it apart.
UNTOLD = {("35", "article"), ("36", "article")}


@pytest.mark.slow
@pytest.mark.parametrize("kills", [[], [4, 9, 15]])
def test_how_requests_end(tmp_path: Path, kills: list[int]):
    """Whatever a spider does with its requests, each of them has one outcome, kill -9 or not."""
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
    assert {end: count for end, count in found.items() if end not in UNTOLD} == {
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
    assert found.keys() >= UNTOLD
    pages = {*(str(n) for n in (*articles, 35, 36) if n != 7), "7.html", "57.html"}
    assert items == {"start", "errback", *(f"{site.url}/{page}" for page in pages)}
