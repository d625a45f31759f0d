"""Worker pool: results, failures and limits of tasks."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from newscrawl.workers.child import WorkerError
from newscrawl.workers.fork_server import can_fork
from newscrawl.workers.pool import WorkerPool
from newscrawl.workers.process import Limits, WorkerProcess
from tests.helpers.processes import assert_gone, run_python

HOSTILE = {
    "hang": "timeout",
    "leave": "crash",
    "segfault": "crash",
    "eat": "memory",
    "fail": "error",
    "refuse": "document",
    "unplain": "error",
}


def with_pool(use: Callable[[WorkerPool], Awaitable[Any]], workers: int = 2, **options: Any) -> Any:
    """Return the result of *use* with a pool, which is closed afterwards."""

    async def run() -> Any:
        pool = WorkerPool(workers, Limits(**{"deadline": 60.0, "memory": 300} | options))
        try:
            return await use(pool)
        finally:
            await pool.close()

    return asyncio.run(run())


async def outcome(pool: WorkerPool, function: str, data: bytes = b"x", **plain: Any) -> Any:
    try:
        return await pool.call(f"tests.helpers.hostile_tasks:{function}", data, **plain)
    except WorkerError as error:
        return error.reason


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_returns_result(workers: int) -> None:
    result = with_pool(
        lambda pool: pool.call(
            "tests.helpers.hostile_tasks:measure", b"\x00\xff" * 1000, url="é", none=None
        ),
        workers=workers,
    )
    assert (result["length"], result["url"], result["none"]) == (2000, "é", None)
    assert (result["pid"] == os.getpid()) is (workers == 0)


def test_threads_of_a_worker_never_meet_in_its_tasks() -> None:
    """Both change the tasks without answer; a thread that ends would leave the crawl waiting."""
    worker, interval = WorkerProcess(Limits(deadline=60.0)), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        tasks = [
            worker.submit("tests.helpers.hostile_tasks:measure", b"x", {"number": number})
            for number in range(10_000)
        ]
        numbers = [task.result(timeout=60)["result"]["number"] for task in tasks]
        assert numbers == list(range(10_000))
    finally:
        sys.setswitchinterval(interval)
        worker.close()


@pytest.mark.slow
def test_hostile_tasks_do_not_affect_others() -> None:
    calls: list[str] = []
    for number in range(30):
        calls.append("measure")
        if number % 4 == 0:
            calls.append([*HOSTILE][number // 4 % len(HOSTILE)])

    async def use(pool: WorkerPool) -> list[Any]:
        return await asyncio.gather(*(outcome(pool, name, name.encode()) for name in calls))

    outcomes = with_pool(use, deadline=5.0)
    for name, result in zip(calls, outcomes, strict=True):
        if name == "measure":
            assert result["length"] == len(name)
        else:
            assert result == HOSTILE[name], name
    assert set(calls) == {"measure", *HOSTILE}


@pytest.mark.parametrize("name", ["fail", "refuse"])
def test_thread_reports_same_reasons(name: str) -> None:
    reason = with_pool(lambda pool: outcome(pool, name), workers=0)
    assert reason == HOSTILE[name]


def test_error_has_message_and_traceback() -> None:

    async def use(pool: WorkerPool) -> WorkerError:
        with pytest.raises(WorkerError) as raised:
            await pool.call("tests.helpers.hostile_tasks:fail", b"")
        return raised.value

    error = with_pool(use)
    assert str(error) == "KeyError: 'nothing here'"
    assert "hostile_tasks.py" in "".join(error.__notes__)


def test_reports_input_over_memory_limit() -> None:
    """The next task succeeds."""

    async def use(pool: WorkerPool) -> list[Any]:
        return [
            await outcome(pool, "measure", bytes(200 * 2**20)),
            await outcome(pool, "measure", bytes(20 * 2**20)),
        ]

    huge, large = with_pool(use, workers=1, memory=100)
    assert huge == "memory"
    assert large["length"] == 20 * 2**20


def test_deadline_excludes_waiting() -> None:

    async def use(pool: WorkerPool) -> list[Any]:
        return await asyncio.gather(*(outcome(pool, "sleep_for", seconds=0.5) for _ in range(8)))

    assert "timeout" not in with_pool(use, workers=1, deadline=3.0)


def test_replaces_worker_killed_while_idle() -> None:

    async def use(pool: WorkerPool) -> tuple[int, int]:
        first = await outcome(pool, "measure")
        os.kill(first["pid"], signal.SIGKILL)
        wait_until(lambda: has_ended(first["pid"]))
        second = await outcome(pool, "measure")
        return first["pid"], second["pid"]

    first, second = with_pool(use, workers=1)
    assert first != second


def test_replaces_worker_after_its_tasks() -> None:

    async def use(pool: WorkerPool) -> list[int]:
        return [(await outcome(pool, "measure"))["pid"] for _ in range(6)]

    pids = with_pool(use, workers=1, tasks=2)
    assert len(set(pids)) == 3
    assert pids[0] == pids[1]


def test_tasks_may_print() -> None:
    assert with_pool(lambda pool: outcome(pool, "print_line")) == {"said": True}


def test_cancelled_call_kills_task() -> None:

    async def use(pool: WorkerPool) -> Any:
        call = asyncio.create_task(pool.call("tests.helpers.hostile_tasks:hang", b""))
        await outcome(pool, "measure")
        await asyncio.sleep(0.1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return await asyncio.gather(*(outcome(pool, "measure") for _ in range(4)))

    for result in with_pool(use):
        assert result["length"] == 1


def test_task_behind_one_that_ends_the_process_is_run() -> None:

    async def use(pool: WorkerPool) -> list[Any]:
        names = ["segfault", "measure", "leave", "leave", "measure"]
        return await asyncio.gather(*(outcome(pool, name) for name in names))

    first, second, third, fourth, fifth = with_pool(use, workers=1)
    assert (first, third, fourth) == ("crash",) * 3
    assert second["length"] == fifth["length"] == 1


def test_answer_is_read_while_the_next_task_is_sent() -> None:
    """Both are larger than a pipe, and the crawler is busy: its threads wait for their turns."""
    size = 2**17

    async def use(pool: WorkerPool) -> list[Any]:
        calls = (outcome(pool, "write_zeros", bytes(size), length=size) for _ in range(20))
        answers = asyncio.gather(*calls)
        while not answers.done():
            # Longer than the switch interval: a loop that often waits for nothing starves threads.
            sum(range(500_000))
            await asyncio.sleep(0)
        return await answers

    assert with_pool(use, workers=1) == [{"zeros": "0" * size}] * 20


def test_cancelled_call_leaves_the_task_behind_it() -> None:

    async def use(pool: WorkerPool) -> Any:
        hanging = asyncio.create_task(outcome(pool, "hang"))
        behind = asyncio.create_task(outcome(pool, "measure"))
        await asyncio.sleep(0.5)
        hanging.cancel()
        return await behind

    assert with_pool(use, workers=1)["length"] == 1


def test_cancelled_call_leaves_the_task_before_it() -> None:

    async def use(pool: WorkerPool) -> list[Any]:
        pid = (await outcome(pool, "measure"))["pid"]
        before = asyncio.create_task(outcome(pool, "sleep_for", seconds=0.5))
        hanging = asyncio.create_task(outcome(pool, "hang"))
        await asyncio.sleep(0.2)
        hanging.cancel()
        return [pid, (await before)["pid"], await outcome(pool, "measure")]

    pid, before, after = with_pool(use, workers=1)
    assert pid == before
    assert after["length"] == 1


@pytest.mark.usefixtures("own_fork_server")
def test_close_ends_all_processes() -> None:
    """Also a process with a task that hangs."""
    before = children()

    async def use(pool: WorkerPool) -> asyncio.Task[Any]:
        pool.start()
        call = asyncio.create_task(outcome(pool, "hang"))
        await outcome(pool, "measure")
        wait_until(lambda: len(children() - before) == 2 + can_fork())
        return call

    with_pool(use)
    assert children() <= before


def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


def has_ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


SCRIPT = """
import asyncio
from newscrawl.workers.pool import WorkerPool

