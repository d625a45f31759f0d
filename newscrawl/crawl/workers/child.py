"""A worker process: reads tasks from standard input, writes their results to standard output.

``WorkerPool`` starts it as ``python -m newscrawl.crawl.workers.child``. A task is two lengths,
a JSON object (``function``, ``plain``, ``deadline``) and the page's bytes; the answer is a
length and a JSON object. JSON, not pickle: what a parser of hostile pages sends back must
not be able to run code in the crawler.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import pkgutil
import signal
import struct
import traceback
from pathlib import Path
from typing import Any, BinaryIO

from newscrawl.document.document import DocumentError

TASK_LENGTHS = struct.Struct(">QQ")
ANSWER_LENGTH = struct.Struct(">Q")
#: Seconds past the deadline at which a worker whose pool has died kills itself.
ORPHAN_GRACE = 10


def run_task(function: str, data: bytes, plain: dict[str, Any]) -> dict[str, Any]:
    """Return ``{"result": ...}`` of *function* (``package.module:name``), or why it has none."""
    try:
        return {"result": pkgutil.resolve_name(function)(data, **plain)}
    except MemoryError as error:
        return failure("memory", error)
    except DocumentError as error:
        return failure("document", error)
    except Exception as error:  # noqa: BLE001  # the boundary of a process: whatever it was goes home
        return failure("error", error)


def failure(reason: str, error: Exception) -> dict[str, Any]:
    """Return *error* as the plain answer that the pool turns into a ``WorkerError``."""
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return {"reason": reason, "message": message, "traceback": traceback.format_exc(limit=-8)}


def limit_memory(megabytes: int) -> None:
    """Bound what pages may add to the address space this process has now."""
    try:
        import resource  # noqa: PLC0415  # POSIX only
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = _address_space() + megabytes * 2**20
    if most != resource.RLIM_INFINITY:
        limit = min(limit, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _address_space() -> int:
    """Return the bytes of address space in use; 0 where the system does not tell."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def settle() -> None:
    """Have the garbage collector leave alone what is loaded, and look at pages less often.

    A page's tables are large, and nearly all of it goes by reference counts: with the default
    thresholds a quarter of the time of extraction and styling goes into looking for cycles.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def set_alarm(seconds: float) -> None:
    """Have the kernel end this process in *seconds*; 0 takes it back.

    The pool keeps the deadline; this is for the worker whose pool was killed, and which
    might otherwise hang in C code for ever.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def serve(tasks: BinaryIO, answers: BinaryIO) -> None:
    """Answer tasks until the pool closes the pipe, or until one has used up the memory."""
    while header := tasks.read(TASK_LENGTHS.size):
        answer = _answer(tasks, *TASK_LENGTHS.unpack(header))
        _send(answers, answer)
        if answer.get("reason") == "memory":
            return  # a heap at its limit serves no further page well


def _answer(tasks: BinaryIO, task_length: int, data_length: int) -> dict[str, Any]:
    try:
        task = json.loads(tasks.read(task_length))
        data = tasks.read(data_length)
    except MemoryError as error:
        return failure("memory", error)
    set_alarm(task["deadline"] and task["deadline"] + ORPHAN_GRACE)
    try:
        return run_task(task["function"], data, task["plain"])
    finally:
        set_alarm(0)


def _send(answers: BinaryIO, answer: dict[str, Any]) -> None:
    try:
        payload = json.dumps(answer).encode()
    except (TypeError, ValueError, MemoryError) as error:
        reason = "memory" if isinstance(error, MemoryError) else "error"
        answer.clear()
        answer.update(failure(reason, error))
        payload = json.dumps(answer).encode()
    answers.write(ANSWER_LENGTH.pack(len(payload)) + payload)
    answers.flush()


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pool's pipes, and point fd 0 and 1 elsewhere: a stray print harms nobody."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return tasks, answers


def main() -> None:
    """Import what tasks need, say that we are ready, serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory-limit", type=int, default=0, metavar="MB")
    parser.add_argument("--preload", action="append", default=[], metavar="MODULE")
    options = parser.parse_args()
    # Ctrl-C is for the crawler, which lets pages under way finish.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks, answers = _pipes()
    for module in options.preload:
        __import__(module)
    settle()
    if options.memory_limit:
        limit_memory(options.memory_limit)
    _send(answers, {"ready": os.getpid()})
    serve(tasks, answers)


if __name__ == "__main__":
    main()
