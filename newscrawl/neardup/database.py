"""The file of the index: SQLite, opened by one process at a time."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

APPLICATION: Final = 0x4E43_4E44
"""What marks the file as ours: "NCND" in SQLite's header."""

FORMAT: Final = 1
"""Version of the schema."""

CACHE: Final = 32 * 2**10
"""KiB of pages that SQLite keeps in memory."""

CHECKPOINT: Final = 4000
"""Pages that the log may have before they go into the file."""

_SCHEMA: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE site (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, stories INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE cluster (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER NOT NULL);
CREATE TABLE alias (name TEXT PRIMARY KEY, cluster TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE story (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
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
    verdict TEXT
);
CREATE INDEX story_at ON story (at);
CREATE INDEX story_cluster ON story (cluster);
CREATE TABLE posting (
    hash INTEGER NOT NULL, site INTEGER NOT NULL, story INTEGER NOT NULL,
    PRIMARY KEY (hash, site, story)
) WITHOUT ROWID;
CREATE TABLE anchor (
    hash INTEGER NOT NULL, story INTEGER NOT NULL, PRIMARY KEY (hash, story)
) WITHOUT ROWID;
CREATE TABLE boilerplate (
    site INTEGER NOT NULL, hash INTEGER NOT NULL, PRIMARY KEY (site, hash)
) WITHOUT ROWID;
"""

_FRESH: Final = """
CREATE TEMP TABLE fresh_posting (
    hash INTEGER NOT NULL, site INTEGER NOT NULL, story INTEGER NOT NULL,
    PRIMARY KEY (hash, site, story)
) WITHOUT ROWID;
CREATE TEMP TABLE fresh_anchor (
    hash INTEGER NOT NULL, story INTEGER NOT NULL, PRIMARY KEY (hash, story)
) WITHOUT ROWID;
"""
"""In memory: postings of the last stories, made from their sketches when the file is opened."""


class NearDuplicateIndexError(Exception):
    """The file cannot be used as an index: foreign, damaged, newer, other sketches, or in use."""


@contextmanager
def explained(path: Path | str | None) -> Iterator[None]:
    """Raise what SQLite says of the file as :class:`NearDuplicateIndexError`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        reason = {
            sqlite3.SQLITE_BUSY: "in use by another process",
            sqlite3.SQLITE_LOCKED: "in use by another process",
            sqlite3.SQLITE_NOTADB: "not an index of near-duplicates",
            sqlite3.SQLITE_CORRUPT: f"damaged ({error})",
        }.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, str(error))
        raise NearDuplicateIndexError(f"{path}: {reason}") from error


def connect(path: Path | str | None, fingerprint: str) -> sqlite3.Connection:
    """Return the opened file, made if it is missing; without a *path*, one in memory.

    The file is locked until it is closed, or the process ends. WAL without a sync at each commit:
    what is committed outlives the process, however that ends; a power failure may take the last
    commits, never more. Raises :class:`NearDuplicateIndexError`.
    """
    with explained(path):
        connection = sqlite3.connect(
            ":memory:" if path is None else Path(path),
            isolation_level=None,
            check_same_thread=False,
            timeout=0,
        )
        try:
            _prepare(connection, path, fingerprint)
        except BaseException:
            connection.close()
            raise
        return connection


def _prepare(connection: sqlite3.Connection, path: Path | str | None, fingerprint: str) -> None:
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    _check_owner(connection, path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA cache_size = -{CACHE}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
    with transaction(connection):
        if not connection.execute("PRAGMA application_id").fetchone()[0]:
            _create(connection, fingerprint)
    _check_content(connection, path, fingerprint)
    connection.executescript(_FRESH)


def _check_owner(connection: sqlite3.Connection, path: Path | str | None) -> None:
    """Raise :class:`NearDuplicateIndexError` for a file of another program or version."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    empty = not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application != APPLICATION and not (empty and application == version == 0):
        raise NearDuplicateIndexError(f"{path}: not an index of near-duplicates")
    if version > FORMAT:
        raise NearDuplicateIndexError(
            f"{path}: written by a newer version of newscrawl (format {version}, not {FORMAT})"
        )


def _create(connection: sqlite3.Connection, fingerprint: str) -> None:
    for statement in _SCHEMA.split(";")[:-1]:
        connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES ('sketch', ?)", (fingerprint,))
    connection.execute("INSERT INTO meta VALUES ('posted', '0')")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def _check_content(
    connection: sqlite3.Connection, path: Path | str | None, fingerprint: str
) -> None:
    """Raise :class:`NearDuplicateIndexError` for a damaged file or one with other sketches."""
    damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if damage != "ok":
        raise NearDuplicateIndexError(f"{path}: damaged ({damage})")
    (stored,) = connection.execute("SELECT value FROM meta WHERE name = 'sketch'").fetchone()
    if stored != fingerprint:
        raise NearDuplicateIndexError(
            f"{path}: holds sketches of other options ({stored}, not {fingerprint})"
        )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what is done within, or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
