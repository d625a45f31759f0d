"""Base class of sinks, the table of their URL schemes, and items of a segment as rows."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from newscrawl.crawling.logs import mask_secrets
from newscrawl.crawling.output.segments import read_segment
from newscrawl.crawling.urls import page_key
from newscrawl.feeds.story_reader import identity
from newscrawl.items import instant
from newscrawl.optional import require

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from urllib.parse import SplitResult

    from scrapy.settings import BaseSettings

    from newscrawl.crawling.output.segments import Segment


_POSTGRESQL: Final = ("newscrawl.sinks.postgresql:PostgresqlSink", "psycopg", "postgresql")
_OPENSEARCH: Final = ("newscrawl.sinks.opensearch:OpenSearchSink", "opensearchpy", "opensearch")
_SCHEMES: Final = {
    "s3": ("newscrawl.sinks.s3:S3Sink", "boto3", "s3"),
    "postgresql": _POSTGRESQL,
    "postgres": _POSTGRESQL,
    "opensearch": _OPENSEARCH,
    "opensearch+http": _OPENSEARCH,
}
"""URL scheme -> class, package and extra."""

_MAX_REASON: Final = 300


class SinkError(Exception):
    """A sink cannot be used; the message is one line without secrets."""


class SinkUrlError(ValueError):
    """The URL of a sink is invalid; the message is one line without secrets."""


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """Item that the sink did not accept."""

    #: number of the item in its segment, from 1
    number: int
    url: str
    error: str


@dataclass(slots=True)
class SegmentDelivery:
    """Result of the delivery of a segment."""

    #: items that the sink holds now, in this or a newer version
    items: int = 0
    #: items without a URL, which cannot be identified
    skipped: int = 0
    refused: list[RefusedRow] = field(default_factory=list)


class Sink(ABC):
    """Store that segments are delivered to, any number of times, by any number of processes."""

    #: URL without user, password and parameters
    name: str

    def __init__(self, url: SplitResult) -> None:
        self.name = sink_name(url)

    @abstractmethod
    def refused_counts(self, segments: Sequence[tuple[Path, Segment]]) -> dict[str, int]:
        """Return the SHA-256 of those *segments* that were delivered, with their refused items.

        Raises :class:`SinkError`.
        """

    @abstractmethod
    def deliver(self, path: Path, segment: Segment) -> SegmentDelivery:
        """Deliver a verified segment; a kill at any moment leaves it undelivered or delivered.

        Raises :class:`SinkError`.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""


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
            key = article_key(url, item.get("canonical_url"))
            version = utc_instant(item.get("fetched_at")) or default
            rows.append(ItemRow(key, version, number, url, item))
    rows.sort(key=lambda row: (row.key, row.version, row.number))
    return rows, segment.items - len(rows)


def article_key(url: str, canonical_url: Any) -> str:
    """Return the key of an article: its normalised identity."""
    key = page_key(identity(url, canonical_url))
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


def sink_name(url: SplitResult) -> str:
    """Return *url* without user, password and parameters."""
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"


def check_url(url: str) -> str:
    """Return the name of the sink at *url*.

    Raises :class:`SinkUrlError`, and ``MissingPackageError`` if its package is not installed.
    """
    parts = _parse(url)
    _, package, extra = _SCHEMES[parts.scheme]
    require(package, package, extra)
    return sink_name(parts)


def open_sink(url: str, settings: BaseSettings) -> Sink:
    """Return the connected sink at *url*, which is valid (:func:`check_url`).

    *settings* are those of Scrapy, for its AWS settings. Raises :class:`SinkError`, and
    :class:`SinkUrlError` for a URL that the sink does not accept.
    """
    parts = _parse(url)
    module, _, name = _SCHEMES[parts.scheme][0].partition(":")
    sink: Sink = getattr(import_module(module), name)(parts, settings)
    return sink


def _parse(url: str) -> SplitResult:
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.scheme in _SCHEMES:
            return parts
    schemes = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
    raise SinkUrlError(f"a sink has a URL with one of {schemes}")


def one_line(error: BaseException | str) -> str:
    """Return the message of *error* in one line without secrets."""
    text = " ".join(mask_secrets(str(error)).split())
    if not text and isinstance(error, BaseException):
        text = type(error).__name__
    return text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]} ..."
