"""Bounded cache of texts by key in an SQLite file that several processes may share."""

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

# In seconds; updating the last use of a row costs a write.
_TOUCH_INTERVAL = 3600
# In seconds; maximum wait for a lock of another process.
_LOCK_TIMEOUT = 5.0
# Eviction frees 10 % at once, so that few writes pay for it.
_KEPT_RATIO = 0.9
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
    """An SQLite file of at most *size* bytes; texts of other formats are ignored.

    A damaged file is replaced. After other errors the file is no longer used.
    """

    def __init__(self, path: Path, size: int, text_format: int) -> None:
        self._path = path
        self._size = size
        self._format = text_format
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._disabled = False

    def read(self, key: str) -> str | None:
        """Return the text of *key*, None if it is not in the file, and record its use."""
        return self._run(lambda connection: self._read(connection, key))

    def write(self, key: str, text: str) -> None:
        """Store a text and evict the least recently used ones above the limit."""
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
        if now - row[1] > _TOUCH_INTERVAL:
            connection.execute("UPDATE sheets SET used = ? WHERE hash = ?", (now, key))
        return str(row[0])

    def _write(self, connection: sqlite3.Connection, key: str, text: str) -> None:
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > self._size * _KEPT_RATIO:
            return
        now = int(clock.now().timestamp())
        self._make_room(connection, size)
        connection.execute(
            "INSERT OR REPLACE INTO sheets VALUES (?, ?, ?, ?, ?)",
            (key, self._format, size, now, text),
        )

    def _make_room(self, connection: sqlite3.Connection, size: int) -> None:
        """Evict the least recently used texts if *size* more bytes exceed the limit."""
        pages, free, page_size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        used = (pages - free) * page_size
        if used + size > self._size:
            connection.execute(_EVICT, (used + size - int(self._size * _KEPT_RATIO),))

    def _run(self, operation: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return the result of *operation* on the file, None if the file fails."""
        with self._lock:
            if self._disabled:
                return None
            try:
                return operation(self._connect())
            except sqlite3.Error as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code in _BUSY:
                    logger.debug("Style sheet store %s is busy", self._path)
                elif code in _DAMAGED:
                    self._replace(error)
                else:
                    self._disable(error)
            except OSError as error:
                self._disable(error)
            return None

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self._path, timeout=_LOCK_TIMEOUT, isolation_level=None, check_same_thread=False
            )
            self._connection.executescript(_OPEN)
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _replace(self, error: sqlite3.Error) -> None:
        """Delete the file; other processes keep their open file."""
        logger.warning("Style sheet store %s is damaged (%s); replacing it", self._path, error)
        self._disconnect()
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError as unlinked:
            self._disable(unlinked)

    def _disable(self, error: Exception) -> None:
        logger.warning("Could not use the style sheet store %s (%s); disabled", self._path, error)
        self._disabled = True
        self._disconnect()
