"""Files that have their name only once they are whole and on disk."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OPEN = ".open"
"""Ends the name of a file that is being written."""


def write_file(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Write *path* by *fill*, which is handed the open file; raise ``OSError``.

    Whenever the process or the machine stops, *path* is as it was before, or whole.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    being_written = path.with_name(path.name + OPEN)
    with being_written.open("wb") as file:
        fill(file)
        file.flush()
        os.fsync(file.fileno())
    publish(being_written, path)


def publish(being_written: Path, path: Path) -> None:
    """Give a file that is flushed to disk its final name, on disk too."""
    being_written.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in *folder* are on disk, where the system can tell (not on Windows)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
