"""Extension of the demo: serves the sample sites."""

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
    """Serves the sample sites while they are crawled at their default URLs.

    Does nothing for other sites, or if the first port is in use because
    ``python -m newscrawl.samples`` is running.
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
        """Start the server if *spider* crawls the sample sites."""
        urls = {site.url for site in getattr(spider, "sites", ())}
        if urls.isdisjoint(default_urls()):
            return
        try:
            self._served.enter_context(SampleSites(DEFAULT_PORT))
        except OSError as error:
            logger.info("Could not serve the sample sites: %s", error)

    def close(self) -> None:
        """Stop the server."""
        self._served.close()
