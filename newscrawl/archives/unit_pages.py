"""Pages of a unit, which are records or rows, and the task that extracts them.

The process that reads the pages also extracts them: sending pages to another process takes a fifth
of the time of extraction. It reports each page before it extracts it, so that
:class:`~newscrawl.archives.unit_extraction.UnitExtraction` can continue after a page that ended it.
"""

from __future__ import annotations

import gzip
import time
import zlib
from collections import Counter
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, Self

from newscrawl.archives import ARCHIVES, OTHER_ARCHIVES
from newscrawl.archives.archive_reader import MAX_HEAD_SIZE, next_member, read_members, read_records
from newscrawl.archives.captures import (
    MAX_FAILURES,
    Failure,
    NoPageError,
    record_pages,
    site_of,
    time_of_capture,
    too_large,
)
from newscrawl.archives.remote_files import local_copy, open_seekable
from newscrawl.archives.sources import PARQUET, Unit
from newscrawl.crawling.urls import absolute_url
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.document.encoding import is_binary
from newscrawl.feeds.feed_rows import parse_line
from newscrawl.items import PageItem
from newscrawl.pipeline_options import page_arguments
from newscrawl.text import without_controls
from newscrawl.workers.child import limit_memory, run_task
from newscrawl.workers.process import SiteBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from newscrawl.archives.archive_reader import ArchiveRecord, Flaw
    from newscrawl.feeds.feed_rows import Row
    from newscrawl.pipeline_options import PipelineOptions

_MAX_LINE: Final = 2 * MAX_PAGE_BYTES
"""Bytes of a line with a page, whose characters may be escaped."""
_ROWS: Final = 16
"""Rows that are decoded at once: their pages must fit into the memory limit."""
_BUFFER: Final = 2**20
"""Bytes of a column of Parquet that are read at once."""


class RowFields(NamedTuple):
    """Names of the columns of Parquet and JSON Lines."""

    url: str
    html: str
    encoding: str
    fetched_at: str

    @classmethod
    def of(cls, options: PipelineOptions) -> Self:
        """Return the names in *options*."""
        return cls(*map(options.field, cls._fields))


