"""``QuietLogFormatter``: no lines about pages and items for a log that does not take them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response
    from scrapy.logformatter import LogFormatterResult
    from twisted.python.failure import Failure


class QuietLogFormatter(LogFormatter):
    """Says of each page and item what Scrapy says, where a handler of the root logger takes it.

    Scrapy makes both records for each page and leaves it to the handlers to throw them away: a
    thirtieth of what a page costs in the event loop.
    """

    def crawled(  # type: ignore[override]  # Scrapy's documented way to leave a line out
        self, request: Request, response: Response, spider: Spider
    ) -> LogFormatterResult | None:
        """Return the line of a page, None for none."""
        return super().crawled(request, response, spider) if _debug_is_heard() else None

    def scraped(  # type: ignore[override]
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult | None:
        """Return the line of an item, None for none."""
        return super().scraped(item, response, spider) if _debug_is_heard() else None


def _debug_is_heard() -> bool:
    return any(handler.level <= logging.DEBUG for handler in logging.getLogger().handlers)
