"""``Watchdog``: ends a crawl whose event loop is stuck in one request, and records the request.

A page that a callback or middleware never gets past would stop a crawl again after each restart.
Timers of the system count the CPU time of the process between two heartbeats of the event loop. After
a quarter of the limit the stack of the loop is searched for the request, by a signal handler while
Python code or a regular expression runs, by a thread while C code has released the interpreter. For
other C code the request that entered the loop last is taken. After the limit :mod:`faulthandler`, which
needs no interpreter, writes the stack, and the signal ends the process.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import mmap
import os
import re
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request, signals
from scrapy.http import Response

from newscrawl.crawling.frontier.lease_middleware import LeaseErrback
from newscrawl.crawling.frontier.leases import LeaseObserver, StalledRequest
from newscrawl.defaults import setting

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

    from scrapy.crawler import Crawler

    from newscrawl.crawling.frontier.leases import Lease, LeaseBook

logger = logging.getLogger(__name__)

SUSPICION_RATIO: Final = 0.25
"""Share of the limit after which the stack is read, in case someone else kills the crawl."""
RECORD_SIZE: Final = 2**14
"""Bytes of the file for the request; a stack after them means a stall."""
_BEAT_INTERVAL: Final = 1.0
_MAX_PLACE_FRAMES: Final = 3
_FRAME: Final = re.compile(r'  File "([^"\n]*+)", line (\d++) in (.*)')


def record_path(state: Path) -> Path:
    """Return the path of the record of a stall, next to the file of the crawl's *state*."""
    return state.with_name(f"{state.name}.stalled")


def read_record(state: Path) -> StalledRequest | None:
    """Return the stalled request of the last run; None if there is none."""
    path = record_path(state)
    try:
        record = path.read_bytes()
        stack = record[RECORD_SIZE:].decode(errors="replace")
        request = json.loads(record[:RECORD_SIZE]) if stack else None
        return StalledRequest(**request, place=_place(stack)) if request else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        logger.warning("Could not read the record of a stall, %s: %s", path, error)
        return None


def _place(stack: str) -> str:
    """Return the innermost functions and lines of the main thread, the last one in *stack*."""
    frames = _FRAME.findall(stack.rpartition("(most recent call first)")[2])
    return " < ".join(f"{file}:{line} {name}" for file, line, name in frames[:_MAX_PLACE_FRAMES])


