"""Caches of the rules of hosts, bounded in size."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from sys import getsizeof
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from newscrawl import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Hashable
    from typing import Any

    from scrapy.http import Response

    from newscrawl.crawling.crawl_store import SiteMemory

MAX_CACHE_SIZE: Final = 48 * 2**20
"""Maximum size of the rules of all hosts in bytes: those of 15,000 typical hosts."""
MAX_PARSER_SIZE: Final = 24 * 2**20
"""Maximum size of all parsed rules in bytes, as estimated: those of 400 typical hosts."""
MAX_REMEMBERED: Final = 16 * 1024
"""Maximum length of rules that are remembered for the next crawl, since a site can have many hosts."""
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
    """Rules of a host, or the reason why all its requests are refused."""

    #: by ``clock.steady()``
    until: datetime
    #: robots.txt of :func:`newscrawl.crawling.network.rule_files.read_rules`; None allows all requests
    text: str | None = None
    refusal: str | None = None
    #: response for a spider that requests robots.txt itself
    response: Response | None = None
    #: fetched by a former crawl
    remembered: bool = False

    @property
    def size(self) -> int:
        """Memory in bytes, approximately."""
        size = _HOST_SIZE + getsizeof(self.text)
        if self.response is not None:
            headers = self.response.headers.to_string() or b""
            size += _HOST_SIZE + 2 * len(headers) + len(self.response.body)
        return size


class RulesCache:
    """Rules of hosts, fetched when they are needed, and again when they are removed or invalid.

    *memory*: where rules are kept over crawls, under *name*; refusals are not.
    """

    def __init__(self, name: str = "", memory: SiteMemory | None = None) -> None:
        self._name = name
        self._memory = memory
        self._kept: SizedCache[HostRules] = SizedCache(MAX_CACHE_SIZE)
        self._tasks: dict[Hashable, asyncio.Task[HostRules]] = {}

    async def get(
        self,
        key: str,
        fetch: Callable[[], Coroutine[Any, Any, HostRules]],
        *,
        anew: bool = False,
        on_found: Callable[[HostRules], Coroutine[Any, Any, None]] | None = None,
    ) -> HostRules:
        """Return the rules of *key*, from *fetch* unless they are known.

        *anew*: unless this crawl has fetched them; *on_found* is called with rules of a former
        crawl. Calls share a fetch, which goes on if they are cancelled.
        """
        rules = self._kept.get(key)
        if rules is not None and rules.until > clock.steady() and not (anew and rules.remembered):
            return rules
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(
                self._fetch(key, fetch, on_found, anew=anew)
            )
        return await asyncio.shield(task)

    async def _fetch(
        self,
        key: str,
        fetch: Callable[[], Coroutine[Any, Any, HostRules]],
        on_found: Callable[[HostRules], Coroutine[Any, Any, None]] | None,
        *,
        anew: bool,
    ) -> HostRules:
        try:
            rules = None if anew else await self._find(key)
            if rules is None:
                rules = await fetch()
                text = json.dumps(rules.text)
                if self._memory and not rules.refusal and len(text) <= MAX_REMEMBERED:
                    until = clock.on_system_clock(rules.until).timestamp()
                    self._memory.put(self._name, key, text, until)
            elif on_found:
                await on_found(rules)
            self._kept.put(key, rules, rules.size)
            return rules
        finally:
            del self._tasks[key]

    async def _find(self, key: str) -> HostRules | None:
        """Return the rules of *key* that a former crawl has fetched."""
        for _, text, until in await self._memory.find(self._name, key) if self._memory else ():
            end = clock.on_steady_clock(datetime.fromtimestamp(until, UTC))
            return HostRules(end, json.loads(text), remembered=True)
        return None


class ParserCache(Generic[T]):
    """Parsers of the texts of :func:`newscrawl.crawling.network.rule_files.read_rules`."""

    def __init__(self, parse: Callable[[str], T]) -> None:
        self._parse = parse
        self._parsers: SizedCache[T] = SizedCache(MAX_PARSER_SIZE)

    def get(self, text: str) -> T:
        """Return the parser of *text*, which hosts with the same rules share."""
        parser = self._parsers.get(text)
        if parser is None:
            parser = self._parse(text)
            self._parsers.put(text, parser, _parser_size(text))
        return parser


def _parser_size(text: str) -> int:
    """Return the memory of Protego for *text*, as measured: per rule, character and wildcard."""
    wildcards = text.count("*") + text.count("$")
    return 20 * len(text) + 700 * text.count("\n") + 80 * wildcards
