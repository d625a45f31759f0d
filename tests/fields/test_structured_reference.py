from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import skip_missing
from tests.lab.evaluation.test_evaluate import write_corpus

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def compare(repository: Path, tmp_path: Path) -> Any:
    """Return a function that compares our reader with extruct."""
    if find_spec("extruct") is None:
        reason = "extruct, the reference of structured data, is not installed (extra dev)"
        skip_missing(reason)
    figures = tmp_path / "figures.json"

    def run(*arguments: object) -> dict[str, Any]:
        script = repository / "benchmarks" / "structured.py"
        command = [sys.executable, *map(str, (script, *arguments, "--json", figures))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        sys.stdout.write(done.stdout)
        return json.loads(figures.read_text(encoding="utf-8"))

    return run


def test_reads_samples_like_extruct(compare: Any):
    syntaxes = compare()["syntaxes"]
    assert {name: counts["theirs"] for name, counts in syntaxes.items()} == {
        "json-ld": 0, "opengraph": 0, "microdata": 0,
    }  # fmt: skip
    assert syntaxes["json-ld"]["both"] > 0
    assert syntaxes["opengraph"]["both"] > 0


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("name", ["news212", "fundus"])
def test_reads_corpora_like_extruct(compare: Any, corpus_dir: Path, name: str):
    report = compare(corpus_dir / name)
    for counts in report["syntaxes"].values():
        assert counts["both"] > 0
        assert counts["theirs"] == 0
        assert counts["agreement"] == 1


def test_benchmark_times_both_readers(compare: Any, tmp_path: Path):
    row = {"id": "one", "url": "https://paper.example/1", "site": "paper.example", "title": "A"}
    report = compare(write_corpus(tmp_path / "small", [row]), "--time")
    assert report["pages"] == 1
    assert report["syntaxes"]["opengraph"]["both"] == 1
    assert report["times"]["ours"] > 0
    assert report["times"]["extruct"] > 0
