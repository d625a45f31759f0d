"""The server that forks the workers of units."""

import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from newscrawl.archives import unit_extraction
from newscrawl.archives.jobs import Job
from newscrawl.archives.unit_extraction import close_server, unit_worker
from newscrawl.workers import fork_server
from tests.extraction.test_extraction import PAGE
from tests.helpers.spark_cluster import write_archive


@pytest.fixture
def archives(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{name}.warc.gz" for name in "ab"]
    for path in paths:
        page = f"https://site.example/{path.stem}.html", PAGE.encode(), "2026-11-22T10:00:00Z"
        write_archive(path, [page])
    return [str(path) for path in paths]


@pytest.mark.usefixtures("own_fork_server")
def test_units_of_a_job_share_a_server(
    archives: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its workers are copies of one process, which ends with the job."""
    launched: list[Any] = []
    launch = fork_server.launch

    def launch_and_keep(*args: Any, **kwargs: Any) -> Any:
        launched.append(launch(*args, **kwargs))
        return launched[-1]

    monkeypatch.setattr(fork_server, "launch", launch_and_keep)
    before = psutil.Process().children()
    summary = Job(str(tmp_path / "out")).run(archives, map)
    assert summary["counts"] == {"record": 2, "article": 2}
    assert len(launched) == 1
    assert launched[0].poll() is not None
    assert psutil.Process().children() == before


def test_forked_process_has_a_server_of_its_own(monkeypatch: pytest.MonkeyPatch):
    own, pid = unit_worker(30.0), os.getpid()
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: pid + 1)
        other = unit_worker(30.0)
        first, second = unit_extraction._servers[pid], unit_extraction._servers[pid + 1]
        assert first is not second
        close_server()
    assert unit_extraction._servers[pid] is first
    close_server()
    for worker in (own, other):
        worker.close()
