"""Extraction of a unit continues after pages that end the worker."""

import gzip
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest
from pyarrow import parquet
from scrapy.settings import Settings

from newscrawl.archives import unit_extraction
from newscrawl.archives.jobs import Job
from newscrawl.archives.sources import Unit
from newscrawl.archives.unit_extraction import (
    UnitExtraction,
    UnreadableError,
    close_server,
    unit_worker,
)
from newscrawl.items import Article
from newscrawl.pipeline_options import PipelineOptions
from newscrawl.workers import fork_server
from newscrawl.workers.process import Limits
from tests.extraction.test_extraction import PAGE
from tests.helpers.spark_cluster import write_archive

DAY = "2026-11-22T10:00:00Z"
#: pages by position: an article, or a task of ``tests.helpers.hostile_tasks``
PAGES = ["", "crash", "crash", "", "error", "timeout", "", "memory", "", ""]
SETTINGS: dict[str, Any] = {"NEWSCRAWL_DEADLINE": 4, "NEWSCRAWL_MEMORY_LIMIT": 200}


@pytest.fixture(autouse=True)
def _hostile_task(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(
        "newscrawl.archives.unit_extraction.PAGE_TASK", "tests.helpers.hostile_tasks:page_task"
    )
    yield
    close_server()


def rows() -> list[tuple[str, bytes, str]]:
    bodies = (f"<!-- {name} --><p>".encode() if name else PAGE.encode() for name in PAGES)
    return [(f"https://site{n}.test/story", body, DAY) for n, body in enumerate(bodies)]


def members(folder: Path) -> Path:
    """Return an archive with a member per record."""
    write_archive(folder / "pages.warc.gz", rows())
    return folder / "pages.warc.gz"


def one_member(folder: Path) -> Path:
    path = members(folder)
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())))
    return path


def uncompressed(folder: Path) -> Path:
    path = folder / "pages.warc"
    path.write_bytes(gzip.decompress(members(folder).read_bytes()))
    return path


def table(folder: Path) -> Path:
    """Return a table with an invalid row after each page."""
    found = [
        row
        for url, body, at in rows()
        for row in ({"url": url, "html": body, "fetched_at": at}, {"url": "", "html": b"<p>"})
    ]
    parquet.write_table(pa.Table.from_pylist(found), folder / "pages.parquet")
    return folder / "pages.parquet"


def extract(
    path: Path, end: int | None = None, tasks: int = 0, **settings: Any
) -> tuple[list[Article], UnitExtraction]:
    given = Settings(SETTINGS | settings)
    options, limits = PipelineOptions.read(given), replace(Limits.read(given), tasks=tasks)
    articles: list[Article] = []
    extraction = UnitExtraction(Unit(str(path), 0, end), options, limits, add=articles.append)
    worker = unit_worker(limits.deadline)
    try:
        extraction.run(worker)
    finally:
        worker.close()
    return articles, extraction


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "end"),
    [(members, None), (members, 10**6), (one_member, 10**6), (uncompressed, None), (table, None)],
)
def test_continues_after_pages_that_end_the_worker(
    make: Callable[[Path], Path], end: int | None, tmp_path: Path
):
    """Each page and each other record is counted once."""
    path = make(tmp_path)
    articles, extraction = extract(path, end)
    assert [article.url for article in articles] == [
        f"https://site{n}.test/story" for n, name in enumerate(PAGES) if not name
    ]
    assert [(failure.url, failure.reason) for failure in extraction.failures] == [
        (f"https://site{n}.test/story", name) for n, name in enumerate(PAGES) if name
    ]
    counts = {"record": len(PAGES), "article": 5, "failed": 5}
    if make is table:
        counts |= {"record": 2 * len(PAGES), "invalid_row": len(PAGES)}
    assert extraction.counts == counts
    if end:
        assert (extraction.first, extraction.next) == (0, path.stat().st_size)


def test_replaces_worker_after_its_pages(tmp_path: Path):
    write_archive(tmp_path / "a.warc.gz", [row for row in rows() if b"<!--" not in row[1]])
    articles, extraction = extract(tmp_path / "a.warc.gz", 10**6, tasks=2)
    assert len(articles) == 5
    assert extraction.counts == {"record": 5, "article": 5}


def test_budgets_of_sites_include_earlier_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    task = "tests.helpers.hostile_tasks:slow_page_task"
    monkeypatch.setattr("newscrawl.archives.unit_extraction.PAGE_TASK", task)
    pages = [("https://slow.test/1", b"<!-- slow -->" + PAGE.encode(), DAY)] * 3
    pages += [("https://other.test/1", PAGE.encode(), DAY)]
    write_archive(tmp_path / "a.warc.gz", pages)
    limits = {"NEWSCRAWL_SITE_SECONDS": 0.1}
    articles, extraction = extract(tmp_path / "a.warc.gz", 10**6, tasks=1, **limits)
    assert [article.url for article in articles] == ["https://slow.test/1", "https://other.test/1"]
    assert [failure.reason for failure in extraction.failures] == ["budget", "budget"]


def test_threshold_of_articles_is_that_of_the_setting(tmp_path: Path):
    write_archive(tmp_path / "a.warc.gz", [("https://site.test/story", PAGE.encode(), DAY)])
    _, strict = extract(tmp_path / "a.warc.gz", NEWSCRAWL_KEEP=["article:1"])
    assert strict.counts == {"record": 1, "not_article": 1}


def test_reports_files_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(UnreadableError, match="FileNotFoundError: "):
        extract(tmp_path / "missing.warc.gz")


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
