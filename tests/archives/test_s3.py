"""A job that reads from and writes to S3, here to moto's server."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import skip_missing
from tests.extraction.test_extraction import PAGE
from tests.helpers.spark_cluster import write_archive

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


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Yield the environment for a new S3 server."""
    if missing := [name for name in ("moto", "flask", "s3fs") if find_spec(name) is None]:
        skip_missing(f"{', '.join(missing)} not installed: extras spark and dev")
    log = tmp_path / "server.log"
    with log.open("wb") as file:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
        server = subprocess.Popen(command, stdout=file, stderr=file)
    try:
        url = None
        while server.poll() is None and not url:
            time.sleep(0.1)
            url = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        assert url, log.read_text()
        yield {
            "AWS_ENDPOINT_URL": url[0],
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
    finally:
        server.kill()
        server.wait()


@pytest.mark.slow
def test_reads_and_writes_s3(s3: dict[str, str], tmp_path: Path):
    """The second run finds the records of the first one."""
    path = tmp_path / "one.warc.gz"
    filler = os.urandom(3 * 2**19)  # so that there are two units
    pages = [(f"https://one.test/{n}", PAGE.encode(), "2026-11-22T08:00:00Z") for n in range(2)]
    write_archive(path, [pages[0], ("https://one.test/filler", filler, pages[0][2]), pages[1]])
    done = subprocess.run(
        [sys.executable, "-c", JOB, str(path)],
        env={**os.environ, **s3},
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
