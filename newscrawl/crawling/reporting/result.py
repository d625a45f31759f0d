"""Result of a crawl: new articles, nothing new, nothing due, no article, or no site reached."""

from __future__ import annotations

import logging
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from scrapy import signals

from newscrawl.component import Component
from newscrawl.crawling.site_stats import NO_STORY, SiteCounts, site_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

Result = Literal["articles", "nothing_new", "not_due", "no_article", "unreachable"]

QUERY_STAT = "newscrawl/query"
"""Stat with the query of the crawl in words."""
MAX_NAMED = 5
"""Sites that the closing line names."""
_HINTS = {
    "address": "not a public address, see NEWSCRAWL_ALLOWED_ADDRESSES",
    "robots": "forbidden by robots.txt",
    "robots_unreachable": "robots.txt unreachable",
}


class CrawlResult:
    """The result of a crawl, by its *stats*."""

    def __init__(self, stats: Mapping[str, Any]) -> None:
        #: counts by site
        self.sites = site_counts(stats)
        #: those of all sites
        self.total = SiteCounts(sum(self.sites.values(), Counter()))
        #: sites of which no page could be fetched, with the reason
        self.failed = {site: why for site, found in self.sites.items() if (why := found.failure)}
        self._next_due = stats.get("newscrawl/state/next_due")
        self._query = stats.get(QUERY_STAT, "")

    @property
    def kind(self) -> Result:
        """The result in one word."""
        if self.total["article"]:
            return "articles"
        idle = sum(counts.is_idle for counts in self.sites.values())
        is_lost = any(reason != "robots" for reason in self.failed.values())
        if is_lost and len(self.failed) + idle == len(self.sites):
            return "unreachable"
        if idle and idle == len(self.sites):
            return "not_due"
        return "nothing_new" if self.total.history else "no_article"

    def _history(self) -> str:
        """Return the counts of what former crawls make unnecessary."""
        total = self.total
        unchanged = total.reasons("unchanged").total() + total["dropped/unchanged"]
        history = {
            "articles known": total["known"] + total["dropped/known"],
            "articles checked again, unchanged": unchanged,
            "sources not due": total.reasons("not_due").total(),
            "sources not modified": total.reasons("not_modified").total(),
        }
        return ", ".join(f"{name}: {number}" for name, number in history.items() if number)

    def lines(self) -> Iterator[str]:
        """Yield the closing lines of the crawl."""
        kind = self.kind
        if self.failed:
            named = [f"{site} ({_HINTS.get(why, why)})" for site, why in self.failed.items()]
            more = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
            first = "Nothing could be fetched. " if kind == "unreachable" else ""
            yield (
                f"{first}Sites that failed: {len(named)} of {len(self.sites)}: "
                f"{', '.join(named[:MAX_NAMED])}{more}"
            )
        lost = ((site, found) for site, counts in self.sites.items() if (found := counts.no_story))
        for site, (outcome, number, pages) in islice(lost, MAX_NAMED):
            yield f"{site}: {number} of {pages} pages {NO_STORY[outcome]}"
        asked = f"Asked for: {self._query}. " if self._query else ""
        due, articles = self._next_due, self.total["article"]
        if kind == "not_due":
            yield f"{asked}Nothing is due before {due}; newscrawl crawl --force does not wait"
        elif kind == "no_article":
            yield f"{asked}No article was found"
        elif (listed := self._history()) and len(self.failed) < len(self.sites):
            new = f"Found: {articles} articles. " if articles else "Nothing new. "
            following = f"; next source due {due}" if due else ""
            yield f"{asked}{new}From former crawls: {listed}{following}"
        elif asked and articles:
            yield f"{asked}Found: {articles} articles"


class UnreachableExit(Component):
    """Extension that makes Scrapy's commands fail if no site could be reached."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self.close, signals.engine_stopped)

    def close(self) -> None:
        """Remove the spider: Scrapy's commands return exit code 1 for a crawler without one."""
        stats = self._crawler.stats.get_stats()
        if stats.get("finish_reason") != "shutdown" and CrawlResult(stats).kind == "unreachable":
            # Progress has named the sites.
            logger.info("Nothing could be fetched: exit code 1")
            self._crawler.spider = None
