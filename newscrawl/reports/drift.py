"""Drift: sites whose articles differ from earlier ones, and sites that are silent or broken.

The crawls of the last 24 hours, and those with the last dozen pages of a site (of three hours at
least), are each compared with the crawls before them. A difference is an alarm if it is large
(:data:`MIN_CHANGES`) and at least :data:`MIN_ERRORS` standard errors, with :data:`MIN_NUMBER`
articles or pages in both groups. A rise of the confidence or of a share is no alarm. A site is
silent if its newest date is three days old and three times as old as its longest pause before.

An alarm stays open until the comparison that raised it finds less than half of that in the last two
dozen pages, and while most pages fail: an outage is one alarm, whatever its symptoms are. The time
of an alarm is no reference, so that neither its end is a change nor its cause becomes normal;
without a reference, after a week, a change is accepted.

Some alarms need no comparison: the site was not reached when it was requested last, unless
robots.txt has always forbidden it; it shows something else in place of most stories, such as a
consent page; no site was reached at all, which is one alarm for all of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from math import exp, inf, log, sqrt
from statistics import fmean, pvariance
from typing import TYPE_CHECKING, Final, Literal

from newscrawl.crawling.site_stats import NO_STORY, SiteCounts
from newscrawl.items import instant
from newscrawl.reports.crawl_records import mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from newscrawl.crawling.reporting.crawl_recorder import RecordedArticle
    from newscrawl.reports.crawl_records import CrawlRecord, SiteRecord

Measure = Literal[
    "confidence", "length", "date", "authors", "yield", "silence", "unreachable", "no_story",
    "network", "rolled_over",
]  # fmt: skip

ALL_SITES: Final = "all sites"
"""Site of the alarm that no site was reached."""
HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
MIN_PAGES: Final = 12
"""Pages in the smaller window."""
MIN_WINDOW: Final = 3 * HOUR
"""Seconds of the smaller window, at least: stories of an hour may be alike."""
MIN_ROLLED_OVER: Final = 3
"""Polls of a day whose entries were all new from which a site is reported."""
MIN_CHANGES: Final[dict[str, float]] = {
    "confidence": 0.05, "length": log(1.25), "date": 0.2, "authors": 0.2, "yield": 0.2,
    "silence": 3 * DAY,
}  # fmt: skip
"""Minimum change of the mean (of the logarithm of the length), and seconds of silence."""
MIN_ERRORS: Final = 4.0
"""Standard errors of a difference between the groups."""
MIN_NUMBER: Final = 6
"""Articles or pages of a group."""
_MIN_INTERVALS = 10
_MIN_PAUSES = 3.0
# Score from which an open alarm stays open.
_CLOSING_SCORE = 0.5
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
    #: change in relation to the limits, from 1 on an alarm; infinite without a comparison
    score: float = inf
    #: when an earlier report opened it; 0 if this one does
    since: float = 0.0
    #: None if it is open
    closed: float | None = None

    @property
    def key(self) -> tuple[str, bool]:
        """Attributes of one open alarm: the site, and whether only its listings roll over."""
        return self.site, self.measure == "rolled_over"


def find_alarms(crawls: Sequence[CrawlRecord], past: Sequence[Alarm] = ()) -> list[Alarm]:
    """Return the alarms after the last of *crawls*, sorted by site.

    The crawls are those for one query. For a site with an open one among the *past* alarms, those
    that keep it open. A period with an end raises none: what a site does today does not change it.
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
    changed: list[Alarm] = []
    for site in sites:
        records = [(crawl.ended, crawl.sites[site]) for crawl in crawls if site in crawl.sites]
        past_alarms = [alarm for alarm in changes if alarm.site == site]
        history = _SiteHistory(site, records, past_alarms, is_topic="keywords" in asked)
        alarms += history.rolled_over()
        if known := history.certain_alarm():
            alarms.append(known)
            continue
        former = opened.get(site)
        if former and history.is_failing():
            alarms.append(replace(former, score=0.0))
        for change in history.changes(closing=former is not None):
            is_former = former is not None and former.measure == change.measure
            if change.score >= (_CLOSING_SCORE if is_former else 1.0):
                changed.append(change)
    worst: dict[tuple[str, Measure], Alarm] = {}
    for change in sorted(changed, key=lambda change: -change.score):
        worst.setdefault((change.site, change.measure), change)
    found = [
        *(alarm for alarm in alarms if (alarm.site, alarm.measure) not in worst),
        *worst.values(),
    ]
    found.sort(key=lambda alarm: (alarm.site, alarm.measure))
    return [replace(alarm, since=since.get(alarm.key, 0.0)) for alarm in found]


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
        site: record.counts.failure or _lost_reason(record.results)
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
        """Return an alarm that needs no comparison."""
        counted = [record for _, record in self._records if record.results]
        reason = counted[-1].counts.failure if counted else None
        if reason and (reason != "robots" or any(record.article_count for record in counted)):
            listed = counted[-1].failures.most_common(3)
            reasons = ", ".join(f"{number} {reason}" for reason, number in listed)
            before = mean(float(record.article_count) for record in counted[:-1])
            message = f"All requests failed: {reasons}."
            return Alarm(self._site, "unreachable", message, before, 0.0)
        last = self._records[self._first(MIN_PAGES) :]
        found = SiteCounts(sum((record.counts for _, record in last), Counter())).no_story
        if found is None:
            return None
        outcome, number, pages = found
        message = f"{number} of {pages} pages of this site {NO_STORY[outcome]}."
        return Alarm(self._site, "no_story", message, after=number / pages)

    def is_failing(self) -> bool:
        """Return whether most pages failed when the site was requested last."""
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

    def changes(self, *, closing: bool) -> Iterator[Alarm]:
        """Yield the results of all comparisons as alarms; *closing*: those of an open alarm."""
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
            yield from _compare_records(self._site, new, old)
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


