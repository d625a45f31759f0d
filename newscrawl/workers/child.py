"""Worker process: reads tasks from standard input and writes answers to standard output.

The pool starts it as ``python -m newscrawl.workers.child``. A task consists of two lengths,
a JSON object (``function``, ``plain``, ``deadline``, ``stream``) and the bytes of the page; an
answer of a length and a JSON object. A stream has several answers. Not pickle: a parser compromised
by a hostile page could run code in the crawler with it.

With ``--fork-server``, standard input is a socket, and the process forks a worker for each request
of :mod:`newscrawl.workers.fork_server`.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import signal
import socket
import struct
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final

from newscrawl.document.document import DocumentError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

TASK_LENGTHS = struct.Struct(">QQ")
ANSWER_LENGTH = struct.Struct(">Q")
#: Memory limit of a new worker, whose pipes come with the message, or the process ID of a worker
#: that has ended. The answer is the process ID (or a negative ``errno``), or the exit code.
FORK_MESSAGE = struct.Struct(">q")
#: Seconds in which a process must have started, even on a busy machine.
START_DEADLINE = 60.0
#: Exit code of a process that has not met a deadline (POSIX).
TIMEOUT_CODE = -signal.SIGALRM if hasattr(signal, "SIGALRM") else None


STOPPED: Final = "stopped"
"""Reason of a task or request that is given up because the crawl was stopped."""


class WorkerError(Exception):
    """A task failed.

    ``reason``, its name in the stats, is ``document`` (the input is not an HTML page), ``memory``
    or ``timeout`` (a limit was exceeded), ``budget`` (its site has used its worker time), ``crash``
    (the process died), ``stopped`` or ``error`` (the task raised another exception; the message
    starts with its type).
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def is_stopped(error: BaseException | None) -> bool:
    """Return whether *error* says that the crawl was stopped before there was a result."""
    return getattr(error, "reason", None) == STOPPED


def result_of(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the result in *answer*, or raise its failure, a :class:`WorkerError`."""
    if "result" in answer:
        result: dict[str, Any] = answer["result"]
        return result
    error = WorkerError(answer["message"], answer["reason"])
    if "traceback" in answer:
        error.add_note(answer["traceback"])
    raise error


def run_task(function: str, data: bytes, plain: dict[str, Any]) -> dict[str, Any]:
    """Call *function* (``package.module:name``); return its ``result``, or ``reason`` of failure.

    A result is a JSON value, or has a method ``to_dict`` that returns one.
    """
    try:
        result = pkgutil.resolve_name(function)(data, **plain)
        return {"result": result.to_dict() if hasattr(result, "to_dict") else result}
    except Exception as error:  # noqa: BLE001  # the pool raises it in the crawler
        return failure(error)


def failure(error: Exception) -> dict[str, Any]:
    """Return the answer for *error*, from which the pool creates a ``WorkerError``."""
    reason = "error"
    if isinstance(error, MemoryError):
        reason = "memory"
    elif isinstance(error, DocumentError):
        reason = "document"
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return {"reason": reason, "message": message, "traceback": traceback.format_exc(limit=-8)}


def limit_memory(megabytes: int) -> None:
    """Limit the growth of this process's address space from now on (POSIX); 0: no limit."""
    try:
        import resource  # noqa: PLC0415  # POSIX only
    except ImportError:
        return
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    limit = _address_space() + megabytes * 2**20 if megabytes else hard_limit
    if hard_limit != resource.RLIM_INFINITY:
        limit = min(limit, hard_limit)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard_limit))


def _address_space() -> int:
    """Return the bytes of address space in use, 0 if unknown."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def tune_garbage_collector() -> None:
    """Exclude loaded modules from garbage collection and collect less often.

    Pages are mostly freed by reference counts, but with the default thresholds the search for
    cycles takes a quarter of the time of extraction.
    """
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def set_alarm(seconds: float) -> None:
    """Let the kernel end this process in *seconds* (POSIX), also in C code; 0 cancels that."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def write_task(tasks: IO[bytes], task: bytes, data: bytes) -> None:
    """Send *task*, a JSON object, and its *data* to a process."""
    with suppress(BrokenPipeError):  # the process died; read_answer() reports it
        tasks.write(TASK_LENGTHS.pack(len(task), len(data)) + task)
        tasks.write(data)
        tasks.flush()


def read_answer(answers: IO[bytes]) -> dict[str, Any] | None:
    """Return the next answer, None if the process ends before the answer is complete."""
    header = answers.read(ANSWER_LENGTH.size)
    if len(header) < ANSWER_LENGTH.size:
        return None
    (length,) = ANSWER_LENGTH.unpack(header)
    payload = answers.read(length)
    return json.loads(payload) if len(payload) == length else None


