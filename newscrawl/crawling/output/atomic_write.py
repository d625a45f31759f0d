"""Atomic, fsynced file writes."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PARTIAL_SUFFIX = ".open"
"""Suffix of the name of a file that is being written."""


def write_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Create or replace *path* with what *write* writes to the file that it is called with.

    A crash leaves either the old or the new content. Raises ``OSError``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + PARTIAL_SUFFIX)
    with partial.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    publish(partial, path)


def publish(partial: Path, path: Path) -> None:
    """Rename the fsynced file *partial* to *path* and fsync the folder."""
    partial.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Write the directory entries of *folder* to disk; has no effect on Windows."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
