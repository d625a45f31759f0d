import random
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.lab.corpora.alignment import covered_nodes
from newscrawl.lab.corpora.metrics import (
    PERFECT,
    ZERO,
    Score,
    bag_score,
    mean_score,
    node_score,
    same_day,
    site_mean_score,
    text_weighted_score,
)
from newscrawl.text import words

WORDS = st.lists(st.sampled_from(words("the cat sat on a mat and slept")), max_size=30)
NODES = st.frozensets(st.integers(0, 9))


def test_bag_of_words_counts_repeated_words() -> None:
    """Three common words (the, the, cat) of 5 extracted and 4 true ones."""
    score = bag_score(words("the cat the dog the"), words("the the cat sat"))
    assert score == Score(3 / 5, 3 / 4, 6 / 9)


def test_whole_page_has_full_recall_and_the_share_of_content_as_precision() -> None:
    gold = words("a b c")
    assert bag_score(words("menu a b c footer about"), gold) == Score(0.5, 1.0, 2 / 3)


@pytest.mark.parametrize(
    ("output", "gold", "expected"),
    [([], [], PERFECT), (["a"], [], ZERO), ([], ["a"], ZERO), (["a"], ["b"], ZERO)],
)
def test_scores_of_nothing(output: list[str], gold: list[str], expected: Score) -> None:
    assert bag_score(output, gold) == expected


def test_node_score_and_weighted_score() -> None:
    """A large correct node, a small missing one, a small wrong one."""
    weights = [1, 90, 5, 5]
    assert node_score({1, 2}, {1, 3}) == Score(0.5, 0.5, 0.5)
    assert text_weighted_score({1, 2}, {1, 3}, weights) == Score(90 / 95, 90 / 95, 180 / 190)


@given(WORDS, WORDS)
def test_bag_score_is_symmetric(one: list[str], other: list[str]) -> None:
    forth, back = bag_score(one, other), bag_score(other, one)
    assert (forth.precision, forth.recall, forth.f1) == (back.recall, back.precision, back.f1)


@given(WORDS, WORDS)
def test_scores_stay_within_bounds(output: list[str], gold: list[str]) -> None:
    score = bag_score(output, gold)
    assert all(0 <= part <= 1 for part in score)
    low, high = sorted(score[:2])
    assert low - 1e-12 <= score.f1 <= high + 1e-12


@given(WORDS, st.randoms())
def test_bag_score_ignores_order(bag: list[str], rng: random.Random) -> None:
    shuffled = bag.copy()
    rng.shuffle(shuffled)
    assert bag_score(shuffled, bag) == PERFECT


@given(NODES, NODES)
def test_node_score_is_symmetric_and_one_for_identity(
    one: frozenset[int], other: frozenset[int]
) -> None:
    assert node_score(one, other).f1 == node_score(other, one).f1
    assert node_score(one, one) == PERFECT


@given(NODES, NODES, st.integers(1, 9))
def test_equal_weights_give_node_score(
    output: frozenset[int], gold: frozenset[int], weight: int
) -> None:
    weighted = text_weighted_score(output, gold, [weight] * 10)
    assert weighted == pytest.approx(node_score(output, gold))


@given(WORDS, WORDS, WORDS)
def test_more_correct_text_never_lowers_recall(
    output: list[str], more: list[str], gold: list[str]
) -> None:
    assert bag_score(output + more, gold).recall >= bag_score(output, gold).recall or not gold


def test_mean_f1_is_the_mean_of_the_f1s() -> None:
    """Not the harmonic mean of mean precision and mean recall."""
    mean = mean_score([Score(1.0, 0.5, 2 / 3), Score(0.5, 1.0, 2 / 3)])
    assert mean == pytest.approx((0.75, 0.75, 2 / 3))


def test_site_mean_weighs_sites_equally() -> None:
    scores = [("a.example", PERFECT)] * 3 + [("b.example", ZERO)]
    assert site_mean_score(scores) == Score(0.5, 0.5, 0.5)
    assert mean_score([score for _, score in scores]).f1 == 0.75


@pytest.mark.parametrize(
    ("output", "gold", "same"),
    [
        (date(2026, 1, 31), date(2026, 1, 31), True),
        (date(2026, 1, 31), date(2026, 2, 1), False),
        (datetime.fromisoformat("2026-01-31T23:59"), date(2026, 1, 31), True),
        (datetime(2026, 2, 1, 1, tzinfo=UTC), datetime.fromisoformat("2026-01-31T20:00"), False),
        (
            datetime(2026, 2, 1, 1, tzinfo=UTC),
            datetime(2026, 1, 31, 20, tzinfo=timezone(timedelta(hours=-5))),
            True,
        ),
    ],
)
def test_same_day_uses_zone_of_the_label(output: date, gold: date, same: bool) -> None:
    assert same_day(output, gold) is same


def test_covered_nodes_span_links_and_ignore_chance_words() -> None:
    nodes = [
        words(text)
        for text in [
            "home politics the court",  # its words occur in the text, but not in a run
            "the court ruled on monday that",
            "the ministry",  # a link in the sentence
            "had broken the law",
            "read more about the ministry",
            "",
            "an appeal is expected",
        ]
    ]
    text = "the court ruled on monday that the ministry had broken the law an appeal is expected"
    assert covered_nodes(nodes, words(text)) == {1, 2, 3, 6}


def test_covered_nodes_uses_one_of_two_copies() -> None:
    paragraph = words("five words of a paragraph")
    assert len(covered_nodes([paragraph, ["advert"], paragraph], paragraph)) == 1


def test_covered_nodes_accepts_short_texts() -> None:
    assert covered_nodes([["home"], ["snow", "falls"], ["more"]], ["snow", "falls"]) == {1}


@given(st.lists(WORDS, max_size=6))
def test_covered_nodes_of_whole_page_are_all_nodes_with_words(nodes: list[list[str]]) -> None:
    text = [word for node in nodes for word in node]
    assert covered_nodes(nodes, text) == {index for index, node in enumerate(nodes) if node}