def serve(tasks: BinaryIO, answers: BinaryIO) -> None:
    """Answer tasks until the pool closes the pipe or a task reaches the memory limit."""
    while header := tasks.read(TASK_LENGTHS.size):
        for answer in _answers(tasks, *TASK_LENGTHS.unpack(header)):
            _send(answers, answer)
            if answer.get("reason") == "memory":
                return  # the heap stays near its limit


def _answers(tasks: BinaryIO, task_length: int, data_length: int) -> Iterator[dict[str, Any]]:
    try:
        task = json.loads(tasks.read(task_length))
        data = tasks.read(data_length)
    except MemoryError as error:
        yield failure(error)
        return
    function, plain, deadline = task["function"], task["plain"], task["deadline"]
    if task["stream"]:
        yield from stream_answers(function, data, plain, deadline)
        return
    set_alarm(deadline)
    start = time.process_time()
    try:
        answer = run_task(function, data, plain)
    finally:
        set_alarm(0)
    yield answer | {"seconds": time.process_time() - start}


def stream_answers(
    function: str, data: bytes, plain: dict[str, Any], deadline: float
) -> Iterator[dict[str, Any]]:
    """Yield the answers of *function*: any number with a ``part``, then one with a ``result``.

    After an answer that is ``timed``, the *deadline* applies until the next one.
    """
    try:
        for answer in pkgutil.resolve_name(function)(data, **plain):
            set_alarm(deadline if answer.get("timed") else 0.0)
            yield answer
    except Exception as error:  # noqa: BLE001  # as in run_task()
        yield failure(error)
    finally:
        set_alarm(0)


def _send(answers: BinaryIO, answer: dict[str, Any]) -> None:
    try:
        payload = json.dumps(answer).encode()
    except (TypeError, ValueError, MemoryError) as error:
        answer.clear()
        answer.update(failure(error))
        payload = json.dumps(answer).encode()
    answers.write(ANSWER_LENGTH.pack(len(payload)) + payload)
    answers.flush()


def serve_forks(requests: socket.socket) -> int | None:
    """Fork workers until the owner closes the socket.

    Returns the memory limit in each new worker, whose pipes are its standard input and output, and
    None in this process.
    """
    requests.send(FORK_MESSAGE.pack(os.getpid()))
    while True:
        message, pipes, _, _ = socket.recv_fds(requests, FORK_MESSAGE.size, 2)
        if not message:
            return None
        (number,) = FORK_MESSAGE.unpack(message)
        if not pipes:
            requests.send(FORK_MESSAGE.pack(_exit_code(number)))
            continue
        try:
            pid = os.fork()
        except OSError as error:
            pid = -(error.errno or 1)
        if not pid:
            requests.close()
            for fd, pipe in enumerate(pipes):
                os.dup2(pipe, fd)
                os.close(pipe)
            return int(number)
        for pipe in pipes:
            os.close(pipe)
        requests.send(FORK_MESSAGE.pack(pid))


def _exit_code(pid: int) -> int:
    try:
        _, status = os.waitpid(pid, 0)
    except ChildProcessError:  # of another server, which has ended
        return -signal.SIGKILL
    return os.waitstatus_to_exitcode(status)


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes to the pool; redirect fd 0 and 1, so that a print() cannot corrupt them."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _detach_standard_streams()
    return tasks, answers


def _detach_standard_streams() -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)


def main() -> None:
    """Load what tasks need, report readiness, serve."""
    import argparse  # noqa: PLC0415  # not for tasks in a thread or a command

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fork-server", action="store_true")
    parser.add_argument("--memory-limit", type=int, default=0, metavar="MB")
    parser.add_argument("--preload", action="append", default=[], metavar="MODULE[:FUNCTION]")
    options = parser.parse_args()
    # Scrapy handles Ctrl-C and finishes active pages.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _run(options)
    except (BrokenPipeError, ConnectionResetError):  # the crawl was killed
        os._exit(0)  # without flushing the pipe, which would raise again


def _run(options: argparse.Namespace) -> None:
    limit_memory(0)  # not that of the parent
    memory_limit = options.memory_limit
    if options.fork_server:
        requests = socket.socket(fileno=os.dup(0))
        _detach_standard_streams()
        _preload(options.preload)
        memory_limit = serve_forks(requests)
        if memory_limit is None:
            return
    set_alarm(START_DEADLINE)
    tasks, answers = _pipes()
    if not options.fork_server:
        _preload(options.preload)
    limit_memory(memory_limit)
    set_alarm(0)
    _send(answers, {"ready": os.getpid()})
    serve(tasks, answers)


def _preload(names: list[str]) -> None:
    for name in names:
        found = pkgutil.resolve_name(name)
        if ":" in name:
            found()
    tune_garbage_collector()


if __name__ == "__main__":
    main()
