"""Extraction of clean articles from news pages.

``extract(html, url)`` and ``from_response(response)`` return an :class:`Article`;
``newscrawl.Addon`` enables the components in a Scrapy project. Importing the package does not
import Scrapy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from newscrawl.addon import Addon
    from newscrawl.document.document import DocumentError
    from newscrawl.extraction.extract import extract
    from newscrawl.extraction.from_response import from_response
    from newscrawl.items import Article, Evidence

__all__ = ["Addon", "Article", "DocumentError", "Evidence", "extract", "from_response"]

#: imported on first use: the command line starts quickly, and only the add-on imports Scrapy
_MODULES = {
    "Addon": "newscrawl.addon",
    "Article": "newscrawl.items",
    "DocumentError": "newscrawl.document.document",
    "Evidence": "newscrawl.items",
    "extract": "newscrawl.extraction.extract",
    "from_response": "newscrawl.extraction.from_response",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
