"""Downloader middleware for Retry-After, Crawl-delay, back-off and the request budget of a site."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import TYPE_CHECKING, Final

from scrapy import signals
from scrapy.exceptions import NotConfigured

from newscrawl import clock
from newscrawl.component import Component
from newscrawl.crawling.crawl_store import SiteMemory
from newscrawl.crawling.network import RefusedError
from newscrawl.crawling.network.downloader import Downloader
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader import Downloader as ScrapyDownloader
    from scrapy.core.downloader import Slot
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

logger = logging.getLogger(__name__)

MAX_RETRY_AFTER: Final = 300.0
"""Seconds of a Retry-After; a domain that asks for more is skipped for that time."""
MAX_CRAWL_DELAY: Final = 60.0
"""Seconds of a Crawl-delay: at one request a minute a day has 1,440."""
MIN_BACKOFF: Final = 1.0
"""Delay in seconds at the first sign of overload, if the delay was shorter."""
RECOVERY_FACTOR: Final = 0.7
"""Factor of the delay after each successful response: two of them halve it."""
FAILURE_THRESHOLD: Final = 3
"""Consecutive failures that count as overload, though no response says so."""
REFUSAL_LIMIT: Final = 10
"""Consecutive refusals (429, 503) after which a domain is closed."""
_MIN_DELAY: Final = 0.01
MAX_WAITS: Final = 5
"""Number of times that a request is repeated after a Retry-After."""
#: meta key: number of times that the request was repeated
META: Final = "newscrawl_waits"

_REFUSALS: Final = frozenset({429, 503})
#: name in the memory of sites
_CLOSED: Final = "closed"
# Failures that may be caused by overload.
_OVERLOAD_REASONS: Final = frozenset({"timeout", "connection", "truncated"})


def retry_after(header: bytes | None, now: datetime) -> float | None:
    """Return the seconds to wait according to a Retry-After header; None if it is invalid.

    Both forms of RFC 9110, section 10.2.3, are supported: seconds and an HTTP date.
    """
    text = (header or b"").decode("latin-1").strip()
    if text.isdecimal() and text.isascii():
        return float(text[:10])
    when = _http_date(text)
    return None if when is None else max(0.0, (when - now).total_seconds())


def _http_date(text: str) -> datetime | None:
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


@dataclass(slots=True)
class Pace:
    """Delay between two requests to a domain, adapted to its responses.

    *base* is the delay from the settings or robots.txt, *max_delay* the limit of the back-off
    (both in seconds). Instants are those of ``clock.steady()``.
    """

    base: float
    max_delay: float
    delay: float = 0.0
    #: 429 and 503 since the last successful response
    refusals: int = 0
    #: failures of any kind since the last successful response
    failures: int = 0
    #: end of the last Retry-After
    waiting_until: datetime | None = None
    #: no requests are sent before this time
    closed_until: datetime | None = None

    def __post_init__(self) -> None:
        self.set_base(self.base)

    def set_base(self, base: float) -> None:
        """Set the delay without overload."""
        # Scrapy does not record the request times of a slot without delay.
        self.base = max(base, _MIN_DELAY)
        self.delay = max(self.delay, self.base)

    def record_success(self) -> None:
        """Reset the failure counts and reduce the delay by one step."""
        self.refusals = self.failures = 0
        recovered = self.delay * RECOVERY_FACTOR
        self.delay = self.base if recovered < max(self.base, MIN_BACKOFF / 2) else recovered

    def record_failure(self) -> None:
        """Count a failure that may be caused by overload."""
        self.failures += 1
        if self.failures >= FAILURE_THRESHOLD:
            self._slow_down()

    def record_refusal(self, now: datetime, wait: float | None) -> None:
        """Count a 429 or 503 with a Retry-After of *wait* seconds, if it has one."""
        # Responses to requests sent before the domain asked to wait are not counted again.
        if self.waiting_until is None or self.waiting_until <= now:
            self.refusals += 1
            if wait is None:
                self._slow_down()
        if wait is not None:
            until = _later(now, wait)
            self.waiting_until = max(until, self.waiting_until or until)

    def _slow_down(self) -> None:
        self.delay = min(max(2 * self.delay, MIN_BACKOFF), max(self.max_delay, self.base))

    @property
    def gives_up(self) -> bool:
        """Whether the domain has refused too many requests in a row."""
        return self.refusals >= REFUSAL_LIMIT

    def close(self, now: datetime, seconds: float) -> datetime:
        """Send no requests for *seconds*; return the end of the pause."""
        until = _later(now, seconds)
        self.closed_until = max(until, self.closed_until or until)
        self.refusals = 0
        return self.closed_until

    def is_closed(self, now: datetime) -> bool:
        """Return whether no requests are to be sent at the time *now*."""
        if self.closed_until and self.closed_until <= now:
            self.closed_until = None
        return self.closed_until is not None


def _later(now: datetime, seconds: float) -> datetime:
    return now + timedelta(seconds=min(seconds, 366 * 86_400))


class PolitenessMiddleware(Component):
    """Obeys Retry-After and Crawl-delay, and backs off from an overloaded domain.

    Applies to the slots of :class:`~newscrawl.crawling.network.downloader.Downloader`, which are
    registered domains. Its priority (560) places it between the downloader and
    ``RetryMiddleware``. It also limits the requests to a site to ``NEWSCRAWL_SITE_REQUESTS``,
    retries and redirects included.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not setting(settings, "NEWSCRAWL_POLITENESS_ENABLED"):
            raise NotConfigured("NEWSCRAWL_POLITENESS_ENABLED is False")
        self._crawler = crawler
        self._stats = crawler.stats
        self._paces: dict[str, Pace] = {}
        self._max_delay = setting(settings, "NEWSCRAWL_BACKOFF_DELAY")
        self._budget = setting(settings, "NEWSCRAWL_SITE_REQUESTS")
        self._throttled = settings.getbool("AUTOTHROTTLE_ENABLED")
        #: requests by site
        self.requests: Counter[str] = Counter()
        self._memory = SiteMemory.of(crawler)
        crawler.signals.connect(self._recall, signals.spider_opened)
        crawler.signals.connect(self._robots, signals.robots_parsed)
        # By signal, since the slot sends its next request before process_response() is called.
        crawler.signals.connect(self._downloaded, signals.response_downloaded)

    async def _recall(self) -> None:
        """Close the domains whose Retry-After of a former crawl has not passed."""
        for key, _, until in await self._memory.find(_CLOSED) if self._memory else ():
            closed_until = datetime.fromtimestamp(until, UTC)
            self._pace(key).closed_until = clock.on_steady_clock(closed_until)

    def process_request(self, request: Request) -> None:
        """Raise :class:`RefusedError` for a closed domain, or if the site's budget is used up."""
        if site := request.meta.get("newscrawl_site"):
            if self.requests[site] >= self._budget:
                raise RefusedError("budget")
            self.requests[site] += 1
        if self._paces:
            pace = self._paces.get(key := self._key(request))
            if pace and pace.closed_until and pace.is_closed(clock.steady()):
                raise RefusedError("retry_after")
            if pace and self._throttled:  # AutoThrottle ignores the Crawl-delay
                self._apply(key, pace)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Return *response*, or *request* to repeat it after the Retry-After."""
        if response.status not in _REFUSALS or not _wait(response):
            return response
        pace = self._paces.get(self._key(request))
        waits = request.meta.get(META, 0)
        if (
            pace is None
            or pace.closed_until
            or waits >= MAX_WAITS
            or request.meta.get("dont_retry")
        ):
            request.meta["dont_retry"] = True  # RetryMiddleware would not wait
            return response
        retry = request.replace(dont_filter=True)
        retry.meta[META] = waits + 1
        return retry

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Record a failure that may be caused by overload."""
        if failure_reason(exception) in _OVERLOAD_REASONS:
            self._failed(request)

    @property
    def _downloader(self) -> ScrapyDownloader:
        return self._crawler.engine.downloader

    def _key(self, request: Request) -> str:
        return self._downloader.get_slot_key(request)

    def _pace(self, key: str) -> Pace:
        if key not in self._paces:
            given = self._downloader.per_slot_settings.get(key, {})
            base = given.get("delay", self._crawler.settings.getfloat("DOWNLOAD_DELAY"))
            self._paces[key] = Pace(base, self._max_delay)
        return self._paces[key]

    def _downloaded(self, response: Response, request: Request) -> None:
        if response.status in _REFUSALS:
            self._refused(self._key(request), response)
        elif response.status >= 500:
            self._failed(request)
        elif self._paces and (pace := self._paces.get(key := self._key(request))):
            pace.record_success()
            self._apply(key, pace)

    def _refused(self, key: str, response: Response) -> None:
        pace, wait = self._pace(key), _wait(response)
        pace.record_refusal(clock.steady(), wait)
        self._count(f"refused_count/http_{response.status}")
        if pace.gives_up or (wait or 0) > MAX_RETRY_AFTER:
            self._close(key, pace, max(wait or 0, MAX_RETRY_AFTER))
        elif wait is not None:
            self._pause(key, pace, wait)
        else:
            self._apply(key, pace)

    def _close(self, key: str, pace: Pace, seconds: float) -> None:
        """Send no requests to the slot *key* for *seconds* and fail the waiting ones."""
        until = clock.on_system_clock(pace.close(clock.steady(), seconds))
        self._count("closed_count")
        if self._memory:
            self._memory.put(_CLOSED, key, "", until.timestamp())
        logger.info("Skipping %s until %s (Retry-After or overload)", key, until)
        self._apply(key, pace)
        if isinstance(self._downloader, Downloader):
            self._downloader.refuse_waiting(key, "retry_after")

    def _failed(self, request: Request) -> None:
        if request.meta.get("autothrottle_dont_adjust_delay"):  # a style sheet
            return
        key = self._key(request)
        pace = self._pace(key)
        before = pace.delay
        pace.record_failure()
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
        delay = min(delay, MAX_CRAWL_DELAY)
        if delay > pace.base:  # the longest delay of all hosts of a domain applies
            pace.set_base(delay)
            self._count("crawl_delay_count")
            self._apply(key, pace)

    def _pause(self, key: str, pace: Pace, seconds: float) -> None:
        """Delay the next request of the slot *key* by *seconds*."""
        logger.info("Pausing requests to %s for %.0f s (Retry-After)", key, seconds)
        self._count("paused_count")
        slot = self._apply(key, pace)
        if slot is not None:
            # A slot waits for its delay after lastseen.
            until = monotonic() + seconds
            slot.lastseen = max(slot.lastseen, until)

    def _apply(self, key: str, pace: Pace) -> Slot | None:
        """Set the delay of the slot *key* to that of *pace*; return the slot if it exists."""
        downloader = self._downloader
        given = downloader.per_slot_settings.get(key, {})
        downloader.per_slot_settings[key] = {**given, "delay": pace.delay}
        slot = downloader.slots.get(key)
        if slot is not None:
            slot.delay = max(slot.delay, pace.delay) if self._throttled else pace.delay
        return slot

    def _count(self, name: str) -> None:
        self._stats.inc_value(f"newscrawl/politeness/{name}")


def _wait(response: Response) -> float | None:
    """Return the seconds of the Retry-After header, None if it is missing, invalid or 0.

    A date counts from that of the response: the clocks of server and crawler may differ.
    """
    sent = _http_date((response.headers.get("Date") or b"").decode("latin-1"))
    return retry_after(response.headers.get("Retry-After"), sent or clock.now()) or None
