"""Tasks in a copy of this process, for commands that extract one page after the other.

A copy is ready in milliseconds, without a new interpreter. The command itself only waits, so that
Ctrl-C and SIGTERM end it at once, whatever the task does. Linux only, as a fork server.
"""

from __future__ import annotations

import json
import os
import pkgutil
import signal
import sys
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, NoReturn, Self

from newscrawl.workers.child import (
    TIMEOUT_CODE,
    limit_memory,
    read_answer,
    result_of,
    run_task,
    serve,
    tune_garbage_collector,
    write_task,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

CAN_COPY = sys.platform == "linux"


class CopiedProcess:
    """A copy of this process that works on tasks, and is replaced by the next when one ends it.

    A task may take *deadline* seconds, all tasks of a copy *memory_limit* MB (0: no limit). Where a
    process cannot be copied, this one works.
    """

    def __init__(self, *, deadline: float, memory_limit: int) -> None:
        self._deadline = deadline
        self._memory_limit = memory_limit
        self._pid: int | None = None
        self._tasks: IO[bytes] | None = None
        self._answers: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def call(self, function: str, data: bytes, plain: Mapping[str, Any]) -> Any:
        """Return the result of *function* (``package.module:name``), a JSON value.

        Raises :class:`~newscrawl.workers.child.WorkerError`.
        """
        if not CAN_COPY:
            return result_of(run_task(function, data, dict(plain)))
        pkgutil.resolve_name(function)  # imports do not count towards the limits
        task = {
            "function": function,
            "plain": dict(plain),
            "deadline": self._deadline,
            "stream": False,
        }
        answer = None
        with _deferred_interruptions() as raise_them:
            try:
                if self._pid is None:
                    self._start()
                raise_them()
                if self._tasks and self._answers:
                    write_task(self._tasks, json.dumps(task).encode(), data)
                    answer = read_answer(self._answers)
            finally:
                if answer is None or answer.get("reason") == "memory":
                    code = self._end()
        return result_of(self._failure(code) if answer is None else answer)

    def _failure(self, code: int) -> dict[str, Any]:
        """Return the answer for a copy that has ended with *code* instead of an answer."""
        if code == TIMEOUT_CODE:
            return {"reason": "timeout", "message": f"no answer in {self._deadline:g} s"}
        return {"reason": "crash", "message": f"the process died (exit code {code})"}

    def _start(self) -> None:
        task_reader, task_writer = os.pipe()
        answer_reader, answer_writer = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            os.close(task_writer)
            os.close(answer_reader)
            self._work(task_reader, answer_writer)
        os.close(task_reader)
        os.close(answer_writer)
        self._tasks, self._answers = os.fdopen(task_writer, "wb"), os.fdopen(answer_reader, "rb")

    def _work(self, task_reader: int, answer_writer: int) -> NoReturn:
        """Answer tasks and end this process at once."""
        code = 1
        try:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
                signal.signal(number, signal.SIG_DFL)
            tune_garbage_collector()
            limit_memory(self._memory_limit)
            with os.fdopen(task_reader, "rb") as tasks, os.fdopen(answer_writer, "wb") as answers:
                serve(tasks, answers)
            code = 0
        finally:
            os._exit(code)

    def _end(self) -> int:
        """Kill the copy, if there is one; return its exit code."""
        if self._pid is None:
            return 0
        os.kill(self._pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        self._pid = None
        for pipe in (self._tasks, self._answers):
            if pipe:
                with suppress(BrokenPipeError):  # closing the pipe flushes it
                    pipe.close()
        self._tasks = self._answers = None
        return code


@contextmanager
def _deferred_interruptions() -> Iterator[Callable[[], None]]:
    """Defer Ctrl-C and SIGTERM, which would leave a new copy, until the function is called.

    From then on, both raise ``KeyboardInterrupt``.
    """
    interruptions: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in handlers.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: interruptions.append(number))

    def raise_them() -> None:
        signal.signal(signal.SIGINT, handlers[signal.SIGINT])
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        for interruption in interruptions:
            signal.raise_signal(interruption)

    try:
        yield raise_them
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
