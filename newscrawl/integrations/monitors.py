"""Monitors for spidermon (extra ``newscrawl[spidermon]``): silent sites, failures, lost confidence."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any

from spidermon import MonitorSuite
from spidermon.contrib.scrapy.monitors import BaseScrapyMonitor

from newscrawl.crawl.reporting.outcomes import CONFIDENCE_PREFIX, site_counts
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_KNOWN = frozenset({"article", "known", "unchanged", "not_due", "not_modified"})
"""Parts of the stats of a site that works, if only with articles of earlier crawls."""
MIN_ARTICLES = 3
"""Minimum number of articles of a site whose confidence is compared."""


class SilentSiteMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """Each site has articles, new ones or those of earlier crawls."""

    def test_each_site_has_articles(self) -> None:
        """Fail if a site has none."""
        listed = getattr(self.data.spider, "frontiers", ())
        silent = silent_sites(self.data.stats, listed)
        if silent:
            self.fail(f"Sites without articles: {', '.join(silent)}")


class FailureMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """The share of failed pages is at most ``NEWSCRAWL_MONITOR_FAILURES``."""

    def test_few_pages_failed(self) -> None:
        """Fail if too many pages could not be fetched or extracted."""
        maximum = setting(self.data.crawler.settings, "NEWSCRAWL_MONITOR_FAILURES")
        reasons, pages = failed_pages(self.data.stats)
        failed = reasons.total()
        listed = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        if failed > maximum * pages:
            self.fail(f"{failed} of {pages} pages failed: {listed}")


class ConfidenceMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """The body confidence of each site fell by at most ``NEWSCRAWL_MONITOR_CONFIDENCE``.

    The comparison is with the median of earlier crawls, as kept by spidermon's
    ``LocalStorageStatsHistoryCollector``. A lower confidence often means a new page template.
    """

    def test_confidence_did_not_drop(self) -> None:
        """Fail if the mean of a site is lower than in earlier crawls."""
        maximum = setting(self.data.crawler.settings, "NEWSCRAWL_MONITOR_CONFIDENCE")
        drops = confidence_drops(self.data.stats, self.data.stats_history)
        found = [
            f"{site} from {before:.2f} to {now:.2f}"
            for site, (before, now) in drops.items()
            if before - now > maximum
        ]
        if found:
            self.fail(f"Confidence dropped: {', '.join(found)}")


class NewscrawlMonitorSuite(MonitorSuite):  # type: ignore[misc]
    """All monitors of this module, for ``SPIDERMON_SPIDER_CLOSE_MONITORS``."""

    monitors = [SilentSiteMonitor, FailureMonitor, ConfidenceMonitor]  # noqa: RUF012


def silent_sites(stats: Mapping[str, Any], listed: Sequence[str] = ()) -> list[str]:
    """Return the sites in *stats*, and of those in *listed*, that have no known article."""
    counts = {site: Counter[str]() for site in listed} | site_counts(stats)
    return sorted(
        site
        for site, names in counts.items()
        if not any(_KNOWN.intersection(name.split("/")) for name in names)
    )


def failed_pages(stats: Mapping[str, Any]) -> tuple[Counter[str], int]:
    """Return the article pages that failed, by reason, and the number of all in *stats*."""
    totals = sum(site_counts(stats).values(), Counter[str]())
    reasons = Counter(
        {
            name.rpartition("/")[2]: count
            for name, count in totals.items()
            if name.startswith("failed/")
        }
    )
    reasons["extraction"] += totals["dropped/failed"]
    pages = [name for name in totals if name.startswith(("article", "dropped/", "failed/"))]
    return +reasons, sum(totals[name] for name in pages)


def confidence_drops(
    stats: Mapping[str, Any], history: Sequence[Mapping[str, Any]]
) -> dict[str, tuple[float, float]]:
    """Return median confidence of the crawls in *history*, and that of *stats*, by site."""
    earlier: dict[str, list[float]] = {}
    for crawl in history:
        for site, confidence in _confidences(crawl).items():
            earlier.setdefault(site, []).append(confidence)
    return {
        site: (median(earlier[site]), confidence)
        for site, confidence in sorted(_confidences(stats).items())
        if site in earlier
    }


def _confidences(stats: Mapping[str, Any]) -> dict[str, float]:
    counts = site_counts(stats)
    return {
        site: stats[f"{CONFIDENCE_PREFIX}{site}"]
        for site in counts
        if counts[site]["article"] >= MIN_ARTICLES
    }
