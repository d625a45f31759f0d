"""Revisit policy: intervals, failures and article status."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.crawl.history.revisit_policy import (
    ARTICLE_INTERVAL,
    DUE_RATIO,
    HOUR,
    MAX_SOURCE_DELAY,
    PERMANENT_FAILURES,
    ROBOTS_INTERVAL,
    EmittedArticle,
    RevisitPolicy,
    article_status,
    due_at,
)
from newscrawl.text import body_hash

POLICY = RevisitPolicy()

roles = st.sampled_from(["feed", "sitemap", "section"])
bounds = st.tuples(st.floats(60, 1e5), st.floats(1, 1000)).map(
    lambda pair: RevisitPolicy(min_interval=pair[0], max_interval=pair[0] * pair[1])
)
polls = st.lists(
    st.integers(0, 50).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=60
)


@given(bounds, roles, polls)
def test_intervals_stay_within_limits(
    policy: RevisitPolicy, role: str, polls: list[tuple[int, int]]
):
    interval = policy.first_interval(role)
    for new, listed in polls:
        interval = policy.after_poll(role, interval, new=new, listed=listed)
        assert policy.min_interval <= interval <= policy.max_interval


@given(bounds, roles, polls)
def test_new_entries_shorten_the_interval(
    policy: RevisitPolicy, role: str, polls: list[tuple[int, int]]
):
    interval = policy.first_interval(role)
    for new, listed in polls:
        after = policy.after_poll(role, interval, new=new, listed=listed)
        assert after <= interval if new else after >= interval
        interval = after


@given(bounds, roles, polls)
def test_interval_reaches_its_limits_after_any_history(
    policy: RevisitPolicy, role: str, polls: list[tuple[int, int]]
):
    interval = policy.first_interval(role)
    for new, listed in polls:
        interval = policy.after_poll(role, interval, new=new, listed=listed)
    asleep = awake = interval
    for _ in range(20):
        asleep = policy.after_poll(role, asleep, new=0, listed=10)
        awake = policy.after_poll(role, awake, new=1, listed=10)
    assert asleep == pytest.approx(policy.max_interval)
    assert awake == pytest.approx(policy.min_interval)


def test_minimum_interval_after_a_listing_of_only_new_entries():
    assert POLICY.after_poll("feed", POLICY.max_interval, new=10, listed=10) == POLICY.min_interval
    assert POLICY.after_poll("feed", POLICY.max_interval, new=0, listed=0) == POLICY.max_interval


def test_robots_txt_is_fetched_daily():
    assert POLICY.first_interval("robots") == ROBOTS_INTERVAL == 24 * HOUR
    assert POLICY.after_poll("robots", 1.0, new=3, listed=3) == ROBOTS_INTERVAL


@given(st.integers(1, 10_000))
def test_source_failures_back_off_to_a_limit(failures: int):
    delay = POLICY.after_source_failure(failures)
    assert (
        POLICY.min_interval
        <= delay
        <= POLICY.after_source_failure(failures + 1)
        <= MAX_SOURCE_DELAY
    )


@given(st.floats(0, 200 * HOUR), st.floats(0, 100 * HOUR), st.lists(st.booleans(), max_size=40))
def test_revisits_stay_within_the_update_window(
    update_window: float, age: float, changes: list[bool]
):
    policy = RevisitPolicy(update_window=update_window)
    interval = policy.after_page(None, age, changed=False)
    for changed in changes:
        if interval is None:
            break
        assert interval >= ARTICLE_INTERVAL
        age += interval
        assert age <= update_window
        interval = policy.after_page(interval, age, changed=changed)
    else:
        assert len(changes) <= update_window / ARTICLE_INTERVAL or not changes


def test_default_revisit_times():
    ages, age = [], 0.0
    interval = POLICY.after_page(None, age, changed=False)
    while interval is not None:
        age += interval
        ages.append(age / HOUR)
        interval = POLICY.after_page(interval, age, changed=False)
    assert ages == [1, 3, 7, 15]


def test_a_change_resets_the_interval():
    assert POLICY.after_page(8 * HOUR, 15 * HOUR, changed=True) == ARTICLE_INTERVAL


def test_window_of_zero_disables_revisits():
    assert RevisitPolicy(update_window=0).after_page(None, 0, changed=False) is None


def test_page_failures_back_off_and_give_up():
    delays = [POLICY.after_page_failure(n, "timeout") for n in range(1, 7)]
    assert delays == [0, HOUR, 2 * HOUR, 4 * HOUR, None, None]


@given(st.sampled_from(sorted(PERMANENT_FAILURES)), st.integers(1, 10))
def test_permanent_failures_are_not_retried(reason: str, failures: int):
    assert POLICY.after_page_failure(failures, reason) is None


def test_due_before_the_interval_has_passed():
    assert due_at(0, HOUR) == DUE_RATIO * HOUR < HOUR


@given(st.text(), st.text())
def test_body_hash_ignores_white_space(left: str, right: str):
    same = left.split() == right.split()
    assert (body_hash(left) == body_hash(right)) is same
    assert body_hash(f" {left}\n\n") == body_hash(left)


def test_body_hash_accepts_lone_surrogates():
    assert body_hash("\ud83d") != body_hash("")


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
