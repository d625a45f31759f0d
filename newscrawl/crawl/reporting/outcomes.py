"""How requests end: one reason for each failure, and the counts of each site."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.exceptions import IgnoreRequest
from scrapy.spidermiddlewares.httperror import HttpError

from newscrawl.crawl.network import RefusedError
from newscrawl.crawl.network.secrets import mask_secrets
from newscrawl.crawl.workers.pool import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.statscollectors import StatsCollector

_SITE_PREFIX = "newscrawl/site/"
_NO_ARTICLES = "newscrawl/no_articles"

MAX_NO_ARTICLES = 5
"""Pages of a site that are listed as dropped for their kind."""
_MAX_LISTED = 1000
"""Of all sites together."""

# Twisted's and Scrapy's exceptions by name: which of the two is raised depends on the handler.
_REASONS = {
    "CannotResolveHostError": "dns",
    "DNSLookupError": "dns",
    "ConnectError": "connection",
    "ConnectionDone": "connection",
    "ConnectionLost": "connection",
    "ConnectionRefusedError": "connection",
    "DownloadConnectionRefusedError": "connection",
    "DownloadFailedError": "connection",
    "ResponseFailed": "connection",
    "ResponseNeverReceived": "connection",
    "TCPTimedOutError": "timeout",
    "TimeoutError": "timeout",
    "DownloadTimeoutError": "timeout",
    "DownloadCancelledError": "too_large",
    "CancelledError": "too_large",
    "ResponseDataLossError": "truncated",
    "UnsupportedURLSchemeError": "scheme",
    "BadGzipFile": "encoding",
    "error": "encoding",  # zlib.error, brotli.error
}
# IgnoreRequest has no subclasses that tell; its messages are Scrapy's own.
_IGNORED = {
    "robots.txt": "robots",
    "redirections": "redirects",
    "DOWNLOAD_MAXSIZE": "too_large",  # unpacked, that is: a bomb
}


def failure_reason(error: BaseException | None) -> str:
    """Return the reason that stats count *error* under: ``http_404``, ``timeout``, ``dns``, ..."""
    if isinstance(error, HttpError):
        return f"http_{error.response.status}"
    if isinstance(error, WorkerError):
        return f"worker_{error.reason}"
    if isinstance(error, RefusedError):
        return error.reason
    if isinstance(error, IgnoreRequest):
        return next((why for text, why in _IGNORED.items() if text in str(error)), "ignored")
    names = (kind.__name__ for kind in type(error).__mro__)
    return next((_REASONS[name] for name in names if name in _REASONS), "error")


class NoArticle(NamedTuple):
    """A page that was dropped for its kind."""

    site: str
    kind: str
    confidence: float
    url: str


class SiteStats:
    """The counts of a crawl's sites: ``newscrawl/site/<site>/...``."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats

    def count(self, site: str, what: str, number: int = 1) -> None:
        """Add *number* to the count of *what*: ``fetched_count``, ``failed_count/timeout``, ..."""
        if number:
            self._stats.inc_value(f"{_SITE_PREFIX}{site}/{what}", number)

    def add_no_article(self, page: NoArticle) -> None:
        """List *page* as dropped for its kind, among the first of its site; secrets are masked."""
        listed = self._stats.get_value(_NO_ARTICLES, [])
        of_site = sum(one.site == page.site for one in listed)
        if len(listed) < _MAX_LISTED and of_site < MAX_NO_ARTICLES:
            shown = page._replace(url=mask_secrets(page.url))
            self._stats.set_value(_NO_ARTICLES, [*listed, shown])


def no_articles(stats: Mapping[str, Any]) -> list[NoArticle]:
    """Return the pages that *stats* list as dropped for their kind, by site."""
    return sorted(stats.get(_NO_ARTICLES, ()))


def site_counts(stats: Mapping[str, Any]) -> dict[str, Counter[str]]:
    """Return the counts of each site in *stats*: site -> ``fetched``, ``failed/timeout``, ..."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, number in stats.items():
        if name.startswith(_SITE_PREFIX):
            site, what = name.removeprefix(_SITE_PREFIX).split("/", 1)
            counts[site][what.replace("_count", "", 1)] += number
    return dict(counts)
