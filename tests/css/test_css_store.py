"""The store of parsed style sheets, in memory and on disk."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from newscrawl import clock
from newscrawl.css import SheetStore, parse_sheet, sheet_hash, sheet_store
from newscrawl.css.sheet_store import MIN_STORED_LENGTH
from tests.conftest import REPOSITORY

LONG = f"h1 {{ color: red }} /* {'x' * MIN_STORED_LENGTH} */"


def css(number: int, rules: int = 200) -> str:
    """Return a sheet of several KB that differs for each *number*."""
    return "".join(f".a{number} .b{rule} {{ color: #{rule:06} }}\n" for rule in range(rules))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a store that does not exist yet."""
    return tmp_path / "cache" / "sheets"


@pytest.mark.parametrize("text", [css(1), "a{color:red}", "", "\ud800"])
def test_parses_a_sheet_once(text: str, path: Path):
    store = SheetStore(path)
    assert store.parsed(text) == parse_sheet(text)
    assert store.parsed(text) is store.parsed(text)
    later = SheetStore(path)
    assert later.parsed(text) == parse_sheet(text)


def test_returns_stored_sheets(path: Path):
    """Another store on the same file returns them, however short."""
    sheet = parse_sheet("@import 'y';a{color:red}")
    store = SheetStore(path)
    assert store.get(sheet_hash("a")) is None
    store.put(sheet_hash("a"), sheet)
    assert store.get(sheet_hash("a")) is sheet
    later = SheetStore(path)
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


def test_evicts_least_recently_used_from_folder(path: Path):
    size = 500_000
    start = datetime(2024, 5, 1, tzinfo=UTC)
    try:
        store = SheetStore(path, size=size, memory=0)
        for number in range(200):
            clock.set_clock(lambda number=number: start + timedelta(hours=2 * number))
            store.parsed(css(number))
            assert store.get(sheet_hash(css(0))) is not None
            assert sum(file.stat().st_size for file in path.iterdir()) <= size
        found = [n for n in range(200) if store.get(sheet_hash(css(n))) is not None]
    finally:
        clock.set_clock()
    assert found[0] == 0
    assert found[1:] == list(range(found[1], 200))
    assert 10 < len(found) < 100


def test_does_not_store_sheets_above_the_limit(path: Path):
    store = SheetStore(path, size=200_000)
    store.parsed(css(1))
    big = store.parsed(css(2, 20_000))
    assert store.parsed(css(2, 20_000)) is big
    later = SheetStore(path)
    assert later.get(sheet_hash(css(1))) is not None
    assert later.get(sheet_hash(css(2, 20_000))) is None


def test_replaces_sheets_of_other_formats(path: Path, monkeypatch: pytest.MonkeyPatch):
    store = SheetStore(path)
    store.parsed(css(1))
    monkeypatch.setattr(sheet_store, "FORMAT", sheet_store.FORMAT + 1)
    store = SheetStore(path)
    assert store.get(sheet_hash(css(1))) is None
    store.parsed(css(1))
    store = SheetStore(path)
    assert store.get(sheet_hash(css(1))) == parse_sheet(css(1))


def test_parses_again_if_a_file_is_damaged(path: Path):
    store = SheetStore(path)
    for number in range(20):
        store.parsed(css(number))
    for number, file in enumerate(sorted(path.iterdir())):
        file.write_bytes((b"", b"[]", b"{", os.urandom(4096), file.read_bytes()[:-9])[number % 5])
    for _ in range(2):
        store = SheetStore(path)
        assert all(store.parsed(css(n)) == parse_sheet(css(n)) for n in range(20))
    assert all(SheetStore(path).get(sheet_hash(css(n))) is not None for n in range(20))


def test_falls_back_to_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """A file that cannot be created is reported once."""
    (tmp_path / "file").write_text("")
    store = SheetStore(tmp_path / "file" / "sheets")
    assert store.parsed(css(1)) is store.parsed(css(1))
    assert store.parsed(css(2)) == parse_sheet(css(2))
    assert len(caplog.records) == 1


def test_threads_share_a_store(path: Path):
    store = SheetStore(path, memory=0)
    with ThreadPoolExecutor(8) as pool:
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
def test_processes_share_a_folder(path: Path):
    path.parent.mkdir()
    processes = [writer(path, 50 * n, 50 * n + 50) for n in range(3)]
    assert [process.communicate()[0].count("\n") for process in processes] == [50] * 3
    store = SheetStore(path)
    assert all(store.get(sheet_hash(css(n))) is not None for n in range(150))


@pytest.mark.slow
def test_sheets_survive_a_killed_process(path: Path):
    process = writer(path, 0, 100_000)
    assert process.stdout is not None
    for _ in range(30):
        stored = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.communicate()
    store = SheetStore(path)
    assert all(store.get(sheet_hash(css(n))) == parse_sheet(css(n)) for n in range(stored))
    store.parsed(css(-1))
    assert store.get(sheet_hash(css(-1))) is not None
