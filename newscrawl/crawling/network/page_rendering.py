"""Pages that show nothing without scripts, rendered in Chromium (extra ``render``).

The browser has no network: Scrapy makes all its requests, so that robots.txt, the checks of
addresses, delays, budgets and limits apply to them. Playwright does not show redirects to the
routes of a page, so a browser with a network could follow one to a private address.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.http.request import NO_CALLBACK

from newscrawl.component import Component
from newscrawl.crawling.network import RefusedError
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.crawling.network.page_download import SHEETS
from newscrawl.crawling.network.rules_cache import SizedCache
from newscrawl.crawling.site_stats import SiteStats
from newscrawl.crawling.urls import registered_domain, site_key_or
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Route
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from newscrawl.items import PageItem

logger = logging.getLogger(__name__)

CHROMIUM: Final = ("chromium", "chromium-browser", "google-chrome")
"""Commands of the system's Chromium."""
MIN_TABS: Final = 2
"""Pages that are rendered at once, or the number of workers: each tab uses a CPU."""
MAX_REQUESTS: Final = 100
"""Requests of a page."""
MAX_REFUSED: Final = 300
"""Further requests, such as images, before the page's scripts end: each takes time of all tabs."""
MAX_SIZE: Final = 20 * 2**20
"""Size of the responses to a page in bytes, and of the rendered page in characters."""
MAX_ELEMENTS: Final = 100_000
"""Elements of the rendered page."""
_MAX_SCRIPTS: Final = 64 * 2**20  # bytes kept for other pages
# Seconds in which a page must answer; one whose script does not end never does.
_MAX_BLOCKED: Final = 10.0
# Seconds without a change or a request after which a page is complete, with text and without.
_QUIET: Final = (0.75, 3.0)
_MIN_TEXT: Final = 300
# Headers of the browser; Scrapy sets its own.
_BROWSERS: Final = ("accept-encoding", "content-length", "cookie", "host", "sec-", "user-agent")
# Sockets and early connections are no routes of Playwright; nothing listens at this port.
_NO_NETWORK: Final[Any] = {"server": "http://127.0.0.1:1"}
# Unlike Playwright, with Chromium's sandbox, which it does not have for root.
_LAUNCH_OPTIONS: Final = {"chromium_sandbox": getattr(os, "geteuid", lambda: -1)() != 0}
_ARGUMENTS: Final = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--js-flags=--max-old-space-size=512",  # MB of a page's scripts
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)
# Length of the text, and the page with its open shadow roots; both throw if it is too large.
_MEASURE: Final = f"""if (document.getElementsByTagName('*').length > {MAX_ELEMENTS}) throw 0;
document.body?.innerText.length ?? 0"""
_SERIALIZE: Final = f"""(() => {{
  const shadowRoots = [], root = document.documentElement;
  const collect = node => node.querySelectorAll('*').forEach(({{shadowRoot}}) => {{
    if (shadowRoot) {{ shadowRoots.push(shadowRoot); collect(shadowRoot); }}
  }});
  collect(document);
  document.querySelectorAll('noscript').forEach(element => element.remove());
  let html = root.getHTML({{shadowRoots}});
  if (shadowRoots.length) html = html.replace(/<(\\/?)template\\b/g, '<$1div');
  html = '<!DOCTYPE html>' + root.cloneNode(false).outerHTML.slice(0, -7) + html + '</html>';
  if (html.length > {MAX_SIZE}) throw 0;
  return html;
}})()"""