class UnitPages:
    """The pages of *unit*.

    Counts what is left out, and calls *failed* with each flaw. Iteration raises ``OSError`` and
    errors of the file system if the file cannot be read.
    """

    def __init__(
        self,
        unit: Unit,
        fields: RowFields,
        counts: Counter[str],
        failed: Callable[[Failure], object],
    ) -> None:
        self._unit = unit
        self._fields = fields
        self._counts = counts
        self._failed = failed
        #: offset of the first member that was read; None if none starts in the unit
        self.first: int | None = None
        #: offset of the first member after the unit
        self.next: int | None = None
        #: offset of the member of the last page; None if the file has no members
        self.offset: int | None = None

    def __iter__(self) -> Iterator[PageItem]:
        path = self._unit.path
        if path.endswith(ARCHIVES + OTHER_ARCHIVES):
            yield from record_pages(self._records(), self._counts, self._failed)
            return
        for place, row in self._parquet_rows() if path.endswith(PARQUET) else self._line_rows():
            self._counts["record"] += 1
            try:
                page = self._page(row)
            except NoPageError as error:
                self._counts[error.reason] += 1
                if error.message:
                    url = row.get(self._fields.url) if isinstance(row, dict) else None
                    url = url if isinstance(url, str) else ""
                    self._failed(Failure.of(url, error.reason, f"{place}: {error.message}"))
            else:
                yield page

    def _records(self) -> Iterator[ArchiveRecord | Flaw]:
        if self._unit.end is None and not self._unit.start:
            with local_copy(self._unit.path) as path:
                yield from read_records(path)
            return
        with open_seekable(self._unit.path) as file:
            yield from self._members(file)

    def _members(self, file: IO[bytes]) -> Iterator[ArchiveRecord | Flaw]:
        size = file.seek(0, 2)
        start, end = self._unit.start, self._unit.end or size
        first = self._unit.first
        if first is None:
            first = next_member(file, start, end) if start else 0
        if first >= end:
            return
        self.first = first
        members = read_members(file, first, end)
        while True:
            try:
                self.offset, record = next(members)
            except StopIteration as stop:
                self.next = stop.value
                return
            yield record

    def _parquet_rows(self) -> Iterator[tuple[str, Row | NoPageError]]:
        from pyarrow import parquet  # noqa: PLC0415  # optional

        with (
            open_seekable(self._unit.path) as file,
            parquet.ParquetFile(file, buffer_size=_BUFFER) as table,
        ):
            end = min(self._unit.end or table.num_row_groups, table.num_row_groups)
            for group in range(self._unit.start, end):
                yield from self._group_rows(table, group)

    def _group_rows(self, table: Any, group: int) -> Iterator[tuple[str, Row | NoPageError]]:
        """Yield the rows of a row group up to the first that cannot be read."""
        import pyarrow as pa  # noqa: PLC0415  # optional

        # Not columns of the same name.
        names = Counter(table.schema_arrow.names)
        columns = [name for name in dict.fromkeys(self._fields) if names[name] == 1]
        done = 0
        try:
            # One thread: each further one takes 72 MB of the memory limit.
            for batch in table.iter_batches(
                _ROWS, row_groups=[group], columns=columns, use_threads=False
            ):
                for number in range(batch.num_rows):
                    done += 1
                    values = {name: _value(batch.column(name)[number]) for name in columns}
                    yield f"row {done} of row group {group}", values
        except (MemoryError, OSError, pa.ArrowException) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # of the file system
            is_memory = isinstance(error, MemoryError)
            reason, message = ("memory", "memory limit") if is_memory else ("damaged", str(error))
            self._fail_rest(reason, f"row group {group} from row {done + 1} on: {message}")

    def _fail_rest(self, reason: str, message: str) -> None:
        self._counts[reason] += 1
        self._failed(Failure.of("", reason, message))

    def _line_rows(self) -> Iterator[tuple[str, Row | NoPageError]]:
        start, end = self._unit.start, self._unit.end
        with _opened_lines(self._unit.path) as file:
            if start:
                file.seek(start - 1)
                _skip_line(file)
            place = file.tell()
            while end is None or place < end:
                try:
                    line = file.readline(_MAX_LINE)
                    if is_long := len(line) == _MAX_LINE and not line.endswith(b"\n"):
                        _skip_line(file)
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    reason = "cut" if isinstance(error, EOFError) else "damaged"
                    self._fail_rest(reason, f"after byte {place}: {error}")
                    return
                if not line:
                    return
                if not line.isspace():
                    yield f"line at byte {place}", too_large() if is_long else _parsed(line)
                place = file.tell()

    def _page(self, row: Row | NoPageError) -> PageItem:
        """Return the page in *row*; raise :class:`NoPageError`."""
        if isinstance(row, NoPageError):
            raise row
        fields = self._fields
        url, html, encoding = row.get(fields.url), row.get(fields.html), row.get(fields.encoding)
        for value in (url, html):
            if isinstance(value, NoPageError):
                raise value
        if not url or html is None:
            raise NoPageError("invalid_row")
        if isinstance(html, str):
            html, encoding = html.encode(errors="replace"), "utf-8"
        if not isinstance(html, bytes):
            raise NoPageError("invalid_row", f"{fields.html} has the type {type(html).__name__}")
        if not (isinstance(url, str) and len(url) <= MAX_HEAD_SIZE and absolute_url(url)):
            raise NoPageError("invalid_row", f"{fields.url} is not a web address")
        if len(html) > MAX_PAGE_BYTES:
            raise too_large()
        if is_binary(html):
            raise NoPageError("binary")
        at = time_of_capture(row.get(fields.fetched_at))
        encoding = encoding if isinstance(encoding, str) else None
        return PageItem(without_controls(url), html, encoding, at)


def _value(scalar: Any) -> Any:
    """Return the value of a cell of Parquet, or the :class:`NoPageError` for its row."""
    try:
        buffer = scalar.as_buffer() if hasattr(scalar, "as_buffer") else None
        return too_large() if buffer and buffer.size > MAX_PAGE_BYTES else scalar.as_py()
    except MemoryError:
        return too_large()
    except Exception as error:  # noqa: BLE001  # of any type of Arrow
        return NoPageError("invalid_row", f"{type(error).__name__}: {error}")