class Watchdog(LeaseObserver):
    """Watches the event loop of a crawl, in its main thread. Use :func:`start_watchdog`."""

    def __init__(self, book: LeaseBook, record: Path, limit: float) -> None:
        self._book = book
        self._path = record
        self._limit = limit
        self._loop_thread = threading.get_ident()
        self._entered: Lease | None = None
        self._suspected = False
        self._last_beat = time.process_time()
        self._stopped = threading.Event()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the heartbeat; raises ``OSError`` or ``ValueError``."""
        self._file = os.open(self._path, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600)
        try:
            os.write(self._file, b" " * RECORD_SIZE)  # a full disk is an error here, a signal later
            # Written to several times per page: in memory, which the system keeps after a kill.
            self._record = mmap.mmap(self._file, RECORD_SIZE)
            self._write(None)
            signal.signal(signal.SIGVTALRM, lambda _, frame: self._read_stack(frame))
        except (OSError, ValueError):
            self._remove()
            raise
        signal.siginterrupt(signal.SIGVTALRM, False)  # noqa: FBT003  # positional only
        faulthandler.register(signal.SIGPROF, self._file, all_threads=True, chain=True)
        threading.Thread(target=self._watch, name="newscrawl-watchdog", daemon=True).start()
        self._loop = loop
        self._beat()

    def stop(self) -> None:
        """End the watchdog."""
        self._timer.cancel()
        self._stopped.set()
        for timer in (signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)
        faulthandler.unregister(signal.SIGPROF)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
        self._remove()

    def _remove(self) -> None:
        os.close(self._file)
        self._path.unlink(missing_ok=True)

    def _beat(self) -> None:
        if self._suspected:  # the loop has continued
            os.ftruncate(self._file, RECORD_SIZE)
            os.lseek(self._file, RECORD_SIZE, os.SEEK_SET)
            self._suspected = False
            self._write(self._entered)
        self._last_beat = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, self._limit * SUSPICION_RATIO)
        signal.setitimer(signal.ITIMER_PROF, self._limit)
        self._timer = self._loop.call_later(_BEAT_INTERVAL, self._beat)

    def lease_entered(self, lease: Lease | None) -> None:
        """Record that the loop begins to process *lease*, or another request if it is None."""
        if lease is not self._entered:
            self._entered = lease
            if not self._suspected:
                self._write(lease)

    def response_downloaded(self, request: Request) -> None:
        """Record that the loop is going to process the response of *request*."""
        # Scrapy lets the loop turn once before it calls the downloader middlewares.
        self._loop.call_soon(self.lease_entered, self._book.find(request))

    def _write(self, lease: Lease | None) -> None:
        """Write the attributes of :class:`StalledRequest` of *lease*, without the place."""
        request = lease and {
            **{name: getattr(lease, name) for name in ("id", "key", "url")},
            **{name: str(lease.meta.get(f"newscrawl_{name}") or "") for name in ("site", "role")},
        }
        text = json.dumps(request).encode()
        self._record[:] = (text if len(text) <= RECORD_SIZE else b"null").ljust(RECORD_SIZE)

    def _watch(self) -> None:
        """Read the stack of the loop where the signal handler has to wait; runs in a thread."""
        suspicion = self._limit * SUSPICION_RATIO
        while not self._stopped.wait(min(_BEAT_INTERVAL, suspicion)):
            if not self._suspected and time.process_time() - self._last_beat > suspicion:
                frames = sys._current_frames()  # noqa: SLF001  # the documented function
                self._read_stack(frames.get(self._loop_thread))

    def _read_stack(self, frame: FrameType | None) -> None:
        """Record the request in a stack; *frame*: its innermost frame."""
        if self._suspected or self._stopped.is_set():
            return
        with suppress(Exception):  # a signal handler must not raise in the code of the crawl
            lease = next(filter(None, map(self._lease_in, _stack(frame))), None)
            if lease is None:  # for example in close_spider
                signal.setitimer(signal.ITIMER_PROF, 0)
                logger.warning("The event loop is stuck outside of requests, the crawl goes on")
                return
            self._write(lease)
            faulthandler.dump_traceback(self._file, all_threads=True)
            # Not before: of the thread and the handler one may never get to its end.
            self._suspected = True
            message = "The event loop is stuck in %s: after %g s of CPU time the crawl is killed"
            logger.warning(message, lease.url, self._limit)

    def _lease_in(self, frame: FrameType) -> Lease | None:
        """Return the lease of a request or response among the local variables of *frame*."""
        for value in list(frame.f_locals.values()):
            # By type(): isinstance() would run the code of lazy objects.
            request: Any = value.request if issubclass(type(value), Response) else value
            if issubclass(type(request), Request) and (lease := self._book.find(request)):
                errback = request.errback
                if not isinstance(errback, LeaseErrback) or errback.book is self._book:
                    return lease
        return None


def start_watchdog(
    crawler: Crawler, book: LeaseBook, loop: asyncio.AbstractEventLoop
) -> Watchdog | None:
    """Start the watchdog of *crawler* in its event loop; None if it is disabled or not supported."""
    limit = setting(crawler.settings, "NEWSCRAWL_STALL_LIMIT")
    if book.store.path is None:
        return None
    record = record_path(book.store.path)
    if not limit or not hasattr(signal, "setitimer"):
        record.unlink(missing_ok=True)
        return None
    if any(signal.getsignal(it) != signal.SIG_DFL for it in (signal.SIGVTALRM, signal.SIGPROF)):
        logger.info("No watchdog of the event loop: another one, or a profiler, has its signals")
        return None
    watchdog = Watchdog(book, record, limit)
    try:
        watchdog.start(loop)
    except (OSError, ValueError) as error:  # not in the main thread
        logger.warning("Could not start the watchdog of the event loop: %s", error)
        return None
    book.observe(watchdog)
    crawler.signals.connect(watchdog.response_downloaded, signals.response_downloaded)
    return watchdog


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
