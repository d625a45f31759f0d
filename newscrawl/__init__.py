"""Extraction of clean articles from news pages.

``extract(html, url)`` and ``from_response(response)`` return an :class:`Article`; ``crawl(sites)``
yields them, and ``urls(sites)`` lists them without fetching.
``newscrawl.Addon`` enables the components in a Scrapy project. Importing the package does not
import Scrapy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from newscrawl.addon import Addon
    from newscrawl.cli.python_crawl import CrawlError, acrawl, crawl, urls
    from newscrawl.document.document import DocumentError
    from newscrawl.extraction.extract import ExtractOptions, extract, from_response
    from newscrawl.items import Article, Evidence, ListedArticle
    from newscrawl.site_rules import SiteRules

__all__ = [
    "Addon",
    "Article",
    "CrawlError",
    "DocumentError",
    "Evidence",
    "ExtractOptions",
    "ListedArticle",
    "SiteRules",
    "acrawl",
    "crawl",
    "extract",
    "from_response",
    "urls",
]

#: imported on first use: the command line starts quickly, and only the add-on imports Scrapy
_MODULES = {
    "Addon": "newscrawl.addon",
    "Article": "newscrawl.items",
    "CrawlError": "newscrawl.cli.python_crawl",
    "DocumentError": "newscrawl.document.document",
    "Evidence": "newscrawl.items",
    "ExtractOptions": "newscrawl.extraction.extract",
    "ListedArticle": "newscrawl.items",
    "SiteRules": "newscrawl.site_rules",
    "acrawl": "newscrawl.cli.python_crawl",
    "crawl": "newscrawl.cli.python_crawl",
    "extract": "newscrawl.extraction.extract",
    "from_response": "newscrawl.extraction.extract",
    "urls": "newscrawl.cli.python_crawl",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
