"""File of the near-duplicate index: rejected files, killed writers."""

import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from newscrawl.neardup import Index, NearDuplicateIndexError, Options, Story
from tests.helpers.neardup_writer import OPTIONS, stories
from tests.neardup.test_neardup_index import story, words


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of an index."""
    return tmp_path / "near-duplicates.sqlite"


def test_rejects_foreign_files_without_changing_them(path: Path):
    path.write_text("these are not stories\n" * 200, encoding="utf-8")
    with pytest.raises(NearDuplicateIndexError, match="not an index"):
        Index(path)
    assert path.read_text(encoding="utf-8").startswith("these are")
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE story (id)")
    connection.close()
    with pytest.raises(NearDuplicateIndexError, match="not an index"):
        Index(path)


@pytest.mark.parametrize(("version", "reason"), [(99, "newer version"), (1, "older version")])
def test_rejects_other_formats(path: Path, version: int, reason: str):
    Index(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(NearDuplicateIndexError, match=reason):
        Index(path)


def test_rejects_damaged_files(path: Path):
    with Index(path, OPTIONS) as index:
        index.add_many(stories(60))
    data = bytearray(path.read_bytes())
    data[8192:20480] = bytes(12288)
    path.write_bytes(data)
    with pytest.raises(NearDuplicateIndexError, match="damaged"):
        Index(path, OPTIONS)


def test_rejects_other_sketch_options_but_not_other_thresholds(path: Path):
    Index(path).close()
    Index(path, Options(containment=0.5)).close()
    with pytest.raises(NearDuplicateIndexError, match="other options"):
        Index(path, Options(shingle=5))


def test_rejects_a_second_writer(path: Path):
    with Index(path) as index:
        index.add(story("https://a.test/1", words(50)))
        with pytest.raises(NearDuplicateIndexError, match="in use"):
            Index(path)
    Index(path).close()


def test_failed_batch_changes_nothing(path: Path):
    """Not even the boilerplate of a site."""

    def breaking() -> Iterator[Story]:
        for n in range(5):
            yield story(f"https://a.test/{n}", words(100, seed=1) + words(100, seed=10 + n))
        raise RuntimeError("broken off")

    with Index(path) as index:
        with pytest.raises(RuntimeError, match="broken off"):
            index.add_many(breaking())
        assert len(index) == 0
        with Index(None) as fresh:
            assert index.add_many(stories(40)) == fresh.add_many(stories(40))


def kill_and_resume(path: Path, count: int, kill_at: int, batch: int) -> None:
    """Kill a writer after *kill_at* acknowledgements; check and complete its index."""
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.neardup_writer", str(path), str(count), str(batch)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert writer.stdout is not None
    acknowledged = [int(line) for line, _ in zip(writer.stdout, range(kill_at), strict=False)]
    writer.kill()
    acknowledged += [int(line) for line in writer.stdout if line.strip()]
    writer.wait()
    writer.stdout.close()
    everything, done = stories(count), acknowledged[-1]
    with Index(path, OPTIONS) as index:
        held = {len({one.url for one in everything[:n]}) for n in (done, min(count, done + batch))}
        assert len(index) in held
        index.add_many(everything[:done])
        assert len(index) in held
        index.add_many(everything[done:])
        left = contents(index)
    assert left == whole(count)


@cache
def whole(count: int) -> list[list[tuple[object, ...]]]:
    """Return the content of an index of *count* stories whose writer was not killed."""
    with Index(None, OPTIONS) as index:
        index.add_many(stories(count))
        return contents(index)


def contents(index: Index) -> list[list[tuple[object, ...]]]:
    """Return the whole content of an index."""
    tables = ("site", "cluster", "alias", "story", "boilerplate", "posting", "part")
    found = [index._connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
    index._postings.recent.take(0, 0)
    return [*found, index._postings.recent.entries.tolist()]


@pytest.mark.parametrize("batch", [1, 16])
def test_killed_writer_loses_nothing_acknowledged(path: Path, batch: int):
    kill_and_resume(path, 96, kill_at=3, batch=batch)


@pytest.mark.slow
def test_twenty_kills_lose_and_repeat_nothing(path: Path):
    draw = random.Random(20)
    for number in range(20):
        batch = draw.choice([1, 1, 5, 20])
        target = path.with_name(f"{number}.sqlite")
        kill_and_resume(target, 240, kill_at=draw.randrange(1, 240 // batch), batch=batch)


def test_closed_index_is_a_single_file(path: Path):
    with Index(path) as index:
        first = index.add(story("https://a.test/1", words(300)))
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    shutil.copy(path, copied := path.with_name("copy.sqlite"))
    with Index(copied) as index:
        assert index.add(story("https://b.test/1", words(300))).cluster == first.cluster
