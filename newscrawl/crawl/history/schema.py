"""The tables that carry over from crawl to crawl, and the statements on them.

``page``: every article page that was ever listed, fetched or not. ``alias``: other URLs of a page,
those that led there (*same_url*) and the canonical ones that it names. ``source``: feeds, sitemaps,
section pages and robots.txt of each site. Times are seconds since 1970 (UTC), intervals seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from newscrawl.crawl.discovery.target import Role

# ``status`` of a page: listed, article, no_article, known (as another page), failed (with tries
# left where it has a next_due), gone. ``vain``: how often a listing told of a change that was none.
# ``listed``: pages that a source named when it was last read.
# ``cut``: the limit that cut a listing short, 0 where all of it was read.
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS page (
    key TEXT PRIMARY KEY,
    site TEXT NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    certain INTEGER NOT NULL,
    hints TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'listed',
    first_seen REAL NOT NULL,
    last_seen REAL NOT NULL,
    published REAL,
    changed REAL,
    signalled INTEGER NOT NULL DEFAULT 0,
    vain INTEGER NOT NULL DEFAULT 0,
    fetched_at REAL,
    etag TEXT,
    last_modified TEXT,
    body_hash BLOB,
    interval REAL,
    next_due REAL,
    failures INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS page_due ON page (site, next_due) WHERE next_due IS NOT NULL;
CREATE INDEX IF NOT EXISTS page_last_seen ON page (last_seen);
CREATE TABLE IF NOT EXISTS alias (
    key TEXT PRIMARY KEY, page TEXT NOT NULL, same_url INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS alias_page ON alias (page);
CREATE TABLE IF NOT EXISTS source (
    site TEXT NOT NULL,
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
    cut INTEGER NOT NULL DEFAULT 0,
    interval REAL,
    next_due REAL NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, role, key)
) WITHOUT ROWID;
"""


class PageRow(NamedTuple):
    """What is known of a page."""

    #: the key that was asked for
    asked: str
    #: 1 where that is the page's own or another that led there, 0 for a canonical URL it names
    same_url: int
    key: str
    url: str
    depth: int
    certain: int
    #: JSON
    hints: str
    first_seen: float
    last_seen: float
    published: float | None
    changed: float | None
    vain: int
    fetched_at: float | None
    etag: str | None
    last_modified: str | None
    #: of the text that was put out last; None where nothing was
    body_hash: bytes | None
    interval: float | None
    next_due: float | None
    failures: int

    @property
    def since(self) -> float:
        """When the page was new."""
        return min(self.published or self.first_seen, self.first_seen)

    @property
    def past(self) -> dict[str, Any]:
        """What the next visit needs to know, as plain values."""
        past = {
            "since": self.since,
            "fetched_at": self.fetched_at,
            "etag": self.etag,
            "last_modified": self.last_modified,
            "hash": self.body_hash and self.body_hash.hex(),
            "interval": self.interval,
            "failures": self.failures,
        }
        return {name: value for name, value in past.items() if value is not None}


class SourceRow(NamedTuple):
    """What is known of a source."""

    role: Role
    key: str
    url: str
    depth: int
    published: float | None
    fetched_at: float | None
    etag: str | None
    last_modified: str | None
    listed: int
    cut: int
    interval: float | None
    next_due: float
    failures: int


_PAGE: Final = ", ".join(f"page.{name}" for name in PageRow._fields[2:])

LOOK_UP: Final = f"""
SELECT asked.value, 1, {_PAGE} FROM json_each(?1) AS asked JOIN page ON page.key = asked.value
UNION ALL
SELECT asked.value, alias.same_url, {_PAGE} FROM json_each(?1) AS asked
JOIN alias ON alias.key = asked.value JOIN page ON page.key = alias.page
"""  # noqa: S608  # our own names
DUE: Final = f"""
SELECT key, 1, {_PAGE} FROM page
WHERE site = ? AND next_due <= ? AND (body_hash IS NULL) = ?
AND min(coalesce(published, first_seen), first_seen) >= ?
ORDER BY published IS NULL, published DESC, first_seen LIMIT ?
"""  # noqa: S608
SOURCES: Final = f"""
SELECT {", ".join(SourceRow._fields)} FROM source
WHERE site = ? ORDER BY published IS NULL, published DESC, first_seen
"""  # noqa: S608

LIST_PAGE: Final = """
INSERT INTO page
(key, site, url, depth, certain, hints, first_seen, last_seen, published, changed, next_due)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
SEE_PAGE: Final = "UPDATE page SET last_seen = ?, changed = ? WHERE key = ?"
SIGNAL: Final = """
UPDATE page SET last_seen = ?, changed = ?, signalled = 1, next_due = ? WHERE key = ?
"""
TAKE_PAGE: Final = """
UPDATE page SET status = 'no_article', fetched_at = ?, interval = ?, next_due = ?, failures = 0
WHERE key = ?
"""
DELIVER_PAGE: Final = """
UPDATE page SET status = 'article', fetched_at = ?, etag = ?, last_modified = ?, body_hash = ?,
interval = ?, next_due = ?, failures = 0, vain = iif(signalled, 0, vain), signalled = 0
WHERE key = ?
"""
KEEP_PAGE: Final = """
UPDATE page SET status = 'article', fetched_at = ?, etag = coalesce(?, etag),
last_modified = coalesce(?, last_modified), interval = ?, next_due = ?, failures = 0,
vain = vain + signalled, signalled = 0 WHERE key = ?
"""
END_PAGE: Final = """
UPDATE page SET status = ?, fetched_at = ?, interval = ?, next_due = ?, failures = ?,
body_hash = ?, signalled = 0 WHERE key = ?
"""
ALIAS: Final = "INSERT INTO alias VALUES (?, ?, ?) ON CONFLICT DO NOTHING"

LIST_SOURCE: Final = """
INSERT INTO source (site, role, key, url, depth, published, first_seen, next_due)
VALUES (?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO UPDATE SET
published = coalesce(excluded.published, published), depth = min(depth, excluded.depth)
"""
READ_SOURCE: Final = """
UPDATE source SET etag = ?, last_modified = ?, listed = ?, cut = ?, fetched_at = ?, interval = ?,
next_due = ?, failures = 0 WHERE site = ? AND role = ? AND key = ?
"""
KEEP_SOURCE: Final = """
UPDATE source SET etag = coalesce(?, etag), last_modified = coalesce(?, last_modified),
fetched_at = ?, interval = ?, next_due = ?, failures = 0 WHERE site = ? AND role = ? AND key = ?
"""
FAIL_SOURCE: Final = """
UPDATE source SET next_due = ?, failures = ? WHERE site = ? AND role = ? AND key = ?
"""

FORGET: Final = (
    ("DELETE FROM page WHERE last_seen < ?", True),
    ("DELETE FROM source WHERE coalesce(fetched_at, first_seen) < ?", True),
    ("DELETE FROM alias WHERE page NOT IN (SELECT key FROM page)", False),
)
