"""Output of a job: Parquet files of articles by day and of failures, and a record per unit.

::

    articles.parquet/day=2026-11-22/<unit>.parquet
    failures.parquet/<unit>.parquet
    units/<unit>.json                  counts and files of a finished unit
    job.json                           settings of the job
    summary.json                       written last: counts of all units

A unit has the same files however often it runs, and its record is written last.
"""

from __future__ import annotations

import json
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyarrow import parquet

from newscrawl.archives.remote_files import join_path, list_names, read_bytes, remove, write_bytes
from newscrawl.exporters.parquet import (
    ARTICLE_COLUMNS,
    EXTRA_COLUMNS,
    GROUP_ROWS,
    article_row,
    to_table,
)
from newscrawl.items import EXTRA_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.archives.captures import Failure
    from newscrawl.archives.sources import Unit
    from newscrawl.items import Article

ARTICLES: Final = "articles.parquet"
FAILURES: Final = "failures.parquet"
UNITS: Final = "units"
JOB: Final = "job.json"
SUMMARY: Final = "summary.json"

FAILURE_COLUMNS: Final = pa.schema(
    [(name, pa.string()) for name in ("source", "url", "reason", "message")]
)
"""Columns of failures; ``source`` is the file of the page."""

NO_DAY: Final = "__HIVE_DEFAULT_PARTITION__"
"""Partition of articles whose time of download is unknown."""

_THREADS: Final = 32


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """Outcome of a unit."""

    name: str
    #: offsets of the first record of an archive in the unit, and of the first one after it
    first: int | None = None
    next: int | None = None
    #: ``record``, ``article``, ``failed`` and reasons for pages that were left out
    counts: dict[str, int] = field(default_factory=dict)
    #: paths of the output files in the folder
    files: list[str] = field(default_factory=list)
    #: the file could not be read: the unit is not finished
    error: str | None = None


class ArticleTables:
    """Tables of articles in memory, one per day of download (UTC)."""

    def __init__(self, extra_fields: Iterable[str]) -> None:
        extra = {name: EXTRA_COLUMNS[name] for name in EXTRA_FIELDS if name in set(extra_fields)}
        self._schema = pa.schema(ARTICLE_COLUMNS | extra)
        self._rows: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)

    def add(self, article: Article) -> None:
        """Add *article* to the table of its day."""
        at = article.fetched_at
        day = f"{at.astimezone(UTC):%Y-%m-%d}" if at else NO_DAY
        self._rows[day].append(article_row(article))

    def close(self) -> dict[str, bytes]:
        """Return the Parquet file of each day."""
        return {day: _parquet(to_table(rows, self._schema)) for day, rows in self._rows.items()}


def _parquet(table: pa.Table) -> bytes:
    file = BytesIO()
    parquet.write_table(table, file, compression="zstd", row_group_size=GROUP_ROWS)
    return file.getvalue()


class OutputFolder:
    """Output folder of a job at *path*, on any file system of fsspec."""

    def __init__(self, path: str) -> None:
        self.path = path

    def write_unit(
        self, unit: Unit, record: UnitRecord, days: dict[str, bytes], failures: Sequence[Failure]
    ) -> UnitRecord:
        """Write the files of *unit*, then its record; return the record with the files."""
        files = {f"{ARTICLES}/day={day}/{unit.name}.parquet": data for day, data in days.items()}
        failure_file = f"{FAILURES}/{unit.name}.parquet"
        if failures:
            files[failure_file] = _failure_table(unit.path, failures)
        for name, data in files.items():
            write_bytes(join_path(self.path, name), data)
        earlier = self._record(unit.name)
        # An attempt that could not read the file has no record.
        for name in {failure_file, *(earlier.files if earlier else ())} - files.keys():
            remove(join_path(self.path, name))
        complete = UnitRecord(**{**asdict(record), "files": sorted(files)})
        if record.error is None:
            self._write_json(f"{UNITS}/{unit.name}.json", asdict(complete))
        return complete

    def records(self, units: Iterable[Unit]) -> dict[str, UnitRecord]:
        """Return the records of the finished *units*, by name."""
        names = list_names(join_path(self.path, UNITS))
        finished = [unit.name for unit in units if f"{unit.name}.json" in names]
        with ThreadPoolExecutor(_THREADS) as threads:
            found = threads.map(self._record, finished)
            return {record.name: record for record in found if record}

    def _record(self, name: str) -> UnitRecord | None:
        plain = self._read_json(f"{UNITS}/{name}.json")
        return UnitRecord(**plain) if plain else None

    def claim(self, options: dict[str, Any]) -> bool:
        """Write the *options* of the job; return False if the folder has others.

        Units of other options would repeat articles.
        """
        known = self._read_json(JOB)
        if known is None:
            self._write_json(JOB, options)
        return known in (None, json.loads(json.dumps(options)))

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Write the counts of the job."""
        self._write_json(SUMMARY, summary)

    def remove_summary(self) -> None:
        """Delete the summary: the output is not complete."""
        remove(join_path(self.path, SUMMARY))

    def _read_json(self, name: str) -> Any:
        data = read_bytes(join_path(self.path, name))
        return None if data is None else json.loads(data)

    def _write_json(self, name: str, plain: Any) -> None:
        data = json.dumps(plain, ensure_ascii=False, indent=1).encode()
        write_bytes(join_path(self.path, name), data)


def _failure_table(source: str, failures: Iterable[Failure]) -> bytes:
    rows = [
        {
            name: value.encode(errors="replace").decode()
            for name, value in {"source": source, **failure._asdict()}.items()
        }
        for failure in failures
    ]
    return _parquet(pa.Table.from_pylist(rows, FAILURE_COLUMNS))
