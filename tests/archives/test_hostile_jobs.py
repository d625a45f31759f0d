"""Hostile archives give the same articles, counts and failures by command, ``Job`` and Spark."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from newscrawl.archives.jobs import Job
from tests.helpers import spark_cluster
from tests.helpers.forked_scrapy import newscrawl
from tests.helpers.hostile_archives import FORMS, GOOD, RECORDS, archive, bombs, record, suffix

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the paths of archives with all hostile records, an archive for each form."""
    folder = tmp_path_factory.mktemp("archives")
    paths = [folder / f"{form.replace(' ', '-')}{suffix(form)}" for form in FORMS]
    records = [part for make, _ in RECORDS.values() for part in (make(), record("https://a.test/"))]
    for path, form in zip(paths, FORMS, strict=True):
        path.write_bytes(archive(form, records))
    good = gzip.compress(record("https://a.test/"))
    with paths[0].open("ab") as file:
        file.write(b"".join(part for bomb in bombs(64).values() for part in (bomb, good)))
    return list(map(str, paths))


def by_command(folder: Path, paths: list[str]) -> tuple[list[str], dict[str, int]]:
    """Return the URLs of the articles and the counts; check the lines of failures."""
    done = newscrawl(folder, "extract", *paths)
    assert done.returncode == 1
    assert re.fullmatch(r"[\n -~]*", done.stderr)
    *lines, last = done.stderr.splitlines()
    assert all(any(path in line for path in paths) for line in lines)
    assert sum("evil.test" in line or " at byte " in line for line in lines) == len(lines)
    articles, records, others = re.fullmatch(
        r".*: (\d+) articles in (\d+) records; left out: (.*)", last
    ).groups()  # type: ignore[union-attr]
    counts = {name: int(number) for number, name in re.findall(r"(\d+) (\w+)", others)}
    assert len(lines) == sum(counts.values())
    urls = [json.loads(line)["url"] for line in done.stdout.splitlines()]
    return sorted(urls), {"article": int(articles), "record": int(records), **counts}


def of_output(folder: Path) -> tuple[list[str], dict[str, int]]:
    """Return the URLs of the articles and the counts of a job; check its failures."""
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["unfinished"] == 0
    failures = parquet.read_table(folder / "failures.parquet").to_pylist()
    counts = summary["counts"]
    assert len(failures) == sum(counts.values()) - counts["article"] - counts["record"]
    assert all(row["url"] or " at byte " in row["message"] for row in failures)
    return sorted(parquet.read_table(folder / "articles.parquet")["url"].to_pylist()), counts


def by_job(folder: Path, paths: list[str]) -> tuple[list[str], dict[str, int]]:
    Job(str(folder / "job")).run(paths, map)
    return of_output(folder / "job")


def by_split_job(folder: Path, paths: list[str]) -> tuple[list[str], dict[str, int]]:
    Job(str(folder / "split"), split=1).run(paths, map)
    return of_output(folder / "split")


def by_spark(folder: Path, paths: list[str]) -> tuple[list[str], dict[str, int]]:
    spark_cluster.require_spark()
    status, printed = spark_cluster.run(folder, "extract", *paths, "out", "--master", "local[2]")
    assert status == 0, printed
    return of_output(folder / "out")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("extract", [by_command, by_job, by_split_job, by_spark])
def test_rest_of_hostile_archives_is_extracted(
    archives: list[str], tmp_path: Path, extract: Callable[..., Any]
):
    urls, counts = extract(tmp_path, archives)
    again = 3 * len(RECORDS) + len(bombs(0))
    assert urls == sorted(3 * GOOD + again * ["https://a.test/"])
    assert counts["article"] == len(urls)
    reasons = [reason for _, reason in RECORDS.values()] * 3 + ["too_large"] * len(bombs(0))
    failed = {reason: reasons.count(reason) for reason in set(reasons)}
    assert {name: counts[name] for name in failed} == failed
    assert counts.keys() - failed.keys() == {"article", "record"}
