"""Downloader middlewares."""

from newscrawl.middlewares.compression import CompressionMiddleware
from newscrawl.middlewares.opt_out import OptOutMiddleware
from newscrawl.middlewares.politeness import PolitenessMiddleware
from newscrawl.middlewares.response_charset import CharsetMiddleware, MetaRefreshMiddleware
from newscrawl.middlewares.robots_middleware import RobotsMiddleware
from newscrawl.middlewares.safety import SafetyMiddleware
from newscrawl.middlewares.site_cookies import SiteCookiesMiddleware
from newscrawl.middlewares.site_options import SiteOptionsMiddleware
from newscrawl.middlewares.stylesheet_middleware import StylesheetMiddleware
from newscrawl.middlewares.warc_middleware import WarcMiddleware

__all__ = [
    "CharsetMiddleware",
    "CompressionMiddleware",
    "MetaRefreshMiddleware",
    "OptOutMiddleware",
    "PolitenessMiddleware",
    "RobotsMiddleware",
    "SafetyMiddleware",
    "SiteCookiesMiddleware",
    "SiteOptionsMiddleware",
    "StylesheetMiddleware",
    "WarcMiddleware",
]
