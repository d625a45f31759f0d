"""Postings and boilerplate: the same results as with plain dicts."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newscrawl.near_duplicate_options import Options
from newscrawl.neardup import postings
from newscrawl.neardup.database import FILE
from newscrawl.neardup.postings import BloomFilter, InvertedIndex, RecentPostings, posted_keys
from newscrawl.neardup.site_boilerplate import MAX_PAGES, RecentPages

HASHES = st.lists(st.integers(0, 39), max_size=20, unique=True)


def array(values: list[int]) -> np.ndarray:
    """Return sorted hashes."""
    return np.array(sorted(values), np.uint32)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """Return an empty index in memory."""
    connection = FILE.connect(None)
    yield connection
    connection.close()


def insert(connection: sqlite3.Connection, story: int) -> None:
    """Insert a story with the columns that postings need."""
    row = (story, str(story), "", b"", 0, 0, 0, 0, 0, 1, 0, b"", b"", b"", b"", "")
    connection.execute(f"INSERT INTO story VALUES ({', '.join('?' * len(row))})", row)


@cache
def hashes_of(part: int, count: int) -> np.ndarray:
    """Return hashes with keys in one part and in different buckets."""
    values = np.arange(2**20, dtype=np.uint32)
    keys = posted_keys_of(values)
    _, first = np.unique(keys >> 16, return_index=True)
    return values[np.sort(first[keys[first] >> 25 == part])[:count]]


def posted_keys_of(values: np.ndarray) -> np.ndarray:
    """Return the key of each hash."""
    parts = [
        posted_keys(values[at : at + 64], array([]), learned=True)
        for at in range(0, values.size, 64)
    ]
    return np.concatenate(parts)


@settings(max_examples=60)
@given(stories=st.lists(HASHES, min_size=1, max_size=30), settled=st.integers(1, 3))
def test_candidates_share_enough_keys_or_an_anchor(stories: list[list[int]], settled: int):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "SETTLE_INTERVAL", settled)
        patch.setattr(postings, "PARTS", 1)
        common = hashes_of(0, 40)
        connection = FILE.connect(None)
        found = InvertedIndex(connection, 6)
        held: dict[int, list[int]] = defaultdict(list)
        for number, values in enumerate(stories, 1):
            hashes, anchors = common[sorted(values[1:])], common[values[:1]]
            keys = posted_keys(hashes, anchors, learned=True)
            shared = Counter(other for key in keys.tolist() for other in held[key])
            anchored = held[int(keys[-1])] if anchors.size else []
            few = anchored if len(anchored) <= postings.MAX_STORIES_PER_ANCHOR else []
            likely = {other for other, count in shared.items() if count >= postings.MIN_SHARED_KEYS}
            assert found.candidates(keys, anchors.size, 100) == sorted(likely.union(few))
            insert(connection, number)
            found.add(number, keys)
            for key in keys.tolist():
                held[key].append(number)
            if number % settled == 0:
                found.settle(number)
        connection.close()


def test_finds_the_latest_stories_of_a_common_hash(connection: sqlite3.Connection):
    keys = posted_keys(hashes_of(10, 3), array([]), learned=True)
    found = InvertedIndex(connection, 6)
    for number in range(1, 1501):
        insert(connection, number)
        found.add(number, keys)
        if number == 10 * postings.SETTLE_INTERVAL:
            found.settle(number)
    latest = [range(end - postings.MAX_STORIES_PER_KEY, end) for end in (1281, 1501)]
    assert found.candidates(keys, 0, 1000) == [*latest[0], *latest[1]]
    assert found.candidates(keys, 0, 10) == list(range(1491, 1501))
    # The first postings trigger a clean-up, so that the file has only those that can be found.
    sizes = connection.execute("SELECT length(entries) FROM posting").fetchall()
    assert sizes == [(6 * postings.MAX_STORIES_PER_KEY,)] * 3


def test_clean_up_removes_missing_stories(connection: sqlite3.Connection):
    keys = posted_keys(hashes_of(1, 40), array([]), learned=True)
    found = InvertedIndex(connection, 1)
    cycle = postings.PARTS * postings.SETTLE_INTERVAL

    def insert_all(stories: list[int]) -> None:
        for number in stories:
            insert(connection, number)
            found.add(number, keys)
        found.settle(stories[-1] // cycle * cycle + cycle + postings.SETTLE_INTERVAL)

    insert_all([10, 11, 12, 13])
    connection.execute("DELETE FROM story WHERE id < 13")
    insert_all([cycle + postings.SETTLE_INTERVAL + 1])
    assert found.candidates(keys, 0, 100) == [10, 11, 12, 13, cycle + postings.SETTLE_INTERVAL + 1]
    later = list(
        range(2 * cycle + postings.SETTLE_INTERVAL + 1, 2 * cycle + postings.SETTLE_INTERVAL + 5)
    )
    insert_all(later)
    assert found.candidates(keys, 0, 100) == [13, cycle + postings.SETTLE_INTERVAL + 1, *later]


@given(keys=st.lists(st.integers(0, 2**31 - 1)), others=st.lists(st.integers(0, 2**31 - 1)))
def test_bloom_filter_has_no_false_negatives(keys: list[int], others: list[int]):
    known, filtered = np.array(keys, np.uint32), BloomFilter()
    filtered.add(known)
    wanted = np.array(keys + others, np.uint32)
    places = filtered.maybe_contained(wanted).tolist()
    assert places[: len(keys)] == list(range(len(keys)))
    assert {wanted[place] >> 4 for place in places} <= {key >> 4 for key in keys}
    filtered.clear(0, 2**30)
    assert (wanted[filtered.maybe_contained(wanted)] >= 2**30).all()


def test_recent_postings_are_found_until_removed():
    recent = RecentPostings()
    recent.add(np.uint32(1), np.array([3, 900], np.uint32))
    assert [part.tolist() for part in recent.take(0, 100)] == [[3], [1]]
    recent.add(np.uint32(2), np.array([900, 5], np.uint32))
    recent.add(np.uint32(4), np.array([900], np.uint32))
    places, stories = recent.find(np.array([3, 5, 900], np.uint32), 2)
    assert sorted(zip(places, stories.tolist(), strict=True)) == [(1, 2), (2, 1), (2, 2), (2, 4)]
    assert len(recent) == 4
    recent.remove(2, np.array([900, 5], np.uint32))
    assert recent.find(np.array([5], np.uint32), 2)[0] == []


@given(
    pages=st.lists(st.tuples(HASHES, st.integers(0, 3)), max_size=3 * MAX_PAGES),
    new=HASHES,
    lineage=st.integers(0, 4),
    least=st.integers(1, 4),
)
@settings(max_examples=60)
def test_recent_pages_of_other_lineages_share_hashes(
    pages: list[tuple[list[int], int]], new: list[int], lineage: int, least: int
):
    """Versions of one story count once."""
    site = RecentPages()
    for number, (hashes, own) in enumerate(pages):
        site.add(number, own, array(hashes))
    others = [it for it in list(enumerate(pages))[-MAX_PAGES:] if it[1][1] != lineage]
    holders = {value: {own for _, (hashes, own) in others if value in hashes} for value in new}
    repeated, sharing = site.shared(
        array(new), lineage, Options(site_pages=least, min_shared=least)
    )
    assert repeated.tolist() == [
        value for value in sorted(new) if holders[value] and len(holders[value]) >= least - 1
    ]
    assert sorted(sharing) == [
        number for number, (hashes, _) in others if len(set(new) & set(hashes)) >= least
    ]
