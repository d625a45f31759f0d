"""Storage of local feeds for ``FEED_STORAGES``: several crawls with the same ``FEEDS``."""

from __future__ import annotations

import logging
import re
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from scrapy.extensions.feedexport import FileFeedStorage

if TYPE_CHECKING:
    from scrapy import Spider

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
