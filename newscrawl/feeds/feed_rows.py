"""Readers and writers of feeds: JSON Lines, Parquet and segment folders."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newscrawl.crawling.output.segments import SegmentError, list_segments
from newscrawl.optional import require

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.crawling.output.segments import Segment

    Row = dict[str, Any]


class FeedError(OSError):
    """A feed is not in its format."""


GROUP_ROWS = 1000
"""Rows of Parquet that are read or written at once."""


def is_parquet(path: str) -> bool:
    """Return whether *path* names a Parquet file; all other files are read as JSON Lines."""
    return path.endswith(".parquet")


def read_rows(path: str, columns: Sequence[str]) -> Iterator[Row | None]:
    """Yield the rows of a feed, None for an invalid line; of Parquet only *columns*.

    *path* is a Parquet file, a JSON Lines file (may be gzipped) or a segment folder. Raises
    ``OSError``, for an invalid Parquet file or segment too.
    """
    if Path(path).is_dir():
        return (row for file, _ in _segments(path) for row in read_rows(str(file), columns))
    return _read_parquet(path, columns) if is_parquet(path) else map(parse_line, _lines(path))


def _segments(folder: str) -> list[tuple[Path, Segment]]:
    try:
        return list_segments(Path(folder))
    except SegmentError as error:
        raise FeedError(str(error)) from error


def _lines(path: str) -> Iterator[bytes]:
    """Yield the non-blank lines of a file."""
    with gzip.open(path) if path.endswith(".gz") else Path(path).open("rb") as lines:
        try:
            yield from (line for line in lines if not line.isspace())
        except (EOFError, zlib.error) as error:
            raise OSError(f"{path}: {error}") from error


def parse_line(line: bytes) -> Row | None:
    """Parse *line* as a JSON object; return None if invalid, such as a last line cut by a crash."""
    try:
        row = json.loads(line)
    except (RecursionError, ValueError):
        return None
    return row if isinstance(row, dict) else None


def _read_parquet(path: str, columns: Sequence[str]) -> Iterator[Row | None]:
    require("pyarrow", "pyarrow", "parquet")
    import pyarrow as pa  # noqa: PLC0415  # optional
    from pyarrow import parquet  # noqa: PLC0415

    try:
        file = parquet.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise FeedError(f"{path}: {error}") from error
    with file:
        known = [name for name in columns if name in file.schema_arrow.names]
        for batch in file.iter_batches(GROUP_ROWS, columns=known):
            yield from batch.to_pylist()


def write_rows(path: str, rows: Iterable[Row], columns: Sequence[tuple[str, str]]) -> None:
    """Write *rows* to *path*, ``-`` for standard output; raise ``OSError``.

    *columns* (see :func:`arrow_schema`) is only used for Parquet.
    """
    if is_parquet(path):
        _write_parquet(path, rows, columns)
        return
    with nullcontext(sys.stdout) if path == "-" else Path(path).open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def arrow_schema(columns: Sequence[tuple[str, str]]) -> Any:
    """Return the schema for *columns*: pairs of name and type, ``string`` or ``list of string``."""
    import pyarrow as pa  # noqa: PLC0415  # optional

    def type_of(name: str) -> Any:
        item = name.removeprefix("list of ")
        found = pa.type_for_alias(item)
        return found if item == name else pa.list_(found)

    return pa.schema([(name, type_of(kind)) for name, kind in columns])


def _write_parquet(path: str, rows: Iterable[Row], columns: Sequence[tuple[str, str]]) -> None:
    require("pyarrow", "pyarrow", "parquet")
    import pyarrow as pa  # noqa: PLC0415  # optional
    from pyarrow import parquet  # noqa: PLC0415

    schema = arrow_schema(columns)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        table = pa.Table.from_pylist(list(rows), schema)
        writer.write_table(table, row_group_size=GROUP_ROWS)
