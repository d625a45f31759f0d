"""The file of the index: SQLite, opened by one process at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from newscrawl.sqlite import FileType, transaction

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

CACHE: Final = 8 * 2**10
"""KiB of pages that SQLite keeps in memory."""

CHECKPOINT: Final = 4000
"""Pages that the log may have before they go into the file."""

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
    scale INTEGER NOT NULL,
    words INTEGER NOT NULL,
    numbers BLOB NOT NULL,
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


class NearDuplicateIndexError(Exception):
    """The file cannot be used as an index: foreign, damaged, newer, other sketches, or in use."""


FILE: Final = FileType(
    name="an index of near-duplicates",
    application=0x4E43_4E44,  # "NCND"
    format=3,
    schema=_SCHEMA,
    error=NearDuplicateIndexError,
)


def connect(path: Path | str | None, fingerprint: str) -> sqlite3.Connection:
    """Return the opened file, made if it is missing; without a *path*, one in memory.

    The file is locked until it is closed, or the process ends. WAL without a sync at each commit:
    what is committed outlives the process, however that ends; a power failure may take the last
    commits, never more. Raises :class:`NearDuplicateIndexError`.
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
    connection.execute(f"PRAGMA cache_size = -{CACHE}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
    with transaction(connection):
        connection.execute("INSERT OR IGNORE INTO meta VALUES ('sketch', ?)", (fingerprint,))
    (stored,) = connection.execute("SELECT value FROM meta WHERE name = 'sketch'").fetchone()
    if stored != fingerprint:
        raise NearDuplicateIndexError(
            f"{path}: holds sketches of other options ({stored}, not {fingerprint})"
        )
