"""The command that writes the pages of results."""

import os
import sys
from pathlib import Path

import pytest

from benchmarks import results
from benchmarks.results import RUNS, Run, stamped
from tests.conftest import REPOSITORY


def test_states_commit_and_day_once():
    page = "<!-- Written by ... -->\n\n# Title\n\nText.\n"
    once = stamped(page, "0a1b2c3", "2026-11-29", "Table 1 of a paper")
    assert "# Title\n\nMeasured at commit `0a1b2c3` on 2026-11-29. Table 1 of a paper; " in once
    again = stamped(once, "4d5e6f7", "2026-11-30")
    assert again == page.replace("Text", "Measured at commit `4d5e6f7` on 2026-11-30.\n\nText")


def test_index_has_each_page_and_takes_an_hour():
    index = (REPOSITORY / "docs/results/index.md").read_text(encoding="utf-8")
    rows = [line for line in index.splitlines() if line.startswith("| {doc}")]
    for run in RUNS:
        for page in run.pages:
            (found,) = (row for row in rows if f"{{doc}}`{page}`" in row)
            assert ("ARGS" in found) == run.night, page
    assert sum(run.minutes for run in RUNS if not run.night) <= 60


def test_writes_the_pages_of_benchmarks_that_succeed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "executable", "echo")
    runs = (Run(1, "one {out}", {"one": "Table 1"}), Run(1, "night", {"two": ""}, night=True))
    monkeypatch.setattr(results, "RUNS", runs)
    (tmp_path / "one.md").write_text("# One\n\nText.\n")
    assert results.main(["--out", str(tmp_path)]) == 0
    assert "Measured at commit" in (tmp_path / "one.md").read_text()
    assert f"-m one {os.path.relpath(tmp_path, REPOSITORY)}\n" in capfd.readouterr().out
    monkeypatch.setattr(sys, "executable", "false")
    assert results.main(["two", "--out", str(tmp_path)]) == 1
    assert "failed: night" in capfd.readouterr().err
