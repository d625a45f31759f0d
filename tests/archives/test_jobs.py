"""Jobs: articles and failures of hostile pages, restarts, remote files, other ``map`` functions."""

import gzip
import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest

from newscrawl.archives.jobs import Job
from newscrawl.archives.output_folder import ArticleTables, UnitRecord
from newscrawl.archives.remote_files import (
    list_names,
    open_seekable,
    read_bytes,
    remove,
    write_bytes,
)
from newscrawl.archives.sources import Unit
from newscrawl.exporters.parquet import ARTICLE_COLUMNS, EXTRA_COLUMNS
from newscrawl.items import Article
from tests.extraction.test_extraction import PAGE
from tests.helpers.hostile_tasks import HOSTILE_PAGES
from tests.helpers.spark_cluster import write_archive
from tests.site_rules.stubborn_sites import SITES, STORY

DAY = "2026-11-22T23:30:00Z"
NEXT_DAY = "2026-11-23T00:30:00Z"
LIMITS = {"NEWSCRAWL_DEADLINE": 15, "NEWSCRAWL_MEMORY_LIMIT": 300}


def table(folder: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pyarrow.dataset.dataset(folder / name).to_table().to_pylist()
    return rows


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive of four articles, and pages that fail."""
    pages = [(f"https://site{n}.test/story-{n}", PAGE.encode(), DAY) for n in range(2)]
    pages += [
        (f"https://hostile.test/{name}", f"<!-- {name} --><p>".encode(), DAY)
        for name in ("crash", "memory", "error")
    ]
    pages += [(f"https://site{n}.test/story-{n}", PAGE.encode(), NEXT_DAY) for n in range(2, 4)]
    path = tmp_path_factory.mktemp("archive") / "news.warc.gz"
    write_archive(path, pages)
    return path


@pytest.mark.slow
def test_hostile_pages_are_failures(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs again without repeating anything, and with more files."""
    task = "tests.helpers.hostile_tasks:page_task"
    monkeypatch.setattr("newscrawl.archives.unit_extraction.PAGE_TASK", task)
    extracted: list[Unit] = []

    def map_units(function: Any, units: list[Unit]) -> Iterator[UnitRecord]:
        extracted.extend(units)
        return map(function, units)

    job = Job(str(tmp_path / "out"), LIMITS)
    summary = job.run([str(archive)], map_units)
    assert summary == {
        "units": 1,
        "unfinished": 0,
        "counts": {"record": 7, "article": 4, "failed": 3},
    }
    assert {row["url"]: row["reason"] for row in table(tmp_path / "out", "failures.parquet")} == {
        f"https://hostile.test/{name}": name for name in HOSTILE_PAGES if name != "timeout"
    }
    written = files(tmp_path / "out")
    days = {Path(name).parent.name for name in written if name.startswith("articles")}
    assert days == {"day=2026-11-22", "day=2026-11-23"}
    assert job.run([str(archive)], map_units) == summary
    assert len(extracted) == 1
    again = archive.with_name("again.warc.gz")
    write_archive(again, [("https://site9.test/story-9", PAGE.encode(), DAY)])
    assert job.run([str(archive.parent)], map_units)["counts"]["article"] == 5
    assert [unit.path for unit in extracted] == [str(archive), str(again)]
    assert written.items() - {("summary.json", written["summary.json"])} <= (
        files(tmp_path / "out").items()
    )
    again.unlink()


@pytest.mark.slow
def test_unit_that_runs_twice_has_one_output(archive: Path, tmp_path: Path):
    """Interrupted between its files and its record, and again with fewer days."""
    job = Job(str(tmp_path / "out"))
    job.run([str(archive)], map)
    written = files(tmp_path / "out")
    (record,) = (tmp_path / "out" / "units").iterdir()
    record.unlink()
    job.run([str(archive)], map)
    assert files(tmp_path / "out") == written
    plain = json.loads(record.read_text())
    stale = "articles.parquet/day=2020-01-01/old.parquet"
    (tmp_path / "out" / stale).parent.mkdir()
    (tmp_path / "out" / stale).write_bytes(b"old")
    record.write_text(json.dumps({**plain, "files": [*plain["files"], stale]}))
    (unit,) = (unit for unit in _planned(job, archive))
    job.extract(unit)
    assert files(tmp_path / "out") == written


def _planned(job: Job, archive: Path) -> list[Unit]:
    planned: list[Unit] = []

    def keep(_: Any, units: list[Unit]) -> list[UnitRecord]:
        planned.extend(units)
        return []

    Job(f"{job.output}-plan").run([str(archive)], keep)
    return planned[:1]


@pytest.mark.slow
def test_unreadable_files_are_failures(tmp_path: Path):
    """They are read again by the next run; the others are not."""
    good, bad = tmp_path / "good.warc.gz", tmp_path / "bad.warc.gz"
    write_archive(good, [])
    good.write_bytes(gzip.compress(b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n"))
    bad.write_bytes(b"<html>")
    missing = str(tmp_path / "missing.warc.gz")
    job = Job(str(tmp_path / "out"))
    summary = job.run([str(good), str(bad), missing], map)
    assert summary["unfinished"] == 2
    reasons = {row["source"]: row["reason"] for row in table(tmp_path / "out", "failures.parquet")}
    assert reasons == {str(bad): "unreadable", missing: "unreadable"}
    bad.write_bytes(good.read_bytes())
    assert job.run([str(good), str(bad)], map)["unfinished"] == 0
    left = table(tmp_path / "out", "failures.parquet")
    assert [row["source"] for row in left] == [missing]


def test_rejects_output_of_another_job(tmp_path: Path):
    path = tmp_path / "pages.jsonl"
    path.write_text("")
    Job(str(tmp_path / "out")).run([str(path)], map)
    with pytest.raises(ValueError, match="other options"):
        Job(str(tmp_path / "out"), split=9).run([str(path)], map)
    with pytest.raises(ValueError, match="NEWSCRAWL_KEEP"):
        Job(str(tmp_path / "new"), {"NEWSCRAWL_KEEP": ["x"]})


def test_site_rules(tmp_path: Path):
    """Rules apply to pages of archives, too; a file in error is not used."""
    site = SITES[1]
    (tmp_path / "observer.example.txt").write_text(site.rule)
    (tmp_path / "other.example.txt").write_text("body: //div[")
    pages = tmp_path / "pages.jsonl"
    hosts = ("www.observer.example", "other.example")
    rows = [{"url": f"https://{host}/2025/bridge", "html": site.html} for host in hosts]
    pages.write_text("\n".join(map(json.dumps, rows)))
    Job(str(tmp_path / "out"), {"NEWSCRAWL_SITE_RULES": str(tmp_path)}).run([str(pages)], map)
    found = table(tmp_path / "out", "articles.parquet")
    assert {row["url"]: row["body"] == "\n\n".join(STORY) for row in found} == dict(
        zip([row["url"] for row in rows], [True, False], strict=True)
    )


def test_tables_have_the_same_columns(tmp_path: Path):
    """Columns of requested fields are there if a setting names them, in the order of the feed."""
    article = Article(url="https://one.test/1", title="T", body="B")
    for requested, extra in (([], []), (["data", "links"], ["links", "data"])):
        tables = ArticleTables(requested)
        tables.add(article)
        ((day, data),) = tables.close().items()
        assert day == "__HIVE_DEFAULT_PARTITION__"
        (tmp_path / "a.parquet").write_bytes(data)
        schema = pyarrow.dataset.dataset(tmp_path / "a.parquet").schema
        assert schema.names == [*ARTICLE_COLUMNS, *extra]
        assert [schema.field(name).type for name in extra] == list(map(EXTRA_COLUMNS.get, extra))


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Files of the folder, with ranges, as object stores serve them."""

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        if not asked:
            return super().do_GET()
        data = Path(self.translate_path(self.path)).read_bytes()
        start, end = (int(part) for part in asked.removeprefix("bytes=").split("-"))
        part = data[start : end + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(part)
        return None

    def do_HEAD(self) -> None:
        size = Path(self.translate_path(self.path)).stat().st_size
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()

    def log_message(self, *args: Any) -> None: ...


class Whole(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None: ...


@pytest.mark.parametrize("handler", [Ranges, Whole])
def test_reads_from_servers_with_and_without_ranges(tmp_path: Path, handler: Any):
    data = bytes(range(256)) * 20_000
    (tmp_path / "data").write_bytes(data)
    serving = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(handler, directory=str(tmp_path))
    )
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{serving.server_port}/data"
        with open_seekable(url) as file:
            file.seek(5_000_000)
            assert file.read(300) == data[5_000_000:5_000_300]
            file.seek(10)
            assert file.read(5) == data[10:15]
        assert read_bytes(f"{url}-missing") is None
    finally:
        serving.shutdown()
        serving.server_close()


def test_writes_to_other_file_systems():
    """Here to fsspec's file system in memory."""
    write_bytes("memory://folder/sub/a.json", b"1")
    write_bytes("memory://folder/sub/a.json", b"2")
    assert read_bytes("memory://folder/sub/a.json") == b"2"
    assert list_names("memory://folder/sub") == {"a.json"}
    remove("memory://folder/sub/a.json")
    remove("memory://folder/sub/a.json")
    assert list_names("memory://folder/none") == set()


@pytest.mark.slow
def test_runs_in_any_map(archive: Path, tmp_path: Path):
    """Here in threads, with an output that is not local."""
    with ThreadPoolExecutor(2) as pool:
        summary = Job("memory://out", LIMITS, split=1).run([str(archive)], pool.map)
    assert summary["counts"]["article"] == 4
    names = list_names("memory://out/articles.parquet")
    assert names == {"day=2026-11-22", "day=2026-11-23"}


JOB = """
import json, sys, fsspec
from newscrawl.archives.jobs import Job

s3 = fsspec.filesystem("s3")
s3.mkdir("news")
s3.put_file(sys.argv[1], "news/archive/one.warc.gz")
for split in (1, 1):
    summary = Job("s3a://news/out", split=split).run(["s3a://news/archive/*.warc.gz"], map)
articles = [name for name in s3.find("news/out/articles.parquet")]
print(json.dumps([summary, articles]))
"""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("s3fs") is None, reason="needs the extra spark")
def test_reads_and_writes_s3(s3: Any, tmp_path: Path):
    """The second run finds the records of the first one."""
    path = tmp_path / "one.warc.gz"
    filler = os.urandom(3 * 2**19)  # so that there are two units
    pages = [(f"https://one.test/{n}", PAGE.encode(), "2026-11-22T08:00:00Z") for n in range(2)]
    write_archive(path, [pages[0], ("https://one.test/filler", filler, pages[0][2]), pages[1]])
    done = subprocess.run(
        [sys.executable, "-c", JOB, str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    summary, articles = json.loads(done.stdout)
    assert (summary["units"], summary["unfinished"]) == (2, 0)
    assert summary["counts"]["article"] == 2
    assert len(articles) == 2
    assert all("/day=2026-11-22/" in name for name in articles)
