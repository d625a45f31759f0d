"""Figures of finished runs in a file, so that an interrupted benchmark continues."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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

    def find(self, key: str, name: str, number: int) -> dict[str, Any] | None:
        """Return the figures of a run, None if it is missing."""
        wanted = {"key": key, "name": name, "round": number}
        for run in self._runs:
            if run.items() >= wanted.items():
                return run
        return None

    def runs(self, key: str, name: str) -> list[dict[str, Any]]:
        """Return the figures of all rounds of *name*."""
        return [run for run in self._runs if (run["key"], run["name"]) == (key, name)]

    def add(self, key: str, name: str, number: int, figures: Mapping[str, Any]) -> None:
        """Add a run and save it."""
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
