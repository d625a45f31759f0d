import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.lab.evaluation.bootstrap import Comparison, compare, percentile

PAIRS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12
)


def test_constant_difference_has_no_interval() -> None:
    pairs = [(f"site{number % 7}", 0.75, 0.5) for number in range(40)]
    assert compare(pairs) == Comparison(40, 7, 0.25, 0.25, 0.25, wins=40, losses=0)


def test_wins_losses_and_mean() -> None:
    """Differences .2, -.1, 0: ties are neither."""
    result = compare([("a", 0.7, 0.5), ("b", 0.4, 0.5), ("c", 0.5, 0.5)])
    assert result.difference == pytest.approx(0.1 / 3)
    assert (result.pages, result.sites, result.wins, result.losses) == (3, 3, 1, 1)
    assert result.low == pytest.approx(-0.1)
    assert result.high == pytest.approx(0.2)


def test_resamples_sites_not_pages() -> None:
    together = compare([("big", 0.9, 0.5)] * 100 + [("small", 0.5, 0.9)] * 100)
    apart = compare(
        [(f"big{n}", 0.9, 0.5) for n in range(100)] + [(f"small{n}", 0.5, 0.9) for n in range(100)]
    )
    assert (together.low, together.high) == pytest.approx((-0.4, 0.4))
    assert apart.high - apart.low < 0.15


@given(PAIRS)
def test_interval_lies_within_site_means(pairs: list[tuple[str, float, float]]) -> None:
    result = compare(pairs)
    differences = [first - second for _, first, second in pairs]
    assert min(differences) - 1e-9 <= result.low <= result.high <= max(differences) + 1e-9


def test_comparison_is_antisymmetric() -> None:
    pairs = [("a", 0.7, 0.5), ("b", 0.4, 0.5), ("b", 0.9, 0.5), ("c", 0.5, 0.5)]
    forth = compare(pairs)
    back = compare([(site, second, first) for site, first, second in pairs])
    assert back.difference == pytest.approx(-forth.difference)
    assert (back.wins, back.losses) == (forth.losses, forth.wins)
    assert (back.low, back.high) == pytest.approx((-forth.high, -forth.low), abs=0.01)


def test_rejects_empty_input() -> None:
    with pytest.raises(ValueError, match="no pages"):
        compare([])


def test_percentile_interpolates() -> None:
    assert percentile([0.0, 1.0, 2.0], 0.25) == 0.5
    assert percentile([3.0], 0.975) == 3.0
