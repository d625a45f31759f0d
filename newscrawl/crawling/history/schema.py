"""Tables and SQL statements of the crawl history, and the base class of what reads them.

``page``: all article pages that were listed, fetched or not. ``alias``: other URLs of a page, those
that redirect to it (*same_url*) and its canonical URLs. ``source``: feeds, sitemaps, section pages
and robots.txt of each site. Pages and sources have a row for each query
(:mod:`newscrawl.crawling.history.queries`). Times are seconds since 1970 (UTC).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from newscrawl import clock
from newscrawl.component import Component
from newscrawl.crawling.crawl_store import CrawlStore, SiteMemory, state_tables
from newscrawl.crawling.frontier.leases import LeaseBook
from newscrawl.crawling.history.change_rates import HOUR
from newscrawl.crawling.history.queries import Queries
from newscrawl.crawling.history.revisit_policy import RevisitPolicy
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from newscrawl.crawling.discovery.target import Role

    Table = Literal["page", "source"]

_DAY: Final = 86_400
_LEARNED_KEPT: Final = 180 * _DAY
"""Seconds for which the memory of sites keeps what was learned of a site."""

# page.dated: the date that the page states, in ISO 8601. page.status: listed, article, no_article,
# known (same article as another page), failed, gone (both are retried if they have a next_due).
# page.signalled: a listing has announced a change since the last fetch; page.vain: number of
# announced changes that were none. source.listed: entries at the last fetch; source.rate: new
# articles per second.
state_tables("""
CREATE TABLE IF NOT EXISTS page (
    key TEXT NOT NULL,
    query INTEGER NOT NULL,
    site TEXT NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    certain INTEGER NOT NULL,
    hints TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'listed',
    first_seen REAL NOT NULL,
    last_seen REAL NOT NULL,
    published REAL,
    dated TEXT,
    changed REAL,
    signalled INTEGER NOT NULL DEFAULT 0,
    vain INTEGER NOT NULL DEFAULT 0,
    fetched_at REAL,
    etag TEXT,
    last_modified TEXT,
    body_hash BLOB,
    output INTEGER,
    length INTEGER,
    next_due REAL,
    failures INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (key, query)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS page_due ON page (site, query, next_due) WHERE next_due IS NOT NULL;
CREATE INDEX IF NOT EXISTS page_last_seen ON page (last_seen);
CREATE INDEX IF NOT EXISTS page_text ON page (site, body_hash) WHERE body_hash IS NOT NULL;
CREATE TABLE IF NOT EXISTS alias (
    key TEXT PRIMARY KEY, page TEXT NOT NULL, same_url INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS alias_page ON alias (page);
CREATE TABLE IF NOT EXISTS source (
    site TEXT NOT NULL,
    query INTEGER NOT NULL,
    role TEXT NOT NULL,
    key TEXT NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    published REAL,
    first_seen REAL NOT NULL,
    fetched_at REAL,
    etag TEXT,
    last_modified TEXT,
    listed INTEGER NOT NULL DEFAULT 0,
    rate REAL,
    next_due REAL NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, query, role, key)
) WITHOUT ROWID;
""")


def birth(published: float | None, first_seen: float) -> float:
    """Return the time of publication; with a date that has no time, the end of the day at most."""
    if published and not published % _DAY:
        published += _DAY
    return min(published or first_seen, first_seen)


class PageRow(NamedTuple):
    """A row of ``page``, found by one of its keys."""

    #: the key of the query
    query_key: str
    #: 1 if this is the key of the page or redirects to it, 0 if it is its canonical URL
    same_url: int
    key: str
    query: int
    url: str
    depth: int
    certain: int
    #: JSON
    hints: str
    first_seen: float
    last_seen: float
    published: float | None
    #: ISO 8601, of the page itself
    dated: str | None
    changed: float | None
    signalled: int
    vain: int
    fetched_at: float | None
    etag: str | None
    last_modified: str | None
    #: of the text emitted last; None if the page was not emitted
    body_hash: bytes | None
    #: number of the output that has it
    output: int | None
    #: characters of that text
    length: int | None
    next_due: float | None
    failures: int
    status: str

    @property
    def since(self) -> float:
        """Time of publication, at most the time when it was first listed."""
        return birth(self.published, self.first_seen)

    @property
    def history(self) -> dict[str, Any]:
        """State for the next visit, as plain values."""
        history = {
            "since": self.since,
            "fetched_at": self.fetched_at,
            "etag": self.etag,
            "last_modified": self.last_modified,
            "hash": self.body_hash and self.body_hash.hex(),
            "length": self.length,
            "signalled": self.signalled or None,
            "failures": self.failures,
        }
        return {name: value for name, value in history.items() if value is not None}


class SourceRow(NamedTuple):
    """A row of ``source``."""

    role: Role
    key: str
    url: str
    depth: int
    published: float | None
    first_seen: float
    fetched_at: float | None
    etag: str | None
    last_modified: str | None
    listed: int
    rate: float | None
    next_due: float
    failures: int


_PAGE_COLUMNS: Final = ", ".join(f"page.{name}" for name in PageRow._fields[2:])

SELECT_PAGES: Final = f"""
SELECT lookup.value, 1, {_PAGE_COLUMNS}
FROM json_each(?1) AS lookup JOIN page ON page.key = lookup.value
UNION ALL
SELECT lookup.value, alias.same_url, {_PAGE_COLUMNS} FROM json_each(?1) AS lookup
JOIN alias ON alias.key = lookup.value JOIN page ON page.key = alias.page
"""  # noqa: S608  # constant names
SELECT_BY_PATH: Final = f"""
SELECT lookup.value, 1, {_PAGE_COLUMNS} FROM json_each(?) AS lookup JOIN page
ON page.key = lookup.value OR (page.key > lookup.value || '?' AND page.key < lookup.value || '@')
WHERE body_hash IS NOT NULL LIMIT 5000
"""  # noqa: S608
SELECT_DUE_PAGES: Final = f"""
SELECT key, 1, {_PAGE_COLUMNS} FROM page
WHERE site = ? AND query = ? AND next_due <= ? AND (body_hash IS NULL) = ?
AND min(coalesce(published + iif(published % {_DAY}, 0, {_DAY}), first_seen), first_seen) >= ?
ORDER BY published IS NULL, published DESC, first_seen LIMIT ?
"""  # noqa: S608
SELECT_COPIES: Final = """
SELECT DISTINCT query, output FROM page
WHERE site = (SELECT site FROM page WHERE key = ?1 LIMIT 1) AND body_hash = ?2 AND key != ?1
"""
MAX_KNOWN_SOURCES: Final = 5000
"""Maximum number of sources of a site that a crawl knows, those used last."""
SELECT_SOURCES: Final = f"""
SELECT {", ".join(SourceRow._fields)} FROM (
    SELECT * FROM source WHERE site = ? AND query = ?
    ORDER BY coalesce(fetched_at, first_seen) DESC LIMIT {MAX_KNOWN_SOURCES}
) ORDER BY published IS NULL, published DESC, first_seen
"""  # noqa: S608

INSERT_PAGE: Final = """
INSERT INTO page
(key, query, site, url, depth, certain, hints, first_seen, last_seen, published, changed, next_due)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_COPIED: Final = ("site", *(n for n in PageRow._fields[2:] if n != "query"))
COPY_PAGE: Final = f"""
INSERT INTO page (query, {", ".join(_COPIED)})
SELECT ?1, {", ".join(_COPIED)} FROM page WHERE query = ?2 AND key = ?3 ON CONFLICT DO NOTHING
"""  # noqa: S608
PAGE_SEEN: Final = "UPDATE page SET last_seen = ?, changed = ? WHERE query = ? AND key = ?"
PAGE_CHANGE_SIGNALLED: Final = """
UPDATE page SET last_seen = ?, changed = ?, signalled = 1, next_due = ?
WHERE query = ? AND key = ?
"""
PAGE_FETCHED: Final = """
UPDATE page SET status = 'no_article', fetched_at = ?, next_due = ?, failures = 0
WHERE query = ? AND key = ?
"""
PAGE_DATED: Final = "UPDATE page SET dated = ? WHERE query = ? AND key = ?"
PAGE_EMITTED: Final = """
UPDATE page SET status = 'article', fetched_at = ?, etag = ?, last_modified = ?, body_hash = ?,
output = ?, length = ?, next_due = ?, failures = 0,
vain = iif(signalled, 0, vain), signalled = 0
WHERE query = ? AND key = ?
"""
PAGE_UNCHANGED: Final = """
UPDATE page SET status = 'article', fetched_at = ?, etag = coalesce(?, etag),
last_modified = coalesce(?, last_modified), next_due = ?, failures = 0,
vain = vain + signalled, signalled = 0 WHERE query = ? AND key = ?
"""
PAGE_ENDED: Final = """
UPDATE page SET status = ?, fetched_at = ?, next_due = ?, failures = ?,
body_hash = ?, signalled = 0 WHERE query = ? AND key = ?
"""
INSERT_ALIAS: Final = "INSERT INTO alias VALUES (?, ?, ?) ON CONFLICT DO NOTHING"

INSERT_SOURCE: Final = """
INSERT INTO source (site, query, role, key, url, depth, published, first_seen, next_due)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO UPDATE SET
published = coalesce(excluded.published, published), depth = min(depth, excluded.depth)
"""
SOURCE_READ: Final = """
UPDATE source SET etag = ?, last_modified = ?, listed = ?, fetched_at = ?, rate = ?, next_due = ?,
failures = 0 WHERE site = ? AND query = ? AND role = ? AND key = ?
"""
SOURCE_UNCHANGED: Final = """
UPDATE source SET etag = coalesce(?, etag), last_modified = coalesce(?, last_modified),
fetched_at = ?, rate = ?, next_due = ?, failures = 0
WHERE site = ? AND query = ? AND role = ? AND key = ?
"""
SOURCE_FAILED: Final = """
UPDATE source SET next_due = ?, failures = ? WHERE site = ? AND query = ? AND role = ? AND key = ?
"""

NEWEST_INSTANT: Final = """
SELECT max(at) FROM (
    SELECT max(last_seen) AS at FROM page UNION ALL SELECT max(fetched_at) FROM source
)
"""
ALL_SEEN: Final = (
    "UPDATE page SET last_seen = ?1",
    "UPDATE source SET fetched_at = min(fetched_at, ?1)",
)

MAX_SITE_ROWS: Final[dict[Table, int]] = {"page": 200_000, "source": 20_000}
"""Rows that are remembered of a site: half a year of a newsroom that lists 1,000 pages a day."""
_OLDEST: Final = """
DELETE FROM {table} WHERE ({keys}) IN (SELECT {keys} FROM (
    SELECT {keys}, row_number() OVER (PARTITION BY site ORDER BY {used} DESC, key) AS place
    FROM {table} WHERE site IN (SELECT value FROM json_each(?1))
) WHERE place > ?2)
"""
SELECT_FULL_SITES: Final = "SELECT site FROM {} GROUP BY site HAVING count(*) > ?"
# ?1: sites as JSON, ?2: rows that each keeps
DELETE_OLDEST: Final[dict[Table, str]] = {
    "page": _OLDEST.format(table="page", keys="key, query", used="last_seen"),
    "source": _OLDEST.format(
        table="source", keys="site, query, role, key", used="coalesce(fetched_at, first_seen)"
    ),
}
KEPT_RATIO: Final = 0.8
"""Share of the limit that a site keeps which has more rows when a crawl starts."""

ALL_DUE: Final = (
    """
UPDATE page SET next_due = ?1
WHERE (next_due IS NOT NULL OR body_hash IS NULL AND status IN ('failed', 'gone'))
""",
    "UPDATE source SET next_due = ?1 WHERE 1",
)
SITE_DUE: Final = tuple(f"{sql} AND site = ?2 AND query = ?3" for sql in ALL_DUE)
DELETE_OLD: Final = (
    "DELETE FROM page WHERE last_seen < ?",
    "DELETE FROM source WHERE coalesce(fetched_at, first_seen) < ?",
)
DELETE_UNUSED_ALIASES: Final = "DELETE FROM alias WHERE page NOT IN (SELECT key FROM page)"


class History(Component):
    """Base class of the histories; without ``NEWSCRAWL_ONLY_NEW``, they are written, not read."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._store = CrawlStore.for_crawler(crawler)
        self._queries = Queries.for_crawler(crawler)
        self._leases = LeaseBook.for_crawler(crawler)
        self._memory = SiteMemory.of(crawler)
        self._only_new = setting(settings, "NEWSCRAWL_ONLY_NEW")
        self._policy = RevisitPolicy(
            min_interval=setting(settings, "NEWSCRAWL_POLL_MIN") * HOUR,
            max_interval=setting(settings, "NEWSCRAWL_POLL_MAX") * HOUR,
            update_window=setting(settings, "NEWSCRAWL_UPDATE_WINDOW") * HOUR,
        )

    async def _recall(self, name: str, site: str) -> Any:
        """Return what was learned of *site* under *name*, None if nothing was."""
        found = await self._memory.find(name, site) if self._memory else []
        return json.loads(found[0][1]) if found else None

    def _remember(self, name: str, site: str, value: Any) -> None:
        """Keep what was learned of *site*, to be written as JSON."""
        if self._memory:
            until = clock.now().timestamp() + _LEARNED_KEPT
            self._memory.put(name, site, json.dumps(value), until)
