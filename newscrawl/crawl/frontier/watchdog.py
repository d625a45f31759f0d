"""``Watchdog``: identifies the request that blocks the event loop, for the watcher process.

A page that a callback or middleware never gets past would stop a crawl again after each restart.
Scrapy's timeouts and signal handlers run in the same event loop, so the watcher is a process
(:mod:`newscrawl.crawl.stall_watcher`). If there is no heartbeat it requests the stack of the loop:
a signal handler reads it while Python code or a regular expression runs, a thread while C code has
released the interpreter. For other C code there is the last request that entered the loop.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final, cast

from scrapy import Request, signals
from scrapy.http import Response
from scrapy.utils.asyncio import run_in_thread

from newscrawl.crawl import stall_watcher
from newscrawl.crawl.frontier.lease import StalledRequest
from newscrawl.crawl.frontier.lease_middleware import LeaseErrback
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from scrapy.crawler import Crawler

    from newscrawl.crawl.frontier.lease import Lease
    from newscrawl.crawl.frontier.leases import LeaseBook

logger = logging.getLogger(__name__)

_BEAT_INTERVAL: Final = 1.0
_MAX_PLACE_FRAMES: Final = 3
# A real-time signal that few programs use; not available on macOS and Windows.
_SIGNAL: Final = getattr(signal, "SIGRTMAX", 4) - 4


def record_path(state: Path) -> Path:
    """Return the path of the record of a stall, next to the file of the crawl's *state*."""
    return state.with_name(f"{state.name}.stalled")


