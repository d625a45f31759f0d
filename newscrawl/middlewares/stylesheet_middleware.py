"""Downloader middleware that fetches the style sheets of pages, each URL once for all pages."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.referer import StrictOriginWhenCrossOriginPolicy
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.project import data_path

from newscrawl import clock
from newscrawl.component import Component
from newscrawl.crawling.history.conditional_requests import conditional_headers, validators
from newscrawl.crawling.network import RefusedError
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.crawling.network.page_download import SHEET_SITE, SHEETS
from newscrawl.crawling.urls import registered_domain, site_key, site_key_or
from newscrawl.css import sheet_url, sheet_urls
from newscrawl.defaults import setting
from newscrawl.document.encoding import header_charset
from newscrawl.middlewares.sheet_history import KnownSheet, SheetHistory
from newscrawl.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from newscrawl.items import PageItem

logger = logging.getLogger(__name__)

TASK = "newscrawl.workers.tasks:parse_stylesheet"

#: URLs whose result (success or failure) is cached
MAX_CACHED = 20_000
#: levels of ``@import`` below a linked sheet
IMPORT_DEPTH = 2
_MAX_REDIRECTS = 3
_WATCH_INTERVAL = 1.0
_PARAGRAPH = re.compile(rb"<[pP][\s>]")
# 99 % of article pages have at least five.
_MIN_PARAGRAPHS = 3
MAX_SHEETS = 32
"""Sheets of a page, imports included; 95 % of news pages have up to 18."""
MAX_SHEET_SIZE = 2 * 2**20
"""Bytes of a sheet, uncompressed; the largest one observed has 1.2 MB."""
MAX_HOST_FAILURES = 5
"""Consecutive failures after which a host is skipped for the site of the pages."""
# Meta keys of the page's request: sheets use the same proxy.
_INHERITED = ("proxy", "_auth_proxy", "bindaddress")
# Failures that concern the host instead of a single sheet; any 5xx does, too.
_HOST_FAILURES = frozenset({"timeout", "dns", "connection", "truncated", "http_403", "http_429"})


class SheetError(Exception):
    """The sheet is not available; ``reason`` is its name in the stats."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Referrer:
    """The page or sheet that refers to a sheet."""

    url: str
    #: the site that failures count against
    site: str
    meta: Mapping[str, Any]
    proxy_authorization: bytes | None

    @classmethod
    def of(cls, request: Request, url: str) -> Self:
        """Return the page or sheet at *url*, the response to *request*."""
        meta = {name: request.meta[name] for name in _INHERITED if name in request.meta}
        if "_scheme_proxy" in request.meta:  # set from the environment for each request anew
            meta = {}
        authorization = request.headers.get("Proxy-Authorization") if meta else None
        if site := request.meta.get("newscrawl_site"):  # counts towards its request budget
            meta["newscrawl_site"] = site
        site = site or request.meta.get(SHEET_SITE) or registered_domain(site_key_or(url, ""))
        return cls(url, site, meta, authorization)


@dataclass(frozen=True, slots=True)
class FetchedSheet:
    """A sheet that was parsed and stored."""

    #: the sheet itself (URL after redirects), as the referrer of its imports
    referrer: Referrer
    #: key in the store
    hash: str
    #: URLs of its ``@import`` rules, as written
    imports: list[str]


SheetTask = asyncio.Task[FetchedSheet | None]


