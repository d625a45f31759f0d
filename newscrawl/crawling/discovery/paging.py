"""Listings, pages and sitemaps, searched for the articles of a period in few requests."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from newscrawl.crawling.discovery.target import Target

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from newscrawl.crawling.discovery.period import Period
    from newscrawl.crawling.discovery.seen_pages import SeenPages
    from newscrawl.crawling.discovery.site_address import SiteAddress
    from newscrawl.crawling.discovery.target import Role

#: when the articles of a page were published, compared with the period; the undated may be of it
Place = Literal["newer", "within", "undated", "older"]

MIN_DISTANCE = 4
"""Entries of a listing from one sample to the next."""
# Those to take in place of one without a date: a listing may begin with pages that are no stories.
_STEPS = (0, 1, 4, 16)
_DAY = 24 * 3600
_ORDER: dict[Place | None, int] = {"newer": 0, "within": 1, "older": 2}

#: parameter with the place of the next page in a list
_CURSOR = re.compile(
    r"[?&](?:(?:page|list|next)[_-]?)?"
    r"(?:cursor|before|after|token|offset|older|(?:last|max)[_-]?id)=[^&#]"
)
_NUMBER = re.compile(r"(?<!\d)(?<!limit=)(?<!size=)[1-9]\d*")


@dataclass(slots=True)
class ListingPages:
    """The pages of a listing, newest first, whose addresses differ in a number."""

    #: before and after the number
    template: tuple[str, str]
    #: number in the address of the second page, and what each page adds to it
    second: int
    step: int
    #: last page that lists only later articles
    newer: int = 0
    #: first page that lists only earlier ones, or that does not exist
    older: int | None = None
    within: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, following: str) -> ListingPages | None:
        """Return the pages of a listing by the URL of its second page; None without a number.

        Pages are counted from one or zero, or by their articles (``?start=20``).
        """
        found = list(_NUMBER.finditer(following, following.find("/", len("https://"))))
        query = following.find("?")
        if query > 0:  # a number in another value of the query is that of a cursor
            found = [m for m in found if m.start() < query or _is_value(following, m)]
        for second, step in ((2, 1), (1, 1), (None, None)):
            for match in reversed(found):
                if int(match[0]) == second or (second is None and 0 < query < match.start()):
                    template = following[: match.start()], following[match.end() :]
                    return cls(template, int(match[0]), step or int(match[0]))
        return None

    def url(self, number: int) -> str:
        """Return the URL of a page, counted from one."""
        return f"{self.second + (number - 2) * self.step}".join(self.template)

    def record(self, number: int, place: Place) -> None:
        """Record what a page lists; one that cannot be read is ``older``."""
        if place in ("within", "undated"):
            self.within.add(number)
        elif place == "newer":
            self.newer = max(self.newer, number)
        else:
            self.older = min(self.older or number, number)

    def next_number(self) -> int | None:
        """Return the number of the page to read next; None if the period is covered."""
        if self.within:
            for number in (max(self.within) + 1, min(self.within) - 1):
                if self.newer < number < (self.older or number + 1):
                    return number
            return None
        if self.older is None:
            return 2 * self.newer
        middle = (self.newer + self.older) // 2
        return middle if middle > self.newer else None


class ListingSearch:
    """Listings of a site, whose further pages are searched for the articles of a *period*."""

    def __init__(self, period: Period, address: SiteAddress, seen: SeenPages) -> None:
        self._period = period
        self._address = address
        self._seen = seen
        #: listings (None: with cursors) and page numbers by page key, the first pages excepted
        self._pages: dict[str, tuple[ListingPages | None, int]] = {}
        #: undated listings in order of time, less those that were not, by role
        self.order_scores: Counter[Role] = Counter()

    def is_further_page(self, target: Target) -> bool:
        """Return whether *target* is another page of a listing than the first."""
        return target.key in self._pages

    def is_searched(self, listing: Target, *, goes_on: bool) -> bool:
        """Return whether the undated entries of a page are searched for those of the period.

        *goes_on*: it has further pages; without, a front page is in no order of time. A period
        without an end has the first entries of a listing.
        """
        if self._period.until is None:
            return self._period.since is not None and self.is_further_page(listing)
        return goes_on or not listing.from_site_list

    def next_page(self, listing: Target, following: str | None, place: Place) -> Target | None:
        """Return the page of *listing* to read next, None if it was seen.

        *following*: URL of its next page; *place*: when its articles were published.
        """
        pages, number = self._pages.get(listing.key, (None, 1))
        if pages is None and following and self._address.owns(following):
            pages = ListingPages.of(following)
            if pages is None and place != "older":
                return self._add(listing, following, place, None, number + 1)
        if pages is None:
            return None
        pages.record(number, place)
        following_number = pages.next_number()
        if following_number is None:
            return None
        url = pages.url(following_number)
        return self._add(listing, url, place, pages, following_number)

    def _add(
        self, listing: Target, url: str, place: Place, pages: ListingPages | None, number: int
    ) -> Target | None:
        timestamp = listing.timestamp or (None if place == "undated" else self._period.until)
        page = Target("section", url, listing.depth, timestamp)
        if not self._seen.mark("section", page.key):
            return None
        self._pages[page.key] = pages, number
        return page


def is_cursor(url: str) -> bool:
    """Return whether *url* names the place at which a list goes on, not the number of a page."""
    return _CURSOR.search(url) is not None


def _is_value(url: str, number: re.Match[str]) -> bool:
    """Return whether *number* is the whole value of a parameter of *url*."""
    return url[number.start() - 1] == "=" and url[number.end() : number.end() + 1] in ("", "&", "#")


@dataclass(slots=True)
class SitemapSeries:
    """Sitemaps whose names differ in numbers only: their articles are in order of time."""

    #: by page key, in the order of the index
    targets: dict[str, Target] = field(default_factory=dict)
    #: of those that were requested
    places: dict[str, Place] = field(default_factory=dict)
    #: the sitemap to read next; empty until it is searched
    _next: list[Target | None] = field(default_factory=list)

    def add(self, sitemap: Target) -> None:
        """Add the next *sitemap* of the index."""
        self.targets[sitemap.key] = sitemap
        self._next.clear()

    def record(self, sitemap: Target, place: Place) -> None:
        """Record when the articles of *sitemap* were published."""
        self.places[sitemap.key] = place
        self._next.clear()

    def next_target(self) -> Target | None:
        """Return the sitemap to read next; None if the period is covered."""
        if not self._next:
            self._next.append(self._search())
        return self._next[0]

    def _search(self) -> Target | None:
        """Return the sitemap to read next.

        The neighbours of one within the period, else the middle of where it must be, or may be;
        all sitemaps if those read are in no order.
        """
        keys, found = list(self.targets), []
        order = [_ORDER[place] for key in keys if (place := self.places.get(key)) in _ORDER]
        is_ordered = order in (sorted(order), sorted(order, reverse=True))
        read = [number for number, key in enumerate(keys) if key in self.places]
        for left, right in pairwise([-1, *read, len(keys)]):
            ends = [self.places[keys[n]] for n in (left, right) if 0 <= n < len(keys)]
            known = [place for place in ends if place != "undated"]
            if right - left > 1 and "within" in known:
                found.append((0, 0, left + 1 if left >= 0 and ends[0] == "within" else right - 1))
            elif right - left > 1:
                rank = 1 if len(set(known)) > 1 else len(known) + 1
                found.append((rank, left - right, (left + right) // 2))
        if not found or (min(found)[0] and is_ordered and "within" in self.places.values()):
            return None
        return self.targets[keys[min(found)[2]]]


class SitemapSearch:
    """Series of the sitemaps of a site, searched for the articles of a *period* with an end."""

    def __init__(self, period: Period) -> None:
        self._period = period
        #: by the names of the sitemaps without numbers
        self._series: defaultdict[str, SitemapSeries] = defaultdict(SitemapSeries)

    def of(self, sitemap: Target) -> SitemapSeries:
        """Return the series of *sitemap*."""
        return self._series[re.sub(r"\d+", "#", sitemap.url)]

    def add(self, sitemap: Target) -> None:
        """Add the next *sitemap* of an index."""
        if self._period.until is not None:
            self.of(sitemap).add(sitemap)

    def record(self, sitemap: Target, place: Place) -> None:
        """Record when the articles of *sitemap* were published."""
        self.of(sitemap).record(sitemap, place)

    def preferred(self, sitemap: Target) -> Target:
        """Return the sitemap to read in place of *sitemap*, the first in the queue."""
        found = self.of(sitemap).next_target() if self._may_be_elsewhere(sitemap) else None
        return found or sitemap

    def is_covered(self, sitemap: Target) -> bool:
        """Return whether *sitemap* was read, or has no articles of the period."""
        series = self.of(sitemap)
        is_known = self._may_be_elsewhere(sitemap) and series.next_target() is None
        return sitemap.key in series.places or is_known

    def _may_be_elsewhere(self, sitemap: Target) -> bool:
        """Return whether the time of *sitemap*, if it has one, says little of its articles."""
        is_late = sitemap.timestamp is None or self._period.is_after(sitemap.timestamp)
        return self._period.until is not None and is_late


class Sample(NamedTuple):
    """The date of a story in seconds, and why it is outside of the period; None if it is not."""

    time: float
    reason: str | None


async def search_stories(
    size: int, first: int, read: Callable[[int], Awaitable[Sample | None]]
) -> list[str | None] | None:
    """Search *size* stories in order of time, rising or falling, for those of a period.

    *first*: samples that show the order; *read* returns that of a story, None if it has no date.
    Returns the reasons of all stories, None for a few next to the period, too; None without order.
    """
    samples: dict[int, Sample] = {}
    tried: set[int] = set()
    first = min(first, size // MIN_DISTANCE)
    numbers = [(size - 1) * number // (first - 1) for number in range(first) if first > 2]
    while numbers:
        for number in numbers:
            tried.add(number)
            is_dated = False
            for step in _STEPS if 2 * number < size else (-step for step in _STEPS):
                other = number + step
                if other in samples or not 0 <= other < size or not (found := await read(other)):
                    continue
                is_dated = True
                # The date of a page may be wrong.
                if len(tried) <= first or _are_ordered({**samples, other: found}):
                    samples[other] = found
                    break
            else:
                if is_dated:
                    return None
        if len(samples) <= first // 2 or not _are_ordered(samples):
            return None
        numbers = [
            middle
            for left, right in pairwise(sorted(samples))
            if samples[left].reason != samples[right].reason and right - left > MIN_DISTANCE
            if (middle := (left + right) // 2) not in tried
        ]
    if not samples:
        return None
    return _reasons(samples, size)


def _reasons(samples: dict[int, Sample], size: int) -> list[str | None]:
    """Return the reasons of *size* stories, those between *samples* included."""
    ends = [samples[min(samples)], samples[max(samples)]]
    if len({sample.reason for sample in samples.values()}) == 1:
        ends = [Sample(0, None)] * 2  # the period may begin or end between a sample and an end
    samples = {**samples, -1: ends[0], size: ends[1]}
    reasons: list[str | None] = []
    for left, right in pairwise(sorted(samples)):
        same = samples[left].reason == samples[right].reason
        between = samples[left].reason if same else None
        reasons += [between] * (right - left - 1) + [samples[right].reason]
    return reasons[:-1]


def _are_ordered(samples: dict[int, Sample]) -> bool:
    """Return whether the times of *samples* rise or fall, but for a tenth of their span."""
    times = [samples[number].time for number in sorted(samples)]
    span = times[-1] - times[0]
    slack = max(abs(span) / 10, _DAY)
    return all((b - a) * (1 if span > 0 else -1) >= -slack for a, b in pairwise(times))
