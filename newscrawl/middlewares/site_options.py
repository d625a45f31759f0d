"""Headers and delays of single sites, from the site list and from site rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured

from newscrawl.component import Component
from newscrawl.crawling.discovery.site_list import ListedSites
from newscrawl.crawling.urls import site_key_or
from newscrawl.defaults import SettingError, setting
from newscrawl.site_rules import SiteRules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

_ALLOWED: Final = "NEWSCRAWL_SITE_RULE_HEADERS"


class SiteOptionsMiddleware(Component):
    """Sends the headers of the site list, and of the rules that a setting names; sets delays.

    A request has these headers only while it is downloaded. What is made of it has none: redirects
    to other hosts, retries in the state, archives and caches. Raises ``NotConfigured`` if there is
    nothing to do, ``ValueError`` if a rule is missing or has no headers.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._listed = ListedSites.for_crawler(crawler)
        allowed = setting(crawler.settings, _ALLOWED)
        if not allowed and not any(
            site.headers or site.delay is not None for site in self._listed.sites
        ):
            raise NotConfigured
        self._rules: SiteRules | None = None
        if allowed:
            folder = setting(crawler.settings, "NEWSCRAWL_SITE_RULES")
            if not folder:
                raise SettingError(f"{_ALLOWED} needs NEWSCRAWL_SITE_RULES")
            self._rules = SiteRules(folder)
            self._allowed = [self._rules.find(f"https://{name}/") for name in allowed]
            for name, rule in zip(allowed, self._allowed, strict=True):
                if rule is None or not rule.headers:
                    raise SettingError(f"{_ALLOWED}: {folder} has no headers for {name}")
        #: request -> its own values of the headers that are replaced
        self._own: WeakKeyDictionary[Request, dict[str, list[bytes]]] = WeakKeyDictionary()
        crawler.signals.connect(self._set_delays, signals.spider_opened)

    def _set_delays(self) -> None:
        downloader, delays = self._crawler.engine.downloader, dict[str, float]()
        for site in self._listed.sites:
            if site.delay is not None:
                key = downloader.get_slot_key(Request(site.url))
                delays[key] = max(site.delay, delays.get(key, 0.0))
        for key, delay in delays.items():
            given = downloader.per_slot_settings.get(key, {})
            downloader.per_slot_settings[key] = {**given, "delay": delay}

    def process_request(self, request: Request) -> None:
        """Add the headers; a cookie next to those that the site has set."""
        own = self._own[request] = {}
        for name, value in self._headers(request.url):
            own.setdefault(name, request.headers.getlist(name))
            cookies = request.headers.getlist(name) if name.lower() == "cookie" else []
            request.headers[name] = b"; ".join([*cookies, value.encode()])

    def process_response(self, request: Request, response: Response) -> Response:
        """Restore the headers of *request*."""
        self._restore(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002
        """Restore the headers of a *request* that failed."""
        self._restore(request)

    def _restore(self, request: Request) -> None:
        for name, values in self._own.pop(request, {}).items():
            request.headers.pop(name, None)
            if values:
                request.headers[name] = values

    def _headers(self, url: str) -> Iterator[tuple[str, str]]:
        """Yield the headers for *url*, those of the list last; of a site with https, only there."""
        rule = self._rules.find(url) if self._rules else None
        if rule is not None and rule in self._allowed:
            yield from rule.headers.items()
        site = self._listed.of(site_key_or(url, ""))
        if site is not None and (url.startswith("https:") or site.url.startswith("http:")):
            yield from site.headers
