"""Crawl store: ordered commits, durability, rejected files."""

import asyncio
import os
import random
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import newscrawl.addon  # noqa: F401  # has the tables of all components
from newscrawl.crawling.crawl_store import CrawlStore, CrawlStoreError
from tests.conftest import REPOSITORY
from tests.helpers.small_disk import small_disk
from tests.helpers.store_writer import write  # noqa: F401  # has the tables a and b

INSERT = "INSERT INTO a VALUES (?)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a state file."""
    return tmp_path / "state.sqlite"


@asynccontextmanager
async def opened(path: Path | None, **options: Any) -> AsyncIterator[CrawlStore]:
    """Open a store, which has the tables of :mod:`tests.helpers.store_writer`."""
    store = CrawlStore(path, **options)
    try:
        store.open()
        yield store
    finally:
        await store.close()


def open_and_close(path: Path) -> None:
    store = CrawlStore(path)
    try:
        store.open()
    finally:
        asyncio.run(store.close())


def writer(path: Path, **options: Any) -> subprocess.Popen[str]:
    """Start a process that opens *path* and writes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.store_writer", str(path)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    assert process.stdout
    assert process.stdout.readline() == "0\n"
    return process


@pytest.mark.parametrize("in_file", [True, False])
async def test_reads_include_earlier_writes(path: Path, in_file: bool):
    async with opened(path if in_file else None) as store:
        for n in range(3):
            store.write(INSERT, [(n,)])
        assert await store.read("SELECT n FROM a WHERE n > ? ORDER BY n", (0,)) == [(1,), (2,)]


async def test_commits_after_the_checkpoint_interval(path: Path):
    async with opened(path, checkpoint=0.05) as store:
        store.write(INSERT, [(1,), (2,)])
        assert store.path
        assert content(path) == []
        await until_content(path, [1, 2])
        store.write(INSERT, [(3,)])
        await until_content(path, [1, 2, 3])


async def until_content(path: Path, expected: list[int]) -> None:
    """Return when table a is as *expected*, to the test's time limit."""
    while content(path) != expected:  # noqa: ASYNC110  # the file has no event
        await asyncio.sleep(0.05)


def content(path: Path) -> list[int]:
    """Return table a, read from a copy of the files as after a power failure."""
    copy = path.parent / "copy" / path.name
    copy.parent.mkdir(exist_ok=True)
    for file in path.parent.glob(f"{path.name}*"):
        (copy.parent / file.name).write_bytes(file.read_bytes())
    connection = sqlite3.connect(copy)
    try:
        return [n for (n,) in connection.execute("SELECT n FROM a ORDER BY n")]
    finally:
        connection.close()


async def test_commit_makes_durable(path: Path):
    async with opened(path, checkpoint=100) as store:
        store.write(INSERT, [(1,)])
        await store.commit()
        assert content(path) == [1]


async def test_close_commits(path: Path):
    async with opened(path, checkpoint=100) as store:
        store.write(INSERT, [(1,)])
    async with opened(path) as store:
        assert await store.read("SELECT n FROM a") == [(1,)]


def test_killed_process_leaves_a_prefix_of_the_writes(path: Path):
    rng = random.Random(7)
    for _ in range(4):
        with writer(path) as process:
            time.sleep(rng.uniform(0.05, 0.3))
            process.kill()
            assert process.stdout
            durable = [int(line) for line in process.stdout if line.endswith("\n")]
        connection = sqlite3.connect(path)
        a, b = ([n for (n,) in connection.execute(f"SELECT n FROM {name}")] for name in "ab")
        connection.close()
        assert a == b == list(range(len(a)))
        assert len(a) > max(durable, default=0)
        path.unlink()


def test_rejects_a_second_process(path: Path):
    """Which may read, and write to other tables, as a report does."""
    open_and_close(path)
    with writer(path) as process:
        with closing(sqlite3.connect(path, timeout=30)) as report, report:
            report.execute("CREATE TABLE c (n)")
            assert report.execute("SELECT count(*) FROM a").fetchone()[0] >= 0
        assert process.poll() is None
        with pytest.raises(CrawlStoreError, match=f"{path}: in use by another process"):
            open_and_close(path)
        process.kill()
    open_and_close(path)


