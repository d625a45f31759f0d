"""Middlewares of a crawl."""

from newscrawl.middlewares.compression import CompressionMiddleware
from newscrawl.middlewares.politeness import PolitenessMiddleware
from newscrawl.middlewares.robots import RobotsMiddleware
from newscrawl.middlewares.safety import SafetyMiddleware
from newscrawl.middlewares.stylesheets import StylesheetMiddleware
from newscrawl.middlewares.warc import WarcMiddleware

__all__ = [
    "CompressionMiddleware",
    "PolitenessMiddleware",
    "RobotsMiddleware",
    "SafetyMiddleware",
    "StylesheetMiddleware",
    "WarcMiddleware",
]
