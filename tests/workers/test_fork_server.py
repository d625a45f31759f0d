"""Fork server: workers as copies of one process."""

import os
import socket
from collections.abc import Iterator

import psutil
import pytest

from newscrawl.workers.fork_server import ForkServer, can_fork, launch
from newscrawl.workers.process import PRELOAD, Limits, WorkerProcess
from tests.helpers.processes import assert_gone, run_python

pytestmark = pytest.mark.skipif(not can_fork(), reason="requires Linux 5.3 or later")

TASKS = "tests.helpers.hostile_tasks"


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    worker = WorkerProcess(Limits(deadline=60.0, memory=300, tasks=0))
    yield worker
    worker.close()


def call(worker: WorkerProcess, name: str) -> tuple[str, int | str]:
    answer = worker.submit(f"{TASKS}:{name}", b"x", {}).result()
    return ("pid", answer["result"]["pid"]) if "result" in answer else ("", answer["message"])


def server_of(pid: int) -> psutil.Process:
    found = psutil.Process(pid).parent()
    assert found is not None
    return found


@pytest.mark.usefixtures("own_fork_server")
def test_workers_are_copies_of_one_server(worker: WorkerProcess):
    other = WorkerProcess(Limits(deadline=60.0, memory=300, tasks=0))
    pids = [int(call(each, "measure")[1]) for each in (worker, other)]
    assert pids[0] != pids[1]
    (server,) = {server_of(pid) for pid in pids}
    assert server.ppid() == os.getpid()
    # A thread of a library would not be copied, perhaps with a lock that it holds.
    assert server.num_threads() == 1
    other.close()
    assert server.is_running()
    worker.close()
    assert not server.is_running()


def test_copy_has_loaded_the_models(worker: WorkerProcess):
    """The process after one that died loads nothing."""
    loaded = []
    for _ in range(2):
        answer = worker.submit(f"{TASKS}:loaded_modules", b"", {}).result()
        loaded.append(answer["result"]["modules"])
        assert call(worker, "leave") == ("", "the worker died (exit code 7)")
    assert loaded[0] == loaded[1]
    assert "newscrawl.extraction.extract" in loaded[0]


def test_reports_exit_codes(worker: WorkerProcess):
    assert call(worker, "leave") == ("", "the worker died (exit code 7)")
    assert call(worker, "segfault") == ("", "the worker died (exit code -11)")


def test_replaces_server_that_was_killed(worker: WorkerProcess):
    """Its workers go on; the next ones are copies of a new server."""
    pid = int(call(worker, "measure")[1])
    server = server_of(pid)
    server.kill()
    server.wait()
    assert call(worker, "measure") == ("pid", pid)
    assert call(worker, "leave") == ("", "the worker died (exit code -9)")
    kind, other = call(worker, "measure")
    assert kind == "pid"
    assert server_of(int(other)) != server


def test_replaces_server_that_does_not_answer(worker: WorkerProcess):
    pid = int(call(worker, "measure")[1])
    server_of(pid).suspend()
    running = ForkServer.shared(PRELOAD)._running
    assert running is not None
    running._socket.settimeout(0.2)
    assert call(worker, "leave") == ("", "the worker died (exit code -9)")
    assert call(worker, "measure")[0] == "pid"


def test_server_ends_with_its_killed_owner():
    code = (
        "import os, signal\n"
        "from newscrawl.workers.process import Limits, WorkerProcess\n"
        "worker = WorkerProcess(Limits(deadline=0, memory=0, tasks=0))\n"
        f"print(worker.submit('{TASKS}:measure', b'', {{}}).result()['result']['pid'])\n"
        "import psutil, sys\n"
        "print(*(child.pid for child in psutil.Process().children()), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    run = run_python("-c", code)
    pids = [int(pid) for pid in run.stdout.split()]
    assert len(pids) == 2
    assert_gone(*pids)


def test_owner_may_be_killed_while_the_server_loads():
    requests, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with other:
        server = launch([TASKS], "--fork-server", requests=other)
    requests.close()
    assert server.wait(60) == 0
