"""Frontier of one site: the requests it still needs, newest articles first, within its budgets.

Without network access and Scrapy: the spider requests the next targets and reports the results.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from newscrawl.crawl.discovery.link_classifier import date_in_url
from newscrawl.crawl.discovery.listing_entries import date_timestamp
from newscrawl.crawl.discovery.target import Budgets, KnownSource, Role, Target, TargetQueue
from newscrawl.crawl.discovery.urls import page_key, registered_domain, site_key
from newscrawl.items import LISTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from newscrawl.crawl.discovery.site_list import Site
    from newscrawl.crawl.frontier.lease import FinishedRequest


#: the protocol has no indexes of indexes, but some sites have
MAX_SITEMAP_DEPTH = 3


class SiteFrontier:
    """The fetch targets of one site.

    Their order:

    1. robots.txt and the pages of the site list; if these redirect to another domain, its URLs are
       accepted, too;
    2. feeds and sitemaps of the site list, and feeds that pages link to;
    3. discovered sitemaps, one at a time, while they may list newer articles than the candidates;
    4. articles, newest first;
    5. discovered section pages, one at a time, if there are too few articles;
    6. revisits, newest first.

    Steps 3 to 6 wait until no source is in flight, so that the newest articles are fetched first.
    Each URL is returned once, except a section page that a feed then lists as an article.

    *known*: sources of previous crawls by role and page key; those that are not due are skipped.
    """

    def __init__(
        self,
        site: Site,
        budgets: Budgets,
        known: Mapping[tuple[Role, str], KnownSource] = MappingProxyType({}),
    ) -> None:
        self.site = site
        self.budgets = budgets
        #: registered domains of the site
        self.domains = {registered_domain(site.key)}
        #: requests in flight by ticket, the number of the request
        self.in_flight: dict[int, Target] = {}
        self._sources_in_flight = self._new_in_flight = 0
        #: new article pages passed to the pipelines (without revisits)
        self.accepted = 0
        #: number of known sources that are not due, by role
        self.not_due: Counter[Role] = Counter()
        #: sources that no previous crawl has found, to be stored
        self.new_sources: list[Target] = []
        #: requests not made for a target: retries, redirects, robots.txt, style sheets
        self.extra_requests = 0
        self._tickets = count(1)
        self._requests = 0
        self._requests_by_role: Counter[Role] = Counter()
        self._seen: set[tuple[bool, str]] = set()
        self._article_keys: set[str] = set()
        self._listed_pages = {page_key(url) for url in (site.url, *site.sections)}
        self._final_keys: set[str] = set()
        self._listed: deque[Target] = deque()  # and discovered feeds
        self._sitemaps, self._sections = TargetQueue(), TargetQueue()
        self._articles, self._revisits = TargetQueue(), TargetQueue()
        self._revisited = 0
        self._known = known
        self._known_pages: set[str] = set()
        self._known_count = 0
        self._add_listed("robots", urljoin(site.url, "/robots.txt"))
        for url in (site.url, *site.sections):
            self._add_listed("section", url)
        for url in site.feeds:
            self._add_listed("feed", url)
        for url in site.sitemaps:
            self._add_listed("sitemap", url)

    @property
    def candidate_count(self) -> int:
        """Number of articles that have not been fetched."""
        return len(self._articles) + len(self._revisits)

    @property
    def skip_reason(self) -> str:
        """Reason for skipping the remaining candidates: ``over_limit`` or ``over_budget``."""
        return "over_limit" if self.accepted >= self.budgets.articles else "over_budget"

    def add_domain(self, url: str) -> None:
        """Accept the domain of *url*, the final URL of a listed page."""
        domain = registered_domain(site_key(url))
        if domain not in self.domains:
            self.domains.add(domain)
            self._add_listed("robots", urljoin(url, "/robots.txt"))

    def is_own_url(self, url: str) -> bool:
        """Return True if *url* belongs to this site."""
        return registered_domain(site_key(url)) in self.domains

    def _add_listed(self, role: Role, url: str) -> None:
        if target := self._new_source(Target(role, url, from_site_list=True)):
            self._listed.append(target)

    def _new_source(self, target: Target) -> Target | None:
        """Return *target* with its history; None if it was seen before or is not due."""
        if not self._mark_seen(target.role, target.key):
            return None
        known = self._known.get((target.role, target.key))
        if known is None:
            self.new_sources.append(target)
            return target
        if known.is_due(target.timestamp):
            return replace(target, history=known.history)
        self.not_due[target.role] += 1
        self.count_known(known.history)
        return None

    def count_known(self, history: Mapping[str, Any]) -> None:
        """Count the articles of a source that is not read again, by its *history*."""
        self._known_count += history.get("listed", 0)

    def _mark_seen(self, role: Role, key: str) -> bool:
        """Return True the first time; a feed may have the URL of a page."""
        mark = (role in ("section", "article"), key)
        new = mark not in self._seen
        self._seen.add(mark)
        return new

    def add_feed(self, url: str) -> None:
        """Add a feed that a page links to."""
        if target := self._new_source(Target("feed", url)):
            self._listed.append(target)

    def add_sitemap(self, url: str, *, depth: int = 0, timestamp: float | None = None) -> None:
        """Add a sitemap of robots.txt or of an index, dated by its URL without *timestamp*."""
        if depth > MAX_SITEMAP_DEPTH:
            return
        if timestamp is None:
            timestamp = date_timestamp(date_in_url(url))
        if target := self._new_source(Target("sitemap", url, depth, timestamp)):
            self._sitemaps.push(target)

    def add_source(self, role: Role, url: str, *, depth: int, timestamp: float | None) -> None:
        """Add a source that a previous crawl found."""
        if role == "robots":
            self.add_domain(url)
        elif role == "feed":
            self.add_feed(url)
        elif role == "sitemap":
            self.add_sitemap(url, depth=depth, timestamp=timestamp)
        elif role == "section":
            self.add_section({"url": url, "key": page_key(url)}, depth)

    def add_default_sitemap(self, robots: str) -> None:
        """Add ``/sitemap.xml`` next to the URL *robots*, unless the site list has sitemaps."""
        if not self.site.sitemaps:
            self.add_sitemap(urljoin(robots, "/sitemap.xml"))

    def add_section(self, entry: dict[str, Any], depth: int) -> None:
        """Add a section page that a page links to."""
        if depth > self.budgets.depth:
            return
        if target := self._new_source(Target("section", entry["url"], depth, key=entry["key"])):
            self._sections.push(target)

    def add_article(self, entry: dict[str, Any], *, depth: int = 0, certain: bool = False) -> bool:
        """Add an article with its ``history``, if any; return False if it was known."""
        history = entry.get("history", {})
        if not self._is_new_article(entry["key"], confirmed=certain or "hash" in history):
            return False
        hints = dict(entry["hints"])
        if self.site.language:
            hints.setdefault("language", self.site.language)
        if certain:
            hints[LISTED] = "yes"
        target = Target(
            "article",
            entry["url"],
            depth,
            entry["timestamp"],
            certain=certain,
            hints=hints,
            history=history,
            key=entry["key"],
        )
        (self._revisits if target.is_revisit else self._articles).push(target)
        return True

    def mark_article(self, key: str) -> bool:
        """Mark a section page as an article; return False if it is marked already."""
        new = key not in self._article_keys
        self._article_keys.add(key)
        return new

    def _is_new_article(self, key: str, *, confirmed: bool) -> bool:
        """Return True the first time that a page is added as an article.

        A page that was added as a section must be *confirmed* by a source that lists only articles.
        """
        if key in self._article_keys or key in self._listed_pages:
            return False
        if not self._mark_seen("article", key):
            if not confirmed:
                return False
            self._final_keys.discard(key)
        self._article_keys.add(key)
        return True

    def add_known_pages(self, keys: Iterable[str]) -> int:
        """Count listed pages that are not due; return how many of them this crawl has not seen."""
        new = set(keys) - self._known_pages
        self._known_pages |= new
        self._known_count += len(new)
        return sum((True, key) not in self._seen for key in new)

    def resume(self, finished: Iterable[FinishedRequest]) -> None:
        """Restore the budgets after an interruption, from the *finished* requests of the crawl.

        Their articles are not fetched again. Pending sources and pages come from the crawl's state.
        """
        site = self.site
        listed = {page_key(url) for url in (site.url, *site.sections, *site.feeds, *site.sitemaps)}
        for role, url, final_url, outcome in finished:
            self._requests += 1
            key = page_key(url)
            if role == "article":
                self._seen.add((True, key))
                self._article_keys.add(key)
                self._final_keys.add(page_key(final_url))
                self.accepted += outcome.startswith(("article", "dropped"))
            elif key not in listed:
                self._requests_by_role[role] += 1
            elif role == "section":
                self.add_domain(final_url)

    def add_final_url(self, target: Target, url: str) -> bool:
        """Record the final *url* of *target*; return False if another target had the same."""
        key = target.key_of(url)
        new = key not in self._final_keys
        self._final_keys.add(key)
        return new

    def close(self, ticket: int) -> Target | None:
        """Remove a request that is done and return its target; None if it was removed before."""
        target = self.in_flight.pop(ticket, None)
        if target is not None:
            self._count_in_flight(target, -1)
        return target

    def _count_in_flight(self, target: Target, change: int) -> None:
        self._sources_in_flight += change * (target.role != "article")
        self._new_in_flight += change * (not target.is_revisit)

    def next_targets(self) -> Iterator[tuple[int, Target]]:
        """Yield (ticket, target) pairs to fetch now; call :meth:`close` when one is done."""
        while (target := self._next_target()) is not None:
            self._requests += 1
            if not target.from_site_list:
                self._requests_by_role[target.role] += 1
            ticket = next(self._tickets)
            self.in_flight[ticket] = target
            self._count_in_flight(target, 1)
            yield ticket, target

    def _next_target(self) -> Target | None:
        if self._requests + self.extra_requests >= self.budgets.requests:
            return None
        while self._listed and not self._waits_for_pages(self._listed[0]):
            target = self._listed.popleft()
            if target.from_site_list or self._within_budget(target.role):
                return target
        if self._sources_in_flight:
            return None
        return self._sitemaps.pop() if self._needs_sitemap() else self._next_page()

    def _waits_for_pages(self, target: Target) -> bool:
        """Return True while listed pages are in flight, whose domain a listed feed may use."""
        is_listing = target.from_site_list and target.role in ("feed", "sitemap")
        return is_listing and any(
            other.from_site_list and other.role == "section" for other in self.in_flight.values()
        )

    def _next_page(self) -> Target | None:
        if len(self.in_flight) >= self.budgets.max_in_flight:
            return None
        if self._missing > 0:
            if self._articles:
                return self._articles.pop()
            # Known articles count: a section is read if listings are short, not if news are few.
            while (
                self._sections
                and self._within_budget("section")
                and self._missing > self._known_count
            ):
                section = self._sections.pop()
                if section.key not in self._article_keys:
                    return section
        if self._revisits and self._revisited < self.budgets.articles:
            self._revisited += 1
            return self._revisits.pop()
        return None

    @property
    def _missing(self) -> int:
        """Number of articles below the limit, without those in flight."""
        return self.budgets.articles - self.accepted - self._new_in_flight

    def _within_budget(self, role: Role) -> bool:
        return self._requests_by_role[role] < self.budgets.requests_for(role)

    def _needs_sitemap(self) -> bool:
        """Return True if the next sitemap may list newer articles than the candidates."""
        missing = self._missing
        if not self._sitemaps or not self._within_budget("sitemap") or missing <= 0:
            return False
        if len(self._articles) < missing:
            return True
        newest = self._sitemaps.peek().timestamp
        oldest_needed = self._articles.timestamp_at(missing)
        return oldest_needed is None or (newest is not None and newest > oldest_needed)
