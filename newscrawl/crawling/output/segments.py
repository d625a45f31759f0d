"""Segments: output files that are written atomically and listed in manifests with their hashes.

A segment folder has a subfolder per day (UTC) with the segments in JSON Lines and one manifest
per crawl::

    2026-11-22/692315a81f3c9a2e-000000000001-000000001000.jsonl
    2026-11-22/692315a81f3c9a2e.manifest.json

The name of a segment consists of the name of the crawl and the numbers of its first and last item,
so writing it again after a crash gives the same file. Files that no manifest lists are unfinished.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from newscrawl.crawling.output.atomic_write import sync_folder, write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MANIFEST: Final = ".manifest.json"
"""Suffix of the names of manifests, after the name of the crawl."""

VERSION: Final = 1
"""Version of the manifest format."""

SUFFIX: Final = ".jsonl"


class SegmentError(ValueError):
    """A segment or manifest is missing or damaged; the message starts with its path."""


class SegmentSpan(NamedTuple):
    """Range of items of a segment, committed to the crawl state before files are written."""

    #: name of the crawl
    store: str
    #: ISO 8601 day, the name of the folder
    day: str
    #: number of the first item
    first: int
    #: number of the last item
    last: int


@dataclass(frozen=True, slots=True)
class Segment:
    """Entry of a manifest."""

    #: file name in the folder of the manifest
    name: str
    items: int
    bytes: int
    #: hexadecimal hash of the file
    sha256: str
    #: numbers of the first and the last item
    first: int
    last: int


def write_span(folder: Path, span: SegmentSpan, items: Sequence[tuple[int, str]]) -> Segment:
    """Write the *items* of *span*, at least one, to *folder*; return their segment, fsynced.

    An item is its number in the outbox and a JSON object. Raises ``OSError``. After an error or a
    crash, the same call completes the write.
    """
    day = folder / span.day
    path = day / f"{span.store}-{span.first:012}-{span.last:012}{SUFFIX}"
    write_file(path, lambda file: file.writelines(text.encode() + b"\n" for _, text in items))
    segment = Segment(
        name=path.name,
        items=len(items),
        bytes=path.stat().st_size,
        sha256=_sha256(path),
        first=items[0][0],
        last=items[-1][0],
    )
    _update_manifest(day, span.store, segment)
    for parent in (folder, folder.parent):  # may be new
        sync_folder(parent)
    return segment


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _update_manifest(day: Path, store: str, segment: Segment) -> None:
    """Add *segment* to the manifest, replacing an entry of the same name."""
    path = day / f"{store}{MANIFEST}"
    listed = {entry.name: entry for entry in _read_manifest(path)} if path.exists() else {}
    listed[segment.name] = segment
    text = manifest_text(store, [listed[name] for name in sorted(listed)])
    write_file(path, lambda file: file.write(text.encode()))


def manifest_text(store: str, segments: Iterable[Segment]) -> str:
    """Return the manifest of *segments*."""
    entries = [asdict(segment) for segment in segments]
    return json.dumps({"version": VERSION, "store": store, "segments": entries}, indent=1)


def _read_manifest(path: Path) -> list[Segment]:
    try:
        manifest = json.loads(path.read_bytes())
        if manifest["version"] > VERSION:
            raise SegmentError(f"{path}: written by a newer version of newscrawl")
        return [Segment(**entry) for entry in manifest["segments"]]
    except (KeyError, TypeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise SegmentError(f"{path}: not a manifest of segments ({error})") from error


def list_segments(folder: Path) -> list[tuple[Path, Segment]]:
    """Return the segments in the manifests under *folder*, in the order they were written.

    *folder* is the segment folder or the folder of a day. The size and hash of each file are
    verified. Raises ``OSError``, and :class:`SegmentError` if there is no manifest or a segment is
    missing or damaged.
    """
    listed = list_unverified(folder)
    for path, segment in listed:
        verify_segment(path, segment)
    return listed


def list_unverified(folder: Path) -> list[tuple[Path, Segment]]:
    """Return the segments as :func:`list_segments` does, without reading their files."""
    manifests = sorted(folder.rglob(f"*{MANIFEST}"))
    if not manifests:
        raise SegmentError(f"{folder}: no manifest of segments found")
    return [
        (manifest.parent / segment.name, segment)
        for manifest in manifests
        for segment in _read_manifest(manifest)
    ]


def verify_segment(path: Path, segment: Segment) -> None:
    """Raise :class:`SegmentError` unless the file at *path* is *segment*, or ``OSError``."""
    if path.name != segment.name:
        raise SegmentError(f"{path}: not a segment")
    if not path.is_file():
        raise SegmentError(f"{path}: listed in the manifest, but missing")
    size = path.stat().st_size
    if size != segment.bytes:
        raise SegmentError(f"{path}: {size} bytes instead of {segment.bytes} as in the manifest")
    if _sha256(path) != segment.sha256:
        raise SegmentError(f"{path}: damaged, the hash differs from the one in the manifest")


def read_segments(folder: Path | str) -> Iterator[dict[str, Any]]:
    """Yield the items of all segments under *folder*.

    All files are verified before the first item. Raises as :func:`list_segments` does.
    """
    for path, segment in list_segments(Path(folder)):
        yield from read_segment(path, segment)


def read_segment(path: Path, segment: Segment) -> Iterator[dict[str, Any]]:
    """Yield the items of *segment*; raise :class:`SegmentError` if their number is wrong."""
    items = 0
    with path.open("rb") as file:
        for line in file:
            yield json.loads(line)
            items += 1
    if items != segment.items:
        raise SegmentError(f"{path}: {items} items instead of {segment.items}")
