"""``SiteMemory``: what the state of a crawl remembers of hosts and domains, over crawls.

For example the rules of robots.txt until they expire, or the end of a Retry-After.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final
from weakref import WeakKeyDictionary

from newscrawl import clock
from newscrawl.crawl.frontier.crawl_store import CrawlStore, state_path, state_tables

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

SCHEMA: Final = state_tables("""
CREATE TABLE IF NOT EXISTS memory (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    until REAL NOT NULL,
    PRIMARY KEY (name, owner)
) WITHOUT ROWID;
""")

_DELETE: Final = "DELETE FROM memory WHERE until <= ?"
_SELECT: Final = """
SELECT owner, value, until FROM memory WHERE name = ?1 AND until > ?2 AND owner = coalesce(?3, owner)
"""
_PUT: Final = """
INSERT INTO memory VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET value = excluded.value, until = excluded.until
"""


class SiteMemory:
    """The table ``memory``: values of an *owner*, a host or a domain, until a time in seconds."""

    _memories: ClassVar[WeakKeyDictionary[Crawler, SiteMemory]] = WeakKeyDictionary()

    def __init__(self, store: CrawlStore) -> None:
        self._store = store
        self._is_open = False

    @classmethod
    def for_crawler(cls, crawler: Crawler) -> SiteMemory | None:
        """Return the memory of *crawler*, None if it has no state file."""
        if state_path(crawler) is None:
            return None
        if crawler not in cls._memories:
            cls._memories[crawler] = cls(CrawlStore.for_crawler(crawler))
        return cls._memories[crawler]

    async def find(self, name: str, owner: str | None = None) -> list[tuple[str, str, float]]:
        """Return the (owner, value, until) of *name*, of all owners unless one is given."""
        now = clock.now().timestamp()
        if not self._is_open:
            self._is_open = True
            await self._store.open(SCHEMA)
            self._store.write(_DELETE, [(now,)])
        return await self._store.read(_SELECT, (name, now, owner))

    def put(self, name: str, owner: str, value: str, until: float) -> None:
        """Remember *value* of *owner* until a time in seconds since 1970."""
        self._store.write(_PUT, [(owner, name, value, until)])
