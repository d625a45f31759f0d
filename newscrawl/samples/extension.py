"""The sample sites as the embedded default of a crawl that is given no sites."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from typing import TYPE_CHECKING

from scrapy import signals

from newscrawl.samples.server import DEFAULT_PORT, SampleSites, default_urls

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class ServeSamples:
    """Extension: serves the sample sites while a crawl of their default URLs lasts.

    Does nothing in a crawl of other sites, nor where the first port is taken: then
    ``python -m newscrawl.samples`` is serving them already.
    """

    def __init__(self) -> None:
        self._served = ExitStack()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension, connected to the crawl."""
        extension = cls()
        crawler.signals.connect(extension.open, signals.spider_opened)
        crawler.signals.connect(extension.close, signals.spider_closed)
        return extension

    def open(self, spider: Spider) -> None:
        """Serve, if *spider* is to crawl the sample sites."""
        listed = {site.url for site in getattr(spider, "sites", ())}
        if listed.isdisjoint(default_urls()):
            return
        try:
            self._served.enter_context(SampleSites(DEFAULT_PORT))
        except OSError as error:
            logger.info("The sample sites are not served by this crawl: %s", error)

    def close(self) -> None:
        """Stop serving."""
        self._served.close()
