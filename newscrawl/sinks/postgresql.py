"""PostgreSQL sink: one row per article, with psycopg (extra ``postgresql``).

The rows of a segment and the note that it was delivered are one transaction.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Composed, Identifier
from psycopg.types.json import Jsonb

from newscrawl.sinks.sink import (
    RefusedRow,
    SegmentDelivery,
    Sink,
    SinkError,
    SinkUrlError,
    one_line,
    read_item_rows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from urllib.parse import SplitResult

    from scrapy.settings import BaseSettings

    from newscrawl.crawling.output.segments import Segment
    from newscrawl.sinks.sink import ItemRow

DEFAULT_TABLE: Final = "articles"

_DEFAULTS: Final = {
    "application_name": "newscrawl",
    "connect_timeout": "30",
    # A connection whose peer has disappeared fails after a minute.
    "tcp_user_timeout": "60000",
}
_LOCK: Final = 0x4E43_5244
"""Advisory lock for the creation of tables, which PostgreSQL does not do concurrently."""

_CREATE: Final = """
CREATE TABLE IF NOT EXISTS {table} (
    key text PRIMARY KEY,
    fetched_at timestamptz NOT NULL,
    url text NOT NULL,
    title text,
    date timestamptz,
    language text,
    body text,
    item jsonb NOT NULL
);
CREATE TABLE IF NOT EXISTS {segments} (
    sha256 text PRIMARY KEY,
    name text NOT NULL,
    refused jsonb NOT NULL,
    delivered_at timestamptz NOT NULL DEFAULT now()
)
"""
_EXISTS: Final = "SELECT to_regclass(%s) IS NOT NULL AND to_regclass(%s) IS NOT NULL"
_KNOWN: Final = "SELECT sha256, jsonb_array_length(refused) FROM {segments} WHERE sha256 = ANY(%s)"
# Waits for the transaction of another process that delivers the segment. Returns no row if that
# has delivered it, without refused items.
_CLAIM: Final = """
INSERT INTO {segments} AS old (sha256, name, refused) VALUES (%s, %s, '[]')
ON CONFLICT (sha256) DO UPDATE SET refused = '[]', delivered_at = now() WHERE old.refused <> '[]'
RETURNING sha256
"""
_SET_REFUSED: Final = "UPDATE {segments} SET refused = %s WHERE sha256 = %s"
_UPSERT: Final = """
INSERT INTO {table} AS old (key, fetched_at, url, title, date, language, body, item)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (key) DO UPDATE SET
    fetched_at = excluded.fetched_at, url = excluded.url, title = excluded.title,
    date = excluded.date, language = excluded.language, body = excluded.body, item = excluded.item
WHERE excluded.fetched_at > old.fetched_at
"""
_ROW_ERRORS: Final = (
    psycopg.DataError,
    psycopg.IntegrityError,
    errors.ProgramLimitExceeded,
    errors.RaiseException,
    UnicodeEncodeError,
)
"""Errors of a value, a constraint or a trigger. All others are those of the database."""


class PostgresqlSink(Sink):
    """Table of articles at ``postgresql://user@host/database?table=name``."""

    def __init__(self, url: SplitResult, settings: BaseSettings) -> None:  # noqa: ARG002
        super().__init__(url)
        parameters = dict(parse_qsl(url.query))
        table = parameters.pop("table", DEFAULT_TABLE).split(".")
        self._table = Identifier(*table)
        self._segments = Identifier(*table[:-1], f"{table[-1]}_segments")
        conninfo = url._replace(query=urlencode(parameters)).geturl()
        try:
            given = conninfo_to_dict(conninfo)
        except (psycopg.Error, UnicodeError):  # repeats the URL, with its password
            raise SinkUrlError(f"{self.name}: not a URL of PostgreSQL") from None
        try:
            self._connection = psycopg.connect(**{**_DEFAULTS, **given})  # type: ignore[arg-type]
            self._create_tables()
        except psycopg.Error as error:
            raise SinkError(_reason(error)) from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def refused_counts(self, segments: Sequence[tuple[Path, Segment]]) -> dict[str, int]:
        """Return the refused items of delivered segments."""
        hashes = [segment.sha256 for _, segment in segments]
        try:
            with self._connection.transaction():
                rows = self._connection.execute(self._sql(_KNOWN), [hashes]).fetchall()
        except psycopg.Error as error:
            raise SinkError(_reason(error)) from error
        return dict(rows)

    def deliver(self, path: Path, segment: Segment) -> SegmentDelivery:
        """Deliver a segment in one transaction."""
        rows, skipped = read_item_rows(path, segment)
        try:
            with self._connection.transaction():
                refused = self._deliver(segment, rows)
        except psycopg.Error as error:
            raise SinkError(_reason(error)) from error
        return SegmentDelivery(len(rows) - len(refused), skipped, refused)

    def _deliver(self, segment: Segment, rows: Sequence[ItemRow]) -> list[RefusedRow]:
        # A deferred constraint would refuse the whole segment at its end.
        self._connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        claim = [segment.sha256, segment.name]
        if not self._connection.execute(self._sql(_CLAIM), claim).fetchall():
            return []
        refused = self._upsert(rows)
        if refused:
            values = [asdict(row) for row in refused]
            self._connection.execute(self._sql(_SET_REFUSED), [Jsonb(values), segment.sha256])
        return refused

    def _upsert(self, rows: Sequence[ItemRow]) -> list[RefusedRow]:
        """Write *rows*; return the refused ones, which are found one by one."""
        try:
            with self._connection.transaction(), self._connection.cursor() as cursor:
                cursor.executemany(self._sql(_UPSERT), [_values(row) for row in rows])
        except _ROW_ERRORS as error:
            if len(rows) == 1:
                return [RefusedRow(rows[0].number, rows[0].url, _reason(error))]
            middle = len(rows) // 2
            return [*self._upsert(rows[:middle]), *self._upsert(rows[middle:])]
        return []

    def _create_tables(self) -> None:
        names = [name.as_string(self._connection) for name in (self._table, self._segments)]
        with self._connection.transaction():
            if self._connection.execute(_EXISTS, names).fetchone() != (True,):
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
                self._connection.execute(self._sql(_CREATE))

    def _sql(self, statement: Any) -> Composed:
        return SQL(statement).format(table=self._table, segments=self._segments)


def _values(row: ItemRow) -> tuple[Any, ...]:
    rest = {name: value for name, value in row.item.items() if name != "body"}
    return (
        row.key,
        row.version,
        row.url,
        row.text("title"),
        row.instant("date"),
        row.text("language"),
        row.text("body"),
        Jsonb(rest),
    )


def _reason(error: Exception) -> str:
    """Return the message of *error* without its details, which repeat the row."""
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return one_line(primary or error)