def _compare_records(
    site: str, new: Sequence[SiteRecord], old: Sequence[SiteRecord]
) -> Iterator[Alarm]:
    groups = _articles(new), _articles(old)
    scores = ([a.confidence for a in group if a.confidence is not None] for group in groups)
    yield from _compare(site, "confidence", "Mean confidence in the body", *scores)
    lengths = ([log(a.length + 1) for a in group] for group in groups)
    yield from _compare(site, "length", "Mean length of the body", *lengths)
    dated = ([float(a.published is not None) for a in group] for group in groups)
    yield from _compare(site, "date", "Articles with a date", *dated)
    signed = ([float(a.authors > 0) for a in group] for group in groups)
    yield from _compare(site, "authors", "Articles with authors", *signed)
    yields = ([*_results(records)] for records in (new, old))
    yield from _compare(site, "yield", "Pages that gave an article", *yields)


def _articles(records: Sequence[SiteRecord]) -> Collection[RecordedArticle]:
    return {article.url: article for record in records for article in record.articles}.values()


def _results(records: Sequence[SiteRecord]) -> Iterator[float]:
    """Yield 1 for each page that gave an article, 0 for each that should have."""
    for record in records:
        yield from repeat(1.0, record.counts["article"])
        yield from repeat(0.0, record.losses)


def _compare(
    site: str, measure: Measure, name: str, new: Sequence[float], old: Sequence[float]
) -> Iterator[Alarm]:
    """Yield the difference of the means of two groups, if both are large enough."""
    if min(len(new), len(old)) < MIN_NUMBER:
        return
    before, after = fmean(old), fmean(new)
    change = abs(before - after) if measure == "length" else before - after
    is_share = measure not in ("confidence", "length")
    # Without scatter, a single article would make a difference: as if there were two more.
    values = [*new, *old, *((0.0, 1.0) if is_share else ())]
    error = sqrt(pvariance(values) * (1 / len(new) + 1 / len(old))) or 1.0
    score = min(change / MIN_CHANGES[measure], change / error / MIN_ERRORS)
    if measure == "length":
        before, after = exp(before), exp(after)
        text = f"{after:.0f}, before {before:.0f}"
    elif is_share:
        text = f"{sum(new):.0f} of {len(new)}, before {sum(old):.0f} of {len(old)}"
    else:
        text = f"{after:.2f}, before {before:.2f}"
    yield Alarm(site, measure, f"{name}: {text}.", before, after, score)


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
    score = min(silent / MIN_CHANGES["silence"], silent / longest / _MIN_PAUSES)
    return Alarm(site, "silence", message, before, hours, score)
