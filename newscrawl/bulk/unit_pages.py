"""Pages of a unit: records of archives, rows of Parquet and JSON Lines."""

from __future__ import annotations

import gzip
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, Self

from newscrawl.bulk.captured_pages import Failure, record_pages
from newscrawl.bulk.remote_files import local_copy, open_seekable
from newscrawl.bulk.sources import ARCHIVES, PARQUET
from newscrawl.crawl.discovery.link_classifier import may_be_article
from newscrawl.crawl.discovery.urls import absolute_url
from newscrawl.crawl.warc.archive_reader import next_member, read_members, read_records
from newscrawl.crawl.warc.captures import Capture
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.document.encoding import is_binary, to_utf8
from newscrawl.feeds.feed_rows import parse_line
from newscrawl.items import instant

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator

    from newscrawl.bulk.sources import Unit
    from newscrawl.crawl.warc.archive_reader import ArchiveRecord, Flaw
    from newscrawl.pipeline_options import PipelineOptions

_MAX_LINE: Final = 8 * MAX_PAGE_BYTES
"""Bytes of a line with a page, whose characters may be escaped."""
_ROWS: Final = 64


class RowFields(NamedTuple):
    """Names of the columns of Parquet and JSON Lines."""

    url: str
    html: str
    encoding: str
    fetched_at: str

    @classmethod
    def of(cls, options: PipelineOptions) -> Self:
        """Return the names in *options*."""
        return cls(
            options.url_field, options.html_field, options.encoding_field, options.fetched_at_field
        )


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

    def __iter__(self) -> Iterator[Capture]:
        path = self._unit.path
        if path.endswith(ARCHIVES):
            yield from record_pages(self._records(), self._counts, self._failed)
            return
        for row in self._parquet_rows() if path.endswith(PARQUET) else self._line_rows():
            self._counts["record"] += 1
            page = self._page(row)
            if isinstance(page, str):
                self._counts[page] += 1
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

    def _parquet_rows(self) -> Iterator[dict[str, Any]]:
        from pyarrow import parquet  # noqa: PLC0415  # optional

        with open_seekable(self._unit.path) as file, parquet.ParquetFile(file) as table:
            end = min(self._unit.end or table.num_row_groups, table.num_row_groups)
            known = [name for name in self._fields if name in table.schema_arrow.names]
            groups = list(range(self._unit.start, end))
            for batch in table.iter_batches(_ROWS, row_groups=groups, columns=known):
                yield from batch.to_pylist()

    def _line_rows(self) -> Iterator[dict[str, Any]]:
        start, end = self._unit.start, self._unit.end
        with _opened_lines(self._unit.path) as file:
            if start:
                file.seek(start - 1)
                _skip_line(file)
            while end is None or file.tell() < end:
                try:
                    line = file.readline(_MAX_LINE)
                except (EOFError, zlib.error) as error:
                    self._counts["cut"] += 1
                    self._failed(Failure("", "cut", str(error)))
                    return
                if not line:
                    return
                if len(line) == _MAX_LINE and not line.endswith(b"\n"):
                    _skip_line(file)
                    self._counts["record"] += 1
                    self._counts["too_large"] += 1
                elif not line.isspace():
                    yield parse_line(line) or {}

    def _page(self, row: dict[str, Any]) -> Capture | str:
        """Return the page in *row*, or the reason why it has none."""
        fields = self._fields
        url, html, encoding = row.get(fields.url), row.get(fields.html), row.get(fields.encoding)
        if isinstance(html, str):
            html, encoding = html.encode(errors="replace"), "utf-8"
        if not (isinstance(html, bytes) and isinstance(url, str) and absolute_url(url)):
            return "invalid_row"
        if len(html) > MAX_PAGE_BYTES:
            return "too_large"
        if is_binary(html):
            return "binary"
        at = instant(row.get(fields.fetched_at))
        return Capture(url, html, encoding if isinstance(encoding, str) else None, at)


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


def accepted(
    pages: Iterable[Capture], counts: Counter[str], *, url_gate: bool, charsets: frozenset[str]
) -> Iterator[Capture]:
    """Yield the *pages* with URLs like those of articles and one of *charsets*; count the others.

    Without *url_gate* all URLs are accepted, without *charsets* all charsets. Charsets are names of
    Python's codecs.
    """
    for page in pages:
        if url_gate and not may_be_article(page.url):
            counts["other_url"] += 1
        elif charsets and to_utf8(page.body, page.encoding).encoding not in charsets:
            counts["other_charset"] += 1
        else:
            yield page
