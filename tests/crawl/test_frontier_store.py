"""The state of a crawl: one log, committed in order; what its file survives and refuses."""

from __future__ import annotations

import asyncio
import random
import resource
import sqlite3
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from newscrawl.crawl.frontier.frontier_store import CrawlStore, CrawlStoreError
from tests.conftest import REPOSITORY
from tests.helpers.store_writer import SCHEMA

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine
    from pathlib import Path

INSERT = "INSERT INTO a VALUES (?)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a state may be."""
    return tmp_path / "state.sqlite"


@asynccontextmanager
async def opened(path: Path | None, **options: Any) -> AsyncIterator[CrawlStore]:
    """Open a store with the tables of SCHEMA."""
    store = CrawlStore(path, **options)
    try:
        await store.open(SCHEMA)
        yield store
    finally:
        await store.close()


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a test's own coroutine."""
    asyncio.run(coroutine)


def writer(path: Path, **options: Any) -> subprocess.Popen[str]:
    """Return another process that has opened *path* and writes."""
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
def test_reads_see_what_was_written(path: Path, in_file: bool):
    """A query is answered over everything written before it, in a file and in memory."""

    async def test() -> None:
        async with opened(path if in_file else None) as store:
            for n in range(3):
                store.write(INSERT, [(n,)])
            assert await store.read("SELECT n FROM a WHERE n > ? ORDER BY n", (0,)) == [(1,), (2,)]

    run(test())


def test_a_batch_is_committed_after_the_checkpoint(path: Path):
    """What is written is in the file soon, without anybody's asking; a copy shows it."""

    async def test() -> None:
        async with opened(path, checkpoint=0.05) as store:
            store.write(INSERT, [(1,), (2,)])
            assert store.path
            assert content(path) == []
            await asyncio.sleep(0.5)
            assert content(path) == [1, 2]

    run(test())


def content(path: Path) -> list[int]:
    """Return table a as who finds the files after a power cut reads it."""
    copy = path.parent / "copy" / path.name
    copy.parent.mkdir(exist_ok=True)
    for file in path.parent.glob(f"{path.name}*"):
        (copy.parent / file.name).write_bytes(file.read_bytes())
    connection = sqlite3.connect(copy)
    try:
        return [n for (n,) in connection.execute("SELECT n FROM a ORDER BY n")]
    finally:
        connection.close()


def test_commit_makes_durable(path: Path):
    """What was written before a commit returns is in the file, however long the checkpoint."""

    async def test() -> None:
        async with opened(path, checkpoint=100) as store:
            store.write(INSERT, [(1,)])
            await store.commit()
            assert content(path) == [1]

    run(test())


def test_close_commits(path: Path):
    """Nothing written is lost at an orderly end, and the next one finds it."""

    async def test() -> None:
        async with opened(path, checkpoint=100) as store:
            store.write(INSERT, [(1,)])
        async with opened(path) as store:
            assert await store.read("SELECT n FROM a") == [(1,)]

    run(test())


def test_a_killed_process_leaves_a_prefix(path: Path):
    """After kill -9 the file holds all that was durable, and no write without its companion."""
    seed = random.Random(7)
    for _ in range(4):
        with writer(path) as process:
            time.sleep(seed.uniform(0.05, 0.3))
            process.kill()
            assert process.stdout
            durable = [int(line) for line in process.stdout if line.endswith("\n")]
        connection = sqlite3.connect(path)
        a, b = ([n for (n,) in connection.execute(f"SELECT n FROM {name}")] for name in "ab")
        connection.close()
        assert a == b == list(range(len(a)))
        assert len(a) > max(durable, default=0)
        path.unlink()


def test_a_second_process_is_refused(path: Path):
    """The file is one crawl's as long as that lives; then it is free."""

    async def test() -> None:
        async with opened(path):
            pass

    with writer(path) as process:
        with pytest.raises(CrawlStoreError, match=f"{path}: in use by another process"):
            run(test())
        process.kill()
    run(test())


def foreign(path: Path) -> None:
    sqlite3.connect(path).executescript("CREATE TABLE t (n);").connection.close()


def text(path: Path) -> None:
    path.write_text("A shopping list. " * 100)


def newer(path: Path) -> None:
    asyncio.run(_touch(path))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def damaged(path: Path) -> None:
    asyncio.run(_touch(path))
    data = bytearray(path.read_bytes())
    data[4096:8192] = bytes(4096)
    path.write_bytes(data)


async def _touch(path: Path) -> None:
    async with opened(path):
        pass


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (foreign, "not the state of a crawl"),
        (text, "not the state of a crawl"),
        (newer, "written by a newer version of newscrawl"),
        (damaged, "damaged"),
    ],
)
def test_other_files_are_refused(path: Path, make: Any, message: str):
    """A file that is none of ours, or damaged, is told so and left as it is."""
    make(path)
    before = path.read_bytes()
    with pytest.raises(CrawlStoreError, match=message):
        run(_touch(path))
    assert path.read_bytes() == before


def test_a_missing_folder_is_told(tmp_path: Path):
    """A file that cannot be made is an error with its name."""
    with pytest.raises(CrawlStoreError, match="cannot be opened"):
        run(_touch(tmp_path / "missing" / "state.sqlite"))


def test_after_a_failure_nothing_is_written(path: Path):
    """A batch that cannot be written is told once, and the file keeps what came before it."""
    told: list[CrawlStoreError] = []

    async def test() -> None:
        async with opened(path, on_failure=told.append) as store:
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

    run(test())
    assert len(told) == 1
    assert content(path) == [1]


def test_a_full_disk_is_told(path: Path):
    """A process that may write no more says why, and what it has committed stays."""
    limit = 2**18

    def restrict() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    with writer(path, preexec_fn=restrict) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "CrawlStoreError" in errors
    assert str(path) in errors
    numbers = content(path)
    assert numbers == list(range(len(numbers)))
    assert numbers
