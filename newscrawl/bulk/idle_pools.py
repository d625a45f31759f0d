"""Worker pools that wait for the next unit of their process.

The start of a worker process with its models takes as much CPU time as a hundred pages.
"""

from __future__ import annotations

import os
from collections import defaultdict
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, Final

from newscrawl.crawl.workers.pool import WorkerPool
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

IDLE_SECONDS: Final = 60.0
"""Seconds after which an idle pool is closed: the process may run other jobs, or none."""

_LIMITS: Final = (
    "NEWSCRAWL_DEADLINE", "NEWSCRAWL_MEMORY_LIMIT", "NEWSCRAWL_SITE_SECONDS",
    "NEWSCRAWL_WORKER_TASKS",
)  # fmt: skip

_lock: Final = Lock()
_idle: Final[defaultdict[Any, list[tuple[WorkerPool, Timer]]]] = defaultdict(list)


def take_pool(settings: BaseSettings) -> WorkerPool:
    """Return an idle pool of one worker with the limits of *settings*, or a new one."""
    with _lock:
        pools = _idle[_key(settings)]
        pool, timer = pools.pop() if pools else (None, None)
    if pool is None or timer is None:
        return WorkerPool.from_settings(settings, 1)
    timer.cancel()
    pool.reset_budgets()
    return pool


def keep_pool(pool: WorkerPool, settings: BaseSettings) -> None:
    """Keep *pool*, which has no pending task, for :func:`take_pool`."""
    key = _key(settings)

    def expire() -> None:
        with _lock:
            if (pool, timer) not in _idle[key]:
                return  # taken in the meantime
            _idle[key].remove((pool, timer))
        pool.terminate()

    timer = Timer(IDLE_SECONDS, expire)
    timer.daemon = True
    with _lock:
        _idle[key].append((pool, timer))
    timer.start()


def close_idle_pools() -> None:
    """Close the idle pools of this process."""
    with _lock:
        closed = [entry for key in _idle if key[0] == os.getpid() for entry in _idle[key]]
        _idle.clear()
    for pool, timer in closed:
        timer.cancel()
        pool.terminate()


def _key(settings: BaseSettings) -> tuple[Any, ...]:
    # A forked process has none of the threads of its parent's pools.
    return os.getpid(), *(setting(settings, name) for name in _LIMITS)
