"""The store of parsed style sheets, in memory and on disk."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from newscrawl import clock
from newscrawl.css import SheetStore, parse_sheet, parser, sheet_hash
from newscrawl.css.sheet_store import MIN_STORED_LENGTH
from tests.conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

LONG = f"h1 {{ color: red }} /* {'x' * MIN_STORED_LENGTH} */"


def css(number: int, rules: int = 200) -> str:
    """Return a sheet of several KB that differs for each *number*."""
    return "".join(f".a{number} .b{rule} {{ color: #{rule:06} }}\n" for rule in range(rules))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a store in a folder that does not exist yet."""
    return tmp_path / "cache" / "sheets.sqlite"


@pytest.mark.parametrize("text", [css(1), "a{color:red}", "", "\ud800"])
def test_parses_a_sheet_once(text: str, path: Path):
    with SheetStore(path) as store:
        assert store.parsed(text) == parse_sheet(text)
        assert store.parsed(text) is store.parsed(text)
    with SheetStore(path) as later:
        assert later.parsed(text) == parse_sheet(text)


def test_returns_stored_sheets(path: Path):
    """Another store on the same file returns them, however short."""
    sheet = parse_sheet("@import 'y';a{color:red}")
    with SheetStore(path) as store:
        assert store.get(sheet_hash("a")) is None
        store.put(sheet_hash("a"), sheet)
        assert store.get(sheet_hash("a")) is sheet
    with SheetStore(path) as later:
        assert later.get(sheet_hash("a")) == sheet
        assert later.get(sheet_hash("b")) is None


def test_evicts_least_recently_used_from_memory():
    store = SheetStore(memory=3 * len(LONG))
    used = store.parsed("a{color:red}")
    first, *_, last = [
        (store.parsed(css(number)), store.parsed("a{color:red}"))[0] for number in range(40)
    ]
    assert store.parsed("a{color:red}") is used
    assert store.parsed(css(39)) is last
    assert store.parsed(css(0)) is not first


def test_evicts_least_recently_used_from_file(path: Path):
    size = 500_000
    start = datetime(2024, 5, 1, tzinfo=UTC)
    try:
        with SheetStore(path, size=size, memory=0) as store:
            for number in range(200):
                clock.set_clock(lambda number=number: start + timedelta(hours=2 * number))
                store.parsed(css(number))
                assert store.get(sheet_hash(css(0))) is not None
                assert path.stat().st_size <= size
            found = [n for n in range(200) if store.get(sheet_hash(css(n))) is not None]
    finally:
        clock.set_clock()
    assert found[0] == 0
    assert found[1:] == list(range(found[1], 200))
    assert 10 < len(found) < 100


def test_does_not_store_sheets_above_the_limit(path: Path):
    with SheetStore(path, size=200_000) as store:
        store.parsed(css(1))
        big = store.parsed(css(2, 20_000))
        assert store.parsed(css(2, 20_000)) is big
    with SheetStore(path) as later:
        assert later.get(sheet_hash(css(1))) is not None
        assert later.get(sheet_hash(css(2, 20_000))) is None


def test_replaces_sheets_of_other_formats(path: Path, monkeypatch: pytest.MonkeyPatch):
    with SheetStore(path) as store:
        store.parsed(css(1))
    monkeypatch.setattr("newscrawl.css.sheet_store.FORMAT", parser.FORMAT + 1)
    monkeypatch.setattr(parser, "FORMAT", parser.FORMAT + 1)
    with SheetStore(path) as store:
        assert store.get(sheet_hash(css(1))) is None
        store.parsed(css(1))
    with SheetStore(path) as store:
        assert store.get(sheet_hash(css(1))) == parse_sheet(css(1))


def test_replaces_a_damaged_file(path: Path, caplog: pytest.LogCaptureFixture):
    path.parent.mkdir()
    path.write_bytes(b"not a database" * 1000)
    with SheetStore(path) as store:
        assert store.get(sheet_hash(css(1))) is None
        store.parsed(css(1))
    assert "damaged" in caplog.text
    with SheetStore(path) as later:
        assert later.get(sheet_hash(css(1))) == parse_sheet(css(1))


def test_survives_overwritten_pages(path: Path):
    with SheetStore(path) as store:
        for number in range(20):
            store.parsed(css(number))
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    for _ in range(2):
        with SheetStore(path) as store:
            assert all(store.parsed(css(n)) == parse_sheet(css(n)) for n in range(20))


def test_parses_again_if_the_stored_sheet_is_invalid(path: Path):
    with SheetStore(path) as store:
        store.parsed(css(1))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE sheets SET plain = '[]'")
    connection.close()
    with SheetStore(path) as store:
        assert store.parsed(css(1)) == parse_sheet(css(1))


def test_falls_back_to_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """A file that cannot be created is reported once."""
    (tmp_path / "file").write_text("")
    with SheetStore(tmp_path / "file" / "sheets.sqlite") as store:
        assert store.parsed(css(1)) is store.parsed(css(1))
        assert store.parsed(css(2)) == parse_sheet(css(2))
    assert len(caplog.records) == 1


def test_threads_share_a_store(path: Path):
    with SheetStore(path, memory=0) as store, ThreadPoolExecutor(8) as pool:
        sheets = list(pool.map(lambda n: store.parsed(css(n % 5)), range(40)))
    assert sheets == [parse_sheet(css(n % 5)) for n in range(40)]


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from newscrawl.css.sheet_store import SheetStore
from tests.css.test_css_store import css
store = SheetStore(sys.argv[1], memory=0)
for number in range(int(sys.argv[3]), int(sys.argv[4])):
    store.parsed(css(number))
    print(number, flush=True)
"""


def writer(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    """Start a process that stores sheets and says which it has stored."""
    arguments = [str(path), str(REPOSITORY), str(first), str(last)]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, *arguments], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_processes_share_a_file(path: Path):
    path.parent.mkdir()
    processes = [writer(path, 50 * n, 50 * n + 50) for n in range(3)]
    assert [process.communicate()[0].count("\n") for process in processes] == [50] * 3
    with SheetStore(path) as store:
        assert all(store.get(sheet_hash(css(n))) is not None for n in range(150))


@pytest.mark.slow
def test_sheets_survive_a_killed_process(path: Path):
    process = writer(path, 0, 100_000)
    assert process.stdout is not None
    for _ in range(30):
        stored = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with SheetStore(path) as store:
        assert all(store.get(sheet_hash(css(n))) == parse_sheet(css(n)) for n in range(stored))
        store.parsed(css(-1))
        assert store.get(sheet_hash(css(-1))) is not None
