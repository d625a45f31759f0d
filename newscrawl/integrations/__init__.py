"""Components for existing projects and other plugins."""

from newscrawl.integrations.fill_middleware import FillMiddleware

__all__ = ["FillMiddleware"]
