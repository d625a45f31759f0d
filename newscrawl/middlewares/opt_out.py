"""Downloader middleware that leaves out sites and pages that opt out.

Of text and data mining, by files of a site, headers and meta elements of a page:
https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240202/
Of search engines and their archives, by directives for robots:
https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag
"""

from __future__ import annotations

import logging
import re
from functools import partial
from typing import TYPE_CHECKING, Final

from protego import Protego
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.utils.httpobj import urlparse_cached

from newscrawl.component import Component
from newscrawl.crawling.network import RefusedError
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.crawling.network.rule_files import product_token
from newscrawl.crawling.network.rules_cache import HostRules, ParserCache, RulesCache
from newscrawl.crawling.urls import site_key
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

#: meta key of requests for the files with the opt-outs
META: Final = "newscrawl_opt_out"

FILES: Final[Mapping[str, str]] = {"tdmrep": "/.well-known/tdmrep.json", "ai_txt": "/ai.txt"}
"""Files with the opt-outs of a site, by their names in the stats."""

NOT_EMITTED: Final = "newscrawl_not_emitted"
"""Meta key of a section page that must not be emitted as an article."""

ROBOTS_DIRECTIVES: Final = {
    name: re.compile(rb"(?<![\w-])(?:%b)(?![\w-])" % words, re.IGNORECASE)
    for name, words in {
        "noarchive": b"noarchive",
        # max-image-preview:none is no directive of the page.
        "noindex": rb"noindex|(?<!preview:)(?<!preview: )none",
        "nosnippet": b"nosnippet",
    }.items()
}
"""Values of ``NEWSCRAWL_ROBOTS_DIRECTIVES``, with the patterns that imply them."""

MAX_FILE_SIZE: Final = 64 * 1024
_MAX_HEAD: Final = 64 * 1024
_META: Final = re.compile(rb"<meta\b[^<>]*+>", re.IGNORECASE)
_RESERVATION: Final = re.compile(rb"\bname\s*=\s*[\"']?tdm-reservation\b", re.IGNORECASE)
_RESERVED: Final = re.compile(rb"\bcontent\s*+=\s*+[\"']?+\s*+1\b", re.IGNORECASE)
_ROBOTS: Final = re.compile(rb"\bname\s*=\s*[\"']?robots\b", re.IGNORECASE)
_NOAI: Final = re.compile(rb"(?<![\w-])noai(?![\w-])", re.IGNORECASE)


class OptOutMiddleware(Component):
    """Refuses requests and drops responses that are opted out.

    With ``NEWSCRAWL_TDM_OPT_OUT_OBEY``, sites opt out by ``/.well-known/tdmrep.json`` or
    ``/ai.txt``, fetched once per host; pages by the headers ``TDM-Reservation: 1`` and
    ``X-Robots-Tag: noai``, or the same in ``meta``. Articles also opt out by the
    ``NEWSCRAWL_ROBOTS_DIRECTIVES``.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._obeys_tdm = setting(settings, "NEWSCRAWL_TDM_OPT_OUT_OBEY")
        self._directives = {
            name: ROBOTS_DIRECTIVES[name]
            for name in setting(settings, "NEWSCRAWL_ROBOTS_DIRECTIVES")
        }
        if not self._obeys_tdm and not self._directives:
            raise NotConfigured  # without a message, because disabled is the default
        self._crawler = crawler
        self._agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        self._token = product_token(self._agent)
        self._rules = RulesCache(crawler, "opt_out")
        self._parsers = ParserCache(Protego.parse)

    async def process_request(self, request: Request) -> None:
        """Raise :class:`RefusedError` if the site opts out for the URL of *request*."""
        parts = urlparse_cached(request)
        if not self._obeys_tdm or META in request.meta or parts.path == "/robots.txt":
            return
        site = f"{parts.scheme}://{site_key(request.url)}"
        for name, path in FILES.items():
            url = site + path
            rules = await self._rules.get(url, partial(self._fetch, name, url, request))
            if rules.text is None:
                continue
            if not self._parsers.of(rules.text).can_fetch(request.url, self._agent):
                self._refuse(name, request)

    def process_response(self, request: Request, response: Response) -> Response:
        """Return *response*; raise :class:`RefusedError` if the page opts out."""
        if META in request.meta:
            return response
        reservations = response.headers.getlist("TDM-Reservation")
        tags = response.headers.getlist("X-Robots-Tag")
        elements = _meta_elements(response.body) if isinstance(response, HtmlResponse) else []
        if self._obeys_tdm:
            if is_opted_out_by_header(reservations, tags):
                self._refuse("header", request)
            if is_opted_out_by_meta(elements):
                self._refuse("meta", request)
        if isinstance(response, HtmlResponse):  # feeds and sitemaps are often noindex
            self._obey_directives(request, [*tags, *filter(_ROBOTS.search, elements)])
        return response

    def _obey_directives(self, request: Request, texts: list[bytes]) -> None:
        for name, pattern in self._directives.items():
            if any(map(pattern.search, texts)):
                # The links of sections are followed all the same.
                if request.meta.get("newscrawl_role") != "section":
                    self._refuse(name, request)
                request.meta[NOT_EMITTED] = True

    async def _fetch(self, name: str, url: str, request: Request) -> HostRules:
        meta = {META: True, "dont_retry": True, "download_maxsize": MAX_FILE_SIZE}
        try:
            response = await self._rules.download(url, request, meta)
            if response.status == 200:
                return await self._rules.read(response, request, file=name, token=self._token)
        except Exception as error:  # noqa: BLE001  # any middleware's
            reason = failure_reason(error)
            self._crawler.stats.inc_value(f"newscrawl/opt_out/failed_count/{reason}")
            logger.info("Could not read %s (%s)", url, reason)
        return HostRules()

    def _refuse(self, source: str, request: Request) -> None:
        self._crawler.stats.inc_value(f"newscrawl/opt_out/refused_count/{source}")
        logger.info("Opted out (%s): %s", source, request.url)
        raise RefusedError("opted_out")


def is_opted_out_by_header(reservations: Iterable[bytes], robots_tags: Iterable[bytes]) -> bool:
    """Return whether ``TDM-Reservation`` is 1 or an ``X-Robots-Tag`` has ``noai``."""
    return any(value.strip() == b"1" for value in reservations) or any(
        _NOAI.search(value) for value in robots_tags
    )


def is_opted_out_by_meta(elements: Iterable[bytes]) -> bool:
    """Return whether one of the ``meta`` *elements* reserves mining or has ``noai``."""
    return any(
        (_RESERVATION.search(element) and _RESERVED.search(element))
        or (_ROBOTS.search(element) and _NOAI.search(element))
        for element in elements
    )


def _meta_elements(html: bytes) -> list[bytes]:
    """Return the ``meta`` elements at the start of *html*."""
    return _META.findall(html[:_MAX_HEAD])
