"""Figures of finished runs in a file, so that an interrupted benchmark continues."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.speed.measured_process import FailedRunError
from benchmarks.speed.report_parts import run_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.speed.pages import SitePage

REPOSITORY = Path(__file__).resolve().parents[2]
CORPORA = REPOSITORY.parent / "shared" / "corpora"
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class RunLog:
    """Runs by pages, name and round, in the JSON Lines file *path*."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._runs: list[dict[str, Any]] = []
        if path.exists():
            text = path.read_text(encoding="utf-8")
            self._runs = [json.loads(line) for line in text.splitlines()]

    def runs(self, key: str, name: str) -> list[dict[str, Any]]:
        """Return the figures of all rounds of *name*."""
        return [run for run in self._runs if (run["key"], run["name"]) == (key, name)]

    def run_rounds(
        self, key: str, names: Sequence[str], rounds: int, run: Callable[[str], dict[str, Any]]
    ) -> None:
        """Run each of *names* once per round, every second one reversed, unless it is there."""
        for number in range(1, rounds + 1):
            for name in names if number % 2 else reversed(names):
                if number in {found["round"] for found in self.runs(key, name)}:
                    continue
                try:
                    figures = run(name)
                except FailedRunError as error:
                    print(f"round {number}: {error}", file=sys.stderr, flush=True)
                    continue
                self._add(key, name, number, figures)
                print(f"round {number}: {name:>20} {run_line(figures)}", flush=True)

    def _add(self, key: str, name: str, number: int, figures: Mapping[str, Any]) -> None:
        load = os.getloadavg()[1]
        run = {"key": key, "name": name, "round": number, "load": load, **figures}
        self._runs.append(run)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(run)}\n")


def pages_key(pages: Iterable[SitePage]) -> str:
    """Return a key of the chosen pages: runs over other pages are not comparable."""
    names = "\n".join(f"{page.labels.corpus}/{page.labels.id}{page.path}" for page in pages)
    return hashlib.sha256(names.encode()).hexdigest()[:12]


def environment() -> dict[str, str]:
    """Return the environment of a tool: no proxies, one thread per library, this repository."""
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    return {**kept, "PYTHONPATH": str(REPOSITORY), **dict.fromkeys(_ONE_THREAD, "1")}
