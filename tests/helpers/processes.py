"""Scripts in processes of their own, and their children."""

import contextlib
import os
import subprocess
import sys

import psutil


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the import path of this process."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def assert_gone(*pids: int) -> None:
    """Assert that the processes end within a short time."""
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(pid).wait(30)
        assert not psutil.pid_exists(pid)