def changed(path: Path, sql: str) -> None:
    """Change the state file at *path*, which is created, by a statement."""
    open_and_close(path)
    execute(path, sql)


def execute(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(sql)


def make_text(path: Path) -> None:
    path.write_text("A shopping list. " * 100)


def make_damaged(path: Path) -> None:
    open_and_close(path)
    data = bytearray(path.read_bytes())
    data[4096:8192] = bytes(4096)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(execute, sql="CREATE TABLE t (n)"), "not the state of a crawl"),
        (make_text, "not the state of a crawl"),
        (
            partial(changed, sql="PRAGMA user_version = 99"),
            "written by a newer version of newscrawl",
        ),
        (
            partial(changed, sql="PRAGMA user_version = 1"),
            "written by an older version of newscrawl .*; delete it",
        ),
        (
            partial(changed, sql="ALTER TABLE memory DROP COLUMN until"),
            "the table memory has other columns .*; delete the file",
        ),
        (
            partial(changed, sql="ALTER TABLE a ADD COLUMN m"),
            "the table a has other columns .*; delete the file",
        ),
        (make_damaged, "damaged"),
    ],
)
def test_rejects_other_files_without_changing_them(path: Path, make: Any, message: str):
    make(path)
    before = path.read_bytes()
    with pytest.raises(CrawlStoreError, match=message):
        open_and_close(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("table", ["request", "outcome", "outbox", "page", "crawl_site", "memory"])
def test_checks_the_tables_of_all_components_at_once(path: Path, table: str):
    """A crawl does not start with them, and has not to be closed because of them."""
    changed(path, f"ALTER TABLE {table} ADD COLUMN other")
    with pytest.raises(CrawlStoreError, match=f"the table {table} has other columns"):
        CrawlStore(path).open()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
async def test_files_are_private(path: Path):
    """Created so: the file, its log and its index; URLs in it may have passwords."""
    async with opened(path):
        assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}


def test_error_names_a_missing_folder(tmp_path: Path):
    with pytest.raises(CrawlStoreError, match="cannot be opened"):
        open_and_close(tmp_path / "missing" / "state.sqlite")


async def test_ignores_writes_after_a_failure(path: Path):
    async with opened(path) as store:
        store.write(INSERT, [(1,)])
        await store.commit()
        store.write(INSERT, [(2,)])
        store.write("INSERT INTO nowhere VALUES (?)", [(2,)])
        with pytest.raises(CrawlStoreError, match="no such table: nowhere"):
            await store.commit()
        store.write(INSERT, [(3,)])
        with pytest.raises(CrawlStoreError, match="no such table: nowhere"):
            await store.commit()
        with pytest.raises(CrawlStoreError, match="not open"):
            await store.read("SELECT n FROM a")
    assert "no such table: nowhere" in str(store.failure)
    assert content(path) == [1]


def test_file_size_limit_raises_and_keeps_committed_rows(path: Path):
    limit = 2**18

    def restrict() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    error = f"CrawlStoreError: {path}: input/output error (SQLITE_IOERR_WRITE)"
    assert_fails(writer(path, preexec_fn=restrict), path, error)


def test_full_disk_raises_and_keeps_committed_rows(path: Path):
    path = path.parent / "disk" / path.name
    with small_disk(path.parent, kilobytes=256) as resize:
        process = writer(path)
        assert_fails(process, path, f"CrawlStoreError: {path}: the disk is full", resize)


def test_error_names_a_read_only_disk(path: Path):
    path = path.parent / "disk" / path.name
    with small_disk(path.parent, kilobytes=1024):
        open_and_close(path)
        subprocess.run(["mount", "-o", "remount,ro", path.parent], check=True)
        with pytest.raises(CrawlStoreError, match=f"{path}: cannot be (opened|written)"):
            open_and_close(path)


def assert_fails(
    process: subprocess.Popen[str], path: Path, error: str, resize: Any = lambda _: None
) -> None:
    """Check that *process* ends with *error* and leaves a prefix of its writes."""
    with process:
        _, errors = process.communicate(timeout=200)
    assert process.returncode == 1
    assert errors.splitlines()[-1].endswith(error)
    resize(10_000)
    numbers = content(path)
    assert numbers == list(range(len(numbers)))
    assert numbers
