"""One worker process, seen from the pool, and the budgets of sites."""

from __future__ import annotations

import contextlib
import json
import time
import weakref
from collections import Counter, defaultdict, deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Lock, RLock, Semaphore, Thread
from typing import IO, TYPE_CHECKING, Any, Final, Literal, Self, cast

from newscrawl.defaults import DEFAULTS, setting
from newscrawl.workers.child import TIMEOUT_CODE, read_answer, write_task
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
    #: tasks after which a process is replaced, to bound memory leaks of C libraries
    tasks: int = 10_000
    #: seconds of :class:`~newscrawl.workers.process.SiteBudget`
    site_seconds: float = DEFAULTS["NEWSCRAWL_SITE_SECONDS"]

    @classmethod
    def read(cls, settings: BaseSettings) -> Self:
        """Return the limits in *settings*; raise ``ValueError`` naming an invalid setting."""
        return cls(
            deadline=setting(settings, "NEWSCRAWL_DEADLINE"),
            memory=setting(settings, "NEWSCRAWL_MEMORY_LIMIT"),
            site_seconds=setting(settings, "NEWSCRAWL_SITE_SECONDS"),
        )


TASKS_AT_ONCE: Final = 2
"""Tasks that are sent to a process: it works on the first, and the second waits in its pipe."""


@dataclass(slots=True, eq=False)
class _Job:
    task: bytes
    data: bytes
    take: Callable[[Any], object] | None
    future: Future[Answer] = field(default_factory=Future)
    #: to which it was sent
    process: Process | None = None


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
        for site, (spent, tasks) in (used or {}).items():
            self.seconds[site], self._tasks[site] = spent, tasks

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
    """A worker process, replaced when it dies.

    One daemon thread sends tasks and another one reads answers, as a process would otherwise wait
    for each of its tasks until the threads of a busy crawler get their turns. A task that was sent
    to a process that dies with the task before is sent again.
    """

    def __init__(self, limits: Limits, *preload: str) -> None:
        self._limits = limits
        self._preload = preload or PRELOAD
        self._jobs: SimpleQueue[_Job | Literal["start", "stop"]] = SimpleQueue()
        self._turns: SimpleQueue[_Job | Literal["start", "stop"]] = SimpleQueue()
        self._active: deque[_Job] = deque()  # without answer; the process works on the first
        self._room = Semaphore(TASKS_AT_ONCE)
        self._server: ForkServer | None = None
        self._process: Process | None = None
        self._pipe_lock = RLock()  # to write to the process or replace it
        self._kill_lock = Lock()  # to kill the process, or add or finish a task
        #: True, or the future of the task that the process was killed for
        self._killed: Future[Answer] | bool = False
        self._served = 0
        self._closed = False
        self._threads = [
            Thread(target=target, name="newscrawl-worker", daemon=True)
            for target in (self._send_jobs, self._read_answers)
        ]
        for thread in self._threads:
            thread.start()

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
        a thread of this worker, and the future has the last answer.
        """
        task = {
            "function": function,
            "plain": plain,
            "deadline": self._limits.deadline,
            "stream": take is not None,
        }
        job = _Job(json.dumps(task).encode(), data, take)
        self._jobs.put(job)
        return job.future

    def kill(self, future: Future[Answer] | None = None) -> None:
        """Kill the process, with *future* only if it works on its task."""
        with self._kill_lock:
            process = self._process
            is_other = future is not None and (
                not self._active or self._active[0].future is not future
            )
            if process is not None and not is_other:
                self._killed = future or True
                process.kill()

    def close(self) -> None:
        """Terminate the process and the threads; blocks until they have ended."""
        self._closed = True
        self.kill()
        self._jobs.put("stop")
        for thread in self._threads:
            thread.join()
        self._server = None  # it ends with its last worker

    def _send_jobs(self) -> None:
        while True:
            job = self._jobs.get()
            if isinstance(job, _Job):
                self._room.acquire()
                self._send_ahead(job)
            self._turns.put(job)
            if job == "stop":
                return

    def _send_ahead(self, job: _Job) -> None:
        """Send *job* if there is a process; otherwise it is sent when its turn comes."""
        with self._pipe_lock:
            if not self._active and self._has_died():
                self._discard()
            process = self._process
            with self._kill_lock:
                is_next = all(active.process is process for active in self._active)
                self._active.append(job)
            if process is not None and is_next and not job.future.cancelled():
                _send(process, job)

    def _has_died(self) -> bool:
        process = self._process
        return process is not None and (bool(self._killed) or process.poll() is not None)

    def _read_answers(self) -> None:
        while (job := self._turns.get()) != "stop":
            if isinstance(job, _Job):
                self._finish(job)
            self._start()  # replace a dead process before the next task
        self._discard()

    def _finish(self, job: _Job) -> None:
        outcome: Answer | Exception
        try:
            outcome = self._run(job)
        except Exception as error:  # noqa: BLE001  # the future must get an answer
            outcome = error
        with self._kill_lock:
            self._active.popleft()
        self._room.release()
        if not job.future.set_running_or_notify_cancel():
            return
        if isinstance(outcome, Exception):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)

    def _run(self, job: _Job) -> Answer:
        if job.future.cancelled():
            if job.process is self._process:
                self._discard()
            return {}
        answer = None
        while answer is None:
            answer = self._start(job) or self._answer(job)
        self._served += 1
        is_broken = "result" not in answer and (job.take or answer["reason"] == "memory")
        if self._served == self._limits.tasks or is_broken:
            self._discard()
        return answer

    def _start(self, job: _Job | None = None) -> Answer | None:
        """Start the process unless it is running, and send *job* unless it was sent to it.

        Returns the failure if the process cannot be started.
        """
        if self._process is not None and (job is None or job.process is self._process):
            return None  # without the lock: the next task is perhaps being sent
        with self._pipe_lock:
            failure = self._start_process() if self._process is None else None
            if job is not None and self._process is not None:
                _send(self._process, job)
            return failure

    def _start_process(self) -> Answer | None:
        try:
            process = self._launch()
        except OSError as error:
            return {"reason": "crash", "message": f"the worker could not be started: {error}"}
        self._served, self._killed = 0, False
        self._process = process
        self._finalizer = weakref.finalize(self, process.kill)
        if self._closed:  # in the meantime
            process.kill()
        if _read(process):
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

    def _answer(self, job: _Job) -> Answer | None:
        """Return the answer to *job*, None if the process was killed for the task before."""
        process = cast("Process", self._process)
        since = time.monotonic()
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
        if isinstance(self._killed, Future) and self._killed is not job.future:
            return None
        answer = {"reason": "crash", "message": f"the worker died (exit code {code})"}
        if code == TIMEOUT_CODE:
            message = f"no answer in {self._limits.deadline:g} s"
            answer = {"reason": "timeout", "message": message}
        return answer | {"seconds": time.monotonic() - since}

    def _discard(self) -> int | None:
        """Kill the process and wait for its end; return its exit code."""
        process = self._process
        if process is None:
            return None
        code = process.poll()
        process.kill()
        with self._pipe_lock:
            self._process = None
            self._finalizer.detach()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):  # closing the pipe flushes it
                    cast("IO[bytes]", pipe).close()
        return process.wait() if code is None else code


def _send(process: Process, job: _Job) -> None:
    job.process = process
    write_task(cast("IO[bytes]", process.stdin), job.task, job.data)


def _read(process: Process) -> Answer | None:
    return read_answer(cast("IO[bytes]", process.stdout))
