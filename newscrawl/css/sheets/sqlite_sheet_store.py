"""Texts by key in an SQLite file: bounded, shared by processes, and no loss when it is lost."""

from __future__ import annotations

import logging
import sqlite3
import threading
from typing import TYPE_CHECKING, TypeVar

from newscrawl import clock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")
logger = logging.getLogger(__name__)

# Seconds; a row's last use needs no more precision, and costs a write.
_TOUCHED_EVERY = 3600
# Seconds that another process may hold the file.
_PATIENCE = 5.0
# A part at once is evicted, so that one sheet in many pays for it.
_KEPT_SHARE = 0.9
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_OPEN = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA journal_size_limit = 4194304;
CREATE TABLE IF NOT EXISTS sheets (
    hash TEXT PRIMARY KEY, format INTEGER NOT NULL, size INTEGER NOT NULL,
    used INTEGER NOT NULL, plain TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS sheets_by_use ON sheets (used, hash, size);
"""
_EVICT = """
DELETE FROM sheets WHERE hash IN (
    SELECT hash FROM (
        SELECT hash, size, SUM(size) OVER (ORDER BY used, hash) AS total FROM sheets
    ) WHERE total - size < ?
)
"""


class SheetFile:
    """An SQLite file of at most *size* bytes; texts of other formats are none.

    A damaged file is replaced. One that cannot be used is given up: nothing is found in it.
    """

    def __init__(self, path: Path, size: int, text_format: int) -> None:
        self._path = path
        self._size = size
        self._format = text_format
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._given_up = False

    def read(self, key: str) -> str | None:
        """Return the text of *key*, and note its use."""
        return self._run(lambda connection: self._read(connection, key))

    def write(self, key: str, text: str) -> None:
        """Store a text; for its room the least recently used ones go."""
        self._run(lambda connection: self._write(connection, key, text))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._disconnect()

    def _read(self, connection: sqlite3.Connection, key: str) -> str | None:
        row = connection.execute(
            "SELECT plain, used FROM sheets WHERE hash = ? AND format = ?", (key, self._format)
        ).fetchone()
        if row is None:
            return None
        now = int(clock.now().timestamp())
        if now - row[1] > _TOUCHED_EVERY:
            connection.execute("UPDATE sheets SET used = ? WHERE hash = ?", (now, key))
        return str(row[0])

    def _write(self, connection: sqlite3.Connection, key: str, text: str) -> None:
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > self._size * _KEPT_SHARE:
            return
        now = int(clock.now().timestamp())
        self._make_room(connection, size)
        connection.execute(
            "INSERT OR REPLACE INTO sheets VALUES (?, ?, ?, ?, ?)",
            (key, self._format, size, now, text),
        )

    def _make_room(self, connection: sqlite3.Connection, size: int) -> None:
        """Evict what was used least recently if *size* bytes more are too much."""
        pages, free, page_size = (
            connection.execute(f"PRAGMA {what}").fetchone()[0]
            for what in ("page_count", "freelist_count", "page_size")
        )
        used = (pages - free) * page_size
        if used + size > self._size:
            connection.execute(_EVICT, (used + size - int(self._size * _KEPT_SHARE),))

    def _run(self, operation: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return what *operation* gives on the file; None where the file fails it."""
        with self._lock:
            if self._given_up:
                return None
            try:
                return operation(self._connect())
            except sqlite3.Error as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code in _BUSY:
                    logger.debug("style sheet store %s is busy", self._path)
                elif code in _DAMAGED:
                    self._replace(error)
                else:
                    self._give_up(error)
            except OSError as error:
                self._give_up(error)
            return None

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
            self._connection.executescript(_OPEN)
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _replace(self, error: sqlite3.Error) -> None:
        """Begin with an empty file; other processes keep what they have open."""
        logger.warning("style sheet store %s is damaged (%s): replaced", self._path, error)
        self._disconnect()
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError as unlinked:
            self._give_up(unlinked)

    def _give_up(self, error: Exception) -> None:
        logger.warning("style sheet store %s is left alone: %s", self._path, error)
        self._given_up = True
        self._disconnect()
