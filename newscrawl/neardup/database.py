"""SQLite file of the index: schema and statements. One process may open it at a time."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from newscrawl.neardup.sketch import SKETCH_COLUMNS, Sketch
from newscrawl.neardup.story import Verdict
from newscrawl.sqlite import FileError, FileType, transaction

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

CACHE_SIZE: Final = 8 * 2**10
"""Page cache of SQLite, in KiB."""

CHECKPOINT_PAGES: Final = 4000
"""Pages of the write-ahead log that trigger a checkpoint."""

_SCHEMA: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE cluster (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER NOT NULL);
CREATE TABLE alias (name TEXT PRIMARY KEY, cluster TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE story (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    url TEXT NOT NULL,
    texts BLOB NOT NULL,
    at INTEGER NOT NULL,
    site INTEGER NOT NULL,
    lineage INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    is_digest INTEGER NOT NULL,
    scale INTEGER NOT NULL,
    words INTEGER NOT NULL,
    numbers BLOB NOT NULL,
    names BLOB NOT NULL,
    hashes BLOB NOT NULL,
    opening BLOB NOT NULL,
    verdict TEXT NOT NULL
);
CREATE INDEX story_at ON story (at);
CREATE INDEX story_cluster ON story (cluster);
CREATE INDEX story_site ON story (site);
CREATE TABLE boilerplate (
    site INTEGER NOT NULL, hash INTEGER NOT NULL, since INTEGER NOT NULL,
    PRIMARY KEY (site, hash)
) WITHOUT ROWID;
CREATE TABLE posting (bucket INTEGER PRIMARY KEY, entries BLOB NOT NULL);
CREATE TABLE part (
    number INTEGER PRIMARY KEY, settled INTEGER NOT NULL, cleaned INTEGER NOT NULL
);
"""

_COLUMNS = ", ".join(
    ("id", "url", "at", "site", "lineage", "cluster", "is_digest", *SKETCH_COLUMNS)
)


class NearDuplicateIndexError(FileError):
    """The index file is foreign, damaged, newer, in use, or has sketches of other options."""


FILE: Final = FileType(
    name="an index of near-duplicates",
    application=0x4E43_4E44,  # "NCND"
    format=4,
    schema=_SCHEMA,
    error=NearDuplicateIndexError,
)


