"""Style sheets of a crawl: each fetched and read once, however many pages share it."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.referer import StrictOriginWhenCrossOriginPolicy
from scrapy.utils.project import data_path

from newscrawl.crawl.discovery.urls import site_key
from newscrawl.crawl.network.addresses import addresses_of, all_global, written_address
from newscrawl.crawl.network.refused import RefusedError
from newscrawl.crawl.reporting.outcomes import failure_reason
from newscrawl.crawl.workers.pool import WorkerPool
from newscrawl.css.sheet_links import sheet_url
from newscrawl.defaults import setting
from newscrawl.document.encoding import header_charset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

TASK = "newscrawl.crawl.workers.tasks:parse_stylesheet"

#: meta key: :data:`SHEET` marks requests for style sheets, False a page that needs none
META = "newscrawl_css"
SHEET = "sheet"
#: meta key of such requests: URL of the page, or sheet, that asks
ASKING = "newscrawl_css_asking"

#: Sheets of which the crawl remembers that it has them, or that it cannot have them.
REMEMBERED = 20_000
#: a linked sheet's imports, and theirs
IMPORT_DEPTH = 2
_REDIRECTS = 3
# How the page itself was asked for: a sheet must not go around the proxy.
_INHERITED = ("proxy", "_auth_proxy", "bindaddress")
# What says that the host, and not this one sheet, is in trouble; and any 5xx.
_HOST_TROUBLE = frozenset({"timeout", "dns", "connection", "truncated", "http_403", "http_429"})


class SheetError(Exception):
    """There is no such sheet to be had; ``reason`` is what the stats count it under."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SheetRefusedError(SheetError):
    """A sheet that is not asked for."""


