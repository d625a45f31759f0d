"""Revisit policy: intervals, failures and article status."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from newscrawl.crawling.history.change_rates import HOUR, ChangeRates
from newscrawl.crawling.history.revisit_policy import (
    ARTICLE_INTERVAL,
    DUE_RATIO,
    MAX_SOURCE_DELAY,
    PERMANENT_FAILURES,
    EmittedArticle,
    RevisitPolicy,
    article_status,
    due_at,
)
from newscrawl.text import body_hash

POLICY = RevisitPolicy()

bounds = st.tuples(st.floats(60, 1e5), st.floats(1, 1000)).map(
    lambda pair: RevisitPolicy(min_interval=pair[0], max_interval=pair[0] * pair[1])
)


@given(bounds, st.floats(0, 10), st.floats(0, 1e9), st.floats(0, 1e9))
def test_intervals_stay_within_limits(
    policy: RevisitPolicy, rate: float, turnover: float, wait: float
):
    interval = policy.after_poll("feed", rate, turnover=turnover, wait=wait)
    assert policy.min_interval <= interval <= policy.max_interval


def test_interval_follows_the_rate():
    """Four times as many articles are polled for twice as often."""
    hours = [POLICY.after_poll("feed", rate / HOUR) / HOUR for rate in (4, 1, 0.25, 1 / 168)]
    assert hours == pytest.approx([0.35, 0.71, 1.41, 9.17], abs=0.01)
    assert POLICY.after_poll("feed", 0) == POLICY.max_interval
    assert POLICY.after_poll("robots", 1.0) == 24 * HOUR


@pytest.mark.parametrize(
    ("rate", "options", "interval"),
    [
        # before its entries are replaced
        (0.1, {"turnover": 2 * HOUR}, HOUR),
        (0.1, {"turnover": 0}, POLICY.min_interval),
        # less often if the site asks for it
        (1, {"wait": 3 * HOUR}, 3 * HOUR),
        (1, {"wait": 300 * HOUR}, POLICY.max_interval),
        (1, {"wait": 3 * HOUR, "turnover": HOUR}, HOUR / 2),
    ],
)
def test_interval_of_a_source(rate: float, options: dict[str, float], interval: float):
    assert POLICY.after_poll("feed", rate / HOUR, **options) == interval


def test_rate_follows_the_observations():
    rate = POLICY.source_rate(None, 12, elapsed=0, known=0)
    assert rate * HOUR == 0.5
    for hour in range(1, 200):
        rate = POLICY.source_rate(rate, 2, elapsed=HOUR, known=hour * HOUR)
    assert rate * HOUR == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize("is_start", [True, False])
def test_silent_sources_retire_unless_the_site_list_names_them(is_start: bool):
    rate, weeks = 1 / HOUR, 0
    for day in range(1, 60):
        rate = POLICY.source_rate(rate, 0, elapsed=24 * HOUR, known=day * 24 * HOUR)
        weeks += POLICY.after_poll("feed", rate, is_start=is_start) == MAX_SOURCE_DELAY
    assert (weeks > 30) is not is_start


@given(st.integers(1, 10_000))
def test_source_failures_back_off_to_a_limit(failures: int):
    delay = POLICY.after_source_failure(failures)
    assert (
        POLICY.min_interval
        <= delay
        <= POLICY.after_source_failure(failures + 1)
        <= MAX_SOURCE_DELAY
    )


def test_sources_that_do_not_exist_are_tried_rarely():
    days = [POLICY.after_source_failure(n, never_read=True) / HOUR / 24 for n in range(1, 6)]
    assert days == [3, 6, 7, 7, 7]


@given(
    st.floats(0, 1e6 * HOUR),
    st.lists(st.tuples(st.floats(0, 1e9), st.booleans()), max_size=20),
    st.integers(0, 6),
)
def test_visits_stay_within_the_update_window(
    window: float, history: list[tuple[float, bool]], revisits: int
):
    rates = ChangeRates()
    for age, changed in history:
        rates.record_visit(0, age, changed=changed)
    policy = RevisitPolicy(update_window=window, revisits=revisits)
    age, visits = 0.0, 0
    while (delay := policy.after_page(rates, age)) is not None:
        assert delay > 0
        age, visits = age + delay / DUE_RATIO, visits + 1
        assert age <= window / DUE_RATIO
    assert visits <= revisits + 1  # the first may be early


def test_visits_of_an_unknown_site():
    """The last one is at the end of the window."""
    ages, age = [], 0.0
    while (delay := POLICY.after_page(ChangeRates(), age)) is not None:
        age += delay
        ages.append(age / HOUR)
    assert ages == [pytest.approx(6.75), 24]


def test_a_change_brings_the_next_visit_forward():
    rates = ChangeRates()
    assert POLICY.after_page(rates, 8 * HOUR, 4 * HOUR) == DUE_RATIO * 2 * HOUR
    assert POLICY.after_page(rates, 8 * HOUR, 7.5 * HOUR) == DUE_RATIO * ARTICLE_INTERVAL
    assert due_at(0, HOUR) == DUE_RATIO * HOUR < HOUR


def test_window_of_zero_disables_revisits():
    assert RevisitPolicy(update_window=0).after_page(ChangeRates(), 0) is None
    assert RevisitPolicy(revisits=0).after_page(ChangeRates(), 0) is None


def test_announcements_are_trusted_unless_nearly_all_are_vain():
    rates = ChangeRates()
    for _ in range(20):
        rates.record_announcement(HOUR, changed=False)
    assert not rates.trusts_announcements
    for _ in range(5):
        rates.record_announcement(HOUR, changed=True)
    assert rates.trusts_announcements


def test_page_failures_back_off_and_give_up():
    delays = [POLICY.after_page_failure(n, "timeout") for n in range(1, 7)]
    assert delays == [0, HOUR, 2 * HOUR, 4 * HOUR, None, None]


@given(st.sampled_from(sorted(PERMANENT_FAILURES)), st.integers(1, 10))
def test_permanent_failures_are_not_retried(reason: str, failures: int):
    assert POLICY.after_page_failure(failures, reason) is None


@given(st.text(), st.text())
@example("\ud83d", "")
def test_body_hash_ignores_white_space(left: str, right: str):
    same = left.split() == right.split()
    assert (body_hash(left) == body_hash(right)) is same
    assert body_hash(f" {left}\n\n") == body_hash(left)


A, B = b"a" * 16, b"b" * 16


@pytest.mark.parametrize(
    ("emitted", "status"),
    [
        ([], "new"),
        ([EmittedArticle("page", A)], "unchanged"),
        ([EmittedArticle("page", B)], "updated"),
        ([EmittedArticle("other", B)], "known"),
        ([EmittedArticle("other", A, same_url=False)], "known"),
        ([EmittedArticle("other", B, same_url=False)], "new"),
        ([EmittedArticle("other", A), EmittedArticle("page", B)], "updated"),
        (
            [
                EmittedArticle("other", B, same_url=False),
                EmittedArticle("third", A, same_url=False),
            ],
            "known",
        ),
    ],
)
def test_article_status(emitted: list[EmittedArticle], status: str):
    assert article_status("page", A, emitted) == status


def test_source_that_lists_what_others_have_listed_is_polled_less():
    rates = [1 / HOUR]
    for hour in range(1, 40):
        rate = POLICY.source_rate(rates[-1], 0.02, elapsed=HOUR, known=hour * HOUR, shared=1)
        assert rate < POLICY.source_rate(rates[-1], 0.02, elapsed=HOUR, known=hour * HOUR)
        rates.append(rate)
        if POLICY.after_poll("section", rate) > 5 * HOUR:
            break
    assert len(rates) < 20
    few = POLICY.source_rate(rate, 0.2, elapsed=HOUR, known=99 * HOUR, shared=10)
    assert 5 * HOUR < POLICY.after_poll("section", few) < 7 * HOUR
