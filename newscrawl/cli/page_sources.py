"""Sources of ``newscrawl extract``: files, folders, archives, URLs and standard input."""

from __future__ import annotations

import re
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

import click

from newscrawl.document.document import MAX_PAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

ARCHIVES: Final = (".warc", ".warc.gz")
"""File name suffixes of archives."""

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_MARKUP: Final = re.compile(rb"<[!/?A-Za-z]")
_OTHER_FORMAT: Final = re.compile(
    rb"\{|\[|(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(svg|rss|feed|urlset|sitemapindex|rdf:RDF)\b",
    re.DOTALL,
)
"""Start of JSON, of a drawing, a feed or a sitemap."""


class SourceError(Exception):
    """A source is not an HTML page, or could not be read."""


class SourcePage(NamedTuple):
    """A page that was read or downloaded."""

    name: str
    html: bytes
    url: str | None
    encoding: str | None


@dataclass(slots=True)
class Sources:
    """The sources by type; files include those of folders."""

    files: list[Path] = field(default_factory=list)
    archives: list[Path] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    #: files of folders: those that are not HTML are skipped
    optional: set[Path] = field(default_factory=set)

    @property
    def several(self) -> bool:
        """Whether there may be several articles."""
        return bool(self.archives or self.optional) or len(self.files) + len(self.urls) > 1


def find_sources(names: Iterable[str]) -> Sources:
    """Return the sources called *names*. Raises ``click.UsageError`` for an unsupported scheme."""
    sources = Sources()
    for name in names:
        scheme = _SCHEME.match(name)
        if scheme and scheme[1].lower() in ("http", "https"):
            sources.urls.append(name)
        elif scheme:
            raise click.UsageError(
                f"{name}: scheme {scheme[1]!r} is not supported; use http, https"
            )
        elif name != "-" and Path(name).is_dir():
            _add_folder(sources, Path(name))
        else:
            _add_file(sources, Path(name))
    return sources


def _add_folder(sources: Sources, folder: Path) -> None:
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.parts)
    )
    for path in found:
        _add_file(sources, path)
        sources.optional.add(path)


def _add_file(sources: Sources, path: Path) -> None:
    (sources.archives if str(path).endswith(ARCHIVES) else sources.files).append(path)


def read_page(path: Path, url: str | None) -> SourcePage:
    """Return the page in *path* (``-``: standard input), which may be gzipped.

    Raises ``OSError`` and :class:`SourceError`.
    """
    if str(path) == "-":
        html = _read(sys.stdin.buffer)
    else:
        with path.open("rb") as file:
            html = _read(file)
    check_html(html)
    return SourcePage(str(path), html, url, None)


def check_html(html: bytes) -> None:
    """Raise :class:`SourceError` if *html* has no markup, or is in another format."""
    start = html[:4096].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    if html and (_OTHER_FORMAT.match(start) or not _MARKUP.search(html.replace(b"\0", b""))):
        raise SourceError("not an HTML page")


def _read(file: IO[bytes]) -> bytes:
    """Return the bytes of *file*, uncompressed, up to one byte above the limit of a page."""
    html = file.read(MAX_PAGE_BYTES + 1)
    if not html.startswith(b"\x1f\x8b"):
        return html
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(html, MAX_PAGE_BYTES + 1)
    except zlib.error as error:
        raise SourceError(f"damaged gzip data: {error}") from error
    if not unpacker.eof and len(unpacked) <= MAX_PAGE_BYTES:
        raise SourceError("damaged gzip data: the end is missing")
    return unpacked
