"""Reading feeds back, and writing tables of them: JSON Lines and Parquet."""

from __future__ import annotations

import gzip
import json
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from newscrawl.commands._corpora import require

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Row = dict[str, Any]

GROUP_ROWS = 1000
"""Rows that are read or written at a time."""


def is_parquet(path: str) -> bool:
    """Return whether *path* names a Parquet file; any other is taken for JSON Lines."""
    return path.endswith(".parquet")


def read_rows(path: str, columns: Sequence[str]) -> Iterator[Row | None]:
    """Yield the rows of a feed, None for a line that is none; of Parquet those *columns* only.

    JSON Lines may be gzipped. Raises ``OSError`` and, for a file that is no Parquet, ``UsageError``.
    """
    return _read_parquet(path, columns) if is_parquet(path) else _read_lines(path)


def count_rows(path: str) -> int:
    """Return how many rows :func:`read_rows` will give."""
    if not is_parquet(path):
        with _opened(path) as lines:
            return sum(1 for line in lines if not line.isspace())
    with _parquet_file(path) as file:
        rows: int = file.metadata.num_rows
        return rows


def _opened(path: str) -> IO[bytes] | gzip.GzipFile:
    return gzip.open(path) if path.endswith(".gz") else Path(path).open("rb")


def _read_lines(path: str) -> Iterator[Row | None]:
    with _opened(path) as lines:
        for line in lines:
            if not line.isspace():
                yield _row(line)


def _row(line: bytes) -> Row | None:
    """Return the object of a line, None for what is none: a crash may cut the last one."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def _read_parquet(path: str, columns: Sequence[str]) -> Iterator[Row | None]:
    with _parquet_file(path) as file:
        known = [name for name in columns if name in file.schema_arrow.names]
        for batch in file.iter_batches(GROUP_ROWS, columns=known):
            yield from batch.to_pylist()


@contextmanager
def _parquet_file(path: str) -> Iterator[Any]:
    require("pyarrow", "pyarrow", "parquet")
    import pyarrow as pa  # noqa: PLC0415  # optional
    from pyarrow import parquet  # noqa: PLC0415

    try:
        file = parquet.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise UsageError(f"{path}: {error}", print_help=False) from error
    with file:
        yield file


def write_rows(path: str, rows: Iterable[Row], columns: Sequence[tuple[str, str]]) -> None:
    """Write *rows* to *path*, ``-`` for standard output; *columns* are names and types, as pyarrow names these, of Parquet.

    Raises ``OSError``.
    """
    if is_parquet(path):
        _write_parquet(path, rows, columns)
        return
    with nullcontext(sys.stdout) if path == "-" else Path(path).open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_parquet(path: str, rows: Iterable[Row], columns: Sequence[tuple[str, str]]) -> None:
    require("pyarrow", "pyarrow", "parquet")
    import pyarrow as pa  # noqa: PLC0415  # optional
    from pyarrow import parquet  # noqa: PLC0415

    def type_of(name: str) -> Any:
        item = name.removeprefix("list of ")
        found = pa.type_for_alias(item)
        return found if item == name else pa.list_(found)

    schema = pa.schema([(name, type_of(kind)) for name, kind in columns])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        table = pa.Table.from_pylist(list(rows), schema)
        writer.write_table(table, row_group_size=GROUP_ROWS)
