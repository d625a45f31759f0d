"""Worker processes that wait for the next unit of their process.

A new one would have to load its modules and models again.
"""

from __future__ import annotations

import os
from collections import defaultdict
from threading import Lock, Timer
from typing import Final

from newscrawl.workers.process import Limits, WorkerProcess

IDLE_SECONDS: Final = 60.0
"""Seconds after which an idle process ends: the job may be over."""

_PRELOAD: Final = ("newscrawl.workers.tasks:load_models", "newscrawl.archives.unit_task")

_lock: Final = Lock()
_idle: Final[defaultdict[tuple[int, float], list[tuple[WorkerProcess, Timer]]]] = defaultdict(list)


def take_worker(deadline: float) -> WorkerProcess:
    """Return an idle worker with this *deadline* (seconds), or a new one."""
    with _lock:
        workers = _idle[_key(deadline)]
        worker, timer = workers.pop() if workers else (None, None)
    if worker is None or timer is None:
        return WorkerProcess(Limits(deadline, memory=0, tasks=0), *_PRELOAD)
    timer.cancel()
    return worker


def keep_worker(worker: WorkerProcess, deadline: float) -> None:
    """Keep *worker*, which has no task, for :func:`take_worker`."""
    key = _key(deadline)

    def expire() -> None:
        with _lock:
            if (worker, timer) not in _idle[key]:
                return  # taken in the meantime
            _idle[key].remove((worker, timer))
        worker.close()

    timer = Timer(IDLE_SECONDS, expire)
    timer.daemon = True
    with _lock:
        _idle[key].append((worker, timer))
    timer.start()


def close_idle_workers() -> None:
    """Close the idle workers of this process."""
    with _lock:
        closed = [entry for key in _idle if key[0] == os.getpid() for entry in _idle[key]]
        _idle.clear()
    for worker, timer in closed:
        timer.cancel()
        worker.close()


def _key(deadline: float) -> tuple[int, float]:
    # A forked process has none of the threads of its parent's workers.
    return os.getpid(), deadline
