"""``Query``: what a crawl is asked for. Each query has a history of its own in the state.

What is due, and which pages were judged, is remembered by query: an answer in a used state equals the
answer in a new one. Queries with the same output share what was written to it, so that no article
is written twice.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from newscrawl import clock
from newscrawl.component import Component
from newscrawl.crawl.frontier.crawl_store import CrawlStore, state_tables
from newscrawl.defaults import DEFAULTS, setting

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from newscrawl.crawl.discovery.site_list import Site

SELECTION: Final = (
    "NEWSCRAWL_SINCE", "NEWSCRAWL_UNTIL", "NEWSCRAWL_KEYWORDS", "NEWSCRAWL_LANGUAGES",
    "NEWSCRAWL_INCLUDE", "NEWSCRAWL_EXCLUDE", "NEWSCRAWL_LIMIT", "NEWSCRAWL_SITE_LIMIT",
    "NEWSCRAWL_KEEP", "NEWSCRAWL_MIN_BODY", "NEWSCRAWL_METHOD", "NEWSCRAWL_RENDER",
    "NEWSCRAWL_ARCHIVED", "NEWSCRAWL_ARCHIVED_BEFORE", "NEWSCRAWL_MAX_AGE", "NEWSCRAWL_LINK_DEPTH",
    "NEWSCRAWL_PAGE_LINKS", "NEWSCRAWL_TRAPS_ENABLED", "NEWSCRAWL_SITE_REQUESTS",
    "NEWSCRAWL_SITE_FEEDS", "NEWSCRAWL_SITE_SECTIONS", "NEWSCRAWL_SITE_SITEMAPS",
)  # fmt: skip
"""Settings that decide which articles a crawl gives."""
FOLDERS: Final = ("NEWSCRAWL_SEGMENTS", "NEWSCRAWL_WARC")
"""Settings with the folders that a crawl writes to, besides its feeds."""

state_tables("""
CREATE TABLE IF NOT EXISTS query (
    id INTEGER PRIMARY KEY, output INTEGER NOT NULL, text TEXT NOT NULL, used REAL NOT NULL
);
""")
"""*text*: the query as JSON, without the defaults; *used*: its last crawl, in seconds since 1970."""

_USED: Final = """
INSERT INTO query VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET used = excluded.used
"""


@dataclass(frozen=True, slots=True)
class Query:
    """The articles that a crawl is asked for, and where they are written."""

    #: number in the state: a hash
    id: int
    #: number of the feeds and folders; each query that is only printed has its own
    output: int
    #: JSON: settings that are not the default, and the output
    text: str

    @classmethod
    def read(
        cls, settings: BaseSettings, site: Site | None = None, limit: int | None = None
    ) -> Self:
        """Return the query in *settings*, of the crawl or of a *site* with options of its own.

        *limit*: article pages a site, instead of ``NEWSCRAWL_SITE_LIMIT``. A relative period
        (``24h``) is one query at any time.
        """
        asked = {name: setting(settings, name) for name in SELECTION}
        asked["NEWSCRAWL_KEEP"] = settings.get("NEWSCRAWL_KEEP", DEFAULTS["NEWSCRAWL_KEEP"])
        asked["NEWSCRAWL_SITE_LIMIT"] = limit or asked["NEWSCRAWL_SITE_LIMIT"]
        if site:
            asked["NEWSCRAWL_SITE_LIMIT"] = site.limit or asked["NEWSCRAWL_SITE_LIMIT"]
            asked["NEWSCRAWL_INCLUDE"] = site.include or asked["NEWSCRAWL_INCLUDE"]
            asked["NEWSCRAWL_EXCLUDE"] = [*site.exclude, *asked["NEWSCRAWL_EXCLUDE"]]
        asked = {
            name.removeprefix("NEWSCRAWL_").lower(): value
            for name, value in asked.items()
            if _text(value) != _text(DEFAULTS[name])
        }
        feeds = sorted(map(str, settings.getdict("FEEDS")))
        folders = {name: folder for name in FOLDERS if (folder := setting(settings, name))}
        output = _text([feeds, folders])
        text = _text({**asked, "output": [*feeds, *folders.values()]})
        is_printed = any(feed.startswith("stdout:") for feed in feeds)
        return cls(_number(text), _number(text if is_printed else output), text)

    def __str__(self) -> str:
        """Return what differs from the defaults: ``since 2026-10-01, keywords library, ferry``."""
        asked = json.loads(self.text)
        del asked["output"]
        return "; ".join(
            f"{name.replace('_', ' ')} {', '.join(map(str, value)) if isinstance(value, list) else value}"
            for name, value in asked.items()
        )


def _text(value: Any) -> str:
    """Return *value* as JSON, dates as text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _number(text: str) -> int:
    """Return a hash of *text* as a positive integer of SQLite."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


class Queries(Component):
    """The table ``query``, and the query that is put to each site in this crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._store = CrawlStore.for_crawler(crawler)
        self._settings = crawler.settings
        #: query of the crawl; without a state file, and in tests, there may be no other
        self.default = Query.read(crawler.settings)
        self._of_site: dict[str, Query] = {}
        self._outputs: dict[int, int] = {}

    async def load(self) -> None:
        """Read the outputs of all queries in the state."""
        self._outputs |= dict(await self._store.read("SELECT id, output FROM query"))

    def put(self, site: Site, limit: int | None = None) -> Query:
        """Set and record the query of *site*."""
        query = self._of_site[site.key] = Query.read(self._settings, site, limit)
        if query.id not in self._outputs:
            self._outputs[query.id] = query.output
        row = (query.id, query.output, query.text, clock.now().timestamp())
        self._store.write(_USED, [row])
        return query

    def of(self, site: str) -> Query:
        """Return the query that is put to the site with the key *site*."""
        return self._of_site.get(site, self.default)

    def share_output(self, query: Query, other: int) -> bool:
        """Return whether the articles of the query with the number *other* are in the same output."""
        return query.id == other or self._outputs.get(other) == query.output
