"""One worker process, seen from the pool: starts it, sends tasks, reads answers; budgets of sites."""

from __future__ import annotations

import contextlib
import json
import weakref
from collections import Counter, defaultdict
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, Final, Literal, Self, cast

from newscrawl.defaults import DEFAULTS, setting
from newscrawl.workers.child import ANSWER_LENGTH, TASK_LENGTHS, TIMEOUT_CODE
from newscrawl.workers.fork_server import ForkedProcess, ForkServer, can_fork, launch

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping

    from scrapy.settings import BaseSettings

    Process = subprocess.Popen[bytes] | ForkedProcess

#: What a process loads before its first task: modules, and functions that load models.
PRELOAD = ("newscrawl.workers.tasks:load_models",)

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of workers, by default those of the settings; 0: no limit."""

    #: seconds after which a task is aborted
    deadline: float = DEFAULTS["NEWSCRAWL_DEADLINE"]
    #: MB that tasks may add to the address space of a process (POSIX)
    memory: int = DEFAULTS["NEWSCRAWL_MEMORY_LIMIT"]
    #: tasks after which a process is replaced
    tasks: int = DEFAULTS["NEWSCRAWL_WORKER_TASKS"]
    #: seconds of :class:`~newscrawl.workers.process.SiteBudget`
    site_seconds: float = DEFAULTS["NEWSCRAWL_SITE_SECONDS"]

    @classmethod
    def read(cls, settings: BaseSettings) -> Self:
        """Return the limits in *settings*; raise ``ValueError`` naming an invalid setting."""
        names = ("DEADLINE", "MEMORY_LIMIT", "WORKER_TASKS", "SITE_SECONDS")
        return cls(*(setting(settings, f"NEWSCRAWL_{name}") for name in names))


@dataclass(frozen=True, slots=True)
class _Job:
    task: dict[str, Any]
    data: bytes
    future: Future[Answer]
    take: Callable[[Any], object] | None


SECONDS_PER_TASK: Final = 0.5
"""Seconds per task that do not count towards the budget of a site. Pages take 0.02 on average."""


class SiteBudget:
    """Time used by site, with a budget of *seconds* each; 0: no limit.

    :data:`SECONDS_PER_TASK` of each task do not count. *used* is the :attr:`used` of an earlier
    process.
    """

    def __init__(
        self, seconds: float = 0.0, used: Mapping[str, tuple[float, int]] | None = None
    ) -> None:
        self._budget = seconds
        #: seconds used, by site
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._tasks: Counter[str] = Counter()
        for site, (time, tasks) in (used or {}).items():
            self.seconds[site], self._tasks[site] = time, tasks

    @property
    def used(self) -> dict[str, tuple[float, int]]:
        """Seconds and tasks by site."""
        return {site: (seconds, self._tasks[site]) for site, seconds in self.seconds.items()}

    def add(self, site: str, seconds: float) -> None:
        """Add a task of *site*."""
        self._tasks[site] += 1
        self.seconds[site] += seconds

    def is_exceeded(self, site: str) -> bool:
        """Return whether *site* has used its time; no site ("") has no budget."""
        if not (self._budget and site):
            return False
        return self.seconds[site] > self._budget + SECONDS_PER_TASK * self._tasks[site]


class WorkerProcess:
    """A worker process, replaced when it dies, with a daemon thread that reads its answers."""

    def __init__(self, limits: Limits, *preload: str) -> None:
        self._limits = limits
        self._preload = preload or PRELOAD
        self._jobs: SimpleQueue[_Job | Literal["start", "stop"]] = SimpleQueue()
        self._server: ForkServer | None = None
        self._process: Process | None = None
        self._killed: Process | None = None
        self._served = 0
        self._closed = False
        self._thread = Thread(target=self._work, name="newscrawl-worker", daemon=True)
        self._thread.start()

    def start(self) -> None:
        """Start the process in the background."""
        self._jobs.put("start")

    def submit(
        self,
        function: str,
        data: bytes,
        plain: dict[str, Any],
        take: Callable[[Any], object] | None = None,
    ) -> Future[Answer]:
        """Call *function* in the process; return a future of the answer.

        With *take* the function yields answers
        (:func:`~newscrawl.workers.child.stream_answers`): *take* is called with each part in
        the thread of this worker, and the future has the last answer.
        """
        task = {
            "function": function,
            "plain": plain,
            "deadline": self._limits.deadline,
            "stream": take is not None,
        }
        job = _Job(task, data, Future(), take)
        self._jobs.put(job)
        return job.future

    def kill(self) -> None:
        """Kill the process and its task; the next task starts a new process."""
        if (process := self._process) is not None:
            self._killed = process
            process.kill()

    def close(self) -> None:
        """Terminate the process and the thread; blocks until they have ended."""
        self._closed = True
        self.kill()
        self._jobs.put("stop")
        self._thread.join()
        self._server = self._killed = None  # The server ends with its last worker.

    def _work(self) -> None:
        while (job := self._jobs.get()) != "stop":
            if isinstance(job, _Job) and job.future.set_running_or_notify_cancel():
                self._finish(job)
            self._start()  # replace a dead process before the next task
        self._discard()

    def _finish(self, job: _Job) -> None:
        try:
            job.future.set_result(self._run(job))
        except Exception as error:  # noqa: BLE001  # the future must get an answer
            job.future.set_exception(error)

    def _run(self, job: _Job) -> Answer:
        if self._process is not None and (
            self._process is self._killed or self._process.poll() is not None
        ):
            self._discard()
        answer = self._start() or self._send(job)
        self._served += 1
        is_broken = "result" not in answer and (job.take or answer["reason"] == "memory")
        if self._served == self._limits.tasks or is_broken:
            self._discard()
        return answer

    def _start(self) -> Answer | None:
        """Start the process unless it is running; return the failure if that fails."""
        if self._process is not None:
            return None
        try:
            self._process = self._launch()
        except OSError as error:
            return {"reason": "crash", "message": f"the worker could not be started: {error}"}
        self._served = 0
        self._finalizer = weakref.finalize(self, self._process.kill)
        if self._closed:  # in the meantime
            self._process.kill()
        if _read(self._process):
            return None
        code = self._discard()
        return {
            "reason": "crash",
            "message": f"the worker could not be started (exit code {code})",
        }

    def _launch(self) -> Process:
        if not can_fork():
            return launch(self._preload, f"--memory-limit={self._limits.memory}")
        if self._server is None:
            self._server = ForkServer.shared(self._preload)
        return self._server.fork(self._limits.memory)

    def _send(self, job: _Job) -> Answer:
        process = cast("Process", self._process)
        task = json.dumps(job.task).encode()
        _write(process, task, job.data)
        answer = _read(process)
        while job.take and answer and "part" in answer:
            try:
                job.take(answer["part"])
            except BaseException:
                self._discard()
                raise
            answer = _read(process)
        if answer is not None:
            return answer
        code = self._discard()
        if code == TIMEOUT_CODE:
            return {"reason": "timeout", "message": f"no answer in {self._limits.deadline:g} s"}
        return {"reason": "crash", "message": f"the worker died (exit code {code})"}

    def _discard(self) -> int | None:
        """Kill the process and wait for its end; return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        self._finalizer.detach()
        code = process.poll()
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):  # closing the pipe flushes it
                cast("IO[bytes]", pipe).close()
        return process.wait() if code is None else code


def _write(process: Process, task: bytes, data: bytes) -> None:
    pipe = cast("IO[bytes]", process.stdin)
    with contextlib.suppress(BrokenPipeError):  # the worker died; _read() reports it
        pipe.write(TASK_LENGTHS.pack(len(task), len(data)) + task)
        pipe.write(data)
        pipe.flush()


def _read(process: Process) -> Answer | None:
    """Return the next answer, None if the process ends before the answer is complete."""
    pipe = cast("IO[bytes]", process.stdout)
    header = pipe.read(ANSWER_LENGTH.size)
    if len(header) < ANSWER_LENGTH.size:
        return None
    (length,) = ANSWER_LENGTH.unpack(header)
    payload = pipe.read(length)
    return json.loads(payload) if len(payload) == length else None
