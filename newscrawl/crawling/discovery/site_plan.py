"""Plan of a site: the requests it still needs, newest articles first, within its budgets.

Without network access and Scrapy: the spider requests the next targets and reports the results.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from newscrawl.crawling.discovery.entries import Entry
from newscrawl.crawling.discovery.listing_entries import date_timestamp
from newscrawl.crawling.discovery.paging import ListingSearch, SitemapSearch
from newscrawl.crawling.discovery.period import ANY_TIME, Period, archive_span
from newscrawl.crawling.discovery.seen_pages import SeenPages
from newscrawl.crawling.discovery.site_address import SiteAddress
from newscrawl.crawling.discovery.target import (
    Budgets,
    KnownSource,
    RemainingArticles,
    RequestBudget,
    Role,
    Target,
    TargetQueue,
)
from newscrawl.crawling.urls import page_key
from newscrawl.fields.kind.link_classifier import date_in_url, may_be_article
from newscrawl.items import LISTED

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from newscrawl.crawling.discovery.paging import Place
    from newscrawl.crawling.discovery.site_list import Site
    from newscrawl.crawling.frontier.leases import FinishedRequest


NO_ANSWER = frozenset({"address", "connection", "dns", "proxy", "robots_unreachable", "timeout"})
"""Reasons of failures without an answer of the site, as are errors of its server."""
#: the protocol has no indexes of indexes, but some sites have
MAX_SITEMAP_DEPTH = 5
MIN_AFTER = 20
"""Articles changed after the period that are requested in any case."""
MIN_SITEMAP_RATE = 1 / (7 * 24 * 3600)
"""New articles per second that make a known sitemap be read with the feeds."""
MAX_TARGETS = 20_000
"""Pages and sources of a site whose limit of articles is less than a tenth; others are left out."""
MAX_LISTS = 5
"""Lists among the pages of a directory without articles, after which no others are requested."""
MAX_IN_PIPELINES = 6
"""Pages in the item pipelines from which no others are requested, since they are in memory."""
USUAL_SITEMAPS = ("/sitemap.xml", "/sitemap_index.xml", "/news-sitemap.xml", "/wp-sitemap.xml")
"""Sitemaps of sites that name none, in the order of trial: the first that can be read is used."""
USUAL_FEEDS = (
    "/feed/", "/rss.xml", "/rss", "/feed.xml", "/atom.xml", "/index.xml", "/spip.php?page=backend",
)  # fmt: skip
"""Feeds of sites that link to none and where nothing lists an article, in the order of trial."""


class SitePlan:
    """The fetch targets of one site.

    Their order:

    1. known feeds, and sitemaps that list new articles; robots.txt and the pages of the site list;
       if these redirect to another domain, its URLs are accepted, too;
    2. feeds and sitemaps of the site list, and feeds that pages link to;
    3. discovered sitemaps, one at a time, while they may list newer articles than the candidates;
    4. articles, newest first;
    5. discovered section pages, one at a time, if there are too few articles;
    6. revisits, newest first.

    Steps 3 to 6 wait until no source is in flight, so that the newest articles are fetched first.
    A plan waits for its own requests and pages only.
    Each URL is returned once, except a section page that a feed then lists as an article.

    *known*: sources of previous crawls by role and page key; those that are not due are skipped.

    *period*: when wanted articles were published. A page that was changed later may be of the
    period, too: of these, only a tenth as many as of the period are requested.

    A page of the site list that failed last is requested in every crawl. If one answers again, all
    sources that failed are due. If no request gets an answer, only the site list is requested.
    """

    def __init__(
        self,
        site: Site,
        budgets: Budgets,
        known: Mapping[tuple[Role, str], KnownSource] = MappingProxyType({}),
        period: Period = ANY_TIME,
        remaining: RemainingArticles | None = None,
    ) -> None:
        self.site = site
        self.period = period
        self.requests = RequestBudget(budgets, remaining or RemainingArticles())
        self.address = SiteAddress(site.key)
        self.seen = SeenPages((site.url, *site.sections), max(MAX_TARGETS, 10 * budgets.articles))
        self._known = known
        #: sources that no former crawl has found, to be stored
        self.new_sources: list[Target] = []
        #: number of known sources that are not due, by role
        self.not_due: Counter[Role] = Counter()
        #: known sources that failed last and are not due
        self._failing: list[Target] = []
        self.listings = ListingSearch(period, self.address, self.seen)
        self.series = SitemapSearch(period)
        #: reason why the last source of the site list failed
        self.failure: str | None = None
        #: a source other than robots.txt was read, or an article
        self.is_read = False
        #: candidates without a date, if a period was asked for
        self.undated = 0
        #: whether the site answered in this crawl
        self._answered = False
        #: sources of the site list, and discovered feeds
        self._first: deque[Target] = deque()
        self._sitemaps, self._sections = TargetQueue(period), TargetQueue(period)
        self._articles, self._revisits = TargetQueue(period), TargetQueue(period)
        #: requests of articles within the period, of those that were changed after it, of revisits
        self._within = self._after = self._revisited = 0
        #: lists by directory, fewer than none if it has articles
        self._lists: defaultdict[str, float] = defaultdict(float)
        #: pages that may be further pages of stories, with the keys of these
        self._parts: list[tuple[str, Target]] = []
        self._usual_feeds = deque(USUAL_FEEDS)
        self._add_site_list()

    def _add_site_list(self) -> None:
        site = self.site
        self._add_listed("robots", urljoin(site.url, "/robots.txt"))
        for url in (site.url, *site.sections):
            self._add_listed("section", url)
        for url in site.feeds:
            self._add_listed("feed", url)
        for url in site.sitemaps:
            self._add_listed("sitemap", url)
        # Archive pages at the usual addresses; they are not stored as sources.
        for month, end in self.period.months():
            archive = Target("section", urljoin(site.url, f"/{month}/"), 1, end)
            if self.seen.mark("section", archive.key):
                self._queue(archive)

    @property
    def candidate_count(self) -> int:
        """Number of articles that have not been fetched."""
        return len(self._articles) + len(self._revisits)

    @property
    def skip_reason(self) -> str:
        """Reason for skipping the candidates: ``unreachable``, ``over_limit``, ``over_budget``."""
        if self._is_unreachable:
            return "unreachable"
        return "over_limit" if self.requests.is_full else "over_budget"

    @property
    def _is_unreachable(self) -> bool:
        return self.failure is not None and _is_silent(self.failure) and not self._answered

    def record_read(self, target: Target) -> None:
        """Record that *target* was read, or has not changed."""
        self._answered |= not target.is_remembered
        self.is_read |= target.role != "robots"
        if target.role != "article" and target.history.get("failures"):
            failing, self._failing = self._failing, []
            for source in failing:
                self.not_due[source.role] -= 1
                self._queue(source)

    def record_failure(self, target: Target, reason: str) -> None:
        """Record that *target* could not be fetched or read."""
        if self.listings.is_further_page(target):
            self.add_pages(target, None, "older")
        silent = _is_silent(reason)
        self._answered |= not silent and not target.is_remembered
        if target.role != "article" and (silent or target.is_start):
            self.failure = reason
        is_missing = target.role == "sitemap" and reason.startswith(("http_4", "unreadable"))
        if (is_missing and not target.depth) or (target.role == "robots" and not silent):
            self.add_default_sitemap(target.url)

    def record_kind(self, target: Target, *, is_list: bool) -> None:
        """Record that the page of *target*, a candidate, is a list or an article."""
        self._lists[_directory(target)] += 1 if is_list else float("-inf")

    def _is_likely_list(self, target: Target) -> bool:
        """Return whether *target* has no address of an article, in a directory of lists."""
        is_among_lists = self._lists.get(_directory(target), 0) >= MAX_LISTS
        return is_among_lists and not target.certain and not may_be_article(target.url)

    def _add_listed(self, role: Role, url: str) -> None:
        self._add_source(Target(role, url, from_site_list=True))

    def _add_source(self, target: Target) -> None:
        """Add *target*, unless it was seen before or is not due."""
        if not self.seen.mark(target.role, target.key):
            return
        if known := self._known.get((target.role, target.key)):
            target = replace(target, history=known.history)
            failed = bool(known.history.get("failures"))
            if not known.is_due(target.timestamp) and not (failed and target.is_start):
                self.not_due[target.role] += 1
                self._failing += [target] if failed else []
                self.count_known(target.history)
                return
        else:
            self.new_sources.append(target)
        self._queue(target)

    def _queue(self, target: Target) -> None:
        rate = target.history.get("rate", 0) if self.period.until is None else 0
        if rate and (
            target.role == "feed" or (target.role == "sitemap" and rate >= MIN_SITEMAP_RATE)
        ):
            # Read before pages, whose links have no dates; sitemaps, which have changes, first.
            sitemaps = sum(other.role == "sitemap" for other in self._first)
            self._first.insert(0 if target.role == "sitemap" else sitemaps, target)
        elif target.role == "sitemap" and not target.from_site_list:
            self._sitemaps.push(target)
            self.series.add(target)
        elif target.role == "section" and not target.from_site_list:
            self._sections.push(target)
        else:
            self._first.append(target)

    def count_known(self, history: Mapping[str, Any]) -> None:
        """Count the articles of a source that is not read again, by its *history*."""
        self.seen.known_count += history.get("listed", 0)

    def add_domain(self, url: str) -> None:
        """Accept the domain of *url*, the final URL of a listed page."""
        if self.address.add_domain(url):
            self._add_listed("robots", urljoin(url, "/robots.txt"))

    def add_feed(self, url: str, key: str = "") -> None:
        """Add a feed that a page links to, in place of the usual ones."""
        self._usual_feeds.clear()
        self._add_source(Target("feed", url, key=key))

    def add_next_feed(self, url: str) -> None:
        """Add the next page of a feed, if there are too few candidates; it is not stored."""
        feed = Target("feed", url)
        if len(self._articles) < self.requests.missing and self.seen.mark("feed", feed.key):
            self._queue(feed)

    def add_sitemap(
        self, url: str, *, depth: int = 0, timestamp: float | None = None, key: str = ""
    ) -> None:
        """Add a sitemap of robots.txt or of an index, dated by its URL without *timestamp*."""
        if depth > MAX_SITEMAP_DEPTH:
            self.seen.left_out["sitemap_depth"] += 1
            return
        if timestamp is None:
            timestamp = date_timestamp(date_in_url(url))
        self._add_source(Target("sitemap", url, depth, timestamp, key=key))

    def add_source(
        self, role: Role, url: str, *, depth: int, timestamp: float | None, key: str = ""
    ) -> None:
        """Add a source that an index lists, or that a previous crawl found."""
        if role == "robots":
            self.add_domain(url)
        elif role == "feed":
            self.add_feed(url, key)
        elif role == "sitemap":
            self.add_sitemap(url, depth=depth, timestamp=timestamp, key=key)
        elif role == "section":
            self.add_section(Entry(url, key or page_key(url)), depth)

    def add_default_sitemap(self, failed: str) -> None:
        """Add the next one of the usual sitemaps after *failed*, which could not be read.

        *failed* is a robots.txt, also one that names no sitemaps, a sitemap that it names, or one
        of the usual ones. Nothing is added if the site list has sitemaps, or others wait.
        """
        names = ("/robots.txt", *USUAL_SITEMAPS)
        path = urlsplit(failed).path
        place = names.index(path) if path in names else 0
        if place < len(USUAL_SITEMAPS) and not self.site.sitemaps and not self._sitemaps:
            base = failed if path in names else self.site.url
            self.add_sitemap(urljoin(base, names[place + 1]))

    def add_html_listing(self, url: str, depth: int) -> None:
        """Add the page at *url*, named as a sitemap or a feed; errors have the usual names."""
        if urlsplit(url).path not in USUAL_SITEMAPS:
            self.add_section(Entry(url, page_key(url)), depth)

    def add_section(self, entry: Entry, depth: int) -> None:
        """Add a section page that a page links to, or an archive page of the period."""
        timestamp = entry.timestamp if self.period.until is not None else None
        if timestamp is not None or archive_span(entry.url):
            depth = min(depth, self.requests.limits.depth)
        if depth > self.requests.limits.depth:
            return
        self._add_source(Target("section", entry.url, depth, timestamp, key=entry.key))

    def add_pages(self, target: Target, following: str | None, place: Place) -> None:
        """Add the page of the listing *target* to read next.

        *following*: URL of its next page; *place*: when its articles were published.
        """
        if page := self.listings.next_page(target, following, place):
            self._queue(page)

    def exclude(self, keys: Iterable[str]) -> None:
        """Request no page with one of *keys*, which a listing dates outside of the period."""
        if self.period != ANY_TIME:
            self.seen.outside.update(islice(keys, self.seen.limit - len(self.seen.outside)))

    def add_article(self, entry: Entry, *, depth: int = 0, certain: bool = False) -> bool:
        """Add an article with its ``history``, if any; return False if it was known.

        So it is for what may be a further page of another entry, until :meth:`release_parts`.
        """
        history = entry.history
        if entry.timestamp is None and entry.key in self.seen.outside:
            return False
        if not self.seen.add_article(entry.key, confirmed=certain or "hash" in history):
            return False
        hints = dict(entry.hints)
        if self.site.language:
            hints.setdefault("language", self.site.language)
        if certain:
            hints[LISTED] = "yes"
        target = Target(
            "article",
            entry.url,
            depth,
            entry.timestamp,
            certain=certain,
            hints=hints,
            history=history,
            key=entry.key,
        )
        if entry.story and not target.is_revisit:
            self._parts.append((entry.story, target))
            return False
        self._push(target)
        return True

    def _push(self, target: Target) -> None:
        (self._revisits if target.is_revisit else self._articles).push(target)
        self.undated += target.timestamp is None and self.period.until is not None

    def release_parts(self, joined: Container[str]) -> tuple[int, list[tuple[str, str]]]:
        """Add the pages that may be further pages of stories, now that these have been read.

        Not if the key of the page or of its story is in *joined*. Return the number of pages added,
        and the keys of the others, each after that of its story.
        """
        parts, self._parts = self._parts, []
        inside = [(s, target.key) for s, target in parts if s in joined or target.key in joined]
        for target in (t for s, t in parts if s not in joined and t.key not in joined):
            self._push(target)
        return len(parts) - len(inside), inside

    def resume(self, finished: Iterable[FinishedRequest]) -> None:
        """Restore the budgets after an interruption, from the *finished* requests of the crawl.

        Their articles are not fetched again. Pending sources and pages come from the crawl's state.
        """
        site = self.site
        listed = {page_key(url) for url in (site.url, *site.sections, *site.feeds, *site.sitemaps)}
        for role, url, final_url, outcome in finished:
            key = page_key(url)
            self.requests.restore(role, outcome, is_listed=key in listed)
            if role == "article":
                self.seen.restore(key, page_key(final_url))
            elif role == "section" and key in listed:
                self.add_domain(final_url)

    def next_targets(self, sent: int = 0) -> Iterator[tuple[int, Target]]:
        """Yield (ticket, target) pairs to fetch now; close :attr:`requests` when one is done.

        *sent*: number of requests so far, with retries, redirects, robots.txt and style sheets.
        """
        sent += len(self.requests.in_flight)
        while (target := self._next_target(sent)) is not None:
            sent += 1
            yield self.requests.open(target), target

    def _next_target(self, sent: int) -> Target | None:
        if self.requests.is_spent(sent):
            return None
        while self._first and not self._waits(self._first[0]):
            target = self._first.popleft()
            if target.from_site_list or self.requests.allows(target.role):
                return target
        if self.requests.sources_in_flight or self._is_unreachable:
            return None
        if not self._needs_sitemap():
            return self._next_page() or self._usual_feed()
        target = self.series.preferred(self._sitemaps.pop())
        self.series.record(target, "undated")
        return target

    def _waits(self, target: Target) -> bool:
        """Return True while *target* waits for a source in flight.

        A listed feed may use the domain of listed pages. Known sources are read one by one: the
        first that lists an article has the credit.
        """
        others = self.requests.in_flight.values()
        if target.history.get("rate") and any(other.history.get("rate") for other in others):
            return True
        is_listing = target.from_site_list and target.role in ("feed", "sitemap")
        return is_listing and any(
            other.from_site_list and other.role == "section" for other in others
        )

    def _next_page(self) -> Target | None:
        requests = self.requests
        if (
            len(requests.in_flight) >= requests.limits.max_in_flight
            or len(requests.in_pipelines) >= MAX_IN_PIPELINES
        ):
            return None
        if requests.missing > 0 and (target := self._next_article() or self._next_section()):
            return target
        may_revisit = self._revisited < requests.limits.articles and requests.remaining.number > 0
        if self._revisits and may_revisit:
            self._revisited += 1
            return self._revisits.pop()
        return None

    def _next_article(self) -> Target | None:
        while self._articles and not self._section_precedes:
            target = self._articles.pop()
            if self._is_likely_list(target):
                self.seen.left_out["likely_list"] += 1
                continue
            is_after = self.period.is_after(target.timestamp)
            if not is_after or self._after < max(MIN_AFTER, self._within // 10):
                self._after += is_after
                self._within += not is_after
                return target
            self.seen.left_out["changed_later"] += 1
        return None

    def _next_section(self) -> Target | None:
        # Known articles count: a section is read if listings are short, not if news are few.
        while (
            self._sections
            and self.requests.allows("section")
            and self.requests.missing > self.seen.known_count
        ):
            section = self._sections.pop()
            if section.key not in self.seen.articles:
                return section
        return None

    def _usual_feed(self) -> Target | None:
        found = self.requests.in_flight or self.seen.articles or self.seen.known_count
        while self._answered and self._usual_feeds and not found:
            url = urljoin(self.site.url, self._usual_feeds.popleft())
            self._add_source(Target("feed", url))
            if self._first:
                return self._first.popleft()
        return None

    @property
    def _section_precedes(self) -> bool:
        """True if an archive page of the period may list articles before the candidates."""
        if self.period.until is None or not self._sections or not self.requests.allows("section"):
            return False
        first, section = self._articles.peek().timestamp, self._sections.peek().timestamp
        return first is None and section is not None and not self.period.is_after(section)

    def _needs_sitemap(self) -> bool:
        """Return True if the next sitemap may list articles that precede the candidates."""
        missing = self.requests.missing
        while self._sitemaps and self.series.is_covered(self._sitemaps.peek()):
            self._sitemaps.pop()
        if not self._sitemaps or not self.requests.allows("sitemap") or missing <= 0:
            return False
        target = self._sitemaps.peek()
        if len(self._articles) < missing:
            return True
        rank = self.period.rank(target.timestamp)
        needed = self._articles.rank_at(missing)
        return needed == float("inf") or rank < needed


def _is_silent(reason: str) -> bool:
    return reason in NO_ANSWER or reason.startswith("http_5")


def _directory(target: Target) -> str:
    return urlsplit(target.url).path.rstrip("/").rpartition("/")[0]
