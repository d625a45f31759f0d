"""Parsed style sheets, kept by the hash of their text: in memory, and on disk across crawls.

A site says the same in page after page, in its ``<style>`` blocks, too: of a second page's inline
CSS 56 % is in blocks that the first page had. The store is a cache; whatever is wrong with its
file costs time, never a page.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from newscrawl.css.sheets.sheet import FORMAT, Sheet, parse_sheet
from newscrawl.css.sheets.sqlite_sheet_store import SheetFile

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

logger = logging.getLogger(__name__)

FILE_SIZE: Final = 256 * 2**20
"""Bytes that the file may have, by default."""

MEMORY: Final = 32 * 2**20
"""Characters of sheets that stay in memory, by default."""

SHORTEST: Final = 4096
"""Characters; a shorter sheet is parsed as fast as it is read from the file."""


def sheet_hash(text: str) -> str:
    """Return what a sheet is filed under: the SHA-256 of its text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class SheetStore:
    """Parsed sheets by hash, for the threads of one process; without a *path* in memory alone.

    Any number of processes may use one file, each with a store of its own. Both parts forget what
    was used least recently: memory at *memory* characters, the file at *size* bytes. What is in
    the file outlives the process, however that ends.
    """

    def __init__(
        self, path: Path | str | None = None, *, size: int = FILE_SIZE, memory: int = MEMORY
    ) -> None:
        self._file = None if path is None else SheetFile(Path(path), size, FORMAT)
        self._memory = memory
        self._held = 0
        self._sheets: OrderedDict[str, tuple[Sheet, int]] = OrderedDict()
        self._lock = threading.Lock()

    def parsed(self, text: str) -> Sheet:
        """Return the sheet of *text*, which is parsed only if it is not in the store."""
        # Within a process a str's own hash, which is keyed, tells texts apart as well as a digest.
        key = f"{hash(text)} {len(text)}"
        sheet = self._in_memory(key)
        if sheet is None:
            sheet = self._filed(text) if self._file and len(text) >= SHORTEST else parse_sheet(text)
            self._hold(key, sheet)
        return sheet

    def _filed(self, text: str) -> Sheet:
        """Return the sheet of *text*, from the file or else put into it."""
        key = sheet_hash(text)
        sheet = self.get(key)
        if sheet is None:
            self.put(key, sheet := parse_sheet(text))
        return sheet

    def get(self, key: str) -> Sheet | None:
        """Return the sheet filed under a hash, None if it is not there or no more."""
        sheet = self._in_memory(key)
        if sheet is not None or self._file is None:
            return sheet
        plain = self._file.read(key)
        return None if plain is None else self._read(key, plain)

    def put(self, key: str, sheet: Sheet) -> None:
        """File a sheet under the hash of its text."""
        self._hold(key, sheet)
        if self._file is not None:
            self._file.write(key, json.dumps(sheet.to_plain(), separators=(",", ":")))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _in_memory(self, key: str) -> Sheet | None:
        with self._lock:
            held = self._sheets.get(key)
            if held is None:
                return None
            self._sheets.move_to_end(key)
            return held[0]

    def _read(self, key: str, plain: str) -> Sheet | None:
        try:
            sheet = Sheet.from_plain(json.loads(plain))
        except (ValueError, TypeError):
            logger.warning("a stored style sheet cannot be read: parsed again")
            return None
        self._hold(key, sheet)
        return sheet

    def _hold(self, key: str, sheet: Sheet) -> None:
        """Keep a sheet in memory; others go for it."""
        weight = sheet.size
        with self._lock:
            _, former = self._sheets.pop(key, (None, 0))
            self._sheets[key] = (sheet, weight)
            self._held += weight - former
            while self._held > self._memory and len(self._sheets) > 1:
                _, (_, dropped) = self._sheets.popitem(last=False)
                self._held -= dropped