def find_chromium() -> str | None:
    """Return the path of the system's Chromium, None if there is none."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


class PageRenderer(Component):
    """Renders pages for ``NEWSCRAWL_RENDER``; the browser starts with the first one."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._crawler = crawler
        self._enabled = setting(settings, "NEWSCRAWL_RENDER") == "auto"
        self._max_pages = setting(settings, "NEWSCRAWL_RENDER_PAGES")
        self._timeout = setting(settings, "NEWSCRAWL_RENDER_TIMEOUT")
        self._begun: Counter[str] = Counter()
        self._tabs = asyncio.Semaphore(max(MIN_TABS, setting(settings, "NEWSCRAWL_WORKERS")))
        self._starting = asyncio.Lock()
        self._provider: Any = None
        self._browser: Browser | None = None
        self._scripts: SizedCache[Response] = SizedCache(_MAX_SCRIPTS)
        crawler.signals.connect(self._close, signals.spider_closed)

    async def render(self, page: PageItem, *, enabled: bool | None = None) -> PageItem | None:
        """Return *page* as its scripts have filled it, None if it is not rendered; count it.

        *enabled* is the option of its site, None for ``NEWSCRAWL_RENDER``.
        """
        if not (self._enabled if enabled is None else enabled):
            return None
        from playwright.async_api import Error  # noqa: PLC0415  # an extra

        site = page.site or site_key_or(page.url, "invalid")
        self._begun[site] += 1
        try:
            if self._begun[site] > self._max_pages:
                html, outcome = "", "over_budget"
            else:
                async with self._tabs, asyncio.timeout(self._timeout + 2 * _MAX_BLOCKED):
                    html, outcome = await self._show(await self._started(), page), "rendered"
        except (Error, RefusedError, TimeoutError) as error:
            html, outcome = "", failure_reason(error)
            logger.warning("Not rendered (%s): %s: %.200s", outcome, page.url, error)
        SiteStats(self._crawler.stats).count(site, f"rendering_count/{outcome}")
        content = html.encode("utf-8", "replace")
        return replace(page, html=content, encoding="utf-8", stylesheets=[]) if html else None

    async def _started(self) -> Browser:
        """Return Chromium, started by the settings of scrapy-playwright."""
        from scrapy_playwright.handler import Config  # noqa: PLC0415
        from scrapy_playwright.provider import PlaywrightBrowserProvider  # noqa: PLC0415

        async with self._starting:
            if self._provider is None:
                config = Config.from_settings(self._crawler.settings)
                options = {
                    **_LAUNCH_OPTIONS,
                    "executable_path": find_chromium(),
                } | config.launch_options
                options["args"] = [*options.get("args", ()), *_ARGUMENTS]
                config.launch_options = options
                provider = PlaywrightBrowserProvider(config)
                await provider.start()
                self._provider = provider
            if self._browser is None or not self._browser.is_connected():  # it has crashed
                self._browser = await self._provider.launch_browser()
            return self._browser

    async def _show(self, browser: Browser, page: PageItem) -> str:
        context = await browser.new_context(
            accept_downloads=False,
            proxy=_NO_NETWORK,
            service_workers="block",
            user_agent=self._crawler.settings["USER_AGENT"],
        )
        visit = _Visit(self._crawler, page, self._scripts, context)
        try:
            tab = await context.new_page()
            visit.session = await context.new_cdp_session(tab)
            context.on("page", lambda popup: popup.close())
            await context.route("**/*", visit.answer)
            await context.route_web_socket("**/*", lambda socket: socket.close())
            await tab.goto(page.url, wait_until="commit", timeout=1000 * self._timeout)
            return await visit.read(self._timeout)
        finally:
            for task in visit.active:
                task.cancel()
            async with asyncio.timeout(_MAX_BLOCKED):
                await context.close()

    async def _close(self) -> None:
        for owner in filter(None, (self._browser, self._provider)):
            await owner.close()


