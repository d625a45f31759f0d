"""Extraction of clean articles from news pages.

``extract(html, url)`` and ``from_response(response)`` return an :class:`Article`;
``newscrawl.Addon`` enables the components in a Scrapy project. Importing the package does not
import Scrapy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.document.document import DocumentError
from newscrawl.extraction.extract import extract
from newscrawl.extraction.from_response import from_response
from newscrawl.items import Article, Evidence

if TYPE_CHECKING:
    from newscrawl.addon import Addon

__all__ = ["Addon", "Article", "DocumentError", "Evidence", "extract", "from_response"]


def __getattr__(name: str) -> Any:
    if name == "Addon":
        from newscrawl.addon import Addon  # noqa: PLC0415  # it imports Scrapy

        return Addon
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
