"""Reuse of worker processes between units."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from newscrawl.bulk import idle_pools
from newscrawl.bulk.idle_pools import close_idle_pools, keep_pool, take_pool
from newscrawl.bulk.jobs import Job
from newscrawl.bulk.sources import plan
from newscrawl.crawl.workers import process
from tests.extraction.test_extraction import PAGE
from tests.helpers.spark_cluster import write_archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETTINGS = Settings({"NEWSCRAWL_DEADLINE": 30})


@pytest.fixture(autouse=True)
def _no_idle_pools() -> Iterator[None]:
    yield
    close_idle_pools()


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the list of the processes that are launched."""
    processes: list[Any] = []
    launch = process._launch

    def launch_and_keep(memory_limit: int) -> Any:
        processes.append(launch(memory_limit))
        return processes[-1]

    monkeypatch.setattr(process, "_launch", launch_and_keep)
    return processes


@pytest.fixture
def archives(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{name}.warc.gz" for name in "ab"]
    for path in paths:
        page = f"https://site.example/{path.stem}.html", PAGE.encode(), "2026-11-22T10:00:00Z"
        write_archive(path, [page])
    return [str(path) for path in paths]


def test_units_of_a_job_share_a_process(archives: list[str], tmp_path: Path, launched: list[Any]):
    summary = Job(str(tmp_path / "out")).run(archives, map)
    assert summary["counts"] == {"record": 2, "article": 2}
    assert len(launched) == 1
    assert launched[0].returncode is not None  # closed with the job


def test_unreadable_unit_closes_its_process(
    archives: list[str], tmp_path: Path, launched: list[Any]
):
    units = plan([*archives[:1], str(tmp_path / "missing.warc.gz")], 2**20)
    job = Job(str(tmp_path / "out"))
    assert job.extract(units[0]).error is None
    assert job.extract(units[1]).error is not None
    assert launched[0].returncode is not None


def test_pools_are_shared_by_equal_limits():
    pool = take_pool(SETTINGS)
    keep_pool(pool, SETTINGS)
    assert take_pool(Settings({"NEWSCRAWL_DEADLINE": 5})) is not pool
    assert take_pool(SETTINGS) is pool
    assert take_pool(SETTINGS) is not pool


def test_forked_process_takes_no_pool_of_its_parent(monkeypatch: pytest.MonkeyPatch):
    pool = take_pool(SETTINGS)
    keep_pool(pool, SETTINGS)
    pid = os.getpid()
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: pid + 1)
        assert take_pool(SETTINGS) is not pool
    assert take_pool(SETTINGS) is pool


def test_idle_pool_is_closed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(idle_pools, "IDLE_SECONDS", 0.0)
    pool = take_pool(SETTINGS)
    keep_pool(pool, SETTINGS)
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()
    assert take_pool(SETTINGS) is not pool


def test_budgets_of_sites_are_those_of_a_unit():
    pool = take_pool(SETTINGS)
    pool._queue.seconds["site.example"] = 1000.0
    assert pool._queue.is_over_budget("site.example")
    keep_pool(pool, SETTINGS)
    assert not take_pool(SETTINGS)._queue.is_over_budget("site.example")
