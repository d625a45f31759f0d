"""``PolitenessMiddleware``: what a server says of its load is heard, once for all its hosts."""

from __future__ import annotations

import logging
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from newscrawl import clock
from newscrawl.crawl.outcomes import failure_reason
from newscrawl.crawl.pace import Pace, retry_after
from newscrawl.crawl.refused import RefusedError
from newscrawl.settings.defaults import setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader import Downloader
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

    The unit is the slot of :class:`~newscrawl.crawl.downloader.Downloader`, the registered
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
        crawler.signals.connect(self._robots, signals.robots_parsed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware; raise ``NotConfigured`` where it is switched off."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Raise :class:`RefusedError` for a domain that is left alone, or a site's budget spent."""
        if site := request.meta.get("newscrawl_site"):
            self._spend(site, request)
        if self._paces:
            pace = self._paces.get(self._key(request))
            if pace and pace.closed and pace.is_closed(clock.now()):
                raise RefusedError("retry_after")

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Return *response*, or *request* to be made again when its domain says."""
        if response.status in _REFUSALS:
            return self._refused(request, response)
        if response.status >= 500:
            self._trouble(request)
        elif self._paces and (pace := self._paces.get(key := self._key(request))):
            pace.well()
            self._apply(key, pace)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note a failure that may be overload."""
        if failure_reason(exception) in _TROUBLE:
            self._trouble(request)

    @property
    def _downloader(self) -> Downloader:
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
        if "newscrawl_ticket" not in request.meta or any(map(request.meta.get, _AGAIN)):
            self.extra[site] += 1

    def _refused(self, request: Request, response: Response) -> Response | Request:
        key = self._key(request)
        pace, now = self._pace(key), clock.now()
        # To wait for no time is no answer to the question.
        wait = retry_after(response.headers.get("Retry-After"), now) or None
        pace.refused(now, wait)
        self._count("refused_count", f"http_{response.status}")
        if pace.gives_up or (wait or 0) > self._longest_wait:
            pace.close(now, max(wait or 0, self._longest_wait))
            logger.info("%s is left alone until %s", key, pace.closed)
            self._count("closed_count")
        elif wait is not None:
            self._pause(key, pace, wait)
            if request.meta.get(META, 0) < WAITS and not request.meta.get("dont_retry"):
                again = request.replace(dont_filter=True)
                again.meta[META] = again.meta.get(META, 0) + 1
                return again
        self._apply(key, pace)
        if wait is not None:
            request.meta["dont_retry"] = True  # it has been, in its time
        return response

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
            if seconds >= _SLOW:
                self._mark_slow(key)

    def _apply(self, key: str, pace: Pace) -> Any:
        """Give the slot of *key*, and those to come, the delay of *pace*; return the slot."""
        downloader = self._downloader
        given = downloader.per_slot_settings.get(key, {})
        downloader.per_slot_settings[key] = {**given, "delay": pace.delay}
        slot = downloader.slots.get(key)
        if slot is not None:
            slot.delay = max(slot.delay, pace.delay) if self._throttled else pace.delay
        if pace.delay >= _SLOW:
            self._mark_slow(key)
        elif isinstance(slow := getattr(downloader, "slow", None), set):
            slow.discard(key)
        return slot

    def _mark_slow(self, key: str) -> None:
        if isinstance(slow := getattr(self._downloader, "slow", None), set):
            slow.add(key)

    def _count(self, what: str, reason: str = "") -> None:
        self._stats.inc_value(f"newscrawl/politeness/{what}" + (f"/{reason}" if reason else ""))
