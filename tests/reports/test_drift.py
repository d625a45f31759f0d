"""Statistics of drift: exact p-values, the bound on false alarms, and power."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING

import pytest

from newscrawl.crawling.reporting.crawl_recorder import RecordedArticle
from newscrawl.reports.crawl_records import CrawlRecord
from newscrawl.reports.drift import (
    FALSE_ALARM_RATE,
    find_alarms,
    fisher_p,
    rank_sum_p,
    silence_p,
)

if TYPE_CHECKING:
    from collections.abc import Callable

DAY = 86400.0


def enumerated_p(new: list[float], old: list[float]) -> float:
    """Return the p-value of the rank sum by enumeration of all assignments."""
    values = new + old
    ranks = [sum(o < v for o in values) + (sum(o == v for o in values) + 1) / 2 for v in values]
    expected = len(new) * (len(values) + 1) / 2
    observed = abs(sum(ranks[: len(new)]) - expected)
    sums = [abs(sum(chosen) - expected) for chosen in combinations(ranks, len(new))]
    return sum(distance >= observed - 1e-9 for distance in sums) / len(sums)


@pytest.mark.parametrize("seed", range(20))
def test_rank_sum_is_exact(seed: int):
    """With and without ties, for groups of any size, the p-value is that of the enumeration."""
    random = Random(seed)
    values = [float(random.randrange(6) if seed % 2 else random.random()) for _ in range(12)]
    size = random.randrange(1, 11)
    new, old = values[:size], values[size:]
    assert rank_sum_p(new, old) == pytest.approx(enumerated_p(new, old))


@pytest.mark.parametrize("seed", range(20))
def test_fisher_is_the_rank_sum_of_two_values(seed: int):
    """The test of shares is the rank-sum test of zeros and ones."""
    random = Random(seed)
    new = [float(random.random() < 0.7) for _ in range(random.randrange(1, 9))]
    old = [float(random.random() < 0.3) for _ in range(random.randrange(1, 9))]
    shares = (int(sum(new)), len(new)), (int(sum(old)), len(old))
    assert fisher_p(*shares) == pytest.approx(rank_sum_p(new, old))


def test_silence_has_the_stated_probability():
    """For exponential intervals, the p-value is uniform."""
    random = Random(1)
    p_values = []
    for _ in range(4000):
        intervals = [random.expovariate(1.0) for _ in range(21)]
        p_values.append(silence_p(intervals[0] / max(intervals[1:]), 20))
    assert fmean(p_values) == pytest.approx(0.5, abs=0.02)
    assert fmean(p <= 0.05 for p in p_values) == pytest.approx(0.05, abs=0.012)


def article(number: int, when: float, random: Random, **fields: object) -> RecordedArticle:
    """Return an article with the scatter of an unchanged site."""
    plain = RecordedArticle(
        url=f"https://a.example/{number}",
        title="Title",
        kind="article",
        published="2026-11-20T10:00:00+00:00",
        fetched_at=when,
        confidence=min(1.0, random.gauss(0.93, 0.04)),
        length=int(random.lognormvariate(8, 0.6)),
        authors=int(random.random() < 0.8),
        cluster=None,
    )
    return plain._replace(**fields)  # type: ignore[arg-type]


def crawls(
    seed: int, sites: int = 20, change: Callable[[RecordedArticle], RecordedArticle] | None = None
) -> list[CrawlRecord]:
    """Return five crawls with 12 articles of each site; *change* applies to one site of the last."""
    random = Random(seed)
    found = []
    for number in range(5):
        record = CrawlRecord(number * DAY, number * DAY + 600)
        for site in range(sites):
            articles = [article(1000 * number + k, number * DAY, random) for k in range(12)]
            if change is not None and number == 4 and site == 3:
                articles = [change(one) for one in articles]
            record.site(f"site-{site}.example").articles = articles
        found.append(record)
    return found


@pytest.mark.parametrize("seed", range(10))
def test_unchanged_sites_raise_no_alarm(seed: int):
    """Twenty unchanged sites, ten seeds."""
    assert find_alarms(crawls(seed)) == []


def test_bound_on_false_alarms():
    """Without the minimum changes, at most one report in a hundred has a false alarm."""
    reports = 150
    alarms = sum(
        min(
            rank_sum_p(
                [a.confidence or 0 for a in last.articles],
                [a.confidence or 0 for a in first.articles],
            )
            for first, last in zip(start.sites.values(), end.sites.values(), strict=True)
        )
        <= FALSE_ALARM_RATE / 8
        for start, *_, end in (crawls(seed, sites=8) for seed in range(reports))
    )
    assert alarms <= 5  # P(more) < 0.005 at a rate of 0.01


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("measure", "change"),
    [
        ("confidence", lambda a: a._replace(confidence=(a.confidence or 0) - 0.2)),
        ("length", lambda a: a._replace(length=a.length // 8)),
        ("length", lambda a: a._replace(length=a.length * 8)),
        ("date", lambda a: a._replace(published=None)),
        ("authors", lambda a: a._replace(authors=0)),
    ],
)
def test_changed_site_raises_an_alarm(
    seed: int, measure: str, change: Callable[[RecordedArticle], RecordedArticle]
):
    """A change of one site of twenty is found, and no other."""
    (alarm,) = find_alarms(crawls(seed, change=change))
    assert (alarm.site, alarm.measure) == ("site-3.example", measure)


def test_small_changes_raise_no_alarm():
    """A significant change below the minimum is not reported."""
    slightly = crawls(0, change=lambda a: a._replace(confidence=0.91))
    for record in slightly[:-1]:
        record.sites["site-3.example"].articles = [
            one._replace(confidence=0.93) for one in record.sites["site-3.example"].articles
        ]
    assert find_alarms(slightly) == []


def test_yield():
    """A site whose pages give no articles any more is reported; known articles are no losses."""
    first, last = CrawlRecord(0, 600), CrawlRecord(DAY, DAY + 600)
    first.site("a.example").counts = Counter({"article": 20, "fetched": 22, "failed/http_404": 2})
    counts = {"fetched": 22, "dropped/not_article": 20, "dropped/known": 2}
    last.site("a.example").counts = Counter(counts)
    (alarm,) = find_alarms([first, last])
    assert (alarm.measure, alarm.message) == (
        "yield",
        "Pages that gave an article: 0 of 20, before 20 of 22.",
    )
    last.site("a.example").counts = Counter({"fetched": 22, "dropped/known": 22})
    assert find_alarms([first, last]) == []


def test_unreachable():
    """A site of which all requests fail is reported; one that forbids them if it had articles."""
    first, last = CrawlRecord(0, 600), CrawlRecord(DAY, DAY + 600)
    first.site("a.example").counts = Counter({"article": 1, "fetched": 1})
    last.site("a.example").counts = Counter({"failed/dns": 1})
    new = Counter({"discovery_failed/connection": 2, "unreachable/connection": 1})
    last.site("new.example").counts = new
    forbidden = Counter({"discovery_failed/robots": 1, "unreachable/robots": 1})
    last.site("forbidden.example").counts = forbidden
    missing = Counter({"discovery_failed/http_404": 1, "known": 3})
    last.site("missing-feed.example").counts = missing
    assert [(alarm.site, alarm.measure, alarm.message) for alarm in find_alarms([first, last])] == [
        ("a.example", "unreachable", "All requests failed: 1 dns."),
        ("new.example", "unreachable", "All requests failed: 2 connection."),
    ]


@pytest.mark.parametrize(("days", "silent"), [(2, False), (4, True)])
def test_silence(days: int, silent: bool):
    """A site with an article an hour is silent after three days; nothing new today is no alarm."""
    random = Random(0)
    history = [
        article(
            number,
            0.0,
            random,
            published=f"2026-11-{1 + number // 24:02}T{number % 24:02}:00:00+00:00",
        )
        for number in range(100)
    ]
    start = 1793491200.0 + 100 * 3600  # 2026-11-01, then the last article
    first, last = CrawlRecord(start, start), CrawlRecord(start + days * DAY, start + days * DAY)
    first.site("a.example").articles = history
    last.site("a.example")
    alarms = find_alarms([first, last])
    assert [alarm.measure for alarm in alarms] == ["silence"] * silent


def test_one_crawl_raises_no_alarm():
    """Without an earlier crawl there is nothing to compare with."""
    assert find_alarms(crawls(0)[:1]) == []
