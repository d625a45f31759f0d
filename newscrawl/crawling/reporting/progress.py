"""Progress reports: a live line on a terminal, log lines elsewhere, tables at the end."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.status import Status
from rich.table import Table
from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from newscrawl.component import Component
from newscrawl.crawling.reporting.result import CrawlResult
from newscrawl.crawling.site_stats import MAX_DROPPED_PAGES, dropped_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy.crawler import Crawler

    from newscrawl.crawling.site_stats import DroppedPage, SiteCounts

logger = logging.getLogger(__name__)

#: outcomes of pages without an article
_NO_ARTICLE = ("dropped", "failed", "skipped")
#: outcomes that depend on former crawls
_HISTORY = ("known", "unchanged", "not_due", "not_modified")
_LOG_WIDTH = 120
_INTERVAL = 30.0  # seconds between two progress lines in the log
_REFRESH = 0.5  # seconds between two updates of the live line


class _Console(Console):
    """Standard error, or nothing after its reader has gone."""

    def on_broken_pipe(self) -> None:
        """Write nothing more; rich would end the process, in the middle of the event loop."""
        self.quiet = True


class Progress(Component):
    """Extension that reports the progress of a crawl and the results of each site.

    Writes to standard error or the log only, so that a feed can be written to standard output.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._console = _Console(stderr=True)
        # not Console.is_terminal, which FORCE_COLOR sets for logs and notebooks, too
        self._is_live = sys.stderr.isatty()
        if not self._is_live:
            self._console.width = _LOG_WIDTH
        self._status: Status | None = None
        self._loop: Any = None
        crawler.signals.connect(self.open, signals.spider_opened)
        crawler.signals.connect(self.close, signals.spider_closed)
        crawler.signals.connect(self.report, signals.engine_stopped)

    def open(self) -> None:
        """Start the reports."""
        if self._is_live:
            self._status = Status("starting", console=self._console)
            with _log_follows_stderr():
                self._status.start()
        self._loop = create_looping_call(self.update)
        self._loop.start(_REFRESH if self._status else _INTERVAL, now=False)

    def update(self) -> None:
        """Update the live line, or log a progress line."""
        line = progress_line(CrawlResult(self._crawler.stats.get_stats()))
        if self._status:
            self._status.update(line)
        else:
            logger.info("%s", line)

    def close(self) -> None:
        """Stop the reports."""
        if self._loop is not None and self._loop.running:
            self._loop.stop()
        if self._status:
            self.update()  # a short crawl may end before the first update
            with _log_follows_stderr():
                self._status.stop()

    def report(self) -> None:
        """Print the tables of the sites and of the pages dropped for their kind.

        Other spiders than those of newscrawl count neither discovered nor fetched pages.
        """
        stats = self._crawler.stats.get_stats()
        result = CrawlResult(stats)
        has_sites = result.sites and hasattr(self._crawler.spider, "site_stats")
        if has_sites:
            self._console.print(site_table(result.sites))
        if pages := dropped_pages(stats):
            self._console.print(dropped_page_table(pages))
        if has_sites and stats.get("finish_reason") != "shutdown":
            for line in result.lines():
                self._console.print(line, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def _log_follows_stderr() -> Iterator[None]:
    """Redirect log handlers of standard error when rich replaces or restores it.

    Log lines then appear above the live line.
    """
    before = sys.stderr
    yield
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is before:
            handler.setStream(sys.stderr)


def progress_line(result: CrawlResult) -> str:
    """Return the counts of all sites as one line."""
    total = result.total
    numbers = {
        "sites": len(result.sites),
        "discovered": total["discovered"],
        "fetched": total["fetched"],
        "articles": total["article"],
        **{
            name: number
            for name in (*_NO_ARTICLE, "unchanged")
            if (number := total.reasons(name).total())
        },
    }
    return ", ".join(f"{name}: {number}" for name, number in numbers.items())


def site_table(sites: Mapping[str, SiteCounts]) -> Table:
    """Return the table of the sites, with the reasons for pages without an article."""
    table = Table(title="Sites", title_justify="left")
    table.add_column("site", overflow="fold")
    for name in ("discovered", "fetched", "articles"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("no article")
    for site, counts in sites.items():
        numbers = (str(counts[name]) for name in ("discovered", "fetched", "article"))
        # Missing feeds and sitemaps are normal, unless nothing was found.
        found = counts["discovered"] and not counts.failure
        discovery = () if found else ("discovery_failed",)
        names = (*_NO_ARTICLE, *_HISTORY, *discovery, "start_page", "rendering")
        listed = (_listed(counts, name) for name in names)
        table.add_row(site, *numbers, "; ".join(filter(None, listed)))
    return table


def dropped_page_table(pages: Iterable[DroppedPage]) -> Table:
    """Return the table of the *pages* that were dropped for their kind."""
    title = f"Pages dropped for their kind (first {MAX_DROPPED_PAGES} of each site)"
    table = Table(title=title, title_justify="left")
    table.add_column("kind", no_wrap=True)
    table.add_column("confidence", justify="right", no_wrap=True)
    table.add_column("page", overflow="fold")
    for page in pages:
        table.add_row(page.kind, f"{page.confidence:.2f}", page.url)
    return table


def _listed(counts: SiteCounts, name: str) -> str:
    """Return "failed: 2 http_404, 1 timeout" for the name ``failed``, "" without counts."""
    if counts[name]:
        listed = str(counts[name])
    else:
        found = sorted(counts.reasons(name).items())
        listed = ", ".join(f"{number} {reason}" for reason, number in found)
    return listed and f"{name.replace('_', ' ')}: {listed}"
