"""Postings and boilerplate: the same results as with plain dicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newscrawl.neardup import postings
from newscrawl.neardup.database import FILE
from newscrawl.neardup.postings import InvertedIndex, posted_keys
from newscrawl.neardup.site_boilerplate import MAX_PAGES, RecentPages

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

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


@settings(max_examples=60)
@given(stories=st.lists(HASHES, min_size=1, max_size=30))
def test_candidates_share_enough_keys_or_an_anchor(stories: list[list[int]]):
    connection = FILE.connect(None)
    found = InvertedIndex(connection, 6)
    held: dict[int, list[int]] = defaultdict(list)
    for number, values in enumerate(stories, 1):
        hashes, anchors = array(values[1:]), array(values[:1])
        keys = posted_keys(hashes, anchors, learned=True)
        shared = Counter(other for key in keys for other in held[key])
        anchored = held[keys[-1]] if anchors.size else []
        few = anchored if len(anchored) <= postings.MAX_STORIES_PER_ANCHOR else []
        likely = {other for other, count in shared.items() if count >= postings.MIN_SHARED_KEYS}
        assert sorted(found.candidates(keys, anchors.size, 100)) == sorted(likely.union(few))
        found.add(number, keys)
        for key in keys:
            held[key].append(number)
    connection.close()


def test_finds_the_latest_stories_of_a_common_hash(connection: sqlite3.Connection):
    keys = posted_keys(array([3, 900, 2**32 - 1]), array([]), learned=True)
    found = InvertedIndex(connection, 6)
    for number in range(1, 1501):
        found.add(number, keys)
    latest = range(1501 - postings.MAX_STORIES_PER_KEY, 1501)
    assert found.candidates(keys, 0, 1000) == list(latest)
    assert found.candidates(keys, 0, 10) == list(range(1491, 1501))
    found.remove(1500, keys)
    assert found.candidates(keys, 0, 10) == list(range(1490, 1500))


@given(
    pages=st.lists(st.tuples(HASHES, st.integers(0, 3)), max_size=3 * MAX_PAGES),
    new=HASHES,
    least=st.integers(1, 4),
)
@settings(max_examples=60)
def test_repeated_hashes_are_on_enough_recent_pages(
    pages: list[tuple[list[int], int]], new: list[int], least: int
):
    """Versions of one story count once."""
    site = RecentPages()
    for number, (hashes, lineage) in enumerate(pages):
        site.add(number, lineage, array(hashes))
    holders = {
        value: {lineage for hashes, lineage in pages[-MAX_PAGES:] if value in hashes}
        for value in new
    }
    expected = [v for v in sorted(new) if holders[v] and len(holders[v] | {9}) >= least]
    assert site.holders(array(new), 9).repeated(least).tolist() == expected


@given(
    pages=st.lists(st.tuples(HASHES, st.integers(0, 3)), max_size=2 * MAX_PAGES),
    new=HASHES,
    lineage=st.integers(0, 4),
    least=st.integers(1, 4),
)
@settings(max_examples=60)
def test_sharing_pages_have_enough_hashes_and_another_lineage(
    pages: list[tuple[list[int], int]], new: list[int], lineage: int, least: int
):
    site = RecentPages()
    for number, (hashes, own) in enumerate(pages):
        site.add(number, own, array(hashes))
    expected = [
        number
        for number, (hashes, own) in list(enumerate(pages))[-MAX_PAGES:]
        if own != lineage and len(set(new) & set(hashes)) >= least
    ]
    assert site.holders(array(new), lineage).sharing(least) == expected
