"""SQLite files of newscrawl: with an application id, opened by one process at a time."""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator


_MAX_WAIT = 30.0  # seconds for a write of another process to a shared file


class FileError(Exception):
    """Base class of the errors of a file: it cannot be opened, read or written."""


@dataclass(frozen=True, slots=True)
class FileType:
    """A kind of SQLite file, identified by its header."""

    #: description with an article: "an index of near-duplicates"
    name: str
    #: application id in the header: four letters as a number
    application: int
    #: version of the schema
    format: int
    #: CREATE statements of a new file
    schema: str
    #: exception for a file that cannot be used
    error: type[FileError]
    #: FULL: commits survive a power failure. NORMAL: they survive a crash of the process; a power
    #: failure may lose the last ones
    synchronous: Literal["NORMAL", "FULL"] = "NORMAL"
    #: other processes may read the file while it is open, and write to it for a moment;
    #: :meth:`lock` is then what keeps a second owner out
    shared: bool = False

    @contextmanager
    def translated_errors(self, path: Path | str | None) -> Iterator[None]:
        """Convert SQLite errors of the file at *path* to :attr:`error` with a readable message."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self.error(f"{path}: {self._reason(error)}") from error

    def _reason(self, error: sqlite3.DatabaseError) -> str:
        # Errors of the sqlite3 module itself have no code.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return {
            sqlite3.SQLITE_BUSY: "in use by another process",
            sqlite3.SQLITE_LOCKED: "in use by another process",
            sqlite3.SQLITE_NOTADB: f"not {self.name}",
            sqlite3.SQLITE_CORRUPT: f"damaged ({error})",
            sqlite3.SQLITE_CANTOPEN: "cannot be opened (is its folder there, and writable?)",
            sqlite3.SQLITE_FULL: "the disk is full",
            # All errors but ENOSPC: a limit of file sizes, a quota, a defective or removed disk.
            sqlite3.SQLITE_IOERR: f"input/output error ({error.sqlite_errorname})",
            sqlite3.SQLITE_READONLY: "cannot be written",
        }.get(code, str(error))

    def connect(self, path: Path | str | None) -> sqlite3.Connection:
        """Open the file, creating it if it is missing; without *path*, a database in memory.

        Unless it is shared, it is locked until the connection is closed. Raises :attr:`error` if
        the file is of another kind or version, damaged or in use.
        """
        if path is not None:
            _create_private(Path(path))
        with self.translated_errors(path):
            connection = sqlite3.connect(
                ":memory:" if path is None else Path(path),
                isolation_level=None,
                check_same_thread=False,
                timeout=_MAX_WAIT if self.shared else 0,
            )
            try:
                self._prepare(connection, path)
            except BaseException:
                connection.close()
                raise
            return connection

    def lock(self, path: Path | str) -> sqlite3.Connection:
        """Keep other owners of the shared file at *path* out until the connection is closed.

        Raises :attr:`error` if another process has it.
        """
        lock = Path(f"{path}-lock")
        _create_private(lock)
        with self.translated_errors(path):
            connection = sqlite3.connect(
                lock, isolation_level=None, check_same_thread=False, timeout=0
            )
            try:
                connection.execute("BEGIN EXCLUSIVE")
            except BaseException:
                connection.close()
                raise
            return connection

    def _prepare(self, connection: sqlite3.Connection, path: Path | str | None) -> None:
        if not self.shared:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._check_owner(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {self.synchronous}")
        connection.execute("PRAGMA temp_store = MEMORY")
        with transaction(connection):
            if not connection.execute("PRAGMA application_id").fetchone()[0]:
                self._create(connection)
        self.check_columns(connection, path, self.schema)
        damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if damage != "ok":
            raise self.error(f"{path}: damaged ({' '.join(damage.split())})")

    def _check_owner(self, connection: sqlite3.Connection, path: Path | str | None) -> None:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        empty = not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if application != self.application and not (empty and application == version == 0):
            raise self.error(f"{path}: not {self.name}")
        if version > self.format:
            raise self.error(
                f"{path}: written by a newer version of newscrawl "
                f"(format {version}, not {self.format}); use that version, or another file"
            )
        if not empty and version < self.format:
            raise self.error(
                f"{path}: written by an older version of newscrawl "
                f"(format {version}, not {self.format}); delete it to start a new one"
            )

    def check_columns(
        self, connection: sqlite3.Connection, path: Path | str | None, schema: str
    ) -> None:
        """Raise :attr:`error` if a table has other columns than the statements *schema* create."""
        with closing(sqlite3.connect(":memory:")) as example:
            execute_all(example, schema)
            for (table,) in example.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
                found = _columns(connection, table)
                if found and found != _columns(example, table):
                    raise self.error(
                        f"{path}: the table {table} has other columns in this version of newscrawl; "
                        "delete the file to start a new one"
                    )

    def _create(self, connection: sqlite3.Connection) -> None:
        execute_all(connection, self.schema)
        connection.execute(f"PRAGMA application_id = {self.application}")
        connection.execute(f"PRAGMA user_version = {self.format}")


def _create_private(path: Path) -> None:
    """Create *path*, unless it exists, for its owner only: URLs in it may have passwords.

    SQLite gives its temporary files the same mode.
    """
    with suppress(OSError):  # SQLite has the better messages
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the names of the columns of *table*, none if it does not exist."""
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return [name for (name,) in rows]


def checksum(text: str) -> int:
    """Return the checksum of a stored *text*, since SQLite stores none."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def execute_all(connection: sqlite3.Connection, statements: str) -> None:
    """Execute *statements*, each ending with a semicolon, in the open transaction."""
    for statement in statements.split(";")[:-1]:
        connection.execute(statement)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit the statements of the block; roll all back on an exception."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite rolls back itself if the disk is full
            connection.execute("ROLLBACK")
        raise
