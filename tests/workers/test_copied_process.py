"""Tasks in copies of this process."""

import os
import signal
import sys
from collections.abc import Iterator

import pytest

from newscrawl.workers.child import WorkerError
from newscrawl.workers.copied_process import CopiedProcess


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
    with pytest.raises(KeyboardInterrupt), CopiedProcess(deadline=100.0, memory_limit=0) as copy:
        copy.call("tests.helpers.hostile_tasks:hang", b"", {})
    with pytest.raises(ChildProcessError):
        os.waitpid(copies[0], os.WNOHANG)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a copy of the process")
def test_one_copy_works_until_a_task_ends_it():
    """Each task that ends it has its own reason; the next one works in the next copy."""
    tasks = "tests.helpers.hostile_tasks"
    with CopiedProcess(deadline=2.0, memory_limit=50) as copy:
        pids, reasons = [], []
        for name in ("hang", "leave", "eat", "fail"):
            pids += [copy.call(f"{tasks}:measure", b"page", {})["pid"] for _ in range(2)]
            with pytest.raises(WorkerError) as error:
                copy.call(f"{tasks}:{name}", b"", {})
            reasons.append(error.value.reason)
        pids.append(copy.call(f"{tasks}:measure", b"page", {})["pid"])
    assert reasons == ["timeout", "crash", "memory", "error"]
    assert pids[::2] == [*pids[1::2], pids[-1]]
    assert len({os.getpid(), *pids}) == 1 + 4
    with pytest.raises(ChildProcessError):
        os.waitpid(pids[-1], os.WNOHANG)
