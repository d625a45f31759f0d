"""Segments and the segment writer."""

import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from newscrawl.crawling.output.atomic_write import PARTIAL_SUFFIX
from newscrawl.crawling.output.segments import MANIFEST, SegmentError, list_segments, read_segments
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import ForkedScrapy
from tests.helpers.segment_killer import DAY, STORE, items, write


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files under *folder*."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_writes_json_lines(tmp_path: Path):
    write(tmp_path, 1, 25)
    name = f"{STORE}-000000000001-000000000025.jsonl"
    data = (tmp_path / DAY / name).read_bytes()
    lines = data.decode().removesuffix("\n").split("\n")
    assert [json.loads(line) for line in lines] == [json.loads(text) for _, text in items(1, 25)]
    manifest = json.loads((tmp_path / DAY / f"{STORE}{MANIFEST}").read_bytes())
    assert manifest["segments"] == [
        {
            "name": name,
            "items": 25,
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "first": 1,
            "last": 25,
        }
    ]


def test_reads_all_items_once_in_order(tmp_path: Path):
    write(tmp_path, 1, 9)
    write(tmp_path, 11, 19)
    urls = [item["url"] for item in read_segments(tmp_path)]
    assert urls == [f"https://site.test/{n}" for n in range(1, 20) if n != 10]
    assert [item["url"] for item in read_segments(tmp_path / DAY)] == urls


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_survives_crash_at_any_line(tmp_path: Path):
    """Published files and manifest are complete after a crash; a second run gives the same."""
    write(tmp_path / "before", 1, 25)
    write(tmp_path / "whole", 1, 25)
    write(tmp_path / "whole", 26, 60)
    before, whole = tree(tmp_path / "before"), tree(tmp_path / "whole")
    ran = subprocess.run(
        [sys.executable, "-m", "tests.helpers.segment_killer", str(tmp_path / "killed")],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        text=True,
    )
    assert int(ran.stdout) > 30
    for line in range(1, int(ran.stdout) + 1):
        here = tmp_path / "killed" / str(line)
        for name, data in tree(here).items():
            assert name.endswith(PARTIAL_SUFFIX) or data in (whole[name], before.get(name)), (
                line,
                name,
            )
        assert len(list(read_segments(here))) in (25, 60), line
        write(here, 26, 60)
        assert tree(here) == whole, line


def test_rejects_damaged_files(tmp_path: Path):
    """Truncated, changed and missing files are reported before the first item."""
    write(tmp_path, 1, 9)
    path, _ = list_segments(tmp_path)[0]
    data = path.read_bytes()
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    for damaged, message in ((data[:-1], "bytes instead of"), (bytes(changed), "damaged")):
        path.write_bytes(damaged)
        with pytest.raises(SegmentError, match=f"{path.name}.*{message}"):
            next(read_segments(tmp_path))
    path.unlink()
    with pytest.raises(SegmentError, match="but missing"):
        next(read_segments(tmp_path))


