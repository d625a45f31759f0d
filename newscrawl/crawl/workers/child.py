"""Worker process: reads tasks from standard input and writes answers to standard output.

The pool starts it as ``python -m newscrawl.crawl.workers.child``. A task consists of two lengths,
a JSON object (``function``, ``plain``, ``deadline``) and the bytes of the page; an answer of a
length and a JSON object. Not pickle: a parser compromised by a hostile page could run code in the
crawler with it.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import pkgutil
import signal
import struct
import time
import traceback
from pathlib import Path
from typing import Any, BinaryIO

from newscrawl.document.document import DocumentError

TASK_LENGTHS = struct.Struct(">QQ")
ANSWER_LENGTH = struct.Struct(">Q")
#: Seconds after the deadline at which a worker terminates itself if its pool has not killed it.
ORPHAN_GRACE = 10


def run_task(function: str, data: bytes, plain: dict[str, Any]) -> dict[str, Any]:
    """Call *function* (``package.module:name``); return its ``result``, or ``reason`` of failure."""
    try:
        return {"result": pkgutil.resolve_name(function)(data, **plain)}
    except MemoryError as error:
        return failure("memory", error)
    except DocumentError as error:
        return failure("document", error)
    except Exception as error:  # noqa: BLE001  # the pool raises it in the crawler
        return failure("error", error)


def failure(reason: str, error: Exception) -> dict[str, Any]:
    """Return the answer for *error*, from which the pool creates a ``WorkerError``."""
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return {"reason": reason, "message": message, "traceback": traceback.format_exc(limit=-8)}


def limit_memory(megabytes: int) -> None:
    """Limit the growth of this process's address space from now on (POSIX)."""
    try:
        import resource  # noqa: PLC0415  # POSIX only
    except ImportError:
        return
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    limit = _address_space() + megabytes * 2**20
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
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def set_alarm(seconds: float) -> None:
    """Let the kernel terminate this process in *seconds*; 0 cancels that.

    The pool enforces the deadline. The alarm is for workers whose pool was killed, which could
    hang in C code forever.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def serve(tasks: BinaryIO, answers: BinaryIO) -> None:
    """Answer tasks until the pool closes the pipe or a task reaches the memory limit."""
    while header := tasks.read(TASK_LENGTHS.size):
        answer = _answer(tasks, *TASK_LENGTHS.unpack(header))
        _send(answers, answer)
        if answer.get("reason") == "memory":
            return  # the heap stays near its limit


def _answer(tasks: BinaryIO, task_length: int, data_length: int) -> dict[str, Any]:
    try:
        task = json.loads(tasks.read(task_length))
        data = tasks.read(data_length)
    except MemoryError as error:
        return failure("memory", error)
    set_alarm(task["deadline"] and task["deadline"] + ORPHAN_GRACE)
    start = time.process_time()
    try:
        answer = run_task(task["function"], data, task["plain"])
        return answer | {"seconds": time.process_time() - start}
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
    """Return the pipes to the pool; redirect fd 0 and 1, so that a print() cannot corrupt them."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return tasks, answers


def main() -> None:
    """Import the modules of the tasks, report readiness, serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory-limit", type=int, default=0, metavar="MB")
    parser.add_argument("--preload", action="append", default=[], metavar="MODULE")
    options = parser.parse_args()
    # Scrapy handles Ctrl-C and finishes active pages.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks, answers = _pipes()
    for module in options.preload:
        __import__(module)
    tune_garbage_collector()
    if options.memory_limit:
        limit_memory(options.memory_limit)
    try:
        _send(answers, {"ready": os.getpid()})
        serve(tasks, answers)
    except BrokenPipeError:  # the crawl was killed
        os._exit(0)  # without flushing the pipe, which would raise again


if __name__ == "__main__":
    main()