print("once")
async def main():
    pool = WorkerPool(1)
    print((await pool.call("tests.helpers.hostile_tasks:measure", b"abc"))["length"])
    {close}
asyncio.run(main())
"""


@pytest.mark.parametrize("close", ["await pool.close()", "pass"])
def test_runs_script_without_main_guard(tmp_path: Path, close: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(close=close))
    run = run_python(str(script))
    assert (run.stdout, run.stderr) == ("once\n3\n", "")


def test_forced_exit_does_not_wait() -> None:
    number = 2 + can_fork()
    code = (
        "import asyncio, psutil\n"
        "from newscrawl.workers.pool import WorkerPool\n"
        "from newscrawl.workers.process import Limits\n"
        "pool = WorkerPool(2, Limits(deadline=0))\n"
        "async def main():\n"
        "    await pool.call('tests.helpers.hostile_tasks:measure', b'')\n"
        f"    while len(found := psutil.Process().children(recursive=True)) < {number}:\n"
        "        await asyncio.sleep(0.05)\n"
        "    print(*(child.pid for child in found))\n"
        "loop = asyncio.new_event_loop()\n"
        "hanging = loop.create_task(pool.call('tests.helpers.hostile_tasks:hang', b''))\n"
        "loop.run_until_complete(main())\n"
    )
    run = run_python("-W", "ignore", "-c", code)
    assert run.returncode == 0, run.stderr
    pids = [int(pid) for pid in run.stdout.split()]
    assert len(pids) == number
    assert_gone(*pids)


def test_reports_worker_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newscrawl.workers.process.PRELOAD", ("no.such.module",))
    assert with_pool(lambda pool: outcome(pool, "measure")) == "crash"
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert with_pool(lambda pool: outcome(pool, "measure")) == "crash"


def test_workers_end_with_killed_pool() -> None:
    code = (
        "import asyncio, os, signal\n"
        "from newscrawl.workers.pool import WorkerPool\n"
        "async def main():\n"
        "    worker = await WorkerPool(1).call('tests.helpers.hostile_tasks:measure', b'')\n"
        "    print(worker['pid'], flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    run = run_python("-c", code)
    assert_gone(int(run.stdout))
