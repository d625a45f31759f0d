"""Cache of parsed style sheets by the hash of their text, in memory and in a folder.

The pages of a site share linked sheets and most ``<style>`` blocks. Errors of the files cost time,
never a page.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Final

from newscrawl import clock
from newscrawl.css.parser import Sheet, parse_sheet

logger = logging.getLogger(__name__)

FORMAT: Final = 6
"""Version of the files; sheets of another version are parsed again."""

MAX_FOLDER_BYTES: Final = 256 * 2**20
"""Default size limit of the folder, in bytes."""

MAX_MEMORY_CHARACTERS: Final = 32 * 2**20
"""Default limit of the characters of sheets in memory."""

MAX_PAGE_CHARACTERS: Final = 8 * 2**20
"""Limit of the characters of sheets in :data:`PAGE_STORE`."""

MIN_STORED_LENGTH: Final = 4096
"""Minimum length of a stored sheet; a shorter one is parsed as fast as it is read."""

_SLACK: Final = 0.05
"""Share of the limit that a process writes between two looks at the size of the folder."""


def sheet_hash(text: str) -> str:
    """Return the key of a sheet: the SHA-256 of its text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def stored_file(folder: Path, key: str) -> Path:
    """Return the file of a sheet in a folder, which may not exist."""
    return folder / f"{key}.{FORMAT}.json"


class SheetStore:
    """Parsed sheets by hash, shared by the threads of one process.

    Without a *path* the store is in memory only. Several processes may use one folder, each with
    its own store. Least recently used sheets are evicted: from memory above *memory* characters,
    from the folder above *size* bytes.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        size: int = MAX_FOLDER_BYTES,
        memory: int = MAX_MEMORY_CHARACTERS,
    ) -> None:
        self._folder = None if path is None else _SheetFolder(Path(path), size)
        self._memory = memory
        self._memory_used = 0
        self._sheets: OrderedDict[str, tuple[Sheet, int]] = OrderedDict()
        self._lock = threading.Lock()

    def parsed(self, text: str) -> Sheet:
        """Return the sheet of *text*, which is parsed only if it is not in the store."""
        key = sheet_hash(text)
        sheet = self.get(key)
        if sheet is None:
            sheet = parse_sheet(text)
            if len(text) >= MIN_STORED_LENGTH:
                self.put(key, sheet)
            else:
                self._keep_in_memory(key, sheet)
        return sheet

    def get(self, key: str) -> Sheet | None:
        """Return the sheet with a hash, None if it is not in the store."""
        with self._lock:
            if entry := self._sheets.get(key):
                self._sheets.move_to_end(key)
                return entry[0]
        sheet = self._folder.read(key) if self._folder else None
        if sheet is not None:
            self._keep_in_memory(key, sheet)
        return sheet

    def put(self, key: str, sheet: Sheet) -> None:
        """Store a sheet under the hash of its text."""
        self._keep_in_memory(key, sheet)
        if self._folder is not None:
            self._folder.write(key, sheet)

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


class _SheetFolder:
    """A folder of about *size* bytes with a file for each sheet; its time is that of its last use.

    A file appears with its whole content. Damaged files and those of another format are not read.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._size = size
        #: bytes written since the last look at the folder
        self._written = size
        self._failed = False

    def read(self, key: str) -> Sheet | None:
        """Return the sheet of *key*, None if it is not in the folder, and record its use."""
        file, now = stored_file(self._path, key), clock.now().timestamp()
        try:
            rules, imports, layers = json.loads(file.read_bytes())
            os.utime(file, (now, now))
            return Sheet(
                [(selectors, block, layer) for selectors, block, layer in rules], imports, layers
            )
        except (OSError, TypeError, ValueError):
            return None

    def write(self, key: str, sheet: Sheet) -> None:
        """Store a sheet and evict the least recently used ones above the limit."""
        data = json.dumps(
            [sheet.rules, sheet.imports, sheet.layers], separators=(",", ":")
        ).encode()
        if self._failed or len(data) > self._size / 2:
            return
        file, now = stored_file(self._path, key), clock.now().timestamp()
        partial = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(data)
            os.utime(partial, (now, now))
            partial.replace(file)
            self._written += len(data)
            if self._written > self._size * _SLACK:
                self._make_room()
        except OSError as error:
            self._failed = True
            logger.warning("Could not write the style sheet store %s: %s", self._path, error)

    def _make_room(self) -> None:
        """Delete the least recently used files above the limit, less what is written until then."""
        used, self._written = 0, 0
        files: list[tuple[float, int, str]] = []
        for entry in os.scandir(self._path):
            with suppress(FileNotFoundError):  # deleted by another process
                files.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
        for _, size, path in sorted(files, reverse=True):
            used += size
            if used > self._size * (1 - 2 * _SLACK):
                Path(path).unlink(missing_ok=True)


PAGE_STORE: Final = SheetStore(memory=MAX_PAGE_CHARACTERS)
"""Sheets of the pages of this process that are styled without a store of their own."""
