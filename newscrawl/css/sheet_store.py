"""Cache of parsed style sheets by the hash of their text, in memory and on disk.

The pages of a site share linked sheets and most ``<style>`` blocks. Errors of the file cost time,
never a page.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from newscrawl.css.parser import FORMAT, Sheet, parse_sheet
from newscrawl.css.sqlite_sheet_store import SheetFile

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

logger = logging.getLogger(__name__)

MAX_FILE_BYTES: Final = 256 * 2**20
"""Default size limit of the file, in bytes."""

MAX_MEMORY_CHARACTERS: Final = 32 * 2**20
"""Default limit of the characters of sheets in memory."""

MIN_STORED_LENGTH: Final = 4096
"""Minimum length of a stored sheet; a shorter one is parsed as fast as it is read."""


def sheet_hash(text: str) -> str:
    """Return the key of a sheet: the SHA-256 of its text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class SheetStore:
    """Parsed sheets by hash, shared by the threads of one process.

    Without a *path* the store is in memory only. Several processes may use one file, each with its
    own store. Least recently used sheets are evicted: from memory above *memory* characters, from
    the file above *size* bytes.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        size: int = MAX_FILE_BYTES,
        memory: int = MAX_MEMORY_CHARACTERS,
    ) -> None:
        self._file = None if path is None else SheetFile(Path(path), size, FORMAT)
        self._memory = memory
        self._memory_used = 0
        self._sheets: OrderedDict[str, tuple[Sheet, int]] = OrderedDict()
        self._lock = threading.Lock()

    def parsed(self, text: str) -> Sheet:
        """Return the sheet of *text*, which is parsed only if it is not in the store."""
        # Within a process, the keyed hash of str serves as well as a digest and is cached.
        key = f"{hash(text)} {len(text)}"
        sheet = self._in_memory(key)
        if sheet is None:
            stored = self._file is not None and len(text) >= MIN_STORED_LENGTH
            sheet = self._stored(text) if stored else parse_sheet(text)
            self._keep_in_memory(key, sheet)
        return sheet

    def _stored(self, text: str) -> Sheet:
        """Return the sheet of *text* from the file, after adding it if needed."""
        key = sheet_hash(text)
        sheet = self.get(key)
        if sheet is None:
            self.put(key, sheet := parse_sheet(text))
        return sheet

    def get(self, key: str) -> Sheet | None:
        """Return the sheet with a hash, None if it is not in the store."""
        sheet = self._in_memory(key)
        if sheet is not None or self._file is None:
            return sheet
        plain = self._file.read(key)
        return None if plain is None else self._read(key, plain)

    def put(self, key: str, sheet: Sheet) -> None:
        """Store a sheet under the hash of its text."""
        self._keep_in_memory(key, sheet)
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
            entry = self._sheets.get(key)
            if entry is None:
                return None
            self._sheets.move_to_end(key)
            return entry[0]

    def _read(self, key: str, plain: str) -> Sheet | None:
        try:
            sheet = Sheet.from_plain(json.loads(plain))
        except (ValueError, TypeError):
            logger.warning("Could not read a stored style sheet; parsing it again")
            return None
        self._keep_in_memory(key, sheet)
        return sheet

    def _keep_in_memory(self, key: str, sheet: Sheet) -> None:
        """Keep a sheet in memory and evict others above the limit."""
        weight = sheet.size
        with self._lock:
            _, former = self._sheets.pop(key, (None, 0))
            self._sheets[key] = (sheet, weight)
            self._memory_used += weight - former
            while self._memory_used > self._memory and len(self._sheets) > 1:
                _, (_, dropped) = self._sheets.popitem(last=False)
                self._memory_used -= dropped