def test_rejects_invalid_manifest(tmp_path: Path):
    """The manifest is missing, truncated, of a newer version, or refers to another folder."""
    with pytest.raises(SegmentError, match="no manifest"):
        list_segments(tmp_path)
    write(tmp_path, 1, 9)
    path = tmp_path / DAY / f"{STORE}{MANIFEST}"
    whole = path.read_text()
    for text, message in (
        (whole[: len(whole) // 2], "not a manifest"),
        ("[]", "not a manifest"),
        (whole.replace('"version": 1', '"version": 2'), "newer"),
        (whole.replace(STORE + "-", "../" + STORE), "not a segment"),
    ):
        path.write_text(text)
        with pytest.raises(SegmentError, match=message):
            list_segments(tmp_path)


def test_ignores_unlisted_files(tmp_path: Path):
    write(tmp_path, 1, 9)
    (tmp_path / DAY / f"{STORE}-000000000010-000000000019.jsonl").write_text("{}\n")
    (tmp_path / DAY / f"{STORE}-000000000020-000000000029.jsonl{PARTIAL_SUFFIX}").write_text("{")
    assert len(list(read_segments(tmp_path))) == 9


# --- From a crawl ---


class Run(ForkedScrapy):
    """A crawl of :mod:`tests.spiders.item_spider`, with segments and state in *folder*."""

    def __init__(self, folder: Path, pages: int, *arguments: str, **given: object) -> None:
        values = {
            "NEWSCRAWL_SEGMENTS": folder / "segments",
            "NEWSCRAWL_STATE": folder / "state.sqlite",
            "STATS_CLASS": "tests.helpers.crawls.FileStatsCollector",
            "STATS_FILE": folder / "stats.json",
            "LOG_LEVEL": "INFO",
            **given,
        }
        options = [word for name, value in values.items() for word in ("-s", f"{name}={value}")]
        self._log = folder / "log.txt"
        super().__init__(
            [
                "runspider",
                "tests/spiders/item_spider.py",
                "-a",
                f"pages={pages}",
                *arguments,
                *options,
            ],
            REPOSITORY,
            {**os.environ, "SCRAPY_SETTINGS_MODULE": "scrapy.settings.default_settings"},
            self._log,
        )

    def output(self) -> str:
        """Wait for the end and return the log."""
        self.wait()
        return self._log.read_text(encoding="utf-8")

    def log(self) -> str:
        """Wait for a successful end and return the log."""
        log = self.output()
        assert self.returncode == 0, log
        assert "Traceback" not in log, log
        return log


def urls_of(pages: int) -> set[str]:
    return {f"https://site.test/{n}{half}" for n in range(pages) for half in "ab"} | {
        f"https://site.test/{pages}a"
    }


def written(folder: Path) -> list[Path]:
    """Return the segments that the manifest lists."""
    try:
        return [path for path, _ in list_segments(folder / "segments")]
    except SegmentError:
        return []


@pytest.mark.slow
def test_crawl_writes_each_item_once(tmp_path: Path):
    """Repeated items are written once; segments have the configured size."""
    Run(tmp_path, 20, "-a", "quotes=1", NEWSCRAWL_SEGMENT_ITEMS=8).log()
    items = list(read_segments(tmp_path / "segments"))
    urls = [item["url"] for item in items if "url" in item]
    assert sorted(urls) == sorted(urls_of(20))
    assert sorted(item["quote"] for item in items if "quote" in item) == list(range(20))
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert stats["newscrawl/segments/item_count"] == 61
    assert len(written(tmp_path)) == 8
    assert {item.get("title") for item in items} >= {f"Straße {number}" for number in range(20)}


@pytest.mark.slow
def test_second_crawl_adds_segments(tmp_path: Path):
    Run(tmp_path, 3).log()
    first = {path.name for path, _ in list_segments(tmp_path / "segments")}
    Run(tmp_path, 5).log()
    second = {path.name for path, _ in list_segments(tmp_path / "segments")}
    assert first < second
    assert {item["url"] for item in read_segments(tmp_path / "segments")} == urls_of(5)


@pytest.mark.slow
def test_copied_state_writes_other_names(tmp_path: Path):
    """Two crawls with the same state, on two machines: neither overwrites the other's segments."""
    copy, segments = tmp_path / "copy", tmp_path / "segments"
    copy.mkdir()
    Run(tmp_path, 1).log()
    written = [_item_count(tmp_path)]
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as state:
        state.execute("VACUUM INTO ?", (str(copy / "state.sqlite"),))
    for folder, quotes in ((tmp_path, ""), (copy, "1")):
        settings = {"NEWSCRAWL_SEGMENTS": segments, "NEWSCRAWL_SEGMENT_ITEMS": 2}
        Run(folder, 3, "-a", f"quotes={quotes}", **settings).log()
        written.append(_item_count(folder))
    items = list(read_segments(segments))
    assert len(items) == sum(written)
    assert {item["url"] for item in items if "url" in item} == urls_of(3)


def _item_count(folder: Path) -> int:
    count: int = json.loads((folder / "stats.json").read_text())["newscrawl/segments/item_count"]
    return count


@pytest.mark.slow
def test_writes_partial_segment_after_time(tmp_path: Path):
    run = Run(tmp_path, 3, NEWSCRAWL_SEGMENT_SECONDS=0.5, DOWNLOAD_DELAY=1.5)
    run.log()
    assert len(list_segments(tmp_path / "segments")) > 1


@pytest.mark.slow
def test_killed_crawls_lose_no_item(tmp_path: Path):
    options = {"NEWSCRAWL_SEGMENT_ITEMS": 7, "NEWSCRAWL_CHECKPOINT": 0.02}
    made = random.Random(7)
    before = 0
    for _ in range(5):
        # So slow that no crawl finishes: the next one would fetch all pages again.
        run = Run(tmp_path, 800, **options, DOWNLOAD_DELAY=0.05)
        # From the first segment of this run on, the kill can hit any step.
        while run.poll() is None and len(written(tmp_path)) <= before:
            time.sleep(0.01)
        time.sleep(made.uniform(0, 0.2))
        run.kill()
        run.wait()
        assert run.returncode == -signal.SIGKILL
        before = len(written(tmp_path))
        urls = [item["url"] for item in read_segments(tmp_path / "segments")]
        assert len(urls) == len(set(urls))
    assert "Resuming" in Run(tmp_path, 800, **options).log()
    urls = [item["url"] for item in read_segments(tmp_path / "segments")]
    assert len(urls) == len(set(urls))
    assert set(urls) == urls_of(800)
    assert not list((tmp_path / "segments").rglob(f"*{PARTIAL_SUFFIX}"))


@pytest.mark.slow
def test_keeps_items_if_folder_is_not_writable(tmp_path: Path):
    (tmp_path / "segments").write_text("a file")
    log = (run := Run(tmp_path, 3)).output()
    assert run.returncode == 1
    assert log.count("Could not write a segment") == 1
    assert "exit code 1: the next crawl writes the last segments" in log
    assert "Traceback" not in log
    (tmp_path / "segments").unlink()
    other = tmp_path / "other"
    Run(tmp_path, 2, NEWSCRAWL_SEGMENTS=other).log()  # a query with segments of its own
    assert {item["url"] for item in read_segments(other)} == urls_of(2)
    Run(tmp_path, 0).log()
    assert {item["url"] for item in read_segments(tmp_path / "segments")} == urls_of(3)


@pytest.mark.slow
def test_sets_undeliverable_items_aside(tmp_path: Path):
    """The rest is delivered, and the crawl ends with exit code 1 and the reason."""
    (tmp_path / "segments").write_text("a file")
    Run(tmp_path, 6).wait()
    (tmp_path / "segments").unlink()
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as state, state:
        lost = [
            json.loads(item)["url"]
            for (item,) in state.execute("SELECT item FROM outbox WHERE id = 2")
        ]
        state.execute("UPDATE outbox SET item = substr(item, 1, 40) WHERE id = 2")
    log = (run := Run(tmp_path, 0)).output()
    assert run.returncode == 1
    assert "Traceback" not in log
    assert "exit code 1" in log
    assert "item 2 set aside (damaged)" in log
    urls = {item["url"] for item in read_segments(tmp_path / "segments")}
    assert urls == urls_of(6) - set(lost)
    Run(tmp_path, 0).log()  # they are not tried again
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as state:
        errors = state.execute("SELECT id, item FROM outbox WHERE error IS NOT NULL").fetchall()
    assert [number for number, item in errors if item] == [2]


@pytest.mark.slow
def test_skips_damaged_requests(tmp_path: Path):
    """The other requests are done, and the crawl ends with exit code 1 and the reason."""
    run = Run(tmp_path, 40, NEWSCRAWL_SEGMENT_ITEMS=5, DOWNLOAD_DELAY=0.1)
    while run.poll() is None and not written(tmp_path):
        time.sleep(0.01)
    run.kill()
    run.wait()
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as state, state:
        state.execute(
            "UPDATE request SET request = replace(request, 'data:,', 'data:,9') WHERE id ="
            " (SELECT max(id) FROM request WHERE request IS NOT NULL)"
        )
    log = (run := Run(tmp_path, 40)).output()
    assert run.returncode == 1
    assert "Traceback" not in log
    assert "is damaged" in log
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as state:
        rows = state.execute("SELECT outcome, count(*) FROM outcome GROUP BY outcome")
        counts = dict(rows.fetchall())
    assert counts["failed/damaged"] == 1
    assert len(list(read_segments(tmp_path / "segments"))) >= len(urls_of(40)) - 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"NEWSCRAWL_SEGMENT_ITEMS": "many"}, "NEWSCRAWL_SEGMENT_ITEMS"),
        ({"SCHEDULER": "scrapy.core.scheduler.Scheduler"}, "needs the scheduler"),
    ],
)
def test_rejects_invalid_settings(tmp_path: Path, settings: dict[str, str], message: str):
    run = Run(tmp_path, 3, **settings)
    log = run.output()
    assert run.returncode != 0
    assert message in log


def test_warns_without_state(tmp_path: Path):
    log = Run(tmp_path, 3, NEWSCRAWL_STATE="").log()
    assert "without NEWSCRAWL_STATE" in log
    assert {item["url"] for item in read_segments(tmp_path / "segments")} == urls_of(3)
