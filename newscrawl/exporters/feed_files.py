"""Storages for ``FEED_STORAGES``: local files of several crawls, and standard output."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import logging
import os
import re
import stat
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal, Self, cast

from scrapy.extensions.feedexport import FileFeedStorage, StdoutFeedStorage

from newscrawl.exporters.markdown_folder import MARKDOWN, MarkdownFolder

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

DOCUMENT_FORMATS: Final = frozenset({"json", "parquet", "xml"})
"""Formats whose files are one document, which nothing can be appended to."""
_JSON_LINES: Final = frozenset({"jl", "jsonl", "jsonlines"})
_NAME: Final = re.compile(r"(.+?)((?:\.[A-Za-z]\w*){0,2})", re.DOTALL)
_CHUNK: Final = 2**20


class FeedFileStorage(FileFeedStorage):
    """Scrapy's storage of local feeds, which leaves files readable that former crawls have written.

    JSON Lines and CSV are appended to; a last line that was cut is removed first. Formats of one
    document and feeds with post-processing are written to ``articles-2.parquet`` if
    ``articles.parquet`` has content.
    """

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        super().__init__(uri, feed_options=feed_options)
        options = feed_options or {}
        self._format = options.get("format")
        self._encoding = options.get("encoding") or "utf-8"
        self._in_one_piece = self._format in DOCUMENT_FORMATS or options.get("postprocessing")

    def open(self, spider: Spider) -> IO[bytes]:
        """Open the file of the feed; :attr:`path` is its name."""
        overwrite = self.write_mode == "wb"
        if self._in_one_piece and not overwrite and has_content(self.path):
            part = _free_name(self.path)
            logger.info("%s has content, writing %s", self.path, part, extra={"spider": spider})
            self.path = part
        if self._format == MARKDOWN:
            return cast("IO[bytes]", MarkdownFolder(self.path))
        path = Path(self.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not overwrite and "\n".encode(self._encoding) == b"\n":
            _end_last_line(path, self._format)
        return cast("IO[bytes]", FeedFile(path, "wb" if overwrite else "ab"))


class FeedFile(io.BufferedIOBase):
    """A local file that holds what is written in memory until it is flushed.

    A flush that fails takes back the part that it has written, so that the file ends with a whole
    item. Another program may append to the same file.
    """

    def __init__(self, path: Path, mode: Literal["ab", "wb"]) -> None:
        self.name = str(path)
        #: bytes in memory above which a write flushes
        self.buffer_size = io.DEFAULT_BUFFER_SIZE
        self._file = path.open(mode, buffering=0)
        self._is_regular = stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)
        self._held = bytearray()
        #: end of what was flushed; nothing before the start of our last contiguous part is removed
        self._end = self._start = self._size() if self._is_regular else 0
        self._is_discarded = False

    @property
    def flushed(self) -> int:
        """Size of the file."""
        return self._end

    def writable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return whether :meth:`tell` is the size of a file; there is no other position."""
        return self._is_regular

    def fileno(self) -> int:
        """Return the descriptor of the file."""
        return self._file.fileno()

    def tell(self) -> int:
        """Return the position of the next byte."""
        return self._end + len(self._held)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Return the position, which cannot change."""
        if (offset, whence) not in ((self.tell(), os.SEEK_SET), (0, os.SEEK_END)):
            raise io.UnsupportedOperation("a feed is written from its start to its end")
        return self.tell()

    def write(self, data: Any, /) -> int:
        """Hold *data*; raises ``OSError`` if a flush fails, which keeps what is held."""
        if not self._is_discarded:
            self._held += data
            if len(self._held) > self.buffer_size:
                self.flush()
        return len(data)

    def flush(self) -> None:
        """Write what is held; raises ``OSError``."""
        data, written = bytes(self._held), 0
        try:
            while written < len(data):
                written += self._file.write(data[written:]) or 0
        finally:
            if written and self._is_regular:
                end = self._file.tell()
                if end - written != self._end:
                    self._start = end - written
                self._end = end
                if written < len(data):
                    self._cut(end - written)
            elif written == len(data):
                self._end += written
        self._held.clear()

    def take(self) -> bytes:
        """Return what is held, and hold it no more."""
        data = bytes(self._held)
        self._held.clear()
        return data

    def truncate(self, size: int | None = None, /) -> int:
        """Take back what was written from the position *size* on."""
        size = self.tell() if size is None else size
        del self._held[max(0, size - self._end) :]
        if size < self._end and self._is_regular:
            self._cut(max(size, self._start))
        return self.tell()

    def discard(self, position: int) -> None:
        """Take back what was written from *position* on, ignore all further data, and close."""
        self._is_discarded = True
        try:
            self.truncate(position)
        finally:
            self._held.clear()
            self.close()

    def close(self) -> None:
        """Flush and close; raises ``OSError``."""
        try:
            super().close()
        finally:
            self._file.close()

    def _size(self) -> int:
        return os.fstat(self._file.fileno()).st_size

    def _cut(self, position: int) -> None:
        """Truncate the file to *position*, unless another program has written since."""
        if self._size() == self._end:
            self._file.truncate(position)
            self._file.seek(position)
            self._end = position


class StdoutStorage(StdoutFeedStorage):
    """Standard output, with whose reader the crawl ends: ``newscrawl discover X | head``."""

    _crawler: Crawler
    _stop: asyncio.Task[None]

    @classmethod
    def from_crawler(
        cls, crawler: Crawler, uri: str, *, feed_options: dict[str, Any] | None = None
    ) -> Self:
        """Return the storage of *crawler*."""
        storage = cls(uri, feed_options=feed_options)
        storage._crawler = crawler
        return storage

    def open(self, spider: Spider) -> IO[bytes]:
        """Return standard output."""
        return cast("IO[bytes]", StdoutFile(super().open(spider), self._end))

    def _end(self) -> None:
        self._stop = asyncio.ensure_future(self._crawler.stop_async())


def read_from(path: str, position: int) -> bytes:
    """Return what the file has from *position* on; raises ``OSError``."""
    with Path(path).open("rb") as file:
        file.seek(position)
        return file.read()


class StdoutFile(io.BufferedIOBase):
    """Standard output, replaced by nothing after an error.

    *on_end* is called if its reader has gone.
    """

    def __init__(self, file: IO[bytes], on_end: Callable[[], None]) -> None:
        self._file = file
        self._on_end = on_end

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Write and flush *data*; raises ``OSError``."""
        descriptor = self._file.fileno()
        status = os.fstat(descriptor)
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            if stat.S_ISREG(status.st_mode):
                os.ftruncate(descriptor, status.st_size)
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, descriptor)
            os.close(nothing)
            if not isinstance(error, BrokenPipeError):
                raise
            self._on_end()
        return len(data)