@dataclass(eq=False)
class _Visit:
    """A page in a tab, and its requests."""

    crawler: Crawler
    page: PageItem
    scripts: SizedCache[Response]
    context: BrowserContext
    session: CDPSession = field(init=False)
    is_shown: bool = False
    is_stopped: bool = False
    requests: int = 0
    refused: int = 0
    #: bytes of all responses
    size: int = 0
    #: requests in flight
    active: set[asyncio.Task[Response]] = field(default_factory=set)

    @property
    def _is_over_budget(self) -> bool:
        return self.requests >= MAX_REQUESTS or self.size >= MAX_SIZE

    async def read(self, seconds: float) -> str:
        """Return the page when it is complete, or after *seconds*."""

        async def send(method: str, **options: Any) -> Any:
            async with asyncio.timeout(_MAX_BLOCKED):
                return await self.session.send(method, options)

        async def evaluate(expression: str) -> Any:
            # In a world of its own, where the page has replaced no function.
            options = {"contextId": world["executionContextId"], "returnByValue": True}
            found = await send("Runtime.evaluate", expression=expression, **options)
            if "exceptionDetails" in found:
                raise RefusedError("too_large")
            return found["result"]["value"]

        tree = (await send("Page.getFrameTree"))["frameTree"]
        world = await send("Page.createIsolatedWorld", frameId=tree["frame"]["id"])
        now = asyncio.get_running_loop().time
        changed, end, length = now(), now() + seconds, 0
        while now() < end and now() - changed < _QUIET[length < _MIN_TEXT]:
            await asyncio.sleep(0.25)
            before, length = length, await evaluate(_MEASURE)
            if length != before or self.active:
                changed = now()
        return str(await evaluate(_SERIALIZE))

    async def answer(self, route: Route) -> None:
        """Answer a request of the browser: with the page, or with what Scrapy downloads."""
        from playwright.async_api import Error  # noqa: PLC0415

        with suppress(Error):  # the tab is closed
            if not route.request.is_navigation_request():
                response = await self._download(route)
                if response is None:
                    await self._refuse(route)
                    return
                headers = {
                    str(name).lower(): str(value)
                    for name, value in response.headers.to_unicode_dict().items()
                    if str(name).lower().startswith(("access-control-", "content-type"))
                }
                await route.fulfill(status=response.status, headers=headers, body=response.body)
            elif self.is_shown:  # a script or a frame asks for another page
                await route.fulfill(status=204)
            else:
                self.is_shown = True
                kind = f"text/html; charset={self.page.encoding or ''}"
                await route.fulfill(content_type=kind, body=self.page.html)

    async def _refuse(self, route: Route) -> None:
        await route.abort()
        self.refused += MAX_REFUSED if self._is_over_budget else 1
        if self.refused >= MAX_REFUSED and not self.is_stopped:
            self.is_stopped = True
            if self.active:
                await asyncio.wait(self.active)
            await self.session.send("Emulation.setScriptExecutionDisabled", {"value": True})
            await self.context.unroute_all()  # workers go on; they reach no network

    async def _download(self, route: Route) -> Response | None:
        """Return the response to a request of the page, None if it is refused or fails."""
        url, kind, method = route.request.url, route.request.resource_type, route.request.method
        is_script = (kind, method) == ("script", "GET")
        if is_script and (response := self.scripts.get(url)):
            return response
        # A query of the site's own interface, not what scripts report to others.
        is_query = method == "POST" and _domain(url) == _domain(self.page.url)
        if kind not in ("fetch", "script", "xhr") or not (method == "GET" or is_query):
            return None
        if self._is_over_budget:
            return None
        self.requests += 1
        self.crawler.stats.inc_value("newscrawl/rendering/request_count")
        task = asyncio.ensure_future(self.crawler.engine.download_async(self._request(route)))
        self.active.add(task)
        try:
            response = await task
        except (asyncio.CancelledError, Exception) as error:  # noqa: BLE001  # any middleware's
            logger.info("Not loaded for a page (%s): %s", failure_reason(error), url)
            return None
        finally:
            self.active.discard(task)
        self.size += len(response.body)
        is_own = urlsplit(url)[:2] == urlsplit(self.page.url)[:2]
        if not (is_own or is_script or "Access-Control-Allow-Origin" in response.headers):
            return None  # Playwright would allow it
        if is_script:
            self.scripts.put(url, response, len(response.body))
        return response

    def _request(self, route: Route) -> Request:
        requested, site = route.request, self.page.site
        headers = requested.headers.items()
        return Request(
            requested.url,
            method=requested.method,
            headers={name: text for name, text in headers if not name.startswith(_BROWSERS)},
            body=requested.post_data_buffer or b"",
            callback=NO_CALLBACK,
            meta={
                SHEETS: False,  # no style sheets
                "allow_offsite": True,
                "autothrottle_dont_adjust_delay": True,
                "dont_merge_cookies": _domain(requested.url) != _domain(self.page.url),
                "dont_retry": True,
                "download_maxsize": MAX_SIZE - self.size,
                **({"newscrawl_site": site} if site else {}),  # for its budget
            },
        )


def _domain(url: str) -> str:
    return registered_domain(site_key_or(url, ""))
