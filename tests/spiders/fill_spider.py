"""Spider of another project: yields each page as an item of every kind."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import attrs
import pydantic
import scrapy
from scrapy.http import Response


class PageItem(scrapy.Item):
    url = scrapy.Field()
    html = scrapy.Field()
    title = scrapy.Field()
    date = scrapy.Field()
    authors = scrapy.Field()
    newscrawl_status = scrapy.Field()


@dataclass
class PageData:
    url: str
    html: bytes | None
    title: str | None = None
    date: str | None = None
    authors: list[str] | None = None
    newscrawl_status: str | None = None


@attrs.define
class PageAttrs:
    url: str
    html: bytes | None
    title: str | None = None
    date: str | None = None
    authors: list[str] | None = None
    newscrawl_status: str | None = None


class PageModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(validate_assignment=True)
    url: str
    html: bytes
    title: str | None = None
    date: str | None = None
    authors: list[str] | None = None
    newscrawl_status: str | None = None


class FillSpider(scrapy.Spider):
    """Arguments: ``urls``."""

    name = "fill"
    item_classes: tuple[Any, ...] = (dict, PageItem, PageData, PageAttrs, PageModel)

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls.split(","):  # type: ignore[attr-defined]
            yield scrapy.Request(url)

    def parse(self, response: Response) -> Iterator[Any]:
        for item_class in self.item_classes:
            yield item_class(url=response.url, html=response.body)