def is_replaced(uri: str) -> bool:
    """Return whether each crawl replaces the feed *uri*: a store, and no time in its name."""
    is_remote = uri.startswith(("ftp://", "ftps://", "gs://", "s3://"))
    return is_remote and "%(time)" not in uri and "%(batch_time)" not in uri


def has_content(path: str) -> bool:
    """Return whether *path* is a file that is not empty."""
    return Path(path).is_file() and Path(path).stat().st_size > 0


def _free_name(path: str) -> str:
    """Return the first of ``name-2.suffix``, ``name-3.suffix``, ... without content."""
    match = _NAME.fullmatch(Path(path).name)
    stem, suffix = match.groups() if match else (Path(path).name, "")
    parts = (str(Path(path).with_name(f"{stem}-{number}{suffix}")) for number in count(2))
    return next(part for part in parts if not has_content(part))


def _end_last_line(path: Path, form: str | None) -> None:
    """End the last line of a feed, or remove it if it was cut by a crash or a full disk."""
    if form not in {"csv", *_JSON_LINES} or not has_content(str(path)):
        return
    with path.open("rb+") as file:
        file.seek(max(0, path.stat().st_size - 2))
        if file.read().endswith(b"\r\n" if form == "csv" else b"\n"):
            return
        start, is_open = _last_line(file, quoted=form == "csv")
        size = file.seek(0, os.SEEK_END)
        if start == size and not is_open:
            return
        file.seek(start)
        line = file.read()
        if not is_open and (_is_row(path, start, line) if form == "csv" else _is_json(line)):
            file.write(b"\r\n" if form == "csv" else b"\n")
        else:
            logger.warning("%s: removed its last line, which was cut", path)
            file.truncate(start)


def _last_line(file: IO[bytes], *, quoted: bool) -> tuple[int, bool]:
    """Return where the last line starts, and whether it ends in a cell in quotes.

    A line break in a cell ends no line of CSV: quotes are doubled in cells, so that the number of
    quotes before the end of a row is even.
    """
    start, position, is_open = 0, 0, False
    file.seek(0)
    while chunk := file.read(_CHUNK):
        for number, part in enumerate(chunk.split(b'"') if quoted else [chunk]):
            if number:
                is_open = not is_open
                position += 1
            if not is_open and (found := part.rfind(b"\n")) >= 0:
                start = position + found + 1
            position += len(part)
    return start, is_open


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _is_row(path: Path, start: int, line: bytes) -> bool:
    """Return whether *line*, at *start*, has as many cells as the header of a CSV file."""
    if not start:  # a header, which the exporter writes again
        return False
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        header = next(csv.reader(file), [])
    row = next(csv.reader(io.StringIO(line.decode(errors="replace"), newline="")), [])
    return len(row) >= len(header)
