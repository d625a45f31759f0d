"""When something is fetched again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.crawl.history.revisit_policy import (
    ARTICLE_INTERVAL,
    DEAD,
    EARLY,
    HOUR,
    PERMANENT,
    ROBOTS_INTERVAL,
    Delivered,
    Policy,
    body_hash,
    due_at,
    judge,
)

POLICY = Policy()

roles = st.sampled_from(["feed", "sitemap", "section"])
bounds = st.tuples(st.floats(60, 1e5), st.floats(1, 1000)).map(
    lambda pair: Policy(shortest=pair[0], longest=pair[0] * pair[1])
)
polls = st.lists(
    st.integers(0, 50).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=60
)


@given(bounds, roles, polls)
def test_intervals_keep_within_bounds(policy: Policy, role: str, polls: list[tuple[int, int]]):
    """Whatever a source brings."""
    interval = policy.first(role)
    for new, listed in polls:
        interval = policy.after_poll(role, interval, new=new, listed=listed)
        assert policy.shortest <= interval <= policy.longest


@given(bounds, roles, polls)
def test_news_make_it_sooner_and_silence_later(
    policy: Policy, role: str, polls: list[tuple[int, int]]
):
    """Unless the bound is reached."""
    interval = policy.first(role)
    for new, listed in polls:
        after = policy.after_poll(role, interval, new=new, listed=listed)
        assert after <= interval if new else after >= interval
        interval = after


@given(bounds, roles, polls)
def test_silence_and_bursts_are_forgotten(policy: Policy, role: str, polls: list[tuple[int, int]]):
    """A feed that falls silent goes to sleep, and one that wakes is asked often, after any past."""
    interval = policy.first(role)
    for new, listed in polls:
        interval = policy.after_poll(role, interval, new=new, listed=listed)
    asleep = awake = interval
    for _ in range(20):
        asleep = policy.after_poll(role, asleep, new=0, listed=10)
        awake = policy.after_poll(role, awake, new=1, listed=10)
    assert asleep == pytest.approx(policy.longest)
    assert awake == pytest.approx(policy.shortest)


def test_a_listing_of_new_entries_alone_is_caught_up_with():
    """Some may have come and gone unseen."""
    assert POLICY.after_poll("feed", POLICY.longest, new=10, listed=10) == POLICY.shortest
    assert POLICY.after_poll("feed", POLICY.longest, new=0, listed=0) == POLICY.longest


def test_robots_txt_is_good_for_a_day():
    """RFC 9309 allows no more; whether it brings sitemaps does not count."""
    assert POLICY.first("robots") == ROBOTS_INTERVAL == 24 * HOUR
    assert POLICY.after_poll("robots", 1.0, new=3, listed=3) == ROBOTS_INTERVAL


@given(st.integers(1, 10_000))
def test_a_source_that_fails_is_never_given_up(failures: int):
    """But left alone for longer and longer, up to a week."""
    delay = POLICY.after_source_failure(failures)
    assert POLICY.shortest <= delay <= POLICY.after_source_failure(failures + 1) <= DEAD


@given(st.floats(0, 200 * HOUR), st.floats(0, 100 * HOUR), st.lists(st.booleans(), max_size=40))
def test_articles_are_looked_at_in_their_window_alone(
    window: float, age: float, changes: list[bool]
):
    """Every visit that is planned lies in it, an hour or more behind the one before."""
    policy = Policy(window=window)
    interval = policy.after_page(None, age, changed=False)
    for changed in changes:
        if interval is None:
            break
        assert interval >= ARTICLE_INTERVAL
        age += interval
        assert age <= window
        interval = policy.after_page(interval, age, changed=changed)
    else:
        assert len(changes) <= window / ARTICLE_INTERVAL or not changes


def test_visits_of_a_day():
    """An article that does not change is looked at after 1, 3, 7 and 15 hours."""
    ages, age = [], 0.0
    interval = POLICY.after_page(None, age, changed=False)
    while interval is not None:
        age += interval
        ages.append(age / HOUR)
        interval = POLICY.after_page(interval, age, changed=False)
    assert ages == [1, 3, 7, 15]


def test_a_change_begins_anew():
    """Who rewrites a story rewrites it again."""
    assert POLICY.after_page(8 * HOUR, 15 * HOUR, changed=True) == ARTICLE_INTERVAL


def test_no_window_no_visits():
    """An hour of a window of 0 is none."""
    assert Policy(window=0).after_page(None, 0, changed=False) is None


def test_failures_of_a_page():
    """The next crawl, then 1, 2 and 4 hours, then no more."""
    delays = [POLICY.after_page_failure(n, "timeout") for n in range(1, 7)]
    assert delays == [0, HOUR, 2 * HOUR, 4 * HOUR, None, None]


@given(st.sampled_from(sorted(PERMANENT)), st.integers(1, 10))
def test_what_does_not_heal_is_not_tried_again(reason: str, failures: int):
    """Nor is it a matter of how often it failed."""
    assert POLICY.after_page_failure(failures, reason) is None


def test_a_timer_may_strike_early():
    """A crawl that begins some minutes before the hour does not wait another."""
    assert due_at(0, HOUR) == EARLY * HOUR < HOUR


@given(st.text(), st.text())
def test_white_space_is_no_change(left: str, right: str):
    """And anything else is."""
    same = left.split() == right.split()
    assert (body_hash(left) == body_hash(right)) is same
    assert body_hash(f" {left}\n\n") == body_hash(left)


def test_half_a_surrogate_pair_has_a_hash():
    """As JSON may bring one."""
    assert body_hash("\ud83d") != body_hash("")


A, B = b"a" * 16, b"b" * 16


@pytest.mark.parametrize(
    ("before", "verdict"),
    [
        ([], "new"),
        ([Delivered("page", A)], "unchanged"),
        ([Delivered("page", B)], "updated"),
        ([Delivered("other", B)], "known"),
        ([Delivered("other", A, same_url=False)], "known"),
        ([Delivered("other", B, same_url=False)], "new"),
        ([Delivered("other", A), Delivered("page", B)], "updated"),
        ([Delivered("other", B, same_url=False), Delivered("third", A, same_url=False)], "known"),
    ],
)
def test_verdicts(before: list[Delivered], verdict: str):
    """Its own past goes first; a shared canonical URL counts with the same text alone."""
    assert judge("page", A, before) == verdict
