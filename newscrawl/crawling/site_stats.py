"""Stats of each site, written and read."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from newscrawl.crawling.logs import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.statscollectors import StatsCollector

_SITE_PREFIX = "newscrawl/site/"
_DROPPED_PAGES = "newscrawl/no_articles"

NO_STORY: Final = {
    "challenge": "show a bot check",
    "consent": "ask for consent",
    "login": "ask for a login",
    "needs_js": "show nothing without scripts",
    "redirected_home": "redirect to the front page",
    "shrunk": "have lost most of their text",
    "soft_404": "say that they are missing, or have the short text of another page",
}
"""Outcomes of pages that a site shows in place of stories, and a verb for the pages."""
_HISTORY = ("known", "unchanged", "not_due", "not_modified", "dropped/known", "dropped/unchanged")
# Failures of pages that the site has answered in order.
_ANSWERS: Final = frozenset(
    {
        "duplicate", "http_404", "http_410", "not_article", "not_html", "other_site",
        "redirected_home",
    }
)  # fmt: skip
MIN_NO_STORY: Final = 3
"""Pages of one such outcome from which a site is reported."""
MAX_DROPPED_PAGES = 5
"""Pages per site that are listed as dropped for their kind."""
_MAX_LISTED = 1000
"""Pages of all sites that are listed."""


class DroppedPage(NamedTuple):
    """A page that was dropped for its kind."""

    site: str
    kind: str
    confidence: float
    url: str


class SiteStats:
    """Stats of each site: ``newscrawl/site/<site>/...``."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats

    def count(self, site: str, name: str, number: int = 1) -> None:
        """Add *number* to the stat *name*: ``fetched_count``, ``failed_count/timeout``, ..."""
        if number:
            self._stats.inc_value(f"{_SITE_PREFIX}{site}/{name}", number)

    def add_dropped_page(self, page: DroppedPage) -> None:
        """List *page*, with secrets in its URL masked, if it is among the first of its site."""
        listed = self._stats.get_value(_DROPPED_PAGES, [])
        on_site = sum(other.site == page.site for other in listed)
        if len(listed) < _MAX_LISTED and on_site < MAX_DROPPED_PAGES:
            masked = page._replace(url=mask_secrets(page.url))
            self._stats.set_value(_DROPPED_PAGES, [*listed, masked])


def dropped_pages(stats: Mapping[str, Any]) -> list[DroppedPage]:
    """Return the listed pages that were dropped for their kind, sorted by site."""
    return sorted(stats.get(_DROPPED_PAGES, ()))


class SiteCounts(Counter[str]):
    """Counts of a site, or of several: ``fetched``, ``failed/timeout``, ..."""

    def reasons(self, outcome: str) -> Counter[str]:
        """Return the counts by reason of an *outcome*: ``failed``, ``dropped``, ``skipped``, ..."""
        prefix = f"{outcome}/"
        found = {n.removeprefix(prefix): c for n, c in self.items() if n.startswith(prefix)}
        return Counter(found)

    @property
    def history(self) -> int:
        """Number of pages and sources that former crawls make unnecessary."""
        return sum(number for name, number in self.items() if name.startswith(_HISTORY))

    @property
    def is_idle(self) -> bool:
        """Whether nothing of the site was due."""
        return all(name.startswith("not_due/") for name in self)

    @property
    def failure(self) -> str | None:
        """Reason why no page of the site could be fetched; None if one was."""
        for reason in self.reasons("unreachable"):
            return reason
        failed = self.reasons("failed")
        is_answer = self["fetched"] or self["article"] or self.history or failed.keys() & _ANSWERS
        return None if is_answer or not failed else failed.most_common(1)[0][0]

    @property
    def no_story(self) -> tuple[str, int, int] | None:
        """The commonest outcome of :data:`NO_STORY`, its number and that of all pages.

        None unless most of at least :data:`MIN_NO_STORY` pages have it.
        """
        failed = self.reasons("failed")
        pages = self["fetched"] + self["unchanged/article"] + failed.total()
        found = failed + self.reasons("dropped")
        outcome = max(NO_STORY, key=found.__getitem__)
        number = found[outcome]
        return (outcome, number, pages) if number >= MIN_NO_STORY and 2 * number > pages else None


def site_counts(stats: Mapping[str, Any]) -> dict[str, SiteCounts]:
    """Return the counts of each site in *stats*, by site."""
    found: dict[str, SiteCounts] = defaultdict(SiteCounts)
    for name, number in stats.items():
        if name.startswith(_SITE_PREFIX):
            site, count = name.removeprefix(_SITE_PREFIX).split("/", 1)
            found[site][count.replace("_count", "", 1)] += number
    return dict(sorted(found.items()))
