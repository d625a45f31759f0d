"""The fuzzer finds faults, minimises them, and finds none in a short run."""

from pathlib import Path

import pytest

from benchmarks import fuzz
from benchmarks.fuzz_targets import NAMES


def test_minimizes_an_input():
    data = bytes(range(256)) * 20
    assert fuzz.minimize(data, lambda part: b"\x07" in part and b"<" in part) in {
        b"\x07<",
        b"<\x07",
    }


@pytest.mark.slow
def test_short_run_finds_nothing(tmp_path: Path):
    assert fuzz.run(5, 17, tmp_path, list(NAMES), max_inputs=10 * len(NAMES)) == 0


@pytest.mark.slow
def test_hostile_archives_take_bounded_memory_and_time(tmp_path: Path):
    assert fuzz.run(15, 5, tmp_path, ["archive"], max_inputs=30) == 0


@pytest.mark.slow
def test_finds_and_saves_a_slow_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With a limit that each input exceeds, each is a failure; the first is saved with a cause."""
    monkeypatch.setattr(fuzz, "MAX_SECONDS", 0.0)
    monkeypatch.setattr(fuzz, "_MINIMIZING_SECONDS", 0.0)
    assert fuzz.run(5, 17, tmp_path, ["page:nce"], max_inputs=3) == 3
    saved = tmp_path / "page_nce-17-0.txt"
    assert saved.read_text().startswith("page:nce\nslow\n")
    assert saved.with_suffix(".input").read_bytes()
    assert fuzz.replay(saved.with_suffix(".small")) == 1
