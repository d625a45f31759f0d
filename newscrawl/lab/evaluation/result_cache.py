"""Disk cache for results of slow tools."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from newscrawl.lab.corpora.corpus import LabelledPage


class ResultCache:
    """JSON values by key, stored as JSON Lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else ()
        self._values = {row["key"]: row["value"] for row in map(json.loads, lines)}

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def get(self, key: str, default: Any) -> Any:
        """Return the value of *key*, or *default*."""
        return self._values.get(key, default)

    def add(self, results: Iterable[tuple[str, Any]]) -> None:
        """Append pairs of key and value to the file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as lines:
            for key, value in results:
                self._values[key] = value
                lines.write(json.dumps({"key": key, "value": value}) + "\n")


def page_key(page: LabelledPage) -> str:
    """Return a key of *page* that depends on its bytes and its URL."""
    digest = hashlib.sha256(page.path.read_bytes() + (page.url or "").encode())
    return f"{page.corpus}/{page.id}/{digest.hexdigest()[:16]}"


def default_cache_dir() -> Path:
    """Return the user's cache folder (XDG base directories)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "newscrawl" / "peers"
