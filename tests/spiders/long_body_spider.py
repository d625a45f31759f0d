"""Yields articles with bodies of 1 MB.

``scrapy runspider tests/spiders/long_body_spider.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import scrapy

from newscrawl.items import Article
from newscrawl.pipelines import NearDuplicatePipeline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

BODY = 2**20
"""Characters of a body."""

WORDS = ("mañana", "Straße", "house", "l\u2019été", "über", "港口", "ports")


class LongBodySpider(scrapy.Spider):
    """Twenty articles; every second one is a copy of the one before."""

    name = "long-bodies"
    custom_settings: ClassVar[dict[str, Any]] = {
        "ITEM_PIPELINES": {NearDuplicatePipeline: 300},
        "NEWSCRAWL_NEARDUP_ENABLED": True,
    }

    async def start(self) -> AsyncIterator[Article]:
        """Yield articles, and ask for no page."""
        for number in range(20):
            frame = (f"{word}{number // 2} {place}" for place, word in enumerate(WORDS * 999))
            text = " ".join(frame)
            body = f"{text} " * (1 + BODY // len(text))
            yield Article(url=f"https://site{number}.test/", body=body[:BODY])
