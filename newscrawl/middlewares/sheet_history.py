"""Style sheets of former crawls, by URL: their parsed form, and how to ask for a newer version."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from newscrawl import clock
from newscrawl.css import stored_file

if TYPE_CHECKING:
    from pathlib import Path

MAX_AGE: Final = 7 * 24 * 3600
"""Seconds for which a sheet is used without a request."""


@dataclass(frozen=True, slots=True)
class KnownSheet:
    """A sheet that was fetched and parsed."""

    #: URL after redirects
    url: str
    #: key in the store
    hash: str
    #: URLs of its ``@import`` rules, as written
    imports: list[str]
    #: time of the last answer, in seconds since 1970
    checked: float
    etag: str | None = None
    last_modified: str | None = None

    @property
    def fresh(self) -> bool:
        """Whether it is used without a request."""
        return 0 <= clock.now().timestamp() - self.checked < MAX_AGE


class SheetHistory:
    """Known sheets in the folder of the store, a small file each; errors cost a request only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, url: str) -> KnownSheet | None:
        """Return the sheet of *url*, None if it is not known or no longer in the store."""
        try:
            known = KnownSheet(**json.loads(self._file(url).read_bytes()))
        except (OSError, TypeError, ValueError):
            return None
        return known if stored_file(self._folder, known.hash).is_file() else None

    def put(self, url: str, known: KnownSheet) -> None:
        """Record the sheet of *url*."""
        with suppress(OSError):
            self._file(url).write_text(json.dumps(asdict(known)), encoding="utf-8")

    def _file(self, url: str) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode(errors='replace')).hexdigest()}.url"
