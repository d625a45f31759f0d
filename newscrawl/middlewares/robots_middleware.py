"""``RobotsMiddleware``: robots.txt as RFC 9309 has it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import is_asyncio_available, run_in_thread
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler

from newscrawl import clock
from newscrawl.crawl.discovery.sitemaps import ROBOTS_SIZE
from newscrawl.crawl.discovery.urls import site_key
from newscrawl.crawl.network import RefusedError
from newscrawl.crawl.network.robots_rules import own_groups
from newscrawl.crawl.reporting.outcomes import failure_reason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

logger = logging.getLogger(__name__)

REDIRECTS: Final = 5
"""Redirects of robots.txt that are followed (section 2.3.1.2)."""
FRESH: Final = timedelta(hours=24)
"""How long rules are good for (section 2.4)."""
UNREACHABLE: Final = timedelta(hours=1)
"""How long a site is left alone whose rules cannot be had, before they are asked for again."""

#: meta key of requests for robots.txt
META: Final = "newscrawl_robots"
_SITE: Final = "newscrawl_site"
# Parsing takes a millisecond for 10 KB, and is worth a thread's turn beyond that.
_SMALL: Final = 16 * 1024
_KEPT: Final = 64 * 1024
# What a Content-Length may say: the transfer is ended at ROBOTS_SIZE, whatever it says.
_MAXSIZE: Final = 32 * 2**20


@dataclass(frozen=True, slots=True)
class _Rules:
    """What a site's robots.txt says, or the reason why nothing is asked for there."""

    until: datetime
    #: None where all is allowed
    parser: RobotParser | None = None
    refusal: str | None = None
    #: what came, for a spider that reads it, too
    response: Response | None = None


