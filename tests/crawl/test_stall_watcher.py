"""Decisions of the watcher of the event loop, with heartbeats and CPU time given by the test."""

from __future__ import annotations

import json
import mmap
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from newscrawl.crawl.stall_watcher import BOARD_SIZE, Board, StallDetector, cpu_clock

LIMIT = 60
REQUEST = {"id": 7, "key": 9, "url": "https://a.test/?id=1", "site": "a.test", "role": "article"}
OTHER = {**REQUEST, "id": 8}


class Loop:
    """An event loop and its watcher."""

    def __init__(self, folder: Path) -> None:
        self.board = Board(mmap.mmap(-1, BOARD_SIZE))
        self.record = folder / "state.sqlite.stalled"
        self.seconds = 5.0
        self.stack: dict[str, Any] | None = None
        self.detector = StallDetector(
            self.board, self.record, LIMIT, lambda: self.seconds, self.read_stack
        )
        self.beat()

    def beat(self) -> None:
        self.board.add_beat()
        assert not self.detector.is_over()

    def read_stack(self) -> None:
        if self.stack:
            self.board.found = json.dumps(self.stack).encode()

    def is_over_after(self, seconds: float) -> bool:
        """Use CPU time without a heartbeat."""
        self.seconds += seconds
        return self.detector.is_over()

    def recorded(self) -> Any:
        return json.loads(self.record.read_text()) if self.record.exists() else None


@pytest.fixture
def loop(tmp_path: Path) -> Loop:
    return Loop(tmp_path)


def test_stall(loop: Loop):
    """The request is recorded after a quarter of the limit."""
    loop.stack = {"request": REQUEST, "place": "a.b:3"}
    assert not loop.is_over_after(14)
    assert loop.recorded() is None
    assert not loop.is_over_after(2)
    assert loop.recorded() == loop.stack
    assert not loop.is_over_after(43)
    assert loop.is_over_after(2)


def test_next_request_in_the_same_turn(loop: Loop):
    """The record follows the stack."""
    loop.stack = {"request": REQUEST, "place": "a.b:3"}
    loop.is_over_after(20)
    loop.stack = {"request": OTHER, "place": "a.b:3"}
    loop.is_over_after(20)
    assert loop.recorded() == loop.stack


def test_recovery(loop: Loop):
    """A heartbeat deletes the record and starts the time again."""
    loop.stack = {"request": REQUEST, "place": "a.b:3"}
    assert not loop.is_over_after(50)
    loop.beat()
    assert loop.recorded() is None
    assert not loop.is_over_after(59)


def test_request_that_entered_last(loop: Loop):
    """It is taken only if the stack could not be read for half of the limit."""
    loop.board.entered = json.dumps(REQUEST).encode()
    loop.is_over_after(29)
    assert loop.recorded() is None
    loop.is_over_after(2)
    assert loop.recorded()["request"] == REQUEST


def test_no_request_in_the_stack(loop: Loop):
    """Code that processes no request is not blamed on the one that entered last."""
    loop.board.entered = json.dumps(REQUEST).encode()
    loop.stack = {"request": None, "place": "pipeline.close_spider:3"}
    assert loop.is_over_after(100)
    assert loop.recorded() is None


def test_stack_of_an_earlier_stall(loop: Loop):
    """An answer before the last heartbeat is not used."""
    loop.stack = {"request": REQUEST, "place": "a.b:3"}
    loop.is_over_after(20)
    loop.beat()
    loop.stack = None
    loop.is_over_after(20)
    assert loop.recorded() is None


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_clock_counts_the_time_of_one_thread():
    """The time of other threads does not count."""
    clock = cpu_clock(os.getpid(), threading.get_native_id())
    worker = threading.Thread(target=lambda: sum(range(2 * 10**7)))
    worker.start()
    worker.join()
    assert clock() == pytest.approx(time.thread_time(), abs=0.05)
