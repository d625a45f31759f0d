"""Drift: sites whose articles differ from those of earlier crawls, and sites that went silent.

For each site, the articles of the last crawl are compared with those of the
:data:`REFERENCE_CRAWLS` before it, by exact permutation tests: if the site did not change, each
assignment of its articles to the two groups is equally likely, whatever their distribution is.

===============  ============================================================  ===================
measure          test                                                          minimum change
===============  ============================================================  ===================
body confidence  rank-sum test, exact with ties                                0.05 of the mean
body length      rank-sum test, exact with ties                                a quarter
date, authors    Fisher's test on the number of articles with the field        20 % of the articles
yield            Fisher's test on the pages that gave an article               20 % of the pages
silence          age of the newest date / longest time between two dates       3 days
===============  ============================================================  ===================

Both tests are two-sided. For silence, let n be the number of intervals between consecutive times of
publication and c the ratio: if a site publishes at random at a constant rate, the probability of c
or more is ``n! c! / (n + c)!``. As the longest interval has the nights and weekends of the history,
the test is conservative for sites that have them; the minimum of three days covers histories
without a weekend.

The p-values of all measures of all sites are tested together by Holm's method, which holds for
dependent tests: if no site changed, a report raises any of these alarms with a probability of at
most :data:`FALSE_ALARM_RATE`. Changes below the minimum raise none, which lowers it further. The
bound assumes that the articles of an unchanged site are exchangeable; those of one crawl share a
day of news, which the minimum change allows for.

A site of which all requests failed is reported without a test, unless robots.txt has always forbidden
it, and so is one that shows something else in place of most stories, such as a consent page.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import comb, exp, lgamma, log
from typing import TYPE_CHECKING, Literal

import numpy as np

from newscrawl.crawl.reporting.outcomes import NO_STORY, no_story
from newscrawl.crawl.reporting.result import failed_reason
from newscrawl.items import instant
from newscrawl.reports.crawl_records import mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.crawl.reporting.crawl_recorder import RecordedArticle
    from newscrawl.reports.crawl_records import CrawlRecord, SiteRecord

Measure = Literal[
    "confidence", "length", "date", "authors", "yield", "silence", "unreachable", "no_story"
]

FALSE_ALARM_RATE = 0.01
"""Probability of an alarm in a report if no site changed, at most."""
REFERENCE_CRAWLS = 10
"""Earlier crawls that the last one is compared with. After as many crawls, a change is accepted."""
MIN_CHANGES: dict[Measure, float] = {
    "confidence": 0.05, "length": log(1.25), "date": 0.2, "authors": 0.2, "yield": 0.2,
    "silence": 3 * 86400.0,
}  # fmt: skip
"""Minimum change of the mean (of the logarithm of the length; of shares), and seconds of silence."""
MAX_NEW, MAX_OLD = 30, 100
"""Articles of a site that the rank-sum test compares, the newest ones; bounds its cost."""
_MIN_INTERVALS = 5


@dataclass(frozen=True, slots=True)
class Alarm:
    """A change of a site."""

    site: str
    measure: Measure
    #: mean of the earlier crawls and of the last one; hours for silence
    before: float | None
    after: float | None
    #: None if no test was necessary
    p_value: float | None
    message: str


def find_alarms(crawls: Sequence[CrawlRecord]) -> list[Alarm]:
    """Return the alarms of the last of *crawls*, sorted by site."""
    *earlier, last = crawls
    earlier = earlier[-REFERENCE_CRAWLS:]
    alarms = [
        alarm
        for site in last.sites
        for alarm in (_unreachable(site, last, earlier), _no_story(site, last))
        if alarm
    ]
    silent = {alarm.site for alarm in alarms}
    tested = [test for site in last.sites if site not in silent for test in _tests(site, crawls)]
    alarms += _significant(tested)
    return sorted(alarms, key=lambda alarm: (alarm.site, alarm.measure))


def _significant(tested: Sequence[Alarm]) -> Iterator[Alarm]:
    """Yield the alarms that Holm's method rejects and that are large enough."""
    ranked = sorted(tested, key=lambda alarm: alarm.p_value or 0.0)
    for rank, alarm in enumerate(ranked):
        if (alarm.p_value or 0.0) > FALSE_ALARM_RATE / (len(ranked) - rank):
            break
        if _is_large(alarm):
            yield alarm


