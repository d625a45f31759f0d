"""Progress of a crawl: a live line on a terminal, log lines elsewhere, a table at the end."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.status import Status
from rich.table import Table
from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from newscrawl.crawl.reporting.outcomes import MAX_NO_ARTICLES, no_articles, site_counts
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Self

    from scrapy.crawler import Crawler

    from newscrawl.crawl.reporting.outcomes import NoArticle

logger = logging.getLogger(__name__)

#: how candidates end that give no article
_ENDS = ("dropped", "failed", "skipped")
#: how former crawls explain that less is fetched
_KNOWN = ("known", "unchanged", "not_due", "not_modified")
_LOG_WIDTH = 120
_REFRESH = 0.5  # seconds between two states of the live line


class Progress:
    """Extension: tells how far the crawl is, and at its end how each site went.

    Everything goes to standard error, or to the log, so that a feed on standard output stays
    clean.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._console = Console(stderr=True)
        if not self._console.is_terminal:
            self._console.width = _LOG_WIDTH
        self._status: Status | None = None
        self._interval = setting(crawler.settings, "NEWSCRAWL_PROGRESS_INTERVAL")
        self._loop: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension, connected to the crawl."""
        extension = cls(crawler)
        crawler.signals.connect(extension.open, signals.spider_opened)
        crawler.signals.connect(extension.close, signals.spider_closed)
        crawler.signals.connect(extension.report, signals.engine_stopped)
        return extension

    def open(self) -> None:
        """Begin to tell."""
        if self._console.is_terminal:
            self._status = Status("starting", console=self._console)
            with _log_follows_stderr():
                self._status.start()
        self._loop = create_looping_call(self.tell)
        self._loop.start(_REFRESH if self._status else self._interval, now=False)

    def tell(self) -> None:
        """Tell how far the crawl is."""
        line = progress_line(self._stats)
        if self._status:
            self._status.update(line)
        else:
            logger.info("%s", line)

    def close(self) -> None:
        """Stop telling."""
        if self._loop is not None and self._loop.running:
            self._loop.stop()
        if self._status:
            self.tell()  # a short crawl may end before the first turn
            with _log_follows_stderr():
                self._status.stop()

    def report(self) -> None:
        """Write the tables of the sites and of the pages dropped for their kind."""
        if sites := site_counts(self._stats):
            self._console.print(site_table(sites))
        if pages := no_articles(self._stats):
            self._console.print(no_article_table(pages))
        if line := memory_line(self._stats):
            self._console.print(line)

    @property
    def _stats(self) -> dict[str, Any]:
        return dict(self._crawler.stats.get_stats())


@contextmanager
def _log_follows_stderr() -> Iterator[None]:
    """Let log handlers on standard error follow it, while rich puts its own in place or back.

    Log lines then appear above the live line, not in it.
    """
    before = sys.stderr
    yield
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is before:
            handler.setStream(sys.stderr)


def progress_line(stats: Mapping[str, Any]) -> str:
    """Return how far the crawl is, on one line."""
    sites = site_counts(stats)
    total = sum(sites.values(), Counter[str]())
    numbers = {
        "sites": len(sites),
        "discovered": total["discovered"],
        "fetched": total["fetched"],
        "articles": total["article"],
        **{name: number for name in (*_ENDS, "unchanged") if (number := _sum(total, name))},
    }
    return ", ".join(f"{name}: {number}" for name, number in numbers.items())


def site_table(sites: Mapping[str, Counter[str]]) -> Table:
    """Return the closing table: a row a site, with the reasons of what gave no article."""
    table = Table(title="Sites", title_justify="left")
    table.add_column("site", overflow="fold")
    for name in ("discovered", "fetched", "articles"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("no article")
    for site, counts in sorted(sites.items()):
        numbers = (str(counts[name]) for name in ("discovered", "fetched", "article"))
        reasons = (_reasons(counts, name) for name in (*_ENDS, *_KNOWN))
        table.add_row(site, *numbers, "; ".join(filter(None, reasons)))
    return table


def no_article_table(pages: Iterable[NoArticle]) -> Table:
    """Return the table of the *pages* that were dropped for their kind."""
    title = f"Dropped as no article, up to {MAX_NO_ARTICLES} pages of a site"
    table = Table(title=title, title_justify="left")
    table.add_column("kind", no_wrap=True)
    table.add_column("confidence", justify="right", no_wrap=True)
    table.add_column("page", overflow="fold")
    for page in pages:
        table.add_row(page.kind, f"{page.confidence:.2f}", page.url)
    return table


def memory_line(stats: Mapping[str, Any]) -> str | None:
    """Return what was not fetched, or not put out again, because of former crawls; None without."""
    total = sum(site_counts(stats).values(), Counter[str]())
    told = {
        "articles known": total["known"] + total["dropped/known"],
        "articles looked at again and unchanged": _sum(total, "unchanged")
        + total["dropped/unchanged"],
        "sources not due": _sum(total, "not_due"),
        "sources not modified": _sum(total, "not_modified"),
    }
    if not any(told.values()):
        return None
    line = ", ".join(f"{what}: {number}" for what, number in told.items() if number)
    due = stats.get("newscrawl/state/next_due")
    new = "" if total["article"] else "Nothing new. "
    return f"{new}From former crawls: {line}" + (f"; next source due {due}" if due else "")


def _sum(counts: Counter[str], name: str) -> int:
    return sum(number for what, number in counts.items() if what.startswith(f"{name}/"))


def _reasons(counts: Counter[str], name: str) -> str:
    found = {
        what.removeprefix(f"{name}/"): number
        for what, number in counts.items()
        if what.startswith(f"{name}/")
    }
    listed = ", ".join(f"{number} {why}" for why, number in sorted(found.items()))
    if counts[name]:
        listed = str(counts[name])
    return listed and f"{name.replace('_', ' ')}: {listed}"
