"""Sources of ``newscrawl extract``: files, folders, archives, URLs and standard input."""

from __future__ import annotations

import os
import re
import sys
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import click

from newscrawl import clock
from newscrawl.archives import ARCHIVES, OTHER_ARCHIVES
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.items import PageItem

if TYPE_CHECKING:
    from collections.abc import Iterable

NOT_HTML: Final = "not an HTML page"
FEEDS: Final = (".jl", ".jl.gz", ".jsonl", ".jsonl.gz")
"""Suffixes of feeds of articles."""

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_MARKUP: Final = re.compile(rb"<[!/?A-Za-z]")
_OTHER_FORMAT: Final = re.compile(
    rb"\{|\[|%PDF|PK\x03\x04|\x89PNG|\xd8\xff|GIF8|RIFF|wOF|bplist"
    rb"|(?:<\?xml[^>]*+>\s*+)?+(?><!--.*?-->\s*+)*+<(?:svg|rss|feed|urlset|sitemapindex|rdf:RDF)\b",
    re.DOTALL,
)
"""Start of JSON, of a binary file, a drawing, a feed or a sitemap."""
_MHTML: Final = re.compile(rb"^content-type: *multipart/related", re.IGNORECASE | re.MULTILINE)
_SCRIPTS: Final = (".css", ".js", ".mjs")
"""Suffixes of files that are not pages, although they may have markup."""


class SourceError(Exception):
    """A source is not an HTML page."""


class DamagedError(SourceError):
    """A source could not be read."""


@dataclass(slots=True)
class Sources:
    """The sources by type; files include those of folders."""

    #: whether the file was named; files of folders that are not HTML are left out
    files: dict[Path, bool] = field(default_factory=dict)
    archives: list[Path] = field(default_factory=list)
    #: feeds of articles
    feeds: list[Path] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    #: folders that could not be read
    errors: list[OSError] = field(default_factory=list)
    #: files in folders, by the reason why they are left out
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def several(self) -> bool:
        """Whether there may be several articles."""
        return (
            bool(self.archives or self.feeds or self.folders)
            or len(self.files) + len(self.urls) > 1
        )

    def add_file(self, path: Path, *, named: bool) -> None:
        """Add a file, once; a feed if it was named: in folders, such files are left out."""
        if named and path.name.lower().endswith(FEEDS):
            self.feeds += [] if path in self.feeds else [path]
        elif not path.name.lower().endswith(ARCHIVES + OTHER_ARCHIVES):
            self.files[path] = named or self.files.get(path, False)
        elif path not in self.archives:
            self.archives.append(path)

    def add_folder(self, folder: Path) -> None:
        """Add the files of *folder* and its subfolders, each once, without hidden ones."""
        self.folders.append(folder)
        found: list[Path] = []
        seen: set[tuple[int, int]] = set()
        for root, folders, names in os.walk(folder, onerror=self.errors.append, followlinks=True):
            info = Path(root).stat()
            if (info.st_dev, info.st_ino) in seen:  # by a link
                folders.clear()
                continue
            seen.add((info.st_dev, info.st_ino))
            self.left_out.update("hidden" for name in folders if name.startswith("."))
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for path in (Path(root, name) for name in names):
                if reason := _reason(path):
                    self.left_out[reason] += 1
                else:
                    found.append(path)
        for path in sorted(found):
            self.add_file(path, named=False)


def _reason(path: Path) -> str | None:
    """Return why a file of a folder is left out, by its name and type, if it is."""
    if path.name.startswith("."):
        return "hidden"
    if path.suffix.lower() in _SCRIPTS:
        return NOT_HTML
    return None if path.is_file() else "not a regular file"


def find_sources(names: Iterable[str]) -> Sources:
    """Return the sources called *names*.

    Raises ``click.UsageError`` for an empty name and for an unsupported scheme.
    """
    sources = Sources()
    for name in names:
        if not name:  # such as an unset variable of a shell; as a path it is the current folder
            raise click.UsageError("the name of a source is empty")
        scheme = _SCHEME.match(name)
        if scheme and scheme[1].lower() in ("http", "https"):
            sources.urls.append(name)
        elif scheme:
            raise click.UsageError(
                f"{name}: scheme {scheme[1]!r} is not supported; use http, https"
            )
        elif name != "-" and Path(name).is_dir():
            sources.add_folder(Path(name))
        else:
            sources.add_file(Path(name), named=True)
    return sources


def read_page(path: Path, url: str | None) -> PageItem:
    """Return the page in *path* (``-``: standard input), which may be gzipped.

    Raises ``OSError`` and :class:`SourceError`.
    """
    if str(path) == "-":
        html = _read(sys.stdin.buffer)
    else:
        with path.open("rb") as file:
            html = _read(file)
    check_html(html)
    return PageItem(url or "", html, fetched_at=clock.now() if url else None)


def check_html(html: bytes) -> None:
    """Raise :class:`SourceError` if *html* has no markup, or is in another format."""
    start = html[:4096].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    if html and (_OTHER_FORMAT.match(start) or not _MARKUP.search(html.replace(b"\0", b""))):
        raise SourceError(NOT_HTML)
    if not start.startswith(b"<") and _MHTML.search(start):
        raise SourceError("MHTML; save the page as HTML")


def _read(file: IO[bytes]) -> bytes:
    """Return the bytes of *file*, uncompressed, up to one byte above the limit of a page."""
    html = file.read(MAX_PAGE_BYTES + 1)
    if not html.startswith(b"\x1f\x8b"):
        return html
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(html, MAX_PAGE_BYTES + 1)
    except zlib.error as error:
        raise DamagedError(f"damaged gzip data: {error}") from error
    if not unpacker.eof and len(unpacked) <= MAX_PAGE_BYTES:
        raise DamagedError("damaged gzip data: the end is missing")
    return unpacked
