"""What one site has left to fetch: candidates newest first, and the budgets that bound them.

No network and no Scrapy in here: the spider asks what to fetch next and tells what came back.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from newscrawl.crawl.discovery.feed_entries import order_date
from newscrawl.crawl.discovery.link_classifier import date_in_url
from newscrawl.crawl.discovery.newest_queue import Queue
from newscrawl.crawl.discovery.target import Budgets, KnownSource, Role, Target
from newscrawl.crawl.discovery.urls import owner, page_key, site_key
from newscrawl.items import LISTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from newscrawl.crawl.discovery.site_list import Site
    from newscrawl.crawl.frontier.lease import Ended


class SiteFrontier:
    """The requests of one site.

    What the site list gives comes first, with robots.txt; its feeds and sitemaps once the pages are
    back, which may have moved to another domain. Of the sitemaps and section pages found, one at a
    time is read, and only as far as the site's limit asks: the next sitemap while it may hold
    something newer than what is known, the next section while candidates are short. Article pages
    wait until discovery pauses, so that the newest come first; pages that were put out before come
    last. No URL is handed out twice, but for a section page that a listing then names as an article.

    *known*: sources of former crawls by role and page key; those that are not due rest.
    """

    def __init__(
        self,
        site: Site,
        budgets: Budgets,
        known: Mapping[tuple[Role, str], KnownSource] = MappingProxyType({}),
    ) -> None:
        self.site = site
        self.budgets = budgets
        #: registered domains that count as this site
        self.owners = {owner(site.key)}
        #: requests in flight
        self.open: dict[int, Target] = {}
        #: of these, those that are no articles, and those that were not put out before
        self._sources_open = self._new_open = 0
        #: article pages handed on, those not counted that were put out before
        self.taken = 0
        #: sources that are not due, by role
        self.resting: Counter[Role] = Counter()
        #: sources that no former crawl knows, until somebody writes them down
        self.found: list[Target] = []
        #: requests made beside the targets: retries, redirects, robots.txt, style sheets
        self.extra = 0
        self._tickets = count(1)
        self._requests = 0
        self._spent: dict[Role, int] = {}
        self._seen: set[tuple[bool, str]] = set()
        #: of ``_seen`` pages those that are articles, as far as is known
        self._as_articles: set[str] = set()
        self._given_pages = {page_key(url) for url in (site.url, *site.sections)}
        self._arrived: set[str] = set()
        self._given: deque[Target] = deque()
        self._sitemaps, self._sections, self._articles = Queue(), Queue(), Queue()
        self._revisits = Queue()
        self._revisited = 0
        self._known = known
        self._known_pages: set[str] = set()
        self._named = 0
        self._give("robots", urljoin(site.url, "/robots.txt"))
        for role, urls in (
            ("section", (site.url, *site.sections)),
            ("feed", site.feeds),
            ("sitemap", site.sitemaps),
        ):
            for url in urls:
                self._give(role, url)  # type: ignore[arg-type]

    def move(self, url: str) -> None:
        """Take the domain of *url*, where a listed page was, as the site's own, too."""
        domain = owner(site_key(url))
        if domain not in self.owners:
            self.owners.add(domain)
            self._give("robots", urljoin(url, "/robots.txt"))

    def _give(self, role: Role, url: str) -> None:
        if target := self._source(Target(role, url, given=True)):
            self._given.append(target)

    def _source(self, target: Target) -> Target | None:
        """Return *target*, with its past; None where it was handed out, or rests."""
        if not self._is_new(target.role, target.key):
            return None
        known = self._known.get((target.role, target.key))
        if known is None:
            self.found.append(target)
            return target
        if known.is_due(target.when):
            return replace(target, past=known.past)
        self.resting[target.role] += 1
        self.add_named(known.past)
        return None

    def add_named(self, past: Mapping[str, Any]) -> None:
        """Count the pages that a source named which is not read again, by its *past*."""
        self._named += past.get("listed", 0)

    def _is_new(self, role: Role, key: str) -> bool:
        # A page is fetched once, as section or as article; a feed may share its address.
        mark = (role in ("section", "article"), key)
        new = mark not in self._seen
        self._seen.add(mark)
        return new

    @property
    def waiting(self) -> int:
        """Candidates that were not fetched (yet)."""
        return len(self._articles) + len(self._revisits)

    @property
    def end(self) -> str:
        """Why candidates were left: ``over_limit`` of articles or ``over_budget`` of requests."""
        return "over_limit" if self.taken >= self.budgets.articles else "over_budget"

    def add_feed(self, url: str) -> None:
        """Add a feed that a page links."""
        if target := self._source(Target("feed", url)):
            self._given.append(target)

    def add_sitemap(self, url: str, *, depth: int = 0, when: float | None = None) -> None:
        """Add a sitemap that robots.txt or an index names; its name may tell its month."""
        dated = when if when is not None else order_date(date_in_url(url))
        if target := self._source(Target("sitemap", url, depth, dated)):
            self._sitemaps.push(target)

    def add_source(self, role: Role, url: str, *, depth: int, when: float | None) -> None:
        """Add a source that a former crawl has found."""
        if role == "robots":
            self.move(url)
        elif role == "feed":
            self.add_feed(url)
        elif role == "sitemap":
            self.add_sitemap(url, depth=depth, when=when)
        elif role == "section":
            self.add_section({"url": url, "key": page_key(url)}, depth)

    def guess_sitemap(self, robots: str) -> None:
        """Add the ``/sitemap.xml`` beside the URL *robots*, of a site that names no sitemap there."""
        if not self.site.sitemaps:
            self.add_sitemap(urljoin(robots, "/sitemap.xml"))

    def add_section(self, entry: dict[str, Any], depth: int) -> None:
        """Add a section page that a page links to."""
        if depth > self.budgets.depth:
            return
        if target := self._source(Target("section", entry["url"], depth, key=entry["key"])):
            self._sections.push(target)

    def add_article(self, entry: dict[str, Any], *, depth: int = 0, certain: bool = False) -> bool:
        """Add a candidate, with its ``past`` where it has one; return False where it was added."""
        past = entry.get("past", {})
        if not self._is_candidate(entry["key"], known_as_article=certain or "hash" in past):
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
            entry["when"],
            certain=certain,
            hints=hints,
            past=past,
            key=entry["key"],
        )
        (self._revisits if target.is_revisit else self._articles).push(target)
        return True

    def claim(self, key: str) -> bool:
        """Note that a section page is an article; return False where that was known before."""
        new = key not in self._as_articles
        self._as_articles.add(key)
        return new

    def _is_candidate(self, key: str, *, known_as_article: bool) -> bool:
        """Return True for the first time that a page is named as an article.

        A section page is not, unless a source that lists nothing but articles says so: the URLs and
        short links of some articles look like a section's.
        """
        if key in self._as_articles or key in self._given_pages:
            return False
        if not self._is_new("article", key):
            if not known_as_article:
                return False
            self._arrived.discard(key)
        self._as_articles.add(key)
        return True

    def add_known(self, keys: Iterable[str]) -> int:
        """Note pages that are listed and not to be fetched; return how many former crawls know.

        Those that this crawl fetched itself are listed again, too, and do not count.
        """
        new = set(keys) - self._known_pages
        self._known_pages |= new
        self._named += len(new)
        return sum((True, key) not in self._seen for key in new)

    def resume(self, ended: Iterable[Ended]) -> None:
        """Take up a crawl that was interrupted, in which requests have *ended*.

        Their articles are not fetched again, and the site's budgets are what is left of them.
        What else there is to do, the tables of pages and sources tell.
        """
        site = self.site
        listed = {page_key(url) for url in (site.url, *site.sections, *site.feeds, *site.sitemaps)}
        for role, url, final_url, outcome in ended:
            self._requests += 1
            key = page_key(url)
            if role == "article":
                self._seen.add((True, key))
                self._as_articles.add(key)
                self._arrived.add(page_key(final_url))
                self.taken += outcome.startswith(("article", "dropped"))
            elif key not in listed:
                self._spent[role] = self._spent.get(role, 0) + 1
            elif role == "section":
                self.move(final_url)

    def owns(self, url: str) -> bool:
        """Return True for a URL of this site."""
        return owner(site_key(url)) in self.owners

    def arrived(self, target: Target, url: str) -> bool:
        """Note the final *url* of *target*; return False where a page came from there before."""
        key = target.key_of(url)
        new = key not in self._arrived
        self._arrived.add(key)
        return new

    def close(self, ticket: int) -> Target | None:
        """Settle a request and return its target; None where it is settled already."""
        target = self.open.pop(ticket, None)
        if target is not None:
            self._count_open(target, -1)
        return target

    def _count_open(self, target: Target, change: int) -> None:
        self._sources_open += change * (target.role != "article")
        self._new_open += change * (not target.is_revisit)

    def next_targets(self) -> Iterator[tuple[int, Target]]:
        """Yield (ticket, target) of what should be fetched now; each must be closed later."""
        while (target := self._next()) is not None:
            self._requests += 1
            if not target.given:
                self._spent[target.role] = self._spent.get(target.role, 0) + 1
            ticket = next(self._tickets)
            self.open[ticket] = target
            self._count_open(target, 1)
            yield ticket, target

    def _next(self) -> Target | None:
        if self._requests + self.extra >= self.budgets.requests:
            return None
        while self._given and not self._awaits_pages(self._given[0]):
            target = self._given.popleft()
            if target.given or self._affords(target.role):
                return target
        if self._sources_open:
            return None
        return self._sitemaps.pop() if self._wants_sitemap() else self._next_page()

    def _awaits_pages(self, target: Target) -> bool:
        # What these list may be on the domain that the listed page has moved to.
        is_list = target.given and target.role in ("feed", "sitemap")
        return is_list and any(one.given and one.role == "section" for one in self.open.values())

    def _next_page(self) -> Target | None:
        if len(self.open) >= self.budgets.window:
            return None
        if self._missing > 0:
            if self._articles:
                return self._articles.pop()
            # Known articles count: a section is read where listings name few, not few new ones.
            while self._sections and self._affords("section") and self._missing > self._named:
                section = self._sections.pop()
                if section.key not in self._as_articles:
                    return section
        if self._revisits and self._revisited < self.budgets.articles:
            self._revisited += 1
            return self._revisits.pop()
        return None

    @property
    def _missing(self) -> int:
        """Article pages that the site's limit asks for beside those in flight."""
        return self.budgets.articles - self.taken - self._new_open

    def _affords(self, role: Role) -> bool:
        return self._spent.get(role, 0) < self.budgets.of(role)

    def _wants_sitemap(self) -> bool:
        # Only articles can be in flight here: the spider waits for everything else.
        missing = self._missing
        if not self._sitemaps or not self._affords("sitemap") or missing <= 0:
            return False
        if len(self._articles) < missing:
            return True
        newest, needed = self._sitemaps.first().when, self._articles.date_of(missing)
        return needed is None or (newest is not None and newest > needed)
