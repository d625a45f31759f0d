"""Watcher process: ends a crawl whose event loop is stuck in one request, and records the request.

:mod:`newscrawl.crawl.frontier.watchdog` runs the source of this module as a program of its own,
because code that holds the interpreter's lock also stops the threads of the crawl. It imports only
the standard library, so that it starts at once and takes little memory.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import signal
import struct
import sys
import time
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

SUSPICION_RATIO: Final = 0.25
"""Share of the limit after which the request is recorded, in case someone else kills the crawl."""
ENTRY_RATIO: Final = 0.5
"""Share of the limit after which the request that entered the loop last is taken, if the stack of
the loop could not be read."""
MAX_POLL_INTERVAL: Final = 1.0
_COUNTERS: Final = struct.Struct("=QQ")
_LENGTH: Final = struct.Struct("=I")
_TEXT_SIZE: Final = 2**16
_HEADER_SIZE: Final = 4096
BOARD_SIZE: Final = _HEADER_SIZE + 2 * _TEXT_SIZE
_STACK_UNREADABLE: Final = "C code that holds the interpreter"


class Board:
    """Memory shared by a crawl, which writes to it, and its watcher.

    *beat*: number of heartbeats of the event loop. *entered*: the request that entered the loop
    last, as JSON. *found*: the result of reading the loop's stack, as JSON; *found_beat*: the
    heartbeat before it.
    """

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory

    @property
    def beat(self) -> int:
        """Number of heartbeats."""
        return int(_COUNTERS.unpack_from(self._memory)[0])

    def add_beat(self) -> None:
        """Record a heartbeat."""
        beat, found_beat = _COUNTERS.unpack_from(self._memory)
        _COUNTERS.pack_into(self._memory, 0, beat + 1, found_beat)

    @property
    def entered(self) -> bytes:
        """The request that entered the loop last."""
        return self._text(_HEADER_SIZE)

    @entered.setter
    def entered(self, text: bytes) -> None:
        self._write(_HEADER_SIZE, text)

    @property
    def found(self) -> bytes:
        """The result for the current heartbeat; empty if there is none yet."""
        beat, found_beat = _COUNTERS.unpack_from(self._memory)
        return self._text(_HEADER_SIZE + _TEXT_SIZE) if beat == found_beat else b""

    @found.setter
    def found(self, text: bytes) -> None:
        self._write(_HEADER_SIZE + _TEXT_SIZE, text)
        _COUNTERS.pack_into(self._memory, 0, self.beat, self.beat)

    def _text(self, start: int) -> bytes:
        (length,) = _LENGTH.unpack_from(self._memory, start)
        start += _LENGTH.size
        return self._memory[start : start + length]

    def _write(self, start: int, text: bytes) -> None:
        if len(text) > _TEXT_SIZE - _LENGTH.size:
            text = b""
        field = _LENGTH.pack(len(text)) + text
        self._memory[start : start + len(field)] = field  # at once: two threads write


class StallDetector:
    """Decides from heartbeats and CPU time when a loop is stuck, and keeps the record of it.

    *seconds_used*: CPU time of the loop's thread. *ask*: makes the crawl read the loop's stack.
    """

    def __init__(
        self,
        board: Board,
        record: Path,
        limit: float,
        seconds_used: Callable[[], float],
        ask: Callable[[], None],
    ) -> None:
        self._board = board
        self._record = record
        self._limit = limit
        self._seconds_used = seconds_used
        self._ask = ask
        self._beat = 0
        self._since = seconds_used()
        #: seconds of CPU time since the last heartbeat
        self.stalled = 0.0
        #: content of the record, with the keys ``request`` and ``place``
        self.stall: dict[str, Any] | None = None

    def is_over(self) -> bool:
        """Update the record; return True if the crawl has exceeded the limit."""
        used, beat = self._seconds_used(), self._board.beat
        if beat != self._beat:
            self._beat, self._since = beat, used
        self.stalled = used - self._since
        if self.stalled >= self._limit * SUSPICION_RATIO:
            self._ask()
            self._keep(self._find())
        elif self.stall:
            self._keep(None)
        return self.stalled >= self._limit

    def _find(self) -> dict[str, Any] | None:
        try:
            if found := self._board.found:
                return dict(json.loads(found))
            if self.stalled >= self._limit * ENTRY_RATIO and (entered := self._board.entered):
                return {"request": json.loads(entered), "place": _STACK_UNREADABLE}
        except ValueError:  # being written
            pass
        return self.stall

    def _keep(self, stall: dict[str, Any] | None) -> None:
        """Write the record of *stall*; delete it if there is no stall or no known request."""
        if stall == self.stall:
            return
        self.stall = stall
        if stall and stall["request"]:
            partial = self._record.with_name(f"{self._record.name}.open")
            with partial.open("w", encoding="utf-8") as file:
                json.dump(stall, file)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(self._record)
        else:
            self._record.unlink(missing_ok=True)


def cpu_clock(process: int, thread: int) -> Callable[[], float]:
    """Return a function that returns the CPU time of *thread*, in seconds.

    Without ``/proc`` it returns elapsed time. It raises ``OSError`` if the thread has ended.
    """
    stat = Path(f"/proc/{process}/task/{thread}/stat")
    if not Path("/proc/self/task").exists():
        return _elapsed_clock()
    ticks = os.sysconf("SC_CLK_TCK")

    def seconds() -> float:
        # The name of the thread, in parentheses, may contain blanks.
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / ticks

    return seconds


def _elapsed_clock() -> Callable[[], float]:
    total, last = 0.0, time.monotonic()

    def seconds() -> float:
        nonlocal total, last
        now = time.monotonic()
        total += min(now - last, 2 * MAX_POLL_INTERVAL)  # more: the machine was suspended
        last = now
        return total

    return seconds


def report(detector: StallDetector, log: str) -> None:
    """Write why the crawl ends to standard error, and to the file *log* if it is given."""
    stall = detector.stall or {}
    message = f"Event loop stalled for {detector.stalled:.0f} s of CPU time"
    if request := stall.get("request"):
        url = urlsplit(request["url"])  # a query may hold secrets
        message += f" by {url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"
    message += f" in {stall.get('place', _STACK_UNREADABLE)}: "
    message += (
        "killing the crawl; the next run sets this request aside as failed/stalled"
        if request
        else "no request found to set aside, the crawl goes on"
    )
    line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} [newscrawl.stall_watcher] CRITICAL: {message}\n"
    sys.stderr.write(line)
    sys.stderr.flush()
    if log:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(line)


def watch(detector: StallDetector, closed: Event, process: int, log: str, interval: float) -> None:
    """Watch *process* until *closed* is set; kill it if it is stuck in a request."""
    reported = 0
    while not closed.wait(interval):
        if not detector.is_over():
            reported = 0
        elif detector.stall and detector.stall["request"]:
            report(detector, log)
            if os.getppid() == process:  # else the number may belong to another process
                os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))
            return
        elif not reported:
            report(detector, log)
            reported = 1


def _wait_for_end(closed: Event) -> None:
    os.read(0, 1)  # the crawl never writes to the pipe
    closed.set()


def main() -> None:
    """Watch the parent process until it closes standard input or ends."""
    parser = argparse.ArgumentParser(description="Watcher of the event loop of a crawl.")
    parser.add_argument("--process", type=int)
    parser.add_argument("--thread", type=int)
    parser.add_argument("--board", type=Path)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--signal", type=int, default=0)
    parser.add_argument("--log", default="")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Scrapy handles Ctrl-C
    with options.board.open("r+b") as file:
        board = Board(mmap.mmap(file.fileno(), BOARD_SIZE))
    if os.name != "nt":
        options.board.unlink()

    def ask() -> None:
        os.write(1, b"?")
        if options.signal and os.getppid() == options.process:
            os.kill(options.process, options.signal)

    closed = Event()
    Thread(target=_wait_for_end, args=(closed,), daemon=True).start()
    clock = cpu_clock(options.process, options.thread)
    interval = min(MAX_POLL_INTERVAL, options.limit / 20)
    try:
        detector = StallDetector(board, options.record, options.limit, clock, ask)
        watch(detector, closed, options.process, options.log, interval)
    except OSError as error:  # without /proc/<pid>, a closed pipe: the crawl has ended
        if not closed.wait(interval):
            sys.stderr.write(f"The watcher of the event loop has failed: {error}\n")


if __name__ == "__main__":
    main()
