"""The journal: what a spider must know when its crawl is resumed, in the order it happened."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from newscrawl.crawl.frontier.leases import LeaseBook

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS journal (
    id INTEGER PRIMARY KEY, subject TEXT NOT NULL, entry TEXT NOT NULL
);
"""
CLEAR: Final = "DELETE FROM journal"
_INSERT: Final = "INSERT INTO journal (subject, entry) VALUES (?, ?)"

_encode = json.JSONEncoder(separators=(",", ":")).encode


class Journal:
    """The journal of a crawl, which ends with it. An entry is any JSON value."""

    def __init__(self, crawler: Crawler) -> None:
        self._book = LeaseBook.for_crawler(crawler)

    def write(self, subject: str, entry: Any) -> None:
        """Write *entry*, before whatever is written after it."""
        self._book.store.write(_INSERT, [(subject, _encode(entry))])

    def write_with_end(self, request: Request | None, subject: str, entry: Any) -> None:
        """Write *entry* in the transaction that ends *request*."""
        self._book.write_with_end(request, _INSERT, [(subject, _encode(entry))])

    async def read(self) -> dict[str, list[Any]]:
        """Return the entries on each subject; none but in a crawl that is resumed."""
        entries = defaultdict(list)
        for subject, entry in await self._book.store.read(
            "SELECT subject, entry FROM journal ORDER BY id"
        ):
            entries[subject].append(json.loads(entry))
        return dict(entries)