def _is_large(alarm: Alarm) -> bool:
    before, after, least = alarm.before or 0.0, alarm.after or 0.0, MIN_CHANGES[alarm.measure]
    if alarm.measure == "silence":
        return after * 3600 >= least
    if alarm.measure == "length":
        return abs(log(after + 1) - log(before + 1)) >= least
    return abs(after - before) >= least


def _unreachable(site: str, last: CrawlRecord, earlier: Sequence[CrawlRecord]) -> Alarm | None:
    record = last.sites[site]
    failed = record.failures
    reason = failed_reason(record.counts)
    before = [crawl.sites[site].article_count for crawl in earlier if site in crawl.sites]
    lost = failed and not record.counts["fetched"] and not record.article_count and any(before)
    if not lost and reason in (None, "robots"):
        return None
    reasons = ", ".join(f"{number} {reason}" for reason, number in failed.most_common(3))
    message = f"All requests failed: {reasons}."
    return Alarm(site, "unreachable", mean(map(float, before)), 0.0, None, message)


def _no_story(site: str, last: CrawlRecord) -> Alarm | None:
    found = no_story(last.sites[site].counts)
    if found is None:
        return None
    outcome, number, pages = found
    message = f"{number} of {pages} pages of this site {NO_STORY[outcome]}."
    return Alarm(site, "no_story", None, number / pages, None, message)


def _tests(site: str, crawls: Sequence[CrawlRecord]) -> Iterator[Alarm]:
    """Yield the results of all tests of *site*, as alarms."""
    *earlier, last = crawls
    record = last.sites[site]
    reference = [crawl.sites[site] for crawl in earlier[-REFERENCE_CRAWLS:] if site in crawl.sites]
    new, old = _newest([record], MAX_NEW), _newest(reference, MAX_OLD)
    if new and old:
        yield from _article_tests(site, new, old)
    yields = _yield(record), _sum(map(_yield, reference))
    if all(pages for _, pages in yields):
        yield _compare_shares(site, "yield", *yields, "Pages that gave an article")
    silence = _silence(site, [crawl.sites[site] for crawl in crawls if site in crawl.sites], last)
    if silence is not None:
        yield silence


def _newest(records: Sequence[SiteRecord], limit: int) -> list[RecordedArticle]:
    """Return the newest articles of *records*, each URL once."""
    articles = {article.url: article for record in records for article in record.articles}
    ranked = sorted(articles.values(), key=lambda article: -(article.fetched_at or 0.0))
    return ranked[:limit]


def _article_tests(
    site: str, new: Sequence[RecordedArticle], old: Sequence[RecordedArticle]
) -> Iterator[Alarm]:
    scores, former_scores = _scores(new), _scores(old)
    if scores and former_scores:
        name = "Mean confidence in the body"
        yield _compare(site, "confidence", scores, former_scores, name)
    lengths, former_lengths = _lengths(new), _lengths(old)
    yield _compare(site, "length", lengths, former_lengths, "Mean length of the body")
    yield _compare_shares(site, "date", _dated(new), _dated(old), "Articles with a date")
    yield _compare_shares(site, "authors", _signed(new), _signed(old), "Articles with authors")


def _scores(articles: Sequence[RecordedArticle]) -> list[float]:
    return [article.confidence for article in articles if article.confidence is not None]


def _lengths(articles: Sequence[RecordedArticle]) -> list[float]:
    return [float(article.length) for article in articles]


def _dated(articles: Sequence[RecordedArticle]) -> tuple[int, int]:
    return sum(article.published is not None for article in articles), len(articles)


