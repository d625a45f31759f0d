"""Storages for ``FEED_STORAGES``: local files of several crawls, and standard output."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import re
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self, cast

from scrapy.extensions.feedexport import FileFeedStorage, StdoutFeedStorage

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

DOCUMENT_FORMATS: Final = frozenset({"json", "parquet", "xml"})
"""Formats whose files are one document, which nothing can be appended to."""
_NAME: Final = re.compile(r"(.+?)((?:\.[A-Za-z]\w*){0,2})", re.DOTALL)
_CHUNK: Final = 2**20


class FeedFileStorage(FileFeedStorage):
    """Scrapy's storage of local feeds, which leaves files readable that former crawls have written.

    JSON Lines and CSV are appended to; a line that a crash has cut is ended first. Formats of one
    document and feeds with post-processing are written to ``articles-2.parquet`` if
    ``articles.parquet`` has content.
    """

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        super().__init__(uri, feed_options=feed_options)
        options = feed_options or {}
        self._format = options.get("format")
        self._in_one_piece = self._format in DOCUMENT_FORMATS or options.get("postprocessing")

    def open(self, spider: Spider) -> IO[bytes]:
        """Open the file of the feed; :attr:`path` is its name."""
        overwrite = self.write_mode == "wb"
        if self._in_one_piece and not overwrite and has_content(self.path):
            part = _free_name(self.path)
            logger.info("%s has content, writing %s", self.path, part, extra={"spider": spider})
            self.path = part
        end = b"" if overwrite else _missing_end(Path(self.path), self._format)
        file = super().open(spider)
        file.write(end)
        return file


class StdoutStorage(StdoutFeedStorage):
    """Standard output; the crawl ends when its reader does, as in ``newscrawl discover X | head``."""

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
        return cast("IO[bytes]", _Stdout(super().open(spider), self._end))

    def _end(self) -> None:
        self._stop = asyncio.ensure_future(self._crawler.stop_async())


class _Stdout(io.BufferedIOBase):
    """Standard output, replaced by nothing once its reader has gone, and *on_end* called."""

    def __init__(self, file: IO[bytes], on_end: Callable[[], None]) -> None:
        self._file = file
        self._on_end = on_end

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        try:
            self._file.write(data)
            self._file.flush()
        except BrokenPipeError:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self._file.fileno())
            os.close(nothing)
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


def _missing_end(path: Path, form: str | None) -> bytes:
    """Return what ends the last line of a feed that may have been cut by a crash."""
    if form not in {"csv", "jl", "jsonl", "jsonlines"} or not has_content(str(path)):
        return b""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2))
        end = file.read()
        if form != "csv":
            return b"" if end.endswith(b"\n") else b"\n"
        if end == b"\r\n":
            return b""
        # A line break may be one of a cell: quotes are doubled in cells, so that complete rows
        # have an even number.
        file.seek(0)
        quotes = sum(chunk.count(b'"') for chunk in iter(lambda: file.read(_CHUNK), b""))
    if quotes % 2:
        return b'"\r\n'
    return b"" if end.endswith(b"\n") else b"\r\n"