@dataclass(frozen=True, slots=True)
class SheetOptions:
    """What style sheets may cost; ``docs/reference/settings.md`` has each setting."""

    #: seconds that a page waits, and that a sheet's transfer may take
    timeout: float
    #: sheets of a page, imports included
    sheets: int
    #: bytes of a sheet, unpacked
    sheet_size: int
    #: bytes of a page's sheets together
    page_size: int
    #: failures without success after which a host is left alone
    host_failures: int
    #: requests at a time to one host
    host_requests: int
    #: requests at a time
    requests: int
    #: file of the parsed sheets
    store: str
    #: MB
    store_size: int

    @classmethod
    def read(cls, settings: BaseSettings) -> Self:
        """Return the options that *settings* give; raise ``ValueError`` naming what is wrong."""
        # To Scrapy a sheet, and its host's robots.txt, are two of CONCURRENT_REQUESTS: half of these
        # stay with the pages, should all sheets hang. Where that is none, sheets had better hang
        # together than in turn.
        requests = settings.getint("CONCURRENT_REQUESTS") // 4 or REMEMBERED
        return cls(
            timeout=setting(settings, "NEWSCRAWL_CSS_TIMEOUT"),
            sheets=setting(settings, "NEWSCRAWL_CSS_SHEETS"),
            sheet_size=setting(settings, "NEWSCRAWL_CSS_SHEET_SIZE"),
            page_size=setting(settings, "NEWSCRAWL_CSS_PAGE_SIZE"),
            host_failures=setting(settings, "NEWSCRAWL_CSS_HOST_FAILURES"),
            host_requests=max(1, settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")),
            requests=requests,
            store=str(Path(data_path(setting(settings, "NEWSCRAWL_CSS_STORE"))).absolute()),
            store_size=setting(settings, "NEWSCRAWL_CSS_STORE_SIZE"),
        )


@dataclass(frozen=True, slots=True)
class Referrer:
    """The page, or sheet, that asks for a sheet."""

    url: str
    meta: Mapping[str, Any]
    proxy_authorization: bytes | None

    @classmethod
    def of(cls, request: Request, url: str) -> Self:
        """Return the page at *url* that was fetched by *request*."""
        meta = {name: request.meta[name] for name in _INHERITED if name in request.meta}
        if "_scheme_proxy" in request.meta:  # of the environment, which knows its exceptions
            meta = {}
        authorization = request.headers.get("Proxy-Authorization") if meta else None
        if site := request.meta.get("newscrawl_site"):  # whose budget pays
            meta["newscrawl_site"] = site
        return cls(url, meta, authorization)


@dataclass(frozen=True, slots=True)
class FetchedSheet:
    """A sheet that was read, its rules in the store."""

    #: where it came from, after redirects, and how
    referrer: Referrer
    hash: str
    #: bytes
    size: int
    #: what its ``@import`` rules say
    imports: list[str]


@dataclass(slots=True)
class _Host:
    turns: asyncio.Semaphore
    #: since the last success
    failures: int = 0


SheetTask = asyncio.Task[FetchedSheet | None]


class SheetFetcher:
    """Fetches sheets through Scrapy's downloader and has workers read them.

    A task for each URL, shared by all who ask; a URL that failed is not asked for again.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.options = SheetOptions.read(crawler.settings)
        self._crawler = crawler
        self._workers = WorkerPool.for_crawler(crawler)
        self._stats = crawler.stats
        self._tasks: OrderedDict[str, SheetTask] = OrderedDict()
        self._running: set[SheetTask] = set()
        self._turns = asyncio.Semaphore(self.options.requests)
        self._hosts: dict[str, _Host] = {}
        self._global: dict[str, bool] = {}
        self._referers = crawler.settings.getbool("REFERER_ENABLED")
        crawler.signals.connect(self.close, signals.spider_closed)

    def start(self, urls: Iterable[str], request: Request, page: str) -> None:
        """Begin to fetch *urls*, the sheets of *page* that *request* fetched. Does not wait."""
        referrer = Referrer.of(request, page)
        for url in urls:
            self._task(url, referrer)

    async def collect(self, urls: Iterable[str]) -> dict[str, str]:
        """Return URL -> hash of the sheets at *urls* that were started, and of their imports.

        Waits for at most the timeout; what is missing then, or cannot be had, is left out.
        An import's URL is the one that the importing sheet's URL, as linked, makes of it.
        """
        deadline = asyncio.get_running_loop().time() + self.options.timeout
        linked = {url: task for url in urls if (task := self._tasks.get(url))}
        arrived = await self._arrived(linked, deadline)
        found = self._affordable({}, arrived)
        for _ in range(IMPORT_DEPTH):
            arrived = await self._arrived(self._imports(found, arrived), deadline)
            found |= self._affordable(found, arrived)
        return {url: sheet.hash for url, sheet in found.items()}

    async def admit(self, request: Request) -> None:
        """Raise :class:`SheetRefusedError` for a sheet that its page must not lead us to.

        That is one at an address that is not of the public internet, where the page's is: as in
        browsers (Private Network Access). Redirects pass here, too.
        """
        host, page = urlsplit(request.url).hostname, urlsplit(request.meta[ASKING]).hostname
        if not host or host == page:
            return
        proxied = "proxy" in request.meta
        if not await self._is_global(host, proxied=proxied) and await self._is_global(
            page or "", proxied=proxied
        ):
            raise SheetRefusedError("address")

    async def _is_global(self, host: str, *, proxied: bool) -> bool:
        """Return whether *host* is not known to be private; names are a proxy's to resolve."""
        known = self._global.get(host)
        if known is None:
            written = written_address(host)
            if written is None and proxied:
                return True
            addresses = [written] if written else await addresses_of(host)
            known = self._global[host] = all_global(addresses)
        return known

    async def close(self) -> None:
        """End what is still under way."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _arrived(
        self, wanted: Mapping[str, SheetTask], deadline: float
    ) -> dict[str, FetchedSheet]:
        """Return what *wanted* tasks give until *deadline*. Does not cancel: others wait, too."""
        if pending := {task for task in wanted.values() if not task.done()}:
            left = max(0, deadline - asyncio.get_running_loop().time())
            _, late = await asyncio.wait(pending, timeout=left)
            self._count("late_count", len(late))
        done = {url: task.result() for url, task in wanted.items() if _succeeded(task)}
        return {url: sheet for url, sheet in done.items() if sheet}

    def _affordable(
        self, found: Mapping[str, FetchedSheet], arrived: Mapping[str, FetchedSheet]
    ) -> dict[str, FetchedSheet]:
        size = sum(sheet.size for sheet in found.values())
        kept = {}
        for url, sheet in arrived.items():
            if size + sheet.size > self.options.page_size:
                self._count("refused_count/page_size")
                continue
            size += sheet.size
            kept[url] = sheet
        return kept

    def _imports(
        self, found: Mapping[str, FetchedSheet], arrived: Mapping[str, FetchedSheet]
    ) -> dict[str, SheetTask]:
        """Return the tasks of what *arrived* sheets import, within the sheets of a page."""
        tasks: dict[str, SheetTask] = {}
        for url, sheet in arrived.items():
            for href in sheet.imports if url in found else ():
                name, source = sheet_url(href, url), sheet_url(href, sheet.referrer.url)
                if not name or not source or name in found or name in tasks:
                    continue
                if len(found) + len(tasks) >= self.options.sheets:
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
        self._running.add(task)  # the loop itself holds tasks weakly
        task.add_done_callback(self._running.discard)
        self._tasks[url] = task
        if len(self._tasks) > REMEMBERED:
            self._tasks.popitem(last=False)
        return task

    async def _fetch(self, url: str, referrer: Referrer) -> FetchedSheet | None:
        try:
            return await self._read(await self._download(url, referrer))
        except Exception as error:  # noqa: BLE001  # of any middleware: a sheet is never worth a page
            reason = _reason(error)
            refused = isinstance(error, SheetRefusedError | RefusedError)
            self._count(f"{'refused' if refused else 'failed'}_count/{reason}")
            logger.info("No style sheet (%s): %s", reason, url)
            return None

    async def _download(self, url: str, referrer: Referrer) -> Response:
        host = self._host(url)
        async with host.turns, self._turns:
            if self.options.host_failures and host.failures >= self.options.host_failures:
                raise SheetRefusedError("host_failures")
            self._count("requested_count")
            try:
                response = await self._crawler.engine.download_async(self._request(url, referrer))
                _check(response)
            except Exception as error:
                host.failures += _is_host_trouble(error)
                raise
            host.failures = 0
            return response

    def _host(self, url: str) -> _Host:
        """Return the host of *url*; raise :class:`SheetRefusedError` if nobody is to be asked."""
        if urlsplit(url).scheme not in {"http", "https"}:
            raise SheetRefusedError("scheme")
        try:
            key = site_key(url)
            key.encode("idna")
        except ValueError:  # no number for a port, no name for a host
            key = ""
        if not key:
            raise SheetRefusedError("url")
        if key not in self._hosts:
            self._hosts[key] = _Host(asyncio.Semaphore(self.options.host_requests))
        return self._hosts[key]

    def _request(self, url: str, referrer: Referrer) -> Request:
        headers: dict[str, str | bytes] = {"Accept": "text/css,*/*;q=0.1"}
        policy = StrictOriginWhenCrossOriginPolicy()  # the browsers' default
        if self._referers and (referer := policy.referrer(referrer.url, url)):
            headers["Referer"] = referer
        if referrer.proxy_authorization:
            headers["Proxy-Authorization"] = referrer.proxy_authorization
        return Request(
            url,
            callback=NO_CALLBACK,
            headers=headers,
            meta={
                META: SHEET,
                ASKING: referrer.url,
                "allow_offsite": True,  # sheets are on other domains than pages
                "autothrottle_dont_adjust_delay": True,
                "dont_merge_cookies": True,
                "dont_retry": True,
                "download_maxsize": self.options.sheet_size,
                "download_timeout": self.options.timeout,
                "download_warnsize": 0,
                "redirect_ttl": _REDIRECTS,
                **referrer.meta,
            },
        )

    async def _read(self, response: Response) -> FetchedSheet:
        plain = await self._workers.call(
            TASK,
            response.body,
            encoding=header_charset(response.headers.get("Content-Type")),
            store=self.options.store,
            store_size=self.options.store_size,
        )
        self._count("fetched_count")
        self._count("fetched_bytes", len(response.body))
        if plain["cached"]:
            self._count("cached_count")
        referrer = Referrer.of(response.request, response.url)  # type: ignore[arg-type]
        return FetchedSheet(referrer, plain["hash"], len(response.body), plain["imports"])

    def _count(self, what: str, number: int = 1) -> None:
        if number:
            self._stats.inc_value(f"newscrawl/css/{what}", number)


def _reason(error: Exception) -> str:
    return error.reason if isinstance(error, SheetError) else failure_reason(error)


def _is_host_trouble(error: Exception) -> bool:
    reason = _reason(error)
    return reason in _HOST_TROUBLE or reason.startswith("http_5")


def _succeeded(task: SheetTask) -> bool:
    return task.done() and not task.cancelled()


def _check(response: Response) -> None:
    """Raise :class:`SheetError` for what browsers would not take for a style sheet."""
    if response.status != 200:
        raise SheetError(f"http_{response.status}")
    header = (response.headers.get("Content-Type") or b"").decode("latin-1")
    if header.partition(";")[0].strip().lower() not in {"", "text/css"}:
        raise SheetError("content_type")
