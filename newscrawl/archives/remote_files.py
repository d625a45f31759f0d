"""Files on any file system that fsspec supports: local, S3, HTTP, HDFS, ..."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, Final

from newscrawl.crawling.output.atomic_write import write_file

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK: Final = 4 * 2**20
_BLOCKS: Final = 4
"""Blocks of an open file that are kept: the reader steps back a little after each record."""


def file_system(path: str) -> tuple[Any, str]:
    """Return the fsspec file system of *path*, and the path on it."""
    from fsspec.core import url_to_fs  # noqa: PLC0415  # optional

    system, name = url_to_fs(path)
    return system, name


def is_local(path: str) -> bool:
    """Return whether *path* is on this machine."""
    return "://" not in path or path.startswith("file://")


def absolute_path(path: str) -> str:
    """Return *path*, absolute if it is local, because workers have other working folders."""
    return str(Path(path.removeprefix("file://")).absolute()) if is_local(path) else path


def join_path(folder: str, *names: str) -> str:
    """Return the path of a file below *folder*."""
    return "/".join((folder.rstrip("/"), *names))


@contextmanager
def open_seekable(path: str) -> Iterator[IO[bytes]]:
    """Open *path* for reading, a temporary copy if its server does not support ranges."""
    if is_local(path):
        with Path(path.removeprefix("file://")).open("rb") as file:
            yield file
        return
    system, name = file_system(path)
    with system.open(
        name, "rb", block_size=_BLOCK, cache_type="background", cache_options={"maxblocks": _BLOCKS}
    ) as file:
        if not path.startswith("http") or _supports_ranges(file):
            yield file
            return
    with local_copy(path) as copy, copy.open("rb") as file:
        yield file


def _supports_ranges(file: IO[bytes]) -> bool:
    """Return whether the HTTP server of *file* sends parts of it."""
    try:
        file.seek(-1, 2)
        file.read(1)
        file.seek(0)
    except ValueError:
        return False
    return True


@contextmanager
def local_copy(path: str) -> Iterator[Path]:
    """Provide *path* as a local file: itself, or a temporary copy."""
    if is_local(path):
        yield Path(path.removeprefix("file://"))
        return
    system, name = file_system(path)
    with TemporaryDirectory(prefix="newscrawl-") as folder:
        copy = Path(folder, "copy")
        system.get_file(name, str(copy))
        yield copy


def read_bytes(path: str) -> bytes | None:
    """Return the content of *path*, None if it does not exist."""
    system, name = file_system(path)
    try:
        data: bytes = system.cat_file(name)
    except FileNotFoundError:
        return None
    return data


def write_bytes(path: str, data: bytes) -> None:
    """Create or replace *path* at once; object stores show a file when it is complete."""
    if is_local(path):
        write_file(Path(path.removeprefix("file://")), lambda file: file.write(data))
        return
    system, name = file_system(path)
    system.makedirs(name.rpartition("/")[0], exist_ok=True)
    system.pipe_file(name, data)


def remove(path: str) -> None:
    """Delete *path* if it exists."""
    system, name = file_system(path)
    if system.exists(name):
        system.rm(name, recursive=True)


def list_names(folder: str) -> set[str]:
    """Return the names in *folder*, empty if it does not exist."""
    system, name = file_system(folder)
    try:
        # Without the cache of listings that some file systems keep.
        system.invalidate_cache(name)
        return {entry.rstrip("/").rpartition("/")[2] for entry in system.ls(name, detail=False)}
    except FileNotFoundError:
        return set()
