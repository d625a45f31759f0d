"""Readers and extractors of the archive benchmark, each run in a process of its own.

    python -m benchmarks.speed.archive_tools NAME ARCHIVE ITEMS CORES

``ITEMS`` is the file to write: JSON Lines with ``url`` and ``body``. With two cores or more the
archive is read by the first process, and a pool extracts.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers.options import RESILIPARSE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Record = tuple[str, bytes, str | None]
"""URL, body and charset of the Content-Type header."""

_CHUNK = 8


def read_fastwarc(path: Path) -> Iterator[Record]:
    """Yield the pages of an archive."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    with path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            url = record.headers["WARC-Target-URI"]
            yield url, record.reader.read(), record.http_charset


def read_warcio(path: Path) -> Iterator[Record]:
    """Yield the pages of an archive."""
    from warcio.archiveiterator import ArchiveIterator

    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response":
                url = record.rec_headers.get_header("WARC-Target-URI")
                kind = record.http_headers.get_header("Content-Type") or ""
                charset = kind.partition("charset=")[2].strip() or None
                yield url, record.content_stream().read(), charset


def extract_resiliparse(record: Record) -> dict[str, Any]:
    """Return the title and the body."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import detect_encoding
    from resiliparse.parse.html import HTMLTree

    url, html, charset = record
    tree = HTMLTree.parse_from_bytes(html, charset or detect_encoding(html))
    body = extract_plain_text(tree, **RESILIPARSE)
    return {"url": url, "title": tree.title, "body": body}


def extract_trafilatura(record: Record) -> dict[str, Any]:
    """Return title, author, date, description and body."""
    from benchmarks.speed.scrapy_crawls import extract

    url, html, charset = record
    return extract(html.decode(charset, "replace") if charset else html, url)


def extract_all(
    read: Callable[[Path], Iterator[Record]],
    extract: Callable[[Record], dict[str, Any]],
    archive: Path,
    items: Path,
    cores: int,
) -> None:
    """Write the articles of *archive* to *items*."""
    if cores == 1:
        _write(items, map(extract, read(archive)))
        return
    with Pool(cores) as pool:
        _write(items, pool.imap(extract, read(archive), _CHUNK))


def _write(path: Path, articles: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(article, ensure_ascii=False)}\n" for article in articles)


TOOLS: dict[str, Callable[[Path, Path, int], None]] = {
    "resiliparse": partial(extract_all, read_fastwarc, extract_resiliparse),
    "trafilatura": partial(extract_all, read_warcio, extract_trafilatura),
}


def main() -> None:
    """Run the tool."""
    name, archive, items, cores = sys.argv[1:]
    TOOLS[name](Path(archive), Path(items), int(cores))


if __name__ == "__main__":
    main()
