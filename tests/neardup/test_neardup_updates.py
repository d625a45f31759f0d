"""Near-duplicate index over time: updates, merged clusters, the window, restarts, pruning."""

import random
from datetime import timedelta
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newscrawl.neardup import Index, Options
from newscrawl.neardup.batch import in_order, two_pass
from newscrawl.neardup.postings import SETTLE_INTERVAL
from tests.helpers.neardup_writer import OPTIONS, stories
from tests.neardup.test_neardup_index import NOON, story, words


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of an index."""
    return tmp_path / "near-duplicates.sqlite"


def test_compares_only_within_the_window():
    with Index(None, Options(window=timedelta(hours=48))) as index:
        first = index.add(story("https://a.test/1", words(300)))
        late = index.add(story("https://b.test/1", words(300), NOON + timedelta(hours=49)))
        near = index.add(story("https://c.test/1", words(300), NOON - timedelta(hours=48)))
    assert late.cluster != first.cluster == near.cluster


def test_repeated_arrival_returns_the_stored_verdict():
    with Index(None) as index:
        first = index.add(story("https://a.test/1", words(300)))
        copy = index.add(story("https://b.test/1", words(300)))
        assert index.add(story("https://a.test/1", words(300))) == first
        assert index.add(story("https://b.test/1", words(300))) == copy
        assert len(index) == 2


def test_update_replaces_the_text_and_keeps_the_cluster():
    with Index(None) as index:
        first = index.add(story("https://a.test/1", words(300)))
        update = index.add(story("https://a.test/1", words(300, seed=1)))
        old = index.add(story("https://b.test/1", words(300)))
        new = index.add(story("https://c.test/1", words(300, seed=1)))
        served_again = index.add(story("https://a.test/1", words(300)))
        assert len(index) == 3
    assert update == first
    assert old.cluster != first.cluster == new.cluster
    assert served_again == update


def test_story_that_matches_two_clusters_merges_them():
    text = words(400)
    with Index(None) as index:
        first = index.add(story("https://a.test/1", text[:230]))
        second = index.add(story("https://b.test/1", text[170:]))
        whole = index.add(story("https://c.test/1", text))
        assert first.cluster != second.cluster
        assert whole.cluster == first.cluster == index.resolve(second.cluster)
        assert whole.merged == (second.cluster,)
        assert whole.size == 3


def test_single_pair_does_not_merge_clusters():
    left, right = words(300, seed=1), words(300, seed=2)
    with Index(None) as index:
        lefts = [index.add(story(f"https://l{n}.test/", left)) for n in range(4)]
        rights = [index.add(story(f"https://r{n}.test/", right)) for n in range(4)]
        both = index.add(story("https://both.test/", left[:200] + right[:100]))
        assert both.cluster == lefts[0].cluster != index.resolve(rights[0].cluster)


def test_half_of_a_cluster_is_not_enough_to_merge():
    one, other = words(400, seed=1), words(400, seed=2)
    with Index(None) as index:
        both = index.add(story("https://both.test/", one[:220] + other[:200]))
        first = index.add(story("https://other.test/", other))
        copies = [index.add(story(f"https://c{n}.test/", one + words(9, seed=n))) for n in range(4)]
        last = index.add(story("https://last.test/", other))
    assert both.cluster == first.cluster == last.cluster
    assert {copy.cluster for copy in copies} == {copies[0].cluster} != {both.cluster}


@pytest.mark.parametrize(("start", "joins"), [(80, True), (230, False)])
def test_half_of_a_cluster_suffices_if_the_rest_is_related(start: int, joins: bool):
    text = words(500)
    with Index(None) as index:
        whole = index.add(story("https://whole.test/", text))
        index.add(story("https://first.test/", text[:230] + words(220, seed=1)))
        cut = text[start:][:250] + words(200, seed=2)
        assert (index.add(story("https://cut.test/", cut)).cluster == whole.cluster) is joins


def test_parts_of_a_story_join_in_any_order():
    text = words(400)
    parts = {"https://a.test/": text, "https://b.test/": text[:230], "https://c.test/": text[170:]}
    for order in permutations(parts):
        with Index(None) as index:
            found = index.add_many(story(url, parts[url]) for url in order)
            assert len({index.resolve(verdict.cluster) for verdict in found}) == 1


def test_more_copies_than_are_compared_join():
    text = words(120)
    with Index(None) as index:
        found = index.add_many(
            story(f"https://{n}.test/", text + words(6, seed=n)) for n in range(600)
        )
    assert {verdict.cluster for verdict in found} == {found[0].cluster}
    assert found[-1].size == 600


@pytest.mark.parametrize("wrong", [{"scale": 3}, {"shingle": 0}, {"containment": 2.0}])
def test_rejects_invalid_options(wrong: dict[str, object]):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)


@pytest.mark.parametrize("interval", [1, SETTLE_INTERVAL])
def test_neither_a_restart_nor_moving_postings_to_the_file_changes_a_verdict(
    path: Path, monkeypatch: pytest.MonkeyPatch, interval: int
):
    everything = stories(120)
    with Index(None, OPTIONS) as index:
        whole = index.add_many(everything)
    monkeypatch.setattr("newscrawl.neardup.postings.SETTLE_INTERVAL", interval)
    parts = []
    for start in range(0, 120, 29):
        with Index(path, OPTIONS) as index:
            parts += [index.add(story) for story in everything[start : start + 29]]
    assert parts == whole


@settings(max_examples=8)
@given(seed=st.integers(0, 2**16), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_batches_change_no_verdict(seed: int, cuts: list[int]):
    everything = in_order(stories(60, seed))
    with Index(None, OPTIONS) as index:
        single = [index.add(story) for story in everything]
    edges = [0, *sorted(cuts), 60]
    with Index(None, OPTIONS) as index:
        batches = [
            verdict
            for low, high in pairwise(edges)
            for verdict in index.add_many(everything[low:high])
        ]
        count = len(index)
        index.add_many(everything)
        assert len(index) == count
    assert single == batches


@settings(max_examples=8)
@given(seed=st.integers(0, 2**16), order=st.randoms(use_true_random=False))
def test_two_pass_is_independent_of_the_order(seed: int, order: random.Random):
    everything = list({story.url: story for story in stories(60, seed)}.values())
    found = two_pass(everything, OPTIONS)
    order.shuffle(everything)
    assert two_pass(everything, OPTIONS) == found
    clusters = [verdict.cluster for verdict in found.verdicts]
    assert all(verdict.size == clusters.count(verdict.cluster) for verdict in found.verdicts)
    assert sum(verdict.is_first for verdict in found.verdicts) == len(set(clusters))


def test_two_pass_knows_boilerplate_before_it_compares():
    frame = words(200, seed=9)
    source = story("https://0.test/", frame, NOON - timedelta(hours=1))
    pages = [story(f"https://a.test/{n}", frame + words(100, seed=n)) for n in range(3)]
    found = two_pass([source, *pages])
    assert len({verdict.cluster for verdict in found.verdicts}) == 4


def test_prunes_stories_outside_of_the_window():
    options = Options(window=timedelta(hours=10), retain=100)
    with Index(None, options) as index:
        for n in range(400):
            when = NOON + timedelta(hours=n)
            index.add(story(f"https://s{n % 7}.test/{n}", words(60, seed=n), when))
        assert 100 <= len(index) <= 150
        assert len(index._postings.recent) <= 60 * 150


def test_removes_postings_of_pruned_stories_from_the_file(path: Path):
    options = Options(window=timedelta(hours=10), retain=100)
    with Index(path, options) as index, pytest.MonkeyPatch.context() as patch:
        patch.setattr("newscrawl.neardup.postings.SETTLE_INTERVAL", 1)
        for n in range(1500):
            when = NOON + timedelta(hours=n)
            index.add(story(f"https://s{n % 7}.test/{n}", words(120, seed=n), when))
        held = index._connection.execute("SELECT sum(length(entries)) FROM posting").fetchone()[0]
    assert held < 6 * 104 * 2.5 * 200


def test_single_future_date_does_not_prune():
    options = Options(window=timedelta(hours=10), retain=100)
    with Index(None, options) as index:
        index.add(story("https://future.test/", words(50), NOON + timedelta(days=36525)))
        for n in range(300):
            index.add(story(f"https://s.test/{n}", words(60, seed=n), NOON))
        assert len(index) == 301
