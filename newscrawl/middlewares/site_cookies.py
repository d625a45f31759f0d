"""Cookies of the sites that do not answer without them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.http import Response
from scrapy.http.cookies import CookieJar

from newscrawl.crawling.discovery.site_list import ListedSites
from newscrawl.crawling.urls import is_public_suffix, registered_domain, site_key_or

if TYPE_CHECKING:
    from collections.abc import Iterable
    from http.cookiejar import Cookie

    from scrapy import Request
    from scrapy.crawler import Crawler

MAX_SITES: Final = 10_000
"""Maximum number of sites with cookies; those of the site that was requested longest ago go."""
MAX_COOKIES: Final = 50
"""Maximum number of cookies of a site (RFC 6265, section 6.1); one more, and all start anew."""
MAX_COOKIE_SIZE: Final = 4096
"""Maximum size of a cookie in bytes, with its attributes (likewise); larger ones are ignored."""


class SiteCookiesMiddleware(CookiesMiddleware):
    """Scrapy's middleware with a jar for each registered domain, within limits.

    Those of a site list are in the jar from the beginning. Cookies are in memory only: neither in
    the state of a crawl nor in archives, and lost at its end. A ``cookiejar`` in the request's
    ``meta`` is a jar of the project.
    """

    def __init__(self, debug: bool = False) -> None:  # noqa: FBT001, FBT002  # as in Scrapy
        super().__init__(debug)
        self.jars: _Jars = _Jars()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware; raises ``NotConfigured`` without ``COOKIES_ENABLED``."""
        listed = ListedSites.for_crawler(crawler)
        middleware = super().from_crawler(crawler)
        middleware.jars.listed = listed.cookies()
        return middleware

    def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Add the cookies of the site to *request*."""
        request.meta.setdefault("cookiejar", _site(request))
        super().process_request(request)

    def process_response(self, request: Request, response: Response) -> Response:  # type: ignore[override]
        """Keep the cookies of *response*; those of *request* are not stored when it is retried."""
        key = request.meta.get("cookiejar")
        _remove_cookies(request)
        lines = response.headers.getlist("Set-Cookie")
        if not lines or request.meta.get("dont_merge_cookies"):
            return response
        accepted = [line for line in lines if len(line) <= MAX_COOKIE_SIZE][:MAX_COOKIES]
        jar = self.jars[key]
        # Not a copy, for which Scrapy would decode the body.
        head = Response(response.url, headers={"Set-Cookie": accepted})
        cookies = jar.make_cookies(head, request)
        self._process_cookies(cookies, jar=jar, request=request)
        if len(jar.jar) > MAX_COOKIES + len(self.jars.listed.get(key, ())):
            del self.jars[key]
        return response

    def _process_cookies(
        self, cookies: Iterable[Cookie], *, jar: CookieJar, request: Request
    ) -> None:
        # Scrapy's own downloads the public suffix list in the event loop.
        host = (urlsplit(request.url).hostname or "").lower()
        for cookie in cookies:
            if is_public_suffix(cookie.domain.removeprefix(".")):
                if cookie.domain.removeprefix(".") != host:
                    continue
                cookie.domain = host
            jar.set_cookie_if_ok(cookie, request)

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002
        """Remove the cookies from a *request* that failed, as it may be stored."""
        _remove_cookies(request)


class _Jars(defaultdict[Any, CookieJar]):
    """Cookie jars by site, of the sites requested last."""

    def __init__(self) -> None:
        super().__init__()
        #: cookies of new jars
        self.listed: dict[Any, list[Cookie]] = {}

    def __getitem__(self, key: Any) -> CookieJar:
        jar = self.pop(key, None) or self._new(key)
        self[key] = jar
        if len(self) > MAX_SITES:
            del self[next(iter(self))]
        return jar

    def _new(self, key: Any) -> CookieJar:
        jar = CookieJar()
        for cookie in self.listed.get(key, ()):
            jar.set_cookie(cookie)
        return jar


def _site(request: Request) -> str:
    return registered_domain(site_key_or(request.url, ""))


def _remove_cookies(request: Request) -> None:
    request.headers.pop("Cookie", None)
    if request.meta.get("cookiejar") == _site(request):
        del request.meta["cookiejar"]
