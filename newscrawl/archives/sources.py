"""Sources of pages, and their division into units: parts that are read independently."""

from __future__ import annotations

import gzip
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from newscrawl.archives import ARCHIVES, OTHER_ARCHIVES
from newscrawl.archives.remote_files import (
    absolute_path,
    file_system,
    is_local,
    join_path,
    open_seekable,
    read_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LINES: Final = (".jsonl", ".jl", ".ndjson", ".jsonl.gz", ".jl.gz", ".ndjson.gz")
PARQUET: Final = ".parquet"

SPLIT: Final = 64
"""MB of a unit: about 1,500 pages of an archive, half a minute of one core."""

CC_NEWS: Final = "https://data.commoncrawl.org"
"""Root of the paths in the lists of CC-NEWS; ``s3://commoncrawl`` within AWS."""

_THREADS: Final = 16
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_ARCHIVE_TIME: Final = re.compile(r"CC-NEWS-(\d{4})(\d\d)(\d\d)\d{6}-")


class UnknownSourceError(ValueError):
    """A source has an unsupported format, or does not exist."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a file: bytes, or row groups of Parquet, from *start* up to *end*."""

    path: str
    start: int = 0
    #: None: the end of the file
    end: int | None = None
    #: offset of the first record of an archive, if known
    first: int | None = None

    @property
    def name(self) -> str:
        """Name of the output files: in the order of file names, then offsets."""
        file = _UNSAFE.sub("_", self.path.rpartition("/")[2])[-100:]
        key = blake2b(self.path.encode(), digest_size=4).hexdigest()
        return f"{file}-{key}-{self.start:013}"


def plan(sources: Iterable[str], split: int) -> list[Unit]:
    """Return the units of *sources*, of about *split* bytes each.

    Sources are files, folders and patterns with ``*``. Raises ``OSError`` and
    :class:`UnknownSourceError`.
    """
    paths = [path for source in sources for path in _files(source)]
    if unknown := next((path for path in paths if not _is_source(path)), None):
        raise UnknownSourceError(
            f"{unknown}: unknown format; expected {', '.join((*ARCHIVES, *LINES, PARQUET))}"
        )
    with ThreadPoolExecutor(_THREADS) as threads:
        found = threads.map(lambda path: list(_units(path, split)), dict.fromkeys(paths))
        return [unit for units in found for unit in units]


def _is_source(path: str) -> bool:
    return path.endswith((*ARCHIVES, *OTHER_ARCHIVES, *LINES, PARQUET))


def _files(source: str) -> list[str]:
    path = absolute_path(source)
    if path.startswith(("http:", "https:")):
        return [path]
    system, name = file_system(path)

    def full(found: str) -> str:
        return found if is_local(path) else str(system.unstrip_protocol(found))

    if "*" in name:
        names = sorted(system.glob(name))
    elif system.isdir(name):
        names = sorted(found for found in system.find(name) if _is_source(found))
    else:
        return [path]
    if not names:
        raise UnknownSourceError(f"{source}: no files found")
    return [full(found) for found in names]


def _units(path: str, split: int) -> Iterator[Unit]:
    if path.endswith(PARQUET):
        bounds = _row_group_bounds(path, split)
    elif path.endswith((".warc", *OTHER_ARCHIVES, ".jsonl.gz", ".jl.gz", ".ndjson.gz")):
        bounds = []  # cannot be read from the middle
    else:
        size = _size(path)
        bounds = list(range(0, size, split)) if size else []
    if len(bounds) < 2:
        yield Unit(path)
        return
    # The last unit has no end: the file may have grown.
    for start, end in pairwise([*bounds, None]):
        yield Unit(path, start or 0, end)


def _size(path: str) -> int | None:
    """Return the size of *path*, None if it is unknown or the file cannot be found."""
    system, name = file_system(path)
    try:
        size: int | None = system.info(name)["size"]
    except OSError:
        return None  # a failure of its unit
    return size


def _row_group_bounds(path: str, split: int) -> list[int]:
    """Return the numbers of row groups at which units of about *split* bytes start."""
    import pyarrow as pa  # noqa: PLC0415  # optional
    from pyarrow import parquet  # noqa: PLC0415

    try:
        with open_seekable(path) as file, parquet.ParquetFile(file) as table:
            groups = range(table.metadata.num_row_groups)
            sizes = [table.metadata.row_group(group).total_byte_size for group in groups]
    except (OSError, pa.ArrowException):
        return []
    bounds, size = [0], 0
    for group, group_size in enumerate(sizes):
        if size and size + group_size > split:
            bounds.append(group)
            size = 0
        size += group_size
    return bounds


def cc_news(since: date, until: date, root: str = CC_NEWS) -> list[str]:
    """Return the paths of the CC-NEWS archives that were begun from *since* to *until*.

    Reads the path lists of the months. Raises ``OSError``, :class:`UnknownSourceError` if there are
    none.
    """
    days = [since + timedelta(days) for days in range((until - since).days + 1)]
    months = dict.fromkeys(f"{day:%Y/%m}" for day in days)
    paths = [path for month in months for path in _month_paths(root, month)]
    wanted = {day.strftime("%Y%m%d") for day in days}
    found = [
        join_path(root, path)
        for path in paths
        if (time := _ARCHIVE_TIME.search(path)) and "".join(time.groups()) in wanted
    ]
    if not found:
        raise UnknownSourceError(f"{root}: no archives from {since} to {until}")
    return found


def _month_paths(root: str, month: str) -> list[str]:
    packed = read_bytes(absolute_path(join_path(root, f"crawl-data/CC-NEWS/{month}/warc.paths.gz")))
    return gzip.decompress(packed).decode().split() if packed else []
