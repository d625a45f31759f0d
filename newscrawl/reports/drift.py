"""Drift: sites whose articles differ from earlier ones, and sites that are silent or broken.

The crawls of the last 24 hours, and those with the last dozen pages of a site (of three hours at
least), are each compared with the crawls before them, by exact permutation tests: if the site did
not change, each assignment of its articles to the two groups is equally likely, whatever their
distribution is.

===============  ============================================================  ===================
measure          test                                                          minimum change
===============  ============================================================  ===================
body confidence  rank-sum test, exact with ties                                0.05 of the mean
body length      rank-sum test, exact with ties                                a quarter
date, authors    Fisher's test on the number of articles with the field        20 % of the articles
yield            Fisher's test on the pages that gave an article               20 % of the pages
silence          age of the newest date / longest time between two dates       3 days
===============  ============================================================  ===================

The tests are two-sided; a rise of the confidence or of a share is no alarm. For silence, let n be
the number of intervals between consecutive times of publication and c the ratio: if a site publishes
at random at a constant rate, the probability of c or more is ``n! c! / (n + c)!``. As the longest
interval has the nights and weekends of the history, the test is conservative for sites that have
them; the minimum of three days covers histories without a weekend.

The p-values of all measures of all sites are corrected by Bonferroni's method, which holds for
dependent tests: if no site changed, the reports of a day raise any of these alarms with a
probability of at most :data:`FALSE_ALARM_RATE`, of which each has a part by the time since the crawl
before. Changes below the minimum raise none, which lowers it further. The bound assumes that the
articles of an unchanged site are exchangeable; those of a few hours are alike, which the minimum
change allows for.

An alarm stays open until the test that raised it finds nothing in the last two dozen pages
(:data:`CLOSING_P`), and while most pages fail: an outage is one alarm, whatever its symptoms are.
The time of an alarm is no reference, so that neither its end is a change nor its cause becomes
normal; without a reference, after a week, a change is accepted.

Some alarms need no test: the site was not reached when it was requested last, unless robots.txt has
always forbidden it; it shows something else in place of most stories, such as a consent page; no site
was reached at all, which is one alarm for all of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb, exp, inf, lgamma, log
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from newscrawl.crawling.reporting.result import failed_reason
from newscrawl.crawling.site_stats import NO_STORY, no_story
from newscrawl.items import instant
from newscrawl.reports.crawl_records import mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from newscrawl.crawling.reporting.crawl_recorder import RecordedArticle
    from newscrawl.reports.crawl_records import CrawlRecord, SiteRecord

Measure = Literal[
    "confidence", "length", "date", "authors", "yield", "silence", "unreachable", "no_story",
    "network", "rolled_over",
]  # fmt: skip

ALL_SITES: Final = "all sites"
"""Site of the alarm that no site was reached."""
FALSE_ALARM_RATE: Final = 0.01
"""Probability of an alarm in the reports of a day if no site changed, at most."""
CLOSING_P: Final = 0.05
"""P-value of the test of an open alarm above which it is closed."""
HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
MIN_PAGES: Final = 12
"""Pages in the smaller window."""
MIN_WINDOW: Final = 3 * HOUR
"""Seconds of the smaller window, at least: stories of an hour may be alike."""
MIN_ROLLED_OVER: Final = 3
"""Polls of a day whose entries were all new from which a site is reported."""
MIN_CHANGES: Final[dict[Measure, float]] = {
    "confidence": 0.05, "length": log(1.25), "date": 0.2, "authors": 0.2, "yield": 0.2,
    "silence": 3 * DAY,
}  # fmt: skip
"""Minimum change of the mean (of the logarithm of the length; of shares), and seconds of silence."""
MAX_NEW, MAX_OLD = 30, 100
"""Articles of a site that the rank-sum test compares, the newest ones; bounds its cost."""
_MIN_INTERVALS = 5
# Share of the minimum change that keeps an alarm open.
_CLOSING_SHARE = 0.5
_NO_NETWORK: Final = frozenset({"connection", "dns", "proxy", "robots_unreachable", "timeout"})


@dataclass(frozen=True, slots=True)
class Alarm:
    """A change of a site. Times are seconds since 1970."""

    site: str
    measure: Measure
    message: str
    #: mean of the earlier crawls and of the last ones, hours for silence; of this report only
    before: float | None = None
    after: float | None = None
    #: None if no test was necessary
    p_value: float | None = None
    #: when an earlier report opened it; 0 if this one does
    since: float = 0.0
    #: None if it is open
    closed: float | None = None

    @property
    def key(self) -> tuple[str, bool]:
        """Attributes of at most one open alarm: the site, and whether only its listings roll over."""
        return self.site, self.measure == "rolled_over"


def find_alarms(crawls: Sequence[CrawlRecord], past: Sequence[Alarm] = ()) -> list[Alarm]:
    """Return the alarms after the last of *crawls*, sorted by site.

    The crawls are those for one query. For a site with an open one among the *past* alarms, those that
    keep it open. A period with an end raises none: what a site does today does not change it.
    """
    asked = crawls[-1].asked
    if "until" in asked:
        return []
    sites = list(crawls[-1].sites)
    since = {alarm.key: alarm.since for alarm in past if alarm.closed is None}
    if network := _network(crawls):
        return [replace(network, since=since.get(network.key, 0.0))]
    crawls = [crawl for crawl in crawls if not _lost_network(crawl)] or crawls
    changes = [alarm for alarm in past if alarm.measure != "rolled_over"]
    opened = {alarm.site: alarm for alarm in changes if alarm.closed is None}
    alarms: list[Alarm] = []
    tested, retested = [], []
    for site in sites:
        records = [(crawl.ended, crawl.sites[site]) for crawl in crawls if site in crawl.sites]
        past_alarms = [alarm for alarm in changes if alarm.site == site]
        history = _SiteHistory(site, records, past_alarms, is_topic="keywords" in asked)
        alarms += history.rolled_over()
        if known := history.certain_alarm():
            alarms.append(known)
        elif site in opened:
            if history.is_failing():
                alarms.append(replace(opened[site], p_value=1.0))
            retested += list(history.tests(closing=True))
        else:
            tested += list(history.tests())
    limit = FALSE_ALARM_RATE * _share_of_day(crawls) / max(1, len(tested))
    worst: dict[tuple[str, Measure], Alarm] = {}
    for test in sorted([*tested, *retested], key=lambda test: test.p_value or 0.0):
        p_value = test.p_value or 0.0
        is_kept = test.site in opened and opened[test.site].measure == test.measure
        is_found = p_value <= limit and _is_large(test)
        if is_found or (is_kept and p_value <= CLOSING_P and _is_large(test, _CLOSING_SHARE)):
            worst.setdefault((test.site, test.measure), test)
    found = [
        *(alarm for alarm in alarms if (alarm.site, alarm.measure) not in worst),
        *worst.values(),
    ]
    found.sort(key=lambda alarm: (alarm.site, alarm.measure))
    return [replace(alarm, since=since.get(alarm.key, 0.0)) for alarm in found]


def _share_of_day(crawls: Sequence[CrawlRecord]) -> float:
    """Return the share of a day between the last two crawls, an hour to a day."""
    passed = crawls[-1].ended - crawls[-2].ended if len(crawls) > 1 else DAY
    return min(max(passed, HOUR), DAY) / DAY


def _is_large(alarm: Alarm, share: float = 1.0) -> bool:
    """Return whether the change is at least a *share* of the minimum."""
    before, after, least = (
        alarm.before or 0.0,
        alarm.after or 0.0,
        share * MIN_CHANGES[alarm.measure],
    )
    if alarm.measure == "silence":
        return after * HOUR >= least
    if alarm.measure == "length":
        return abs(log(after + 1) - log(before + 1)) >= least
    return before - after >= least


def _network(crawls: Sequence[CrawlRecord]) -> Alarm | None:
    """Return the alarm that no site was reached since a crawl that failed for most of them."""
    lost: dict[str, str] = {}
    for crawl in reversed(crawls):
        contacts = _contacts(crawl)
        if any(reason not in _NO_NETWORK for reason in contacts.values()):
            break
        lost |= contacts
    total = len(crawls[-1].sites)
    if len(lost) < 2 or 2 * len(lost) < total:
        return None
    reasons = ", ".join(sorted(set(lost.values())))
    message = f"No site was reached: {len(lost)} of {total} requested in vain ({reasons})."
    return Alarm(ALL_SITES, "network", message)


def _lost_network(crawl: CrawlRecord) -> bool:
    reasons = _contacts(crawl).values()
    return len(reasons) > 1 and all(reason in _NO_NETWORK for reason in reasons)


def _contacts(crawl: CrawlRecord) -> Mapping[str, str]:
    """Return the sites that *crawl* has requested, each with the reason why it failed, or ""."""
    return {
        site: failed_reason(record.counts) or _lost_reason(record.results)
        for site, record in crawl.sites.items()
        if record.results
    }


def _lost_reason(results: set[str]) -> str:
    """Return a reason of the network if all requests of a site failed for such ones, else ""."""
    reasons = [name.removeprefix("discovery_").removeprefix("failed/") for name in results]
    return reasons[0] if _NO_NETWORK.issuperset(reasons) else ""


class _SiteHistory:
    """The crawls of a site, *records* by time of their end, and its *past* alarms.

    *is_topic*: of its stories only those about a topic, which may be silent.
    """

    def __init__(
        self,
        site: str,
        records: Sequence[tuple[float, SiteRecord]],
        past: Sequence[Alarm],
        *,
        is_topic: bool = False,
    ) -> None:
        self._is_topic = is_topic
        self._site = site
        self._records = records
        self._past = past
        #: when the last alarm was closed: what is older is no sign of another one
        self._repaired = max((alarm.closed or -inf for alarm in past), default=-inf)

    def certain_alarm(self) -> Alarm | None:
        """Return an alarm that needs no test."""
        counted = [record for _, record in self._records if record.results]
        reason = failed_reason(counted[-1].counts) if counted else None
        if reason and (reason != "robots" or any(record.article_count for record in counted)):
            listed = counted[-1].failures.most_common(3)
            reasons = ", ".join(f"{number} {reason}" for reason, number in listed)
            before = mean(float(record.article_count) for record in counted[:-1])
            message = f"All requests failed: {reasons}."
            return Alarm(self._site, "unreachable", message, before, 0.0)
        last = self._records[self._first(MIN_PAGES) :]
        found = no_story(sum((record.counts for _, record in last), Counter()))
        if found is None:
            return None
        outcome, number, pages = found
        message = f"{number} of {pages} pages of this site {NO_STORY[outcome]}."
        return Alarm(self._site, "no_story", message, after=number / pages)

    def is_failing(self) -> bool:
        """Return whether more pages failed than gave an article when the site was requested last."""
        counted = [record for _, record in self._records if record.results]
        return bool(counted) and counted[-1].failures.total() > counted[-1].article_count

    def rolled_over(self) -> Iterator[Alarm]:
        """Yield the alarm that listings had only new entries, if it is due."""
        end = self._records[-1][0]
        recent = (record for ended, record in self._records if ended > end - DAY)
        number = sum(record.counts["rolled_over"] for record in recent)
        if number >= MIN_ROLLED_OVER:
            message = f"All entries were new in {number} polls of a day: crawl more often."
            yield Alarm(self._site, "rolled_over", message, after=number)

    def tests(self, *, closing: bool = False) -> Iterator[Alarm]:
        """Yield the results of all tests as alarms; *closing*: those of an open alarm."""
        end = self._records[-1][0]
        # Daily crawls do not end in the same minute.
        day = sum(ended <= end - DAY + HOUR for ended, _ in self._records)
        places = {day, self._first(MIN_PAGES, end - MIN_WINDOW)}
        if closing:
            place = self._first(2 * MIN_PAGES)
            # Before that, the pages that have raised the alarm are among the last two dozen.
            is_settled = self._records[place][0] > self._past[-1].since
            places = {place} if is_settled else {place, *places}
        for place in places:
            recent = self._records[place:]
            new = [record for ended, record in recent if ended >= self._repaired]
            old = [record for ended, record in self._records[:place] if not self._is_past(ended)]
            yield from _record_tests(self._site, new, old)
        silence = _silence(self._site, [record for _, record in self._records], end)
        if silence is not None and not self._is_topic:
            yield silence

    def _is_past(self, when: float) -> bool:
        return any(alarm.since <= when < (alarm.closed or inf) for alarm in self._past)

    def _first(self, pages: int, latest: float = inf) -> int:
        """Return the place of the first of the last records with *pages*, at *latest* or later."""
        place, found = len(self._records), 0
        while place and (found < pages or self._records[place - 1][0] > latest):
            place -= 1
            found += self._records[place][1].pages
        return place


def _record_tests(
    site: str, new: Sequence[SiteRecord], old: Sequence[SiteRecord]
) -> Iterator[Alarm]:
    articles, former = _newest(new, MAX_NEW), _newest(old, MAX_OLD)
    if articles and former:
        yield from _article_tests(site, articles, former)
    yields = _yield(new), _yield(old)
    if all(pages for _, pages in yields):
        yield _compare_shares(site, "yield", "Pages that gave an article", *yields)


def _newest(records: Sequence[SiteRecord], limit: int) -> list[RecordedArticle]:
    articles = {article.url: article for record in records for article in record.articles}
    ranked = sorted(articles.values(), key=lambda article: -(article.fetched_at or 0.0))
    return ranked[:limit]


def _article_tests(
    site: str, new: Sequence[RecordedArticle], old: Sequence[RecordedArticle]
) -> Iterator[Alarm]:
    groups = new, old
    scores, former = ([a.confidence for a in g if a.confidence is not None] for g in groups)
    if scores and former:
        yield _compare(site, "confidence", "Mean confidence in the body", scores, former)
    lengths = ([float(article.length) for article in group] for group in groups)
    yield _compare(site, "length", "Mean length of the body", *lengths)
    dated = ((sum(a.published is not None for a in group), len(group)) for group in groups)
    yield _compare_shares(site, "date", "Articles with a date", *dated)
    signed = ((sum(a.authors > 0 for a in group), len(group)) for group in groups)
    yield _compare_shares(site, "authors", "Articles with authors", *signed)


def _yield(records: Sequence[SiteRecord]) -> tuple[int, int]:
    """Return the number of articles, and of pages that gave one or should have."""
    found = sum(record.counts["article"] for record in records)
    return found, found + sum(record.losses for record in records)


def _compare(
    site: str, measure: Measure, name: str, new: Sequence[float], old: Sequence[float]
) -> Alarm:
    before, after = sum(old) / len(old), sum(new) / len(new)
    digits = 0 if measure == "length" else 2
    message = f"{name}: {after:.{digits}f}, before {before:.{digits}f}."
    alarm = Alarm(site, measure, message, before, after, 1.0)
    if not _is_large(alarm, _CLOSING_SHARE):  # the exact test takes some time
        return alarm
    return replace(alarm, p_value=rank_sum_p(new, old))


def _compare_shares(
    site: str, measure: Measure, name: str, new: tuple[int, int], old: tuple[int, int]
) -> Alarm:
    message = f"{name}: {new[0]} of {new[1]}, before {old[0]} of {old[1]}."
    return Alarm(site, measure, message, old[0] / old[1], new[0] / new[1], fisher_p(new, old))


def _silence(site: str, records: Sequence[SiteRecord], end: float) -> Alarm | None:
    found = {instant(article.published) for record in records for article in record.articles}
    times = sorted(when.timestamp() for when in found if when is not None)
    times = [when for when in times if when <= end]
    intervals = [after - before for before, after in pairwise(times)]
    if len(intervals) < _MIN_INTERVALS:
        return None
    silent, longest = end - times[-1], max(intervals)
    hours, before = silent / HOUR, longest / HOUR
    message = (
        f"No new article for {hours:.0f} hours; the longest pause before was {before:.0f} hours."
    )
    p_value = silence_p(silent / longest, len(intervals))
    return Alarm(site, "silence", message, before, hours, p_value)


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
