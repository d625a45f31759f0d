"""Style sheets of a corpus: ``NAME/stylesheets.json`` maps URLs to files in ``NAME/css/``."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from newscrawl.css import decode_sheet, parse_sheet

if TYPE_CHECKING:
    from pathlib import Path

    from newscrawl.css import Sheet


class CorpusSheets(Mapping[str, "Sheet"]):
    """Parsed style sheets by URL, read lazily; empty if the corpus has none.

    Raises ``OSError`` or ``ValueError`` if a file is missing or invalid.
    """

    def __init__(self, folder: Path) -> None:
        index = folder / "stylesheets.json"
        self._folder = folder / "css"
        self._files: dict[str, str] = json.loads(index.read_bytes()) if index.is_file() else {}
        self._sheets: dict[str, Sheet] = {}

    def __getitem__(self, url: str) -> Sheet:
        if url not in self._sheets:
            self._sheets[url] = parse_sheet(decode_sheet(self._read(self._files[url])))
        return self._sheets[url]

    def content(self, url: str) -> bytes | None:
        """Return the bytes of a style sheet, None if it is not stored."""
        return self._read(self._files[url]) if url in self._files else None

    def _read(self, name: str) -> bytes:
        return gzip.decompress((self._folder / name).read_bytes())

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@cache
def corpus_sheets(folder: Path) -> CorpusSheets:
    """Return the (cached) style sheets of the corpus in *folder*."""
    return CorpusSheets(folder)
