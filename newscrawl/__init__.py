"""Turn news pages into clean articles.

``extract(html, url)`` gives an :class:`Article`; ``newscrawl.Addon`` switches everything on in a
Scrapy project. Importing the package imports no part of Scrapy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.document.document import DocumentError
from newscrawl.extraction.extract import extract
from newscrawl.items import Article, Evidence

if TYPE_CHECKING:
    from newscrawl.addon import Addon

__all__ = ["Addon", "Article", "DocumentError", "Evidence", "extract"]


def __getattr__(name: str) -> Any:
    if name == "Addon":
        from newscrawl.addon import Addon  # noqa: PLC0415  # it imports Scrapy

        return Addon
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
