"""Result of a crawl: new articles, nothing new, nothing due, no article, or no site reached."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from scrapy import signals

from newscrawl.component import Component
from newscrawl.crawling.site_stats import NO_STORY, no_story, reasons, site_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

Result = Literal["articles", "nothing_new", "not_due", "no_article", "unreachable"]

QUERY_STAT = "newscrawl/query"
"""Stat with the query of the crawl in words."""
MAX_NAMED = 5
"""Sites that the closing line names."""
_HISTORY = ("known", "unchanged", "not_due", "not_modified", "dropped/known", "dropped/unchanged")
# Failures of pages that the site has answered in order.
_ANSWERS = frozenset(
    {
        "duplicate",
        "http_404",
        "http_410",
        "not_article",
        "not_html",
        "other_site",
        "redirected_home",
    }
)
_HINTS = {
    "address": "not a public address, see NEWSCRAWL_ALLOWED_ADDRESSES",
    "robots": "forbidden by robots.txt",
    "robots_unreachable": "robots.txt unreachable",
}


def failed_reason(counts: Counter[str]) -> str | None:
    """Return why no page of a site could be fetched, by its *counts*; None if one was."""
    for reason in reasons(counts, "unreachable"):
        return reason
    if counts["fetched"] or counts["article"] or _history(counts):
        return None
    failed = reasons(counts, "failed")
    if not failed or failed.keys() & _ANSWERS:
        return None
    return failed.most_common(1)[0][0]


def _history(counts: Counter[str]) -> int:
    """Return the number of pages and sources that former crawls make unnecessary."""
    return sum(n for name, n in counts.items() if name.startswith(_HISTORY))


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """The result of a crawl, by its stats."""

    kind: Result
    #: number of sites
    sites: int
    #: sites of which no page could be fetched, with the reason
    failed: dict[str, str]
    #: sites that show something else in place of stories, with a description
    no_stories: dict[str, str]
    #: counts of pages and sources that former crawls make unnecessary
    history: dict[str, int]
    #: time when the next source is due
    next_due: str | None
    #: what was asked for, in words; "" if no setting restricts it
    query: str
    articles: int

    @classmethod
    def of(cls, stats: Mapping[str, Any]) -> CrawlResult:
        """Return the result of the crawl with *stats*."""
        sites = site_counts(stats)
        failed = {
            site: reason
            for site, counts in sorted(sites.items())
            if (reason := failed_reason(counts))
        }
        total = sum(sites.values(), Counter[str]())
        history = {
            "articles known": total["known"] + total["dropped/known"],
            "articles checked again, unchanged": reasons(total, "unchanged").total()
            + total["dropped/unchanged"],
            "sources not due": reasons(total, "not_due").total(),
            "sources not modified": reasons(total, "not_modified").total(),
        }
        return cls(
            _kind(sites, failed, total),
            len(sites),
            failed,
            {
                site: f"{found[1]} of {found[2]} pages {NO_STORY[found[0]]}"
                for site, counts in sorted(sites.items())
                if (found := no_story(counts))
            },
            {name: number for name, number in history.items() if number},
            stats.get("newscrawl/state/next_due"),
            stats.get(QUERY_STAT, ""),
            total["article"],
        )

    def lines(self) -> Iterator[str]:
        """Yield the closing lines of the crawl."""
        if self.failed:
            named = [f"{site} ({_HINTS.get(why, why)})" for site, why in self.failed.items()]
            more = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
            first = "Nothing could be fetched. " if self.kind == "unreachable" else ""
            yield (
                f"{first}Sites that failed: {len(named)} of {self.sites}: "
                f"{', '.join(named[:MAX_NAMED])}{more}"
            )
        for site, pages in list(self.no_stories.items())[:MAX_NAMED]:
            yield f"{site}: {pages}"
        asked = f"Asked for: {self.query}. " if self.query else ""
        due = self.next_due
        if self.kind == "not_due":
            yield f"{asked}Nothing is due before {due}; newscrawl crawl --force does not wait"
        elif self.kind == "no_article":
            yield f"{asked}No article was found"
        elif self.history and len(self.failed) < self.sites:
            found = f"Found: {self.articles} articles. " if self.articles else "Nothing new. "
            listed = ", ".join(f"{name}: {number}" for name, number in self.history.items())
            following = f"; next source due {due}" if due else ""
            yield f"{asked}{found}From former crawls: {listed}{following}"
        elif asked and self.articles:
            yield f"{asked}Found: {self.articles} articles"


def _kind(
    sites: Mapping[str, Counter[str]], failed: Mapping[str, str], total: Counter[str]
) -> Result:
    if total["article"]:
        return "articles"
    idle = {
        site
        for site, counts in sites.items()
        if all(name.startswith("not_due/") for name in counts)
    }
    forbidden = {site for site, reason in failed.items() if reason == "robots"}
    if len(failed) > len(forbidden) and len(failed) + len(idle) == len(sites):
        return "unreachable"
    if idle and len(idle) == len(sites):
        return "not_due"
    return "nothing_new" if _history(total) else "no_article"


class UnreachableExit(Component):
    """Extension that makes Scrapy's commands fail if no site could be reached."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self.close, signals.engine_stopped)

    def close(self) -> None:
        """Remove the spider: Scrapy's commands return exit code 1 for a crawler without one."""
        stats = self._crawler.stats.get_stats()
        if stats.get("finish_reason") != "shutdown" and CrawlResult.of(stats).kind == "unreachable":
            # Progress has named the sites.
            logger.info("Nothing could be fetched: exit code 1")
            self._crawler.spider = None
