"""Spider that yields articles with bodies of 1 MB."""

from collections.abc import AsyncIterator
from typing import Any, ClassVar

import scrapy

from newscrawl.items import Article
from newscrawl.pipelines import NearDuplicatePipeline

BODY = 2**20
"""Length of a body, in characters."""

WORDS = ("mañana", "Straße", "house", "l\u2019été", "über", "港口", "ports")


class LongBodySpider(scrapy.Spider):
    """Yields 20 articles; every second article is a copy of the previous one."""

    name = "long-bodies"
    custom_settings: ClassVar[dict[str, Any]] = {
        "ITEM_PIPELINES": {NearDuplicatePipeline: 300},
        "NEWSCRAWL_NEARDUP_ENABLED": True,
    }

    async def start(self) -> AsyncIterator[Article]:
        """Yield articles without requests."""
        for number in range(20):
            words = (f"{word}{number // 2} {index}" for index, word in enumerate(WORDS * 999))
            text = " ".join(words)
            body = f"{text} " * (1 + BODY // len(text))
            yield Article(url=f"https://site{number}.test/", body=body[:BODY])
