"""``PolitenessMiddleware``: what a server says of its load is heard, once for all its hosts."""

from __future__ import annotations

import logging
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING, Final, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from newscrawl import clock
from newscrawl.crawl.network import RefusedError
from newscrawl.crawl.network.downloader import Downloader
from newscrawl.crawl.network.pace import Pace, retry_after
from newscrawl.crawl.reporting.outcomes import failure_reason
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.core.downloader import Downloader as ScrapyDownloader
    from scrapy.core.downloader import Slot
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

logger = logging.getLogger(__name__)

WAITS: Final = 5
"""Times that one request waits out a Retry-After."""
#: meta key: how often it has
META: Final = "newscrawl_waits"

_REFUSALS: Final = frozenset({429, 503})
# What may be overload, though it can have other causes, too.
_TROUBLE: Final = frozenset({"timeout", "connection", "truncated"})
# From here on, requests in the queue wait so long that others had better go first.
_SLOW: Final = 5.0
# What makes a request another one on the network.
_AGAIN: Final = ("retry_times", "redirect_times", META)


class PolitenessMiddleware:
    """Waits as Retry-After and Crawl-delay say, slows down where a domain is overloaded.

    The unit is the slot of :class:`~newscrawl.crawl.network.downloader.Downloader`, the registered
    domain. Its place is next to the downloader's side of retries (560). It also keeps the
    requests of a site within ``NEWSCRAWL_SITE_REQUESTS``, retries and redirects included.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not setting(settings, "NEWSCRAWL_POLITENESS_ENABLED"):
            raise NotConfigured("NEWSCRAWL_POLITENESS_ENABLED is False")
        self._crawler = crawler
        self._stats = crawler.stats
        self._paces: dict[str, Pace] = {}
        self._longest_delay = setting(settings, "NEWSCRAWL_BACKOFF_DELAY")
        self._longest_wait = setting(settings, "NEWSCRAWL_RETRY_AFTER")
        self._longest_crawl_delay = setting(settings, "NEWSCRAWL_CRAWL_DELAY")
        self._budget = setting(settings, "NEWSCRAWL_SITE_REQUESTS")
        self._throttled = settings.getbool("AUTOTHROTTLE_ENABLED")
        self._requests: Counter[str] = Counter()
        #: site -> requests beside the ones that its spider counts: retries, redirects, robots.txt
        self.extra: Counter[str] = Counter()
        #: called with the site of each request that leaves
        self.on_request: Callable[[str], None] | None = None
        crawler.signals.connect(self._robots, signals.robots_parsed)
        # Before the slot takes its next request, as it does before any middleware sees the answer.
        crawler.signals.connect(self._downloaded, signals.response_downloaded)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware; raise ``NotConfigured`` where it is switched off."""
        return cls(crawler)

    def resume(self, site: str, requests: int, ended: int) -> None:
        """Take up a crawl that has made *requests* to *site*, for *ended* ones of its spider."""
        self._requests[site] = requests
        self.extra[site] = max(0, requests - ended)

    def process_request(self, request: Request) -> None:
        """Raise :class:`RefusedError` for a domain that is left alone, or a site's budget spent."""
        if site := request.meta.get("newscrawl_site"):
            self._spend(site, request)
        if self._paces:
            pace = self._paces.get(key := self._key(request))
            if pace and pace.closed and pace.is_closed(clock.now()):
                raise RefusedError("retry_after")
            if pace and self._throttled:  # which knows nothing of robots.txt
                self._apply(key, pace)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Return *response*, or *request* to be made again when its domain says."""
        if response.status not in _REFUSALS or not _wait(response):
            return response
        pace = self._paces.get(self._key(request))
        waits = request.meta.get(META, 0)
        if pace is None or pace.closed or waits >= WAITS or request.meta.get("dont_retry"):
            request.meta["dont_retry"] = True  # not before its time
            return response
        again = request.replace(dont_filter=True)
        again.meta[META] = waits + 1
        return again

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note a failure that may be overload."""
        if failure_reason(exception) in _TROUBLE:
            self._trouble(request)

    @property
    def _downloader(self) -> ScrapyDownloader:
        return self._crawler.engine.downloader

    def _key(self, request: Request) -> str:
        return self._downloader.get_slot_key(request)

    def _pace(self, key: str) -> Pace:
        if key not in self._paces:
            given = self._downloader.per_slot_settings.get(key, {})
            base = given.get("delay", self._crawler.settings.getfloat("DOWNLOAD_DELAY"))
            self._paces[key] = Pace(base, self._longest_delay)
        return self._paces[key]

    def _spend(self, site: str, request: Request) -> None:
        if self._requests[site] >= self._budget:
            raise RefusedError("budget")
        self._requests[site] += 1
        if self.on_request:
            self.on_request(site)
        if "newscrawl_ticket" not in request.meta or any(map(request.meta.get, _AGAIN)):
            self.extra[site] += 1

    def _downloaded(self, response: Response, request: Request) -> None:
        if response.status in _REFUSALS:
            self._refused(self._key(request), response)
        elif response.status >= 500:
            self._trouble(request)
        elif self._paces and (pace := self._paces.get(key := self._key(request))):
            pace.well()
            self._apply(key, pace)

    def _refused(self, key: str, response: Response) -> None:
        pace, now, wait = self._pace(key), clock.now(), _wait(response)
        pace.refused(now, wait)
        self._count(f"refused_count/http_{response.status}")
        if pace.gives_up or (wait or 0) > self._longest_wait:
            self._close(key, pace, max(wait or 0, self._longest_wait))
        elif wait is not None:
            self._pause(key, pace, wait)
        else:
            self._apply(key, pace)

    def _close(self, key: str, pace: Pace, seconds: float) -> None:
        """Leave *key* alone for *seconds*."""
        pace.close(clock.now(), seconds)
        self._count("closed_count")
        logger.info("%s is left alone until %s", key, pace.closed)
        self._apply(key, pace)
        if isinstance(self._downloader, Downloader):
            self._downloader.refuse_waiting(key, "retry_after")

    def _trouble(self, request: Request) -> None:
        if request.meta.get("autothrottle_dont_adjust_delay"):  # it has a breaker of its own
            return
        key = self._key(request)
        pace = self._pace(key)
        before = pace.delay
        pace.failed()
        if pace.delay > before:
            self._count("slowed_count")
        self._apply(key, pace)

    def _robots(self, robotparser: RobotParser, request: Request) -> None:
        agent = request.headers.get(b"User-Agent") or self._crawler.settings["USER_AGENT"]
        agent = self._crawler.settings["ROBOTSTXT_USER_AGENT"] or agent
        delay = robotparser.crawl_delay(agent)
        if not delay or delay < 0:
            return
        key = self._key(request)
        pace = self._pace(key)
        wanted = min(delay, self._longest_crawl_delay)
        if wanted > pace.base:  # of several hosts of a domain, the slowest sets the pace
            pace.set_base(wanted)
            self._count("crawl_delay_count")
            self._apply(key, pace)

    def _pause(self, key: str, pace: Pace, seconds: float) -> None:
        """Let nothing go to *key* for *seconds*."""
        logger.info("%s asks to wait %.0f s", key, seconds)
        self._count("paused_count")
        slot = self._apply(key, pace)
        if slot is not None:
            # A slot waits until its delay, less the jitter at most, has passed since then.
            until = monotonic() + seconds
            slot.lastseen = max(slot.lastseen, until - slot.delay * max(0.0, 1 - slot.jitter))
            self._mark_slow(key, slow=seconds >= _SLOW)

    def _apply(self, key: str, pace: Pace) -> Slot | None:
        """Give the slot of *key*, and those to come, the delay of *pace*; return the slot."""
        downloader = self._downloader
        given = downloader.per_slot_settings.get(key, {})
        downloader.per_slot_settings[key] = {**given, "delay": pace.delay}
        slot = downloader.slots.get(key)
        if slot is not None:
            slot.delay = max(slot.delay, pace.delay) if self._throttled else pace.delay
        self._mark_slow(key, slow=pace.delay >= _SLOW)
        return slot

    def _mark_slow(self, key: str, *, slow: bool) -> None:
        if isinstance(self._downloader, Downloader):
            (self._downloader.slow.add if slow else self._downloader.slow.discard)(key)

    def _count(self, what: str) -> None:
        self._stats.inc_value(f"newscrawl/politeness/{what}")


def _wait(response: Response) -> float | None:
    # To wait for no time is no answer to the question.
    return retry_after(response.headers.get("Retry-After"), clock.now()) or None