def _parsed(line: bytes) -> Row | NoPageError:
    try:
        return parse_line(line) or NoPageError("invalid_row", "not a JSON object")
    except MemoryError:
        return NoPageError("memory", "memory limit")


@contextmanager
def _opened_lines(path: str) -> Iterator[IO[bytes]]:
    with open_seekable(path) as file:
        if not path.endswith(".gz"):
            yield file
            return
        with gzip.open(file) as unpacked:
            yield unpacked  # type: ignore[misc]  # a binary file


def _skip_line(file: IO[bytes]) -> None:
    while (line := file.readline(_MAX_LINE)) and not line.endswith(b"\n"):
        pass


def extract_unit(
    _: bytes,
    *,
    unit: Mapping[str, Any],
    skip: int,
    fields: Sequence[str],
    domains: Sequence[str],
    task: str,
    options: Mapping[str, Any],
    memory_limit: int,
    max_pages: int,
    site_seconds: float,
    used: Mapping[str, tuple[float, int]],
) -> Iterator[dict[str, Any]]:
    """Yield the answers for the pages of *unit* after the first *skip*.

    - *fields*: names of the columns (:class:`~newscrawl.archives.unit_pages.RowFields`).
    - *task*, *options*: the function that extracts a page, and its arguments for all pages.
    - *memory_limit* (MB): limit of each page and of the reader between them; 0: none.
    - *max_pages*: limit of this process; 0: none.
    - *domains*: registered domains of the pages to extract; empty: all.
    - *site_seconds*, *used*: :class:`~newscrawl.workers.process.SiteBudget`.

    Each page has a part with its ``url``, ``site`` and ``position`` (arguments *first* of the unit
    and *skip* with which to continue after it), and a part with its ``article``, or ``reason`` and
    ``message``. The result is ``finished`` if no pages are left. Parts before a page and the result
    have the ``counts`` and ``failures`` since the last ones and the offsets ``first`` and ``next``.
    """
    counts: Counter[str] = Counter()
    failures: list[Failure] = []

    def fail(failure: Failure) -> None:
        if len(failures) < MAX_FAILURES:
            failures.append(failure)

    pages = UnitPages(Unit(**unit), RowFields(*fields), counts, fail)
    budget = SiteBudget(site_seconds, used)
    limit_memory(memory_limit)

    def progress() -> dict[str, Any]:
        found = {"counts": dict(counts), "failures": failures[:]}
        counts.clear()
        failures.clear()
        return {**found, "first": pages.first, "next": pages.next}

    offset: int | None = None
    read = extracted = 0
    for number, page in enumerate(pages, 1):
        # Of the record of the page, if known, and the pages read from there on.
        offset, read = pages.offset, read + 1 if offset == pages.offset else 1
        if number == skip:  # an earlier process has reported these
            counts.clear()
            failures.clear()
        if number <= skip:
            continue
        site = site_of(page)
        if domains and site not in domains:
            counts["other_site"] += 1
            continue
        start = {"url": page.url, "site": site, "position": (offset, read)}
        yield {"part": {**start, **progress()}, "timed": True}
        if budget.is_exceeded(site):
            message = f"{site} has used its worker time"
            answer: dict[str, Any] = {"reason": "budget", "message": message}
        else:
            answer = _extract(task, page, options, memory_limit)
            budget.add(site, answer["seconds"])
        yield {"part": answer, "timed": False}
        extracted += 1
        if answer.get("reason") == "memory" or extracted == max_pages:
            yield {"result": {"finished": False, **progress()}}
            return
    yield {"result": {"finished": True, **progress()}}


def _extract(
    task: str, page: PageItem, options: Mapping[str, Any], memory_limit: int
) -> dict[str, Any]:
    start = time.process_time()
    limit_memory(memory_limit)
    answer = run_task(task, page.html, page_arguments(page, options))
    limit_memory(memory_limit)  # of the reader
    return {**answer, "seconds": time.process_time() - start}
