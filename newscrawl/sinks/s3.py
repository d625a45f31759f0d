"""S3 sink: segments as objects, with boto3 (extra ``s3``).

Each segment has a manifest of its own, written after it. Objects never change, so deliveries of
several machines do not disturb each other, and a copy of the objects is a segment folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from newscrawl.crawling.output.segments import MANIFEST, manifest_text
from newscrawl.sinks.sink import SegmentDelivery, Sink, SinkError, SinkUrlError, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from urllib.parse import SplitResult

    from scrapy.settings import BaseSettings

    from newscrawl.crawling.output.segments import Segment

_SETTINGS: Final = {
    "aws_access_key_id": "AWS_ACCESS_KEY_ID",
    "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
    "aws_session_token": "AWS_SESSION_TOKEN",
    "endpoint_url": "AWS_ENDPOINT_URL",
    "region_name": "AWS_REGION_NAME",
}
"""Arguments of boto3 -> settings of Scrapy, for feeds too."""

_ERRORS: Final = (BotoCoreError, ClientError, ResponseParserError)

_CONFIG: Final = Config(
    connect_timeout=30, read_timeout=60, retries={"mode": "standard", "max_attempts": 4}
)


class S3Sink(Sink):
    """Objects below ``s3://bucket/prefix``."""

    def __init__(self, url: SplitResult, settings: BaseSettings) -> None:
        super().__init__(url)
        if not url.netloc or "@" in url.netloc:
            raise SinkUrlError(f"{self.name}: expected s3://BUCKET/PREFIX, credentials by settings")
        self._bucket, prefix = url.netloc, url.path.strip("/")
        self._prefix = f"{prefix}/" if prefix else ""
        given: dict[str, Any] = {name: settings.get(key) or None for name, key in _SETTINGS.items()}
        try:
            self._client = boto3.client("s3", config=_CONFIG, **given)
        except (BotoCoreError, ValueError) as error:
            raise SinkError(one_line(error)) from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def refused_counts(self, segments: Sequence[tuple[Path, Segment]]) -> dict[str, int]:
        """Return the segments whose manifests are there; objects are never refused."""
        days = sorted({path.parent.name for path, _ in segments})
        try:
            keys = {key for day in days for key in self._keys(f"{self._prefix}{day}/")}
        except _ERRORS as error:
            raise SinkError(_reason(error)) from error
        return {segment.sha256: 0 for path, segment in segments if self._manifest_key(path) in keys}

    def deliver(self, path: Path, segment: Segment) -> SegmentDelivery:
        """Upload a segment, then its manifest."""
        manifest = manifest_text(path.stem, [segment]).encode()
        try:
            with path.open("rb") as file:
                self._put(f"{self._prefix}{path.parent.name}/{path.name}", file)
            self._put(self._manifest_key(path), manifest)
        except _ERRORS as error:
            raise SinkError(_reason(error)) from error
        return SegmentDelivery(items=segment.items)

    def _put(self, key: str, body: Any) -> None:
        self._client.put_object(Bucket=self._bucket, Key=key, Body=body)

    def _manifest_key(self, path: Path) -> str:
        return f"{self._prefix}{path.parent.name}/{path.stem}{MANIFEST}"

    def _keys(self, prefix: str) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=prefix
        )
        return [entry["Key"] for page in pages for entry in page.get("Contents", ())]


def _reason(error: Exception) -> str:
    if isinstance(error, ClientError):
        details = error.response.get("Error", {})
        return one_line(f"{details.get('Code')}: {details.get('Message')}")
    return one_line(error)