def read_record(state: Path) -> StalledRequest | None:
    """Return the stalled request of the last run; None if there is none."""
    path = record_path(state)
    try:
        stall = json.loads(path.read_text(encoding="utf-8"))
        return StalledRequest(**stall["request"], place=stall["place"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.warning("Could not read the record of a stall, %s: %s", path, error)
        return None


class Watchdog:
    """Runs the watcher process of a crawl, and answers it. Use :func:`start_watchdog`."""

    #: watchdogs of this process that have not been stopped
    _active: ClassVar[weakref.WeakSet[Watchdog]] = weakref.WeakSet()

    def __init__(self, book: LeaseBook, state: Path) -> None:
        self._book = book
        self._record = record_path(state)
        self._loop = asyncio.get_running_loop()
        self.loop_thread = threading.get_ident()
        self._entered: Lease | None = None

    def start(self, limit: float, log: str) -> None:
        """Start the watcher and the heartbeat; raises ``OSError``."""
        handle, name = tempfile.mkstemp(prefix="newscrawl-")
        try:
            os.truncate(handle, stall_watcher.BOARD_SIZE)
            self._board = stall_watcher.Board(mmap.mmap(handle, stall_watcher.BOARD_SIZE))
        except OSError:
            Path(name).unlink()
            raise
        finally:
            os.close(handle)
        self._active.add(self)
        self._process = _launch(
            f"--process={os.getpid()}",
            f"--thread={threading.get_native_id()}",
            f"--board={name}",
            f"--record={self._record.absolute()}",
            f"--limit={limit}",
            f"--signal={_install_handler()}",
            f"--log={log}",
        )
        weakref.finalize(self, self._process.kill)
        threading.Thread(target=self._answer, name="newscrawl-stall", daemon=True).start()
        self._book.on_entry = self.enter
        self._beat()

    async def stop(self) -> None:
        """End the watcher."""
        self._timer.cancel()
        self._active.discard(self)
        await run_in_thread(self._end_process)
        self._record.unlink(missing_ok=True)  # of a stall that has just ended

    def _end_process(self) -> None:
        cast("IO[bytes]", self._process.stdin).close()
        self._process.wait()

    def _beat(self) -> None:
        self._board.add_beat()
        self._timer = self._loop.call_later(_BEAT_INTERVAL, self._beat)

    def enter(self, lease: Lease | None) -> None:
        """Record that the loop begins to process *lease*, or another request if it is None."""
        if lease is not self._entered:
            self._entered = lease
            request = _request_of(lease)
            self._board.entered = json.dumps(request).encode() if request else b""

    def response_downloaded(self, request: Request) -> None:
        """Record that the loop is going to process the response of *request*."""
        # Scrapy lets the loop turn once before it calls the downloader middlewares.
        self._loop.call_soon(self.enter, self._book.find(request))

    @classmethod
    def on_signal(cls, _: int, frame: FrameType | None) -> None:
        """Read the stack of the main thread, for all crawls of this process."""
        for watchdog in list(cls._active):
            if watchdog.loop_thread == threading.get_ident():
                watchdog.read_stack(frame)

    def _answer(self) -> None:
        """Read the stack whenever the watcher asks; runs in a thread."""
        pipe = cast("IO[bytes]", self._process.stdout)
        with pipe:
            while os.read(pipe.fileno(), 1024):
                frames = sys._current_frames()  # noqa: SLF001  # the documented function
                self.read_stack(frames.get(self.loop_thread))

    def read_stack(self, frame: FrameType | None) -> None:
        """Write the request and the place of a stack to the board; *frame*: its innermost frame."""
        with suppress(Exception):  # a signal handler must not raise in the code of the crawl
            lease = next(filter(None, map(self._lease_in, _stack(frame))), None)
            stall = {"request": _request_of(lease), "place": _place(frame)}
            self._board.found = json.dumps(stall).encode()

    def _lease_in(self, frame: FrameType) -> Lease | None:
        """Return the lease of a request or response among the local variables of *frame*."""
        for value in list(frame.f_locals.values()):
            # By type(): isinstance() would run the code of lazy objects.
            request = value.request if issubclass(type(value), Response) else value
            if issubclass(type(request), Request) and (lease := self._book.find(request)):
                errback = request.errback
                if not isinstance(errback, LeaseErrback) or errback.book is self._book:
                    return lease
        return None


def start_watchdog(crawler: Crawler, book: LeaseBook) -> Watchdog | None:
    """Start the watchdog of *crawler* in its event loop; None if it is disabled."""
    settings, state = crawler.settings, book.store.path
    limit = setting(settings, "NEWSCRAWL_STALL_LIMIT")
    if not limit or state is None:
        return None
    log = settings.get("LOG_FILE") if settings.getbool("LOG_ENABLED") else None
    watchdog = Watchdog(book, state)
    try:
        watchdog.start(limit, str(Path(log).absolute()) if log else "")
    except OSError as error:
        logger.warning("Could not start the watcher of the event loop: %s", error)
        return None
    crawler.signals.connect(watchdog.response_downloaded, signals.response_downloaded)
    return watchdog


def _launch(*arguments: str) -> subprocess.Popen[bytes]:
    # By its source: importing the package would take a second and 50 MB.
    command = [sys.executable, "-I", "-S", "-c", inspect.getsource(stall_watcher), *arguments]
    return subprocess.Popen(  # noqa: S603  # a fixed command
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )


def _install_handler() -> int:
    """Install the signal handler; return the number of the signal, 0 if there is none."""
    if not hasattr(signal, "SIGRTMAX"):
        return 0
    handler = Watchdog.on_signal
    if signal.getsignal(_SIGNAL) not in (signal.SIG_DFL, handler):
        return 0
    with suppress(ValueError):  # not in the main thread
        signal.signal(_SIGNAL, handler)
        signal.siginterrupt(_SIGNAL, False)  # noqa: FBT003  # positional only
        return int(_SIGNAL)
    return 0


def _request_of(lease: Lease | None) -> dict[str, Any] | None:
    """Return the attributes of :class:`StalledRequest` of *lease*, without the place."""
    if lease is None:
        return None
    site, role = (str(lease.meta.get(f"newscrawl_{name}") or "") for name in ("site", "role"))
    return {"id": lease.id, "key": lease.key, "url": lease.url, "site": site, "role": role}


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of a stack from the innermost one."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def _place(frame: FrameType | None) -> str:
    """Return the innermost functions and lines of a stack."""
    return " < ".join(
        f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}:{frame.f_lineno}"
        for frame in islice(_stack(frame), _MAX_PLACE_FRAMES)
    )