class RobotsMiddleware(RobotsTxtMiddleware):
    """Obeys robots.txt where ``ROBOTSTXT_OBEY`` is on; takes the place of Scrapy's (100).

    Different from Scrapy's: a robots.txt that cannot be had (5xx, 429, timeout, no connection)
    forbids the whole site for an hour; the rules of ``http`` and ``https`` are apart; 512 KB are
    read, and no more transferred; long ones are parsed in a thread.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if not is_asyncio_available():
            raise ValueError(f"{type(self).__name__} needs Scrapy's asyncio reactor, the default")
        self._rules: dict[tuple[str, str], asyncio.Task[_Rules]] = {}
        self._fetching = 0
        self._received: WeakKeyDictionary[Request, int] = WeakKeyDictionary()

    async def process_request(self, request: Request) -> Response | None:  # type: ignore[override]
        """Return None where the rules allow *request*; raise ``IgnoreRequest`` where they do not.

        A spider's own request for robots.txt is answered with what is here already.
        """
        if request.meta.get("dont_obey_robotstxt") and _is_for_rules(request):
            if (response := (await self._rules_for(request)).response) is None:
                return None
            # As Scrapy marks what came from its cache: archives have it already.
            return response.replace(request=request, flags=[*response.flags, "cached"])
        await super().process_request(request)
        return None

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """Return the rules of *request*'s site; raise :class:`RefusedError` where it has to wait."""
        return (await self._rules_for(request)).parser

    async def _rules_for(self, request: Request) -> _Rules:
        parts = urlparse_cached(request)
        key = (parts.scheme, parts.netloc)
        task = self._rules.get(key)
        if task is None or (task.done() and task.result().until <= clock.now()):
            site = f"{parts.scheme}://{site_key(request.url)}"
            task = self._rules[key] = asyncio.ensure_future(self._fetch(site, request))
        # One request for all that wait; none of them ends it for the others.
        rules = task.result() if task.done() else await asyncio.shield(task)
        if rules.refusal:
            raise RefusedError(rules.refusal)
        return rules

    async def _fetch(self, site: str, request: Request) -> _Rules:
        self._stats.inc_value("robotstxt/request_count")
        try:
            with self._cut():
                response = await self.crawler.engine.download_async(self._request(site, request))
            return await self._read(response, site, request)
        except RefusedError as error:
            return _Rules(clock.now() + UNREACHABLE, refusal=error.reason)
        except Exception as error:  # noqa: BLE001  # of any middleware
            reason = failure_reason(error)
            if reason == "redirects":
                return _Rules(clock.now() + FRESH)
            if not isinstance(error, IgnoreRequest):
                self._stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            return self._unreachable(site, reason)

    def _request(self, site: str, request: Request) -> Request:
        meta: dict[str, Any] = {
            META: True,
            "dont_obey_robotstxt": True,
            "allow_offsite": True,
            "download_maxsize": _MAXSIZE,
            "redirect_ttl": REDIRECTS,
        }
        if _SITE in request.meta:  # whose budget pays, and whose archive keeps it
            meta |= {_SITE: request.meta[_SITE], "newscrawl_role": "robots"}
        return Request(
            f"{site}/robots.txt",
            priority=self.DOWNLOAD_PRIORITY,
            callback=NO_CALLBACK,
            meta=meta,
        )

    @contextmanager
    def _cut(self) -> Iterator[None]:
        """End transfers of robots.txt at what is read of them.

        Only while one is under way: the signal comes with every chunk of every page.
        """
        connect, disconnect = self.crawler.signals.connect, self.crawler.signals.disconnect
        self._fetching += 1
        if self._fetching == 1:
            connect(self._chunk, signals.bytes_received)
        try:
            yield
        finally:
            self._fetching -= 1
            if not self._fetching:
                disconnect(self._chunk, signals.bytes_received)

    def _chunk(self, data: bytes, request: Request) -> None:
        if META in request.meta:
            self._received[request] = self._received.get(request, 0) + len(data)
            if self._received[request] > ROBOTS_SIZE:
                raise StopDownload(fail=False)

    async def _read(self, response: Response, site: str, request: Request) -> _Rules:
        self._stats.inc_value("robotstxt/response_count")
        self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        if response.status == 429 or response.status >= 500:
            return self._unreachable(site, f"http_{response.status}")
        # Kept where a spider of ours may ask for it.
        kept = response if _SITE in request.meta and len(response.body) <= _KEPT else None
        if response.status >= 300:
            return _Rules(clock.now() + FRESH, response=kept)
        parser = await self._parse(response.body[:ROBOTS_SIZE], request)
        await self.crawler.signals.send_catch_log_async(
            signal=signals.robots_parsed, robotparser=parser, request=request
        )
        return _Rules(clock.now() + FRESH, parser, response=kept)

    async def _parse(self, body: bytes, request: Request) -> RobotParser:
        build = build_from_crawler
        if len(body) <= _SMALL:
            parser: RobotParser = build(self._parserimpl, self.crawler, body)
            return parser
        agent = self.user_agent(request)

        def cut_down() -> RobotParser:
            groups = own_groups(body.decode("utf-8-sig", "ignore"), agent).encode()
            parsed: RobotParser = build(self._parserimpl, self.crawler, groups)
            return parsed

        return await run_in_thread(cut_down)

    def user_agent(self, request: Request) -> str:
        """Return the name under which *request* looks for rules, as Scrapy has it."""
        agent = self._robotstxt_useragent or request.headers.get(b"User-Agent")
        agent = agent or self._default_useragent
        return agent.decode("latin-1") if isinstance(agent, bytes) else agent

    def _unreachable(self, site: str, reason: str) -> _Rules:
        self._stats.inc_value("newscrawl/robots/unreachable_count")
        logger.info("robots.txt of %s cannot be had (%s): nothing is asked for there", site, reason)
        # Where there is no host, its rules are not the trouble.
        refusal = reason if reason == "dns" else "robots_unreachable"
        return _Rules(clock.now() + UNREACHABLE, refusal=refusal)


def _is_for_rules(request: Request) -> bool:
    """Return whether a spider of ours asks for a site's robots.txt, to read its sitemaps."""
    path = urlparse_cached(request).path
    return path == "/robots.txt" and _SITE in request.meta and META not in request.meta
