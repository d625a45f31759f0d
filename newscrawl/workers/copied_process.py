"""Tasks in copies of this process, for commands that extract one page after the other.

A copy is ready in milliseconds, without a new interpreter. The command itself only waits, so that
Ctrl-C and SIGTERM end it at once, whatever the task does. Linux only, as a fork server.
"""

from __future__ import annotations

import json
import os
import pkgutil
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from newscrawl.workers.child import (
    TIMEOUT_CODE,
    failure,
    limit_memory,
    result_of,
    run_task,
    set_alarm,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CAN_COPY = sys.platform == "linux"


def call_in_copy(
    function: str, data: bytes, plain: Mapping[str, Any], *, deadline: float, memory_limit: int
) -> Any:
    """Return the result of *function* (``package.module:name``), a JSON value.

    The task may take *deadline* seconds and *memory_limit* MB (0: no limit). Raises
    :class:`~newscrawl.workers.child.WorkerError`. Where a process cannot be copied, this one works.
    """
    if not CAN_COPY:
        return result_of(run_task(function, data, dict(plain)))

    def work() -> dict[str, Any]:
        set_alarm(deadline)
        limit_memory(memory_limit)
        return run_task(function, data, dict(plain))

    pkgutil.resolve_name(function)  # imports do not count towards the limits
    reader, writer = os.pipe()
    interruptions: list[int] = []

    def defer(number: int, _: object) -> None:
        interruptions.append(number)

    # Until the copy would be ended: an interruption right after the fork would leave it.
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in handlers.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, defer)
    pid = code = None
    try:
        pid = os.fork()
        if not pid:
            os.close(reader)
            _answer(writer, work)
        signal.signal(signal.SIGINT, handlers[signal.SIGINT])
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        for interruption in interruptions:
            signal.raise_signal(interruption)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            payload = pipe.read()
        code = _exit_code(pid)
    finally:
        if pid and code is None:
            os.kill(pid, signal.SIGKILL)
            _exit_code(pid)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return result_of(_read_answer(code, payload, deadline))


def _read_answer(code: int, payload: bytes, deadline: float) -> dict[str, Any]:
    """Return the answer of a copy that has ended."""
    if code == TIMEOUT_CODE:
        return {"reason": "timeout", "message": f"no answer in {deadline:g} s"}
    if code:
        return {"reason": "crash", "message": f"the process died (exit code {code})"}
    answer: dict[str, Any] = json.loads(payload)
    return answer


def _answer(writer: int, work: Callable[[], dict[str, Any]]) -> NoReturn:
    """Write the answer of *work* and end this process at once."""
    code = 1
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        try:
            payload = json.dumps(work()).encode()
        except (MemoryError, TypeError, ValueError) as error:
            payload = json.dumps(failure(error)).encode()
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(payload)
        code = 0
    finally:
        os._exit(code)


def _exit_code(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