class StylesheetMiddleware(Component):
    """Fetches the sheets of every page that may be an article, and parses them in workers.

    Its priority (545) places it after decompression, redirects and retries. It never delays a
    response; ``NewsExtractPipeline`` waits for the sheets. Pages share one task per URL, and a URL
    that failed is not requested again. ``response.meta["newscrawl_css"]`` has the URLs. Set it to
    False in a request to fetch no sheets for its response.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not setting(crawler.settings, "NEWSCRAWL_CSS_ENABLED"):
            raise NotConfigured  # without a message: no style sheets is a usual choice
        settings = crawler.settings
        # Arguments of worker tasks that use the store of parsed sheets.
        folder = Path(data_path(setting(settings, "NEWSCRAWL_CSS_STORE"))).absolute()
        self._store = {"store": str(folder)}
        self._history = SheetHistory(folder)
        self._timeout = setting(settings, "NEWSCRAWL_CSS_TIMEOUT")
        self._host_requests = max(1, settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"))
        # Besides CONCURRENT_REQUESTS, see Downloader. Below 4 of them there is no limit, since
        # sheets that time out in turn take longer.
        requests = settings.getint("CONCURRENT_REQUESTS") // 4 or MAX_CACHED
        self._slots = asyncio.Semaphore(requests)
        self._crawler = crawler
        self._workers = WorkerPool.for_crawler(crawler)
        self._stats = crawler.stats
        self._tasks: LocalCache[str, SheetTask] = LocalCache(MAX_CACHED)
        self._shows_stories: LocalCache[str, bool] = LocalCache(MAX_CACHED)
        self._running: set[SheetTask] = set()
        self._watcher: asyncio.Task[None] | None = None
        self._host_slots: dict[str, asyncio.Semaphore] = {}
        # Failures since the last success by site and host: a site cannot disable a host for others.
        self._failures: Counter[tuple[str, str]] = Counter()
        self._referers = settings.getbool("REFERER_ENABLED")
        crawler.signals.connect(self._watch, signals.spider_opened)
        crawler.signals.connect(self.close, signals.spider_closed)

    def _watch(self) -> None:
        self._watcher = asyncio.create_task(self._cancel_unwanted())

    async def _cancel_unwanted(self) -> None:
        """Cancel downloads whenever no page waits for one, since the crawl ends after the last."""
        while True:
            await asyncio.sleep(_WATCH_INTERVAL)
            if self._running and not self._has_pages():
                self._count("cancelled_count", len(self._running))
                await self._cancel()

    def _has_pages(self) -> bool:
        """Return whether a page is being fetched or processed, according to Scrapy's engine."""
        engine = self._crawler.engine
        slot, scraping = engine._slot, engine.scraper.slot  # noqa: SLF001  # closing waits for it
        if slot is None or scraping is None:  # starting or closed
            return False
        # Sheets, and the robots.txt of their hosts, have no callback.
        return not scraping.is_idle() or any(
            request.callback is not NO_CALLBACK for request in slot.inprogress
        )

    def process_response(self, request: Request, response: Response) -> Response:
        """Start to fetch the sheets of *response*; return it unchanged."""
        if (
            response.status == 200
            and isinstance(response, HtmlResponse)
            and request.meta.get(SHEETS) is not False
        ):
            shows_story = self._shows_stories.get(site_key_or(response.url, ""), True)
            urls = sheet_urls(response.body, response.url, limit=MAX_SHEETS) if shows_story else []
            if not urls or len(_PARAGRAPH.findall(response.body)) >= _MIN_PARAGRAPHS:
                request.meta[SHEETS] = urls
                referrer = Referrer.of(request, response.url)
                for url in urls:
                    self._task(url, referrer)
        return response

    def learn(self, url: str, *, shows_story: bool) -> None:
        """Record whether the page *url* shows its story; page data are read without style."""
        self._shows_stories[site_key_or(url, "")] = shows_story

    async def arguments(self, page: PageItem) -> dict[str, Any]:
        """Return the sheets of *page*, with their imports, as arguments of its task.

        Waits for the timeout at most; sheets that failed or are not complete then are left out.
        Imports are resolved against the URL of their sheet as linked, before redirects.
        """
        urls = page.stylesheets
        if urls is None:
            urls = sheet_urls(page.html, page.url, limit=MAX_SHEETS)
        deadline = asyncio.get_running_loop().time() + self._timeout
        linked = {url: task for url in urls if (task := self._tasks.get(url))}
        found = arrived = await self._arrived(linked, deadline)
        for _ in range(IMPORT_DEPTH):
            arrived = await self._arrived(self._imports(found, arrived), deadline)
            found = found | arrived
        hashes = {url: sheet.hash for url, sheet in found.items()}
        return {"stylesheets": hashes, **self._store}

    async def close(self) -> None:
        """Cancel active downloads."""
        if self._watcher:
            self._watcher.cancel()
        await self._cancel()

    async def _cancel(self) -> None:
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _arrived(
        self, wanted: Mapping[str, SheetTask], deadline: float
    ) -> dict[str, FetchedSheet]:
        """Return the sheets of *wanted* that are complete by *deadline*; cancels no shared task."""
        if pending := {task for task in wanted.values() if not task.done()}:
            timeout = max(0, deadline - asyncio.get_running_loop().time())
            _, late = await asyncio.wait(pending, timeout=timeout)
            self._count("late_count", len(late))
        finished = {url: task for url, task in wanted.items() if task.done()}
        return {
            url: sheet
            for url, task in finished.items()
            if not task.cancelled() and (sheet := task.result())
        }

    def _imports(
        self, found: Mapping[str, FetchedSheet], arrived: Mapping[str, FetchedSheet]
    ) -> dict[str, SheetTask]:
        """Return the tasks of the imports of *arrived*, within the page's limit of sheets."""
        tasks: dict[str, SheetTask] = {}
        for url, sheet in arrived.items():
            for href in sheet.imports:
                name, source = sheet_url(href, url), sheet_url(href, sheet.referrer.url)
                if not name or not source or name in found or name in tasks:
                    continue
                if len(found) + len(tasks) >= MAX_SHEETS:
                    self._count("refused_count/page_sheets")
                else:
                    tasks[name] = self._task(source, sheet.referrer)
        return tasks

    def _task(self, url: str, referrer: Referrer) -> SheetTask:
        task = self._tasks.get(url)
        if task is not None:
            self._tasks.move_to_end(url)
            self._count("shared_count")
            return task
        task = asyncio.create_task(self._fetch(url, referrer), name=f"newscrawl sheet {url}")
        self._running.add(task)  # the event loop only keeps weak references
        task.add_done_callback(self._running.discard)
        self._tasks[url] = task
        return task

    async def _fetch(self, url: str, referrer: Referrer) -> FetchedSheet | None:
        try:
            return await self._known_or_downloaded(url, referrer)
        except asyncio.CancelledError:
            self._forget(url)
            raise
        except Exception as error:  # noqa: BLE001  # any middleware's: a page is kept without its sheet
            reason = _reason(error)
            refused = isinstance(error, RefusedError)
            if refused:
                self._forget(url)  # pages of another site may be allowed to fetch it
            self._count(f"{'refused' if refused else 'failed'}_count/{reason}")
            logger.info("Could not fetch style sheet (%s): %s", reason, url)
            return None

    async def _known_or_downloaded(self, url: str, referrer: Referrer) -> FetchedSheet:
        """Return a sheet of a former crawl, requested again if it is old, or a new one."""
        known = self._history.get(url)
        if known is None or not known.fresh:
            response = await self._download(url, referrer, known)
            if response.status != 304 or known is None:
                sheet = await self._read(response)
                known = KnownSheet(
                    sheet.referrer.url, sheet.hash, sheet.imports, 0, *validators(response)
                )
            else:
                self._count("unchanged_count")
            known = replace(known, checked=clock.now().timestamp())
            self._history.put(url, known)
        else:
            self._count("kept_count")
        return FetchedSheet(replace(referrer, url=known.url), known.hash, known.imports)

    def _forget(self, url: str) -> None:
        if self._tasks.get(url) is asyncio.current_task():
            del self._tasks[url]

    async def _download(self, url: str, referrer: Referrer, known: KnownSheet | None) -> Response:
        host = _host(url)
        slots = self._host_slots.setdefault(host, asyncio.Semaphore(self._host_requests))
        account = referrer.site, host
        async with slots, self._slots:
            if self._failures[account] >= MAX_HOST_FAILURES:
                raise RefusedError("host_failures")
            self._count("requested_count")
            try:
                request = self._request(url, referrer, known)
                response = await self._crawler.engine.download_async(request)
                _check(response, known)
            except Exception as error:
                self._failures[account] += _is_host_failure(error)
                raise
            del self._failures[account]
            return response

    def _request(self, url: str, referrer: Referrer, known: KnownSheet | None) -> Request:
        headers: dict[str, str | bytes] = {"Accept": "text/css,*/*;q=0.1"}
        headers |= conditional_headers(asdict(known)) if known else {}
        policy = StrictOriginWhenCrossOriginPolicy()  # the default of browsers
        if self._referers and (referer := policy.referrer(referrer.url, url)):
            headers["Referer"] = referer
        if referrer.proxy_authorization:
            headers["Proxy-Authorization"] = referrer.proxy_authorization
        return Request(
            url,
            callback=NO_CALLBACK,
            headers=headers,
            meta={
                SHEETS: False,
                SHEET_SITE: referrer.site,
                "allow_offsite": True,  # sheets are often on other domains
                "autothrottle_dont_adjust_delay": True,
                "dont_merge_cookies": True,
                "dont_retry": True,
                "download_maxsize": MAX_SHEET_SIZE,
                "download_timeout": self._timeout,
                "download_warnsize": 0,
                "redirect_ttl": _MAX_REDIRECTS,
                **referrer.meta,
            },
        )

    async def _read(self, response: Response) -> FetchedSheet:
        plain = await self._workers.call(
            TASK,
            response.body,
            site=site_key(response.url),
            encoding=header_charset(response.headers.get("Content-Type")),
            **self._store,
        )
        self._count("fetched_count")
        self._count("fetched_bytes", len(response.body))
        if plain["cached"]:
            self._count("cached_count")
        referrer = Referrer.of(response.request, response.url)  # type: ignore[arg-type]
        return FetchedSheet(referrer, plain["hash"], plain["imports"])

    def _count(self, name: str, number: int = 1) -> None:
        if number:
            self._stats.inc_value(f"newscrawl/css/{name}", number)


def _host(url: str) -> str:
    """Return the host of *url*; raise :class:`RefusedError` for an invalid URL."""
    if urlsplit(url).scheme not in {"http", "https"}:
        raise RefusedError("scheme")
    try:
        host = site_key(url)
        host.encode("idna")
    except ValueError:  # invalid port or host name
        host = ""
    if not host:
        raise RefusedError("url")
    return host


def _reason(error: Exception) -> str:
    return error.reason if isinstance(error, SheetError) else failure_reason(error)


def _is_host_failure(error: Exception) -> bool:
    reason = _reason(error)
    return reason in _HOST_FAILURES or reason.startswith("http_5")


def _check(response: Response, known: KnownSheet | None) -> None:
    """Raise :class:`SheetError` for a response that browsers do not use as a style sheet."""
    if response.status == 304 and known is not None:
        return
    if response.status != 200:
        raise SheetError(f"http_{response.status}")
    header = (response.headers.get("Content-Type") or b"").decode("latin-1")
    if header.partition(";")[0].strip().lower() not in {"", "text/css"}:
        raise SheetError("content_type")
