"""Reuse of worker processes between units."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from newscrawl.archives import unit_extraction
from newscrawl.archives.jobs import Job
from newscrawl.archives.sources import plan
from newscrawl.archives.unit_extraction import close_idle_workers, keep_worker, take_worker
from newscrawl.workers.process import WorkerProcess
from tests.extraction.test_extraction import PAGE
from tests.helpers.spark_cluster import write_archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEADLINE = 30.0


@pytest.fixture(autouse=True)
def _no_idle_workers() -> Iterator[None]:
    yield
    close_idle_workers()


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the list of the processes that are launched."""
    processes: list[Any] = []
    launch = WorkerProcess._launch

    def launch_and_keep(worker: WorkerProcess) -> Any:
        processes.append(launch(worker))
        return processes[-1]

    monkeypatch.setattr(WorkerProcess, "_launch", launch_and_keep)
    return processes


@pytest.fixture
def archives(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{name}.warc.gz" for name in "ab"]
    for path in paths:
        page = f"https://site.example/{path.stem}.html", PAGE.encode(), "2026-11-22T10:00:00Z"
        write_archive(path, [page])
    return [str(path) for path in paths]


@pytest.mark.usefixtures("own_fork_server")
def test_units_of_a_job_share_a_process(archives: list[str], tmp_path: Path, launched: list[Any]):
    before = psutil.Process().children()
    summary = Job(str(tmp_path / "out")).run(archives, map)
    assert summary["counts"] == {"record": 2, "article": 2}
    assert len(launched) == 1
    assert launched[0].poll() is not None  # closed with the job
    assert psutil.Process().children() == before


def test_unreadable_unit_closes_its_process(
    archives: list[str], tmp_path: Path, launched: list[Any]
):
    units = plan([*archives[:1], str(tmp_path / "missing.warc.gz")], 2**20)
    job = Job(str(tmp_path / "out"))
    assert job.extract(units[0]).error is None
    error = job.extract(units[1]).error
    assert error is not None
    assert error.startswith("FileNotFoundError: ")
    assert launched[0].poll() is not None


def test_workers_are_shared_by_equal_deadlines():
    worker = take_worker(DEADLINE)
    keep_worker(worker, DEADLINE)
    other, same, new = take_worker(5.0), take_worker(DEADLINE), take_worker(DEADLINE)
    assert same is worker
    assert other is not worker
    assert new is not worker
    for taken in (other, same, new):
        taken.close()


def test_forked_process_takes_no_worker_of_its_parent(monkeypatch: pytest.MonkeyPatch):
    worker = take_worker(DEADLINE)
    keep_worker(worker, DEADLINE)
    pid = os.getpid()
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: pid + 1)
        other = take_worker(DEADLINE)
    assert other is not worker
    assert take_worker(DEADLINE) is worker
    other.close()
    worker.close()


def test_idle_worker_is_closed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unit_extraction, "IDLE_SECONDS", 0.0)
    worker = take_worker(DEADLINE)
    keep_worker(worker, DEADLINE)
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()
    other = take_worker(DEADLINE)
    assert other is not worker
    other.close()