def connect(path: Path | str | None, fingerprint: str) -> sqlite3.Connection:
    """Open the file, or create it; without a *path*, create a database in memory.

    The file is locked until it is closed or the process ends. Commits survive the end of the
    process; as WAL is not synced at each commit, a power failure may lose the latest ones. Raises
    :class:`NearDuplicateIndexError`.
    """
    connection = FILE.connect(path)
    try:
        with FILE.translated_errors(path):
            _prepare(connection, path, fingerprint)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path | str | None, fingerprint: str) -> None:
    connection.execute(f"PRAGMA cache_size = -{CACHE_SIZE}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    with transaction(connection):
        connection.execute("INSERT OR IGNORE INTO meta VALUES ('sketch', ?)", (fingerprint,))
    (stored,) = connection.execute("SELECT value FROM meta WHERE name = 'sketch'").fetchone()
    if stored != fingerprint:
        raise NearDuplicateIndexError(
            f"{path}: contains sketches of other options ({stored}, not {fingerprint})"
        )


def digest(text: str, size: int = 16) -> bytes:
    """Return the BLAKE2b digest of *text*, of *size* bytes."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


class StoryRecord(NamedTuple):
    """A story in the index."""

    id: int
    url: str
    #: Unix time
    at: int
    site: int
    #: id of the first version of the story on its site
    lineage: int
    cluster: int
    #: whether it contains several other stories
    is_digest: bool
    sketch: Sketch


def _record(row: tuple[Any, ...]) -> StoryRecord:
    number, url, at, site, lineage, cluster, is_digest, *columns = row
    made = Sketch.from_columns(*columns)
    return StoryRecord(number, url, at, site, lineage, cluster, bool(is_digest), made)


class StoryTable:
    """Stories, sites, boilerplate and clusters. Callers open and commit the transactions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self._executemany = connection.executemany

    def site(self, name: str) -> int:
        """Return the id of a site, which is created if it is new."""
        row = self._execute("SELECT id FROM site WHERE name = ?", (name,)).fetchone()
        if row is None:
            return self._execute("INSERT INTO site (name) VALUES (?)", (name,)).lastrowid or 0
        return int(row[0])

    def count(self) -> int:
        """Return the number of stories."""
        return int(self._execute("SELECT count(*) FROM story").fetchone()[0])

    def find(self, key: bytes) -> tuple[int, bytes] | None:
        """Return the id of the story with this URL digest, and the digests of its texts."""
        row = self._execute("SELECT id, texts FROM story WHERE key = ?", (key,)).fetchone()
        return None if row is None else (row[0], row[1])

    def newest(self) -> int:
        """Return the id of the latest story, or 0."""
        return int(self._execute("SELECT coalesce(max(id), 0) FROM story").fetchone()[0])

    def _select(self, condition: str, *values: Any) -> list[StoryRecord]:
        sql = f"SELECT {_COLUMNS} FROM story WHERE {condition}"  # noqa: S608
        rows = self._execute(sql, values)
        return [_record(row) for row in rows]

    def record(self, story: int) -> StoryRecord:
        """Return a story."""
        return self._select("id = ?", story)[0]

    def records(self, stories: Iterable[int]) -> list[StoryRecord]:
        """Return the *stories* that exist, in order of arrival."""
        numbers = json.dumps(sorted(stories))
        return self._select("id IN (SELECT value FROM json_each(?)) ORDER BY id", numbers)

    def after(self, story: int) -> list[StoryRecord]:
        """Return the stories that arrived after *story*, in order of arrival."""
        return self._select("id > ? ORDER BY id", story)

    def before(self, story: int, at: int) -> list[StoryRecord]:
        """Return the stories that arrived before *story* and are dated before *at*."""
        return self._select("at < ? AND id < ?", at, story)

    def pages(self, site: int, count: int) -> list[StoryRecord]:
        """Return the latest *count* stories of a site, in order of arrival."""
        return self._select("site = ? ORDER BY id DESC LIMIT ?", site, count)[::-1]

    def boilerplate(self, site: int, until: int = 2**62) -> NDArray[np.uint32]:
        """Return the sorted boilerplate hashes of a site, as known after story *until*."""
        rows = self._execute(
            "SELECT hash FROM boilerplate WHERE site = ? AND since <= ?", (site, until)
        )
        return np.sort(np.fromiter((value for (value,) in rows), np.int32).view(np.uint32))

    def add_boilerplate(self, site: int, hashes: NDArray[np.uint32], since: int) -> None:
        """Add boilerplate hashes of a site, learned from story *since*."""
        # Signed, so that SQLite stores them in four bytes.
        rows = [(site, value, since) for value in hashes.view(np.int32).tolist()]
        self._executemany("INSERT INTO boilerplate VALUES (?, ?, ?)", rows)

    def new_cluster(self, name: str) -> int:
        """Create a cluster of one story and return its id."""
        return (
            self._execute("INSERT INTO cluster (name, size) VALUES (?, 1)", (name,)).lastrowid or 0
        )

    def cluster(self, number: int) -> tuple[str, int]:
        """Return the name and size of a cluster."""
        row = self._execute("SELECT name, size FROM cluster WHERE id = ?", (number,)).fetchone()
        return row[0], row[1]

    def is_taken(self, name: str) -> bool:
        """Return whether a cluster has, or had, this name."""
        known = "SELECT 1 FROM cluster WHERE name = ? UNION SELECT 1 FROM alias WHERE name = ?"
        return self._execute(known, (name, name)).fetchone() is not None

    def resolve(self, name: str) -> str:
        """Return the current name of a cluster that may have been merged."""
        while row := self._execute("SELECT cluster FROM alias WHERE name = ?", (name,)).fetchone():
            name = row[0]
        return name

    def members(self, cluster: int, since: int, until: int, count: int) -> list[int]:
        """Return the latest *count* stories of a cluster dated *since* to *until*, by arrival."""
        rows = self._execute(
            "SELECT id FROM story WHERE cluster = ? AND at BETWEEN ? AND ?"
            " ORDER BY id DESC LIMIT ?",
            (cluster, since, until, count),
        ).fetchall()
        return [story for (story,) in reversed(rows)]

    def grow(self, cluster: int, by: int = 1) -> None:
        """Increase the size of a cluster."""
        self._execute("UPDATE cluster SET size = size + ? WHERE id = ?", (by, cluster))

    def merge(self, cluster: int, into: int) -> str:
        """Merge a cluster into another; return its name, which becomes an alias."""
        name, size = self.cluster(cluster)
        self._execute("UPDATE story SET cluster = ? WHERE cluster = ?", (into, cluster))
        self._execute("DELETE FROM cluster WHERE id = ?", (cluster,))
        self._execute("INSERT INTO alias VALUES (?, ?)", (name, self.cluster(into)[0]))
        self.grow(into, size)
        return name

    def delete_empty_cluster(self, cluster: int) -> None:
        """Delete a cluster if it has no stories."""
        self._execute(
            "DELETE FROM cluster WHERE id = ?"
            " AND NOT EXISTS (SELECT 1 FROM story WHERE story.cluster = cluster.id)",
            (cluster,),
        )

    def insert(self, record: StoryRecord, key: bytes, texts: bytes, verdict: Verdict) -> None:
        """Insert a new story."""
        verdict_json = json.dumps(astuple(verdict), ensure_ascii=False, separators=(",", ":"))
        self._execute(
            "INSERT INTO story VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.id,
                key,
                record.url,
                texts,
                record.at,
                record.site,
                record.lineage,
                record.cluster,
                record.is_digest,
                *record.sketch.to_columns(),
                verdict_json,
            ),
        )

    def delete(self, story: int) -> None:
        """Delete a story."""
        self._execute("DELETE FROM story WHERE id = ?", (story,))

    def newest_time(self, rank: int) -> int:
        """Return the time of the story than which *rank* stories are newer."""
        row = self._execute(
            "SELECT at FROM story ORDER BY at DESC LIMIT 1 OFFSET ?", (rank,)
        ).fetchone()
        return -(2**62) if row is None else int(row[0])

    def verdict(self, story: int) -> Verdict:
        """Return the stored verdict of a story."""
        row = self._execute("SELECT verdict FROM story WHERE id = ?", (story,)).fetchone()
        cluster, size, is_first, similarity, near, merged = json.loads(row[0])
        return Verdict(cluster, size, is_first, similarity, tuple(near), tuple(merged))
