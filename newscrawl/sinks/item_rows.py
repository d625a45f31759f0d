"""Items of a segment as rows with a key and a version."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from newscrawl.crawl.discovery.urls import page_key
from newscrawl.crawl.output.segments import read_segment
from newscrawl.feeds.story_reader import identity, kept_parameters
from newscrawl.items import instant

if TYPE_CHECKING:
    from pathlib import Path

    from newscrawl.crawl.output.segments import Segment

MAX_KEY_BYTES: Final = 500
"""Maximum length of a key; OpenSearch accepts 512 bytes."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item with the key of its page."""

    #: normalised canonical URL (:func:`article_key`)
    key: str
    #: time of the fetch: of two rows with the same key, the later one is kept
    version: datetime
    #: number in the segment, from 1
    number: int
    url: str
    #: JSON values, as in a segment of JSON Lines
    item: dict[str, Any]

    def text(self, name: str) -> str | None:
        """Return a field, None unless it is text."""
        value = self.item.get(name)
        return value if isinstance(value, str) else None

    def instant(self, name: str) -> datetime | None:
        """Return a field as a time in UTC, see :func:`utc_instant`."""
        return utc_instant(self.item.get(name))


def read_item_rows(path: Path, segment: Segment) -> tuple[list[ItemRow], int]:
    """Return the rows of a segment in order of key and version, and the number of other items.

    Items without URL have no row, nor those of deleted articles. The order is the same in all
    processes, so that their transactions do not wait in a circle.
    """
    rows = []
    default = utc_instant(path.parent.name) or _EPOCH
    for number, item in enumerate(read_segment(path, segment), 1):
        url = item.get("url")
        is_deleted = "deleted" in (item.get("flags") or ())  # the text of the article stays
        if isinstance(url, str) and url and not is_deleted:
            key = article_key(url, item.get("canonical_url"), kept_parameters(item.get("evidence")))
            version = utc_instant(item.get("fetched_at")) or default
            rows.append(ItemRow(key, version, number, url, item))
    rows.sort(key=lambda row: (row.key, row.version, row.number))
    return rows, segment.items - len(rows)


def article_key(url: str, canonical_url: Any, kept: frozenset[str] = frozenset()) -> str:
    """Return the key of an article: its :func:`~newscrawl.feeds.story_reader.identity`, normalised."""
    key = page_key(identity(url, canonical_url, kept), kept)
    if len(key.encode()) <= MAX_KEY_BYTES:
        return key
    digest = hashlib.sha256(key.encode()).hexdigest()
    return f"{key.encode()[: MAX_KEY_BYTES - 65].decode(errors='ignore')}#{digest}"


def utc_instant(moment: Any) -> datetime | None:
    """Return :func:`~newscrawl.feeds.story_reader.instant` of *moment* in UTC; None if invalid."""
    try:
        return found.astimezone(UTC) if (found := instant(moment)) else None
    except OverflowError:
        return None
