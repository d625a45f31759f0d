"""A small file system in memory, for tests of full disks."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Callable[[int], None]]:
    """Mount a file system of *kilobytes* at *folder*; yields a function that changes its size.

    Skips the test if the system does not permit mounting.
    """
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs"]
    try:
        _run("mount", *options, folder)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small file system needs root and the permission to mount")
    try:
        yield lambda size: _run("mount", "-o", f"remount,size={size}k", folder)
    finally:
        _run("umount", "--lazy", folder)


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True)
