"""Middlewares of a crawl."""

from newscrawl.middlewares.stylesheets import StylesheetMiddleware

__all__ = ["StylesheetMiddleware"]
