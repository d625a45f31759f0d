"""Requests that a crawl does not make, whoever asks for them."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest


class RefusedError(IgnoreRequest):
    """A request that is not made; ``reason`` is what the stats count it under."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"refused ({reason})")
        self.reason = reason
