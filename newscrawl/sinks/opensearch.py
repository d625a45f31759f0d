"""OpenSearch sink: one document per article, with opensearch-py (extra ``opensearch``).

The time of the fetch is the external version of a document, so the server itself refuses to replace
a newer one. A segment is noted as delivered after all its documents.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from opensearchpy import OpenSearch, helpers
from opensearchpy.exceptions import (
    ConnectionError as LostConnectionError,
)
from opensearchpy.exceptions import OpenSearchException, RequestError, TransportError

from newscrawl.sinks.sink import (
    RefusedRow,
    SegmentDelivery,
    Sink,
    SinkError,
    SinkUrlError,
    one_line,
    read_item_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from urllib.parse import SplitResult

    from scrapy.settings import BaseSettings

    from newscrawl.crawling.output.segments import Segment
    from newscrawl.sinks.sink import ItemRow

# The client logs a warning for each answer that is not 2xx, expected ones included.
logging.getLogger("opensearch").setLevel(logging.ERROR)

_KEYWORD: Final = {"type": "keyword", "ignore_above": 8191}
_TEXT: Final = {"type": "text"}
_STORED: Final = {"type": "object", "enabled": False}
_ARTICLES: Final = {
    "mappings": {
        "properties": {
            "url": _KEYWORD,
            "canonical_url": _KEYWORD,
            "title": _TEXT,
            "description": _TEXT,
            "body": _TEXT,
            "date": {"type": "date"},
            "date_modified": {"type": "date"},
            "fetched_at": {"type": "date"},
            "language": _KEYWORD,
            "authors": _KEYWORD,
            "site_name": _KEYWORD,
            "section": _KEYWORD,
            "tags": _KEYWORD,
            "kind": _KEYWORD,
            "next_pages": _KEYWORD,
            "flags": _KEYWORD,
            # Objects with other fields in each article would exhaust the fields of the index.
            "evidence": _STORED,
            "cluster": _STORED,
            "alternates": _STORED,
            "data": _STORED,
        }
    }
}
_SEGMENTS: Final = {
    "mappings": {
        "dynamic": False,
        "properties": {"name": _KEYWORD, "refused_count": {"type": "long"}},
    }
}
_PORT: Final = 9200
_HELD: Final = frozenset({200, 201, 409})
"""Status of a document that the index holds now; 409: in this or a newer version."""
_REFUSED: Final = 400
_REJECTED: Final = 429
"""Status of a document for which a queue is full."""
_PAUSES: Final = (1.0, 4.0, 16.0)
"""Seconds before rejected documents are sent again."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_BATCH: Final = 1000


class OpenSearchSink(Sink):
    """Index at ``opensearch://user:password@host/index``; ``opensearch+http``: no TLS."""

    def __init__(self, url: SplitResult, settings: BaseSettings) -> None:  # noqa: ARG002
        super().__init__(url)
        self._index = url.path.strip("/")
        self._segments = f"{self._index}-segments"
        try:
            host = {"host": url.hostname or "localhost", "port": url.port or _PORT}
        except ValueError:
            raise SinkUrlError(f"{self.name}: the port is not a number") from None
        if not self._index or "/" in self._index:
            raise SinkUrlError(f"{self.name}: expected opensearch://HOST/INDEX")
        login = (unquote(url.username), unquote(url.password or "")) if url.username else None
        self._client = OpenSearch(
            hosts=[host],
            use_ssl=url.scheme == "opensearch",
            http_auth=login,
            timeout=60,
            max_retries=3,
            retry_on_timeout=True,
        )
        with _sink_errors():
            self._create_index(self._index, _ARTICLES)
            self._create_index(self._segments, _SEGMENTS)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def refused_counts(self, segments: Sequence[tuple[Path, Segment]]) -> dict[str, int]:
        """Return the refused items of delivered segments."""
        hashes = [segment.sha256 for _, segment in segments]
        found: dict[str, int] = {}
        with _sink_errors():
            for start in range(0, len(hashes), _BATCH):
                body = {"ids": hashes[start : start + _BATCH]}
                answer = self._client.mget(
                    body=body, index=self._segments, _source_includes="refused_count"
                )
                found |= {
                    note["_id"]: note["_source"]["refused_count"]
                    for note in answer["docs"]
                    if note.get("found")
                }
        return found

    def deliver(self, path: Path, segment: Segment) -> SegmentDelivery:
        """Deliver the documents of a segment, then the note that it was delivered."""
        rows, skipped = read_item_rows(path, segment)
        with _sink_errors():
            refused = self._index_rows(rows)
            note = {
                "name": segment.name,
                "refused_count": len(refused),
                "refused": [asdict(row) for row in refused],
            }
            self._client.index(index=self._segments, id=segment.sha256, body=note)
        return SegmentDelivery(len(rows) - len(refused), skipped, refused)

    def _index_rows(self, rows: Sequence[ItemRow]) -> list[RefusedRow]:
        """Index *rows*, rejected ones several times; return the refused ones."""
        refused: list[RefusedRow] = []
        for pause in (*_PAUSES, None):
            # The helper's own retries would change the order of the results.
            results = helpers.streaming_bulk(
                self._client, self._actions(rows), raise_on_error=False, max_retries=0
            )
            rejected = []
            for row, (_, result) in zip(rows, results, strict=True):
                answer = result["index"]
                if answer["status"] == _REJECTED and pause is not None:
                    rejected.append(row)
                elif answer["status"] == _REFUSED:
                    refused.append(RefusedRow(row.number, row.url, _cause(answer)))
                elif answer["status"] not in _HELD:
                    raise SinkError(_cause(answer))
            if not rejected or pause is None:
                break
            time.sleep(pause)
            rows = rejected
        return refused

    def _actions(self, rows: Sequence[ItemRow]) -> Iterator[dict[str, Any]]:
        for row in rows:
            yield {
                "_op_type": "index",
                "_index": self._index,
                "_id": row.key,
                "version": max(1, (row.version - _EPOCH) // _MICROSECOND),
                "version_type": "external",
                "_source": row.item,
            }

    def _create_index(self, name: str, body: dict[str, Any]) -> None:
        if self._client.indices.exists(index=name):
            return
        try:
            self._client.indices.create(index=name, body=body)
        except RequestError as error:
            if error.error != "resource_already_exists_exception":  # created by another process
                raise


@contextmanager
def _sink_errors() -> Iterator[None]:
    """Raise :class:`SinkError` for errors of the client, which does not check answers."""
    try:
        yield
    except OpenSearchException as error:
        raise SinkError(_reason(error)) from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise SinkError(
            one_line(f"not an answer of OpenSearch, or a part of one ({error})")
        ) from error


def _cause(answer: dict[str, Any]) -> str:
    """Return the innermost reason of a failed document."""
    error = answer.get("error", {})
    reason = f"{error.get('type')}: {error.get('reason')}"
    while cause := error.get("caused_by"):
        error = cause
        reason = f"{reason}: {error.get('reason')}"
    return one_line(reason)


def _reason(error: OpenSearchException) -> str:
    if isinstance(error, LostConnectionError):
        return one_line(f"no connection ({error.error})")
    if isinstance(error, TransportError):
        return one_line(f"HTTP status {error.status_code}: {error.error}")
    return one_line(error)
