"""Tasks in copies of this process."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from newscrawl.workers.copied_process import call_in_copy

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt in a background job, too, whose shell has it ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.skipif(sys.platform != "linux", reason="needs a copy of the process")
def test_interrupted_right_after_the_fork(monkeypatch: pytest.MonkeyPatch):
    """The copy is ended before the interruption is raised."""
    fork, copies = os.fork, []

    def interrupted_fork() -> int:
        pid = fork()
        if pid:
            copies.append(pid)
            os.kill(os.getpid(), signal.SIGINT)
        return pid

    monkeypatch.setattr(os, "fork", interrupted_fork)
    with pytest.raises(KeyboardInterrupt):
        call_in_copy("tests.helpers.hostile_tasks:hang", b"", {}, deadline=100.0, memory_limit=0)
    with pytest.raises(ChildProcessError):
        os.waitpid(copies[0], os.WNOHANG)