def _signed(articles: Sequence[RecordedArticle]) -> tuple[int, int]:
    return sum(article.authors > 0 for article in articles), len(articles)


def _yield(record: SiteRecord) -> tuple[int, int]:
    """Return the number of articles, and of pages that gave one or should have."""
    found = record.counts["article"]
    return found, found + record.losses


def _sum(pairs: Iterator[tuple[int, int]]) -> tuple[int, int]:
    found = list(pairs)
    return sum(hits for hits, _ in found), sum(number for _, number in found)


def _compare(
    site: str, measure: Measure, new: Sequence[float], old: Sequence[float], name: str
) -> Alarm:
    before, after = sum(old) / len(old), sum(new) / len(new)
    digits = 0 if measure == "length" else 2
    message = f"{name}: {after:.{digits}f}, before {before:.{digits}f}."
    return Alarm(site, measure, before, after, rank_sum_p(new, old), message)


def _compare_shares(
    site: str, measure: Measure, new: tuple[int, int], old: tuple[int, int], name: str
) -> Alarm:
    message = f"{name}: {new[0]} of {new[1]}, before {old[0]} of {old[1]}."
    return Alarm(site, measure, old[0] / old[1], new[0] / new[1], fisher_p(new, old), message)


def _silence(site: str, records: Sequence[SiteRecord], last: CrawlRecord) -> Alarm | None:
    found = {instant(article.published) for record in records for article in record.articles}
    times = sorted(when.timestamp() for when in found if when is not None)
    times = [when for when in times if when <= last.ended]
    intervals = [after - before for before, after in pairwise(times)]
    if len(intervals) < _MIN_INTERVALS:
        return None
    silent, longest = last.ended - times[-1], max(intervals)
    hours, before = silent / 3600, longest / 3600
    message = (
        f"No new article for {hours:.0f} hours; the longest pause before was {before:.0f} hours."
    )
    return Alarm(
        site, "silence", before, hours, silence_p(silent / longest, len(intervals)), message
    )


def rank_sum_p(new: Sequence[float], old: Sequence[float]) -> float:
    """Return the exact two-sided p-value of the rank-sum test of Wilcoxon, given the ties."""
    if len(new) > len(old):
        new, old = old, new
    values = np.concatenate([new, old])
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    # Twice the mean rank of each value, an integer.
    doubled = (2 * np.cumsum(counts) - counts + 1)[inverse]
    size, total = len(new), len(values)
    highest = int(np.sort(doubled)[-size:].sum())
    # ways[k, s]: number of sets of k values with the rank sum s
    ways = np.zeros((size + 1, highest + 1))
    ways[0, 0] = 1.0
    for rank in doubled.tolist():
        ways[1:, rank:] += ways[:-1, : highest + 1 - rank].copy()
    expected = size * (total + 1)
    distance = abs(int(doubled[:size].sum()) - expected)
    extreme = np.abs(np.arange(highest + 1) - expected) >= distance
    return float(ways[size, extreme].sum() / ways[size].sum())


def fisher_p(new: tuple[int, int], old: tuple[int, int]) -> float:
    """Return the exact two-sided p-value of the difference of two shares, ``(hits, number)``.

    It is that of :func:`rank_sum_p` for values of which all are 0 or 1.
    """
    (hits, size), (others, rest) = new, old
    total, marked = size + rest, hits + others
    distance = abs(total * hits - size * marked)
    extreme = sum(
        comb(marked, k) * comb(total - marked, size - k)
        for k in range(max(0, size + marked - total), min(size, marked) + 1)
        if abs(total * k - size * marked) >= distance
    )
    return extreme / comb(total, size)


def silence_p(ratio: float, intervals: int) -> float:
    """Return the probability that the last interval exceeds *ratio* times the longest before it.

    For independent exponential intervals, as of a Poisson process.
    """
    return exp(lgamma(intervals + 1) + lgamma(ratio + 1) - lgamma(intervals + ratio + 1))
