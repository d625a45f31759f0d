"""Network access: address checks, downloads, politeness, robots.txt."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest


class RefusedError(IgnoreRequest):
    """A request that is refused before it is sent; ``reason`` is its name in the stats."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"refused ({reason})")
        self.reason = reason
