"""Rules of hosts: their files are fetched, read in a worker, and kept up to a total size."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from sys import getsizeof
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.http.request import NO_CALLBACK

from newscrawl import clock
from newscrawl.crawling.crawl_store import SiteMemory
from newscrawl.crawling.network.rule_files import MAX_ROBOTS_SIZE
from newscrawl.crawling.urls import site_key
from newscrawl.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Hashable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

CACHE_TIME: Final = timedelta(hours=24)
"""Time after which rules are fetched again (RFC 9309, section 2.4)."""
READ_RULES: Final = "newscrawl.crawling.network.rule_files:read_rules"
SITEMAPS: Final = "newscrawl_sitemaps"
"""Meta key of a spider's request for robots.txt: the sitemaps that it names, None until then."""
REMEMBERED: Final = "newscrawl_remembered"
"""Meta key of such a request: whether a former crawl fetched the file."""
_SITE: Final = "newscrawl_site"

MAX_CACHE_SIZE: Final = 48 * 2**20
"""Maximum size of the rules of all hosts in bytes: those of 15,000 typical hosts."""
MAX_PARSER_SIZE: Final = 24 * 2**20
"""Maximum size of all parsed rules in bytes, as estimated: those of 400 typical hosts."""
MAX_REMEMBERED: Final = 16 * 1024
"""Maximum length of rules that the next crawl remembers, since a site can have many hosts."""
_HOST_SIZE: Final = 1024

T = TypeVar("T")


class SizedCache(Generic[T]):
    """Values by key, up to *max_size* in total; the least recently used are removed first."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._entries: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self.size = 0

    def get(self, key: Hashable) -> T | None:
        """Return the value of *key*, None if there is none."""
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key][0]

    def put(self, key: Hashable, value: T, size: int) -> None:
        """Add or replace the value of *key*."""
        if key in self._entries:
            self.size -= self._entries.pop(key)[1]
        self._entries[key] = value, size
        self.size += size
        while self.size > self._max_size:
            self.size -= self._entries.popitem(last=False)[1][1]


@dataclass(slots=True)
class HostRules:
    """Rules and sitemaps of a host, or the reason why their file could not be read."""

    #: by ``clock.steady()``
    until: datetime = field(default_factory=lambda: clock.steady() + CACHE_TIME)
    #: final URL of the file
    url: str = ""
    #: None allows all requests
    text: str | None = None
    sitemaps: list[str] = field(default_factory=list)
    left_out: int = 0
    #: why the file could not be read
    failure: str | None = None
    #: why all requests are refused
    refusal: str | None = None
    #: whether a former crawl read the file
    remembered: bool = False

    @property
    def size(self) -> int:
        """Memory in bytes, approximately."""
        return _HOST_SIZE + getsizeof(self.text) + sum(map(getsizeof, self.sitemaps))


class RulesCache:
    """Rules of hosts, fetched when they are needed, and again when they are removed or invalid.

    They are remembered for later crawls under *name*, which is also their area in the stats;
    refusals are not.
    """

    def __init__(self, crawler: Crawler, name: str) -> None:
        self._crawler = crawler
        self._name = name
        self._memory = SiteMemory.of(crawler)
        self._kept: SizedCache[HostRules] = SizedCache(MAX_CACHE_SIZE)
        self._tasks: dict[str, asyncio.Task[HostRules]] = {}

    async def get(
        self,
        key: str,
        fetch: Callable[[], Coroutine[Any, Any, HostRules]],
        on_new: Callable[[HostRules], Coroutine[Any, Any, None]] | None = None,
    ) -> HostRules:
        """Return the rules of *key*, from *fetch* unless they are known.

        *on_new* is called with rules that were fetched or remembered. Calls share a fetch, which
        goes on if they are cancelled.
        """
        rules = self._kept.get(key)
        if rules is not None and rules.until > clock.steady():
            return rules
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(self._find(key, fetch, on_new))
        return await asyncio.shield(self._tasks[key])

    async def _find(
        self,
        key: str,
        fetch: Callable[[], Coroutine[Any, Any, HostRules]],
        on_new: Callable[[HostRules], Coroutine[Any, Any, None]] | None,
    ) -> HostRules:
        try:
            stored = self._memory.find_committed(self._name, key) if self._memory else None
            if stored:
                text, until = stored
                end = clock.on_steady_clock(datetime.fromtimestamp(until, UTC))
                rules = HostRules(**json.loads(text) | {"until": end, "remembered": True})
            else:
                rules = await fetch()
                until = clock.on_system_clock(rules.until).timestamp()
                text = json.dumps(asdict(rules) | {"until": until})
                if self._memory and not rules.refusal and len(text) <= MAX_REMEMBERED:
                    self._memory.put(self._name, key, text, until)
            if on_new:
                await on_new(rules)
            self._kept.put(key, rules, rules.size)
            return rules
        finally:
            del self._tasks[key]

    async def download(self, url: str, request: Request, meta: dict[str, Any]) -> Response:
        """Return the response, with *meta*, to the file at *url* that *request* depends on."""
        meta |= {"allow_offsite": True, "dont_obey_robotstxt": True}
        if _SITE in request.meta:  # counts towards its request budget
            meta |= {_SITE: request.meta[_SITE], "newscrawl_role": "robots"}
        priority = RobotsTxtMiddleware.DOWNLOAD_PRIORITY
        needed = Request(url, priority=priority, callback=NO_CALLBACK, meta=meta)
        response: Response = await self._crawler.engine.download_async(needed)
        return response

    async def read(
        self, response: Response, request: Request, *, file: str, token: str
    ) -> HostRules:
        """Return the rules of *response*, a *file* that *request* depends on, from a worker."""
        url, data = response.url, response.body[:MAX_ROBOTS_SIZE]
        site = request.meta.get(_SITE) or site_key(url)
        pool = WorkerPool.for_crawler(self._crawler)
        read = await pool.call(READ_RULES, data, site=site, url=url, file=file, token=token)
        rules = HostRules(url=url, **read)
        if rules.left_out:
            self._crawler.stats.inc_value(f"newscrawl/{self._name}/over_size_count")
            logger.warning("Ignored %d rules beyond the limits: %s", rules.left_out, url)
        return rules


class ParserCache(SizedCache[T]):
    """Parsers of the texts of :func:`newscrawl.crawling.network.rule_files.read_rules`."""

    def __init__(self, parse: Callable[[str], T]) -> None:
        super().__init__(MAX_PARSER_SIZE)
        self._parse = parse

    def of(self, text: str) -> T:
        """Return the parser of *text*, which hosts with the same rules share."""
        if (parser := self.get(text)) is None:
            parser = self._parse(text)
            wildcards = text.count("*") + text.count("$")
            # The memory of Protego as measured: per character, rule and wildcard.
            self.put(text, parser, 20 * len(text) + 700 * text.count("\n") + 80 * wildcards)
        return parser
