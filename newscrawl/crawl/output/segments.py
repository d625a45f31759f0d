"""Segments: items in files that are whole or not there, with a manifest of counts and hashes.

A segment folder has a folder for each day (UTC). In it are segments, JSON Lines or Parquet, and a
manifest for each crawl state that writes there::

    2026-11-22/1f3c9a2e-000000000001-000000001000.jsonl
    2026-11-22/1f3c9a2e.manifest.json

The name of a segment tells the state file and the first and last number of its items there, so
that whoever writes it again, after a crash, writes the same bytes under the same name. What a
manifest does not list is not there yet: :func:`read_segments` gives what is listed, and refuses
what is damaged.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from newscrawl.crawl.output.atomic_write import sync_folder, write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MANIFEST: Final = ".manifest.json"
"""Ends the name of a manifest, behind the name of the crawl state."""

VERSION: Final = 1
"""Of the manifest's layout."""

SUFFIXES: Final = {"jsonlines": ".jsonl", "parquet": ".parquet"}
"""Formats, and what their files end with."""

ARTICLE: Final = "newscrawl.items.Article"
"""Kind of the items that have columns of their own in Parquet."""


class SegmentError(ValueError):
    """A segment or a manifest is missing or damaged; the message names the file."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item as the crawl state keeps it."""

    #: its number, ascending
    id: int
    #: its class, as ``package.module.Class``
    kind: str
    #: the item as a JSON object
    text: str


@dataclass(frozen=True, slots=True)
class SegmentSpan:
    """Items that make a segment, fixed in the crawl state before anything is written."""

    #: name of the crawl state
    store: str
    #: ISO 8601 day, the folder
    day: str
    #: number of the first item
    first: int
    #: number of the last item
    last: int
    #: one of :data:`SUFFIXES`
    format: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A line of a manifest."""

    #: file name, in the manifest's folder
    name: str
    #: one of :data:`SUFFIXES`
    format: str
    items: int
    bytes: int
    #: hexadecimal, of the whole file
    sha256: str
    #: numbers of the first and the last item
    first: int
    last: int


def write_span(folder: Path, span: SegmentSpan, items: Sequence[Item]) -> list[Segment]:
    """Write *items*, those of *span*, under *folder*; return the segments once they are on disk.

    Parquet has a segment for articles and one for all other items. Raises ``OSError``; then, and
    after a crash at any point, the same call does what is left to do.
    """
    day = folder / span.day
    segments = [_write_segment(day, span, ending, group) for ending, group in _groups(span, items)]
    _update_manifest(day, span.store, segments)
    for above in (folder, folder.parent):  # which may be new as well
        sync_folder(above)
    return segments


def _groups(span: SegmentSpan, items: Sequence[Item]) -> Iterator[tuple[str, list[Item]]]:
    """Yield the items of each file, with the end of its name."""
    if span.format != "parquet":
        yield "", list(items)
        return
    groups = defaultdict(list)
    for item in items:
        groups["" if item.kind == ARTICLE else "-other"].append(item)
    yield from sorted(groups.items())


def _write_segment(day: Path, span: SegmentSpan, ending: str, items: list[Item]) -> Segment:
    path = day / f"{span.store}-{span.first:012}-{span.last:012}{ending}{SUFFIXES[span.format]}"
    write = _write_parquet if span.format == "parquet" else _write_lines
    write_file(path, lambda file: write(file, items))
    return Segment(
        name=path.name,
        format=span.format,
        items=len(items),
        bytes=path.stat().st_size,
        sha256=_sha256(path),
        first=items[0].id,
        last=items[-1].id,
    )


def _write_lines(file: IO[bytes], items: Iterable[Item]) -> None:
    for item in items:
        text = json.dumps(json.loads(item.text), ensure_ascii=False)
        file.write(text.encode(errors="replace") + b"\n")


def _write_parquet(file: IO[bytes], items: Iterable[Item]) -> None:
    from newscrawl.exporters import ParquetItemExporter  # noqa: PLC0415  # optional
    from newscrawl.items import Article  # noqa: PLC0415

    exporter = ParquetItemExporter(file)
    exporter.start_exporting()
    for item in items:
        plain = json.loads(item.text)
        exporter.export_item(Article.from_dict(plain) if item.kind == ARTICLE else plain)
    exporter.finish_exporting()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _update_manifest(day: Path, store: str, segments: Iterable[Segment]) -> None:
    """List *segments* in the manifest; those of the same name are replaced."""
    path = day / f"{store}{MANIFEST}"
    listed = {segment.name: segment for segment in _read_manifest(path)} if path.exists() else {}
    listed.update((segment.name, segment) for segment in segments)
    lines = [asdict(segment) for segment in sorted(listed.values(), key=lambda one: one.name)]
    text = json.dumps({"version": VERSION, "store": store, "segments": lines}, indent=1)
    write_file(path, lambda file: file.write(text.encode()))


def _read_manifest(path: Path) -> list[Segment]:
    try:
        manifest = json.loads(path.read_bytes())
        if manifest["version"] > VERSION:
            raise SegmentError(f"{path}: written by a newer version of newscrawl")
        return [Segment(**line) for line in manifest["segments"]]
    except (KeyError, TypeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise SegmentError(f"{path}: not a manifest of segments ({error})") from error


def list_segments(folder: Path) -> list[tuple[Path, Segment]]:
    """Return the segments that the manifests under *folder* list, in the order they were written.

    *folder* is that of all days, or of one. Each file is compared with its line in the manifest.
    Raises ``OSError``, and :class:`SegmentError` for what is missing or damaged, or where there
    is no manifest.
    """
    manifests = sorted(folder.rglob(f"*{MANIFEST}"))
    if not manifests:
        raise SegmentError(f"{folder}: no manifest of segments here")
    listed = [
        (manifest.parent / segment.name, segment)
        for manifest in manifests
        for segment in _read_manifest(manifest)
    ]
    for path, segment in listed:
        _check(path, segment)
    return listed


def _check(path: Path, segment: Segment) -> None:
    if path.name != segment.name or segment.format not in SUFFIXES:
        raise SegmentError(f"{path}: not a segment")
    if not path.is_file():
        raise SegmentError(f"{path}: in the manifest, but not here")
    size = path.stat().st_size
    if size != segment.bytes:
        raise SegmentError(f"{path}: {size} bytes, and not {segment.bytes} as in the manifest")
    if _sha256(path) != segment.sha256:
        raise SegmentError(f"{path}: damaged, since its hash is not the one in the manifest")


def read_segments(folder: Path | str) -> Iterator[dict[str, Any]]:
    """Yield the items of all segments under *folder*.

    Everything is checked before the first item comes. Raises as :func:`list_segments` does, and
    ``ImportError`` for Parquet without pyarrow.
    """
    for path, segment in list_segments(Path(folder)):
        items = 0
        for item in _read_parquet(path) if segment.format == "parquet" else _read_lines(path):
            yield item
            items += 1
        if items != segment.items:
            raise SegmentError(f"{path}: {items} items, and not {segment.items}")


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:
            yield json.loads(line)


def _read_parquet(path: Path) -> Iterator[dict[str, Any]]:
    from pyarrow import parquet  # noqa: PLC0415  # optional

    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(1000):
            yield from batch.to_pylist()
