"""The pool's side of one worker process: start it, give it a task, end it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import weakref
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Literal, cast

from newscrawl.crawl.workers.child import ANSWER_LENGTH, TASK_LENGTHS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Imported by each worker before its first page, so that no page's deadline pays for it.
PRELOAD = ("newscrawl.extraction.extract",)
#: Seconds that a worker may take to start; a busy machine needs a few.
START_DEADLINE = 60.0

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a task may cost (seconds, MB), and tasks a process may serve; 0: no limit."""

    deadline: float
    memory: int
    tasks: int


@dataclass(frozen=True, slots=True)
class _Job:
    task: dict[str, Any]
    data: bytes
    future: Future[Answer]


class _Watchdog:
    """Ends what takes too long, one thing at a time, in one thread for all.

    ``threading.Timer`` is a thread for each task: a tenth of what a page costs the crawling process,
    event loop included. This thread is not woken for a task. It looks as often as anything could be
    due, *shortest* seconds, and so is never late.
    """

    def __init__(self, shortest: float) -> None:
        self._shortest = shortest
        self._lock = Lock()
        #: monotonic time, and what is to be done then
        self._due: tuple[float, Callable[[], None]] | None = None
        self._closed = Event()
        self._thread = Thread(target=self._watch, name="newscrawl-watchdog", daemon=True)
        self._thread.start()

    @contextlib.contextmanager
    def limit(self, seconds: float, expire: Callable[[], None]) -> Iterator[None]:
        """Call *expire* unless the block ends within *seconds*; 0: no limit."""
        with self._lock:
            self._due = (monotonic() + seconds, expire) if seconds else None
        try:
            yield
        finally:
            with self._lock:
                self._due = None

    def close(self) -> None:
        """End the thread."""
        self._closed.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._closed.wait(self._look()):
            pass

    def _look(self) -> float:
        """Do what is due; return the seconds until the next look."""
        with self._lock:
            if self._due is None:
                return self._shortest
            due, expire = self._due
            left = due - monotonic()
            if left > 0:
                return min(left, self._shortest)
            self._due = None
            expire()
            return self._shortest


class WorkerProcess:
    """One process at a time, with pipes and a thread of its own that waits for it.

    The thread is a daemon: a crawl that is stopped by force does not wait for its pages.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._jobs: SimpleQueue[_Job | Literal["start", "stop"]] = SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        self._killed: subprocess.Popen[bytes] | None = None
        self._served = 0
        self._closed = False
        self._watchdog = _Watchdog(min(limits.deadline or START_DEADLINE, START_DEADLINE))
        self._thread = Thread(target=self._work, name="newscrawl-worker", daemon=True)
        self._thread.start()

    def start(self) -> None:
        """Start the process in the background, so that the first task need not wait for it."""
        self._jobs.put("start")

    def submit(self, function: str, data: bytes, plain: dict[str, Any]) -> Future[Answer]:
        """Return the future answer of *function*: its result, or a reason and a message."""
        task = {"function": function, "plain": plain, "deadline": self._limits.deadline}
        job = _Job(task, data, Future())
        self._jobs.put(job)
        return job.future

    def kill(self) -> None:
        """End the process, and the task it may be at; the next task gets a new one."""
        if (process := self._process) is not None:
            self._killed = process
            process.kill()

    def close(self) -> None:
        """End process and threads, for good. Blocks until all are gone."""
        self._closed = True
        self.kill()
        self._jobs.put("stop")
        self._thread.join()
        self._watchdog.close()

    def _work(self) -> None:
        while (job := self._jobs.get()) != "stop":
            if isinstance(job, _Job) and job.future.set_running_or_notify_cancel():
                self._finish(job)
            self._start()  # the next one, while nobody waits
        self._discard()

    def _finish(self, job: _Job) -> None:
        try:
            job.future.set_result(self._run(job))
        except Exception as error:  # noqa: BLE001  # a thread that died would answer nobody
            job.future.set_exception(error)

    def _run(self, job: _Job) -> Answer:
        if self._process is not None and (
            self._process is self._killed or self._process.poll() is not None
        ):
            self._discard()
        answer = self._start() or self._ask(job)
        self._served += 1
        if self._served == self._limits.tasks or answer.get("reason") == "memory":
            self._discard()
        return answer

    def _start(self) -> Answer | None:
        """Start the process where there is none; return the failure if it does not come up."""
        if self._process is not None:
            return None
        try:
            self._process = _launch(self._limits.memory)
        except OSError as error:
            return {"reason": "crash", "message": f"the worker did not start: {error}"}
        self._served = 0
        weakref.finalize(self, self._process.kill)
        if self._closed:  # meanwhile
            self._process.kill()
        with self._deadline(START_DEADLINE):
            ready = _read(self._process)
        return None if ready else self._failure("crash", "the worker did not start")

    def _ask(self, job: _Job) -> Answer:
        process = cast("subprocess.Popen[bytes]", self._process)
        task = json.dumps(job.task).encode()
        with self._deadline(self._limits.deadline) as expired:
            _write(process, task, job.data)
            answer = _read(process)
        if answer is not None:
            return answer
        if expired:
            return self._failure("timeout", f"no answer in {self._limits.deadline:g} s")
        return self._failure("crash", "the worker died")

    @contextlib.contextmanager
    def _deadline(self, seconds: float) -> Iterator[list[bool]]:
        """Kill the process after *seconds*; the list yielded tells whether that happened."""
        expired: list[bool] = []
        process = cast("subprocess.Popen[bytes]", self._process)

        def expire() -> None:
            expired.append(True)
            process.kill()

        with self._watchdog.limit(seconds, expire):
            yield expired

    def _failure(self, reason: str, message: str) -> Answer:
        code = self._discard()
        return {"reason": reason, "message": f"{message} (exit code {code})"}

    def _discard(self) -> int | None:
        """Kill and reap the process; return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        code = process.poll()
        process.kill()
        with contextlib.suppress(BrokenPipeError):  # closing flushes what it never read
            process.communicate()
        return process.returncode if code is None else code


def _launch(memory_limit: int) -> subprocess.Popen[bytes]:
    """Start a worker process with this process's import path.

    In a session of its own, so that Ctrl-C in a terminal reaches Scrapy alone, which lets
    pages under way finish.
    """
    command = [sys.executable, "-P", "-m", "newscrawl.crawl.workers.child"]
    options = [f"--memory-limit={memory_limit}", *(f"--preload={module}" for module in PRELOAD)]
    return subprocess.Popen(  # noqa: S603  # our own module
        command + options,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_environment(),
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    # Each worker is to use one CPU: numpy's BLAS would start a thread for each.
    return {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | os.environ | {"PYTHONPATH": path}


def _write(process: subprocess.Popen[bytes], task: bytes, data: bytes) -> None:
    pipe = cast("IO[bytes]", process.stdin)
    with contextlib.suppress(BrokenPipeError):  # it died, and its answer may tell why
        pipe.write(TASK_LENGTHS.pack(len(task), len(data)) + task)
        pipe.write(data)
        pipe.flush()


def _read(process: subprocess.Popen[bytes]) -> Answer | None:
    """Return the next answer; None if the process ends before it is complete."""
    pipe = cast("IO[bytes]", process.stdout)
    header = pipe.read(ANSWER_LENGTH.size)
    if len(header) < ANSWER_LENGTH.size:
        return None
    (length,) = ANSWER_LENGTH.unpack(header)
    payload = pipe.read(length)
    return json.loads(payload) if len(payload) == length else None
