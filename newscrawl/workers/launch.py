"""Start of Python processes that run :mod:`newscrawl.workers.child`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable


def launch(
    preload: Iterable[str], *arguments: str, requests: socket.socket | None = None
) -> subprocess.Popen[bytes]:
    """Start a process with this process's import path, and pipes or a socket as standard input.

    It has a session of its own, so that Ctrl-C only reaches Scrapy, which finishes active pages.
    """
    command = [sys.executable, "-P", "-m", "newscrawl.workers.child"]
    return subprocess.Popen(  # noqa: S603  # a fixed command
        [*command, *arguments, *(f"--preload={name}" for name in preload)],
        stdin=requests.fileno() if requests else subprocess.PIPE,
        stdout=None if requests else subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    )


def environment() -> dict[str, str]:
    """Return the environment of a process with this process's import path."""
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    # One CPU per worker: numpy's BLAS would start a thread per CPU.
    return {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | os.environ | {"PYTHONPATH": path}
