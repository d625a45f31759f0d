"""Downloader middleware that writes responses to WARC archives."""

from __future__ import annotations

import logging
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.exceptions import NotConfigured

from newscrawl import clock
from newscrawl.component import Component
from newscrawl.crawling.discovery.site_list import ListedSites
from newscrawl.crawling.urls import site_key_or
from newscrawl.defaults import SettingError, setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response

logger = logging.getLogger(__name__)

NOTED: Final = {"newscrawl_role": "role", "newscrawl_hints": "hints"}
"""Request meta keys that are archived with the response, and their names in the archive."""

ARCHIVE_SIZE: Final = 2**30
"""Compressed bytes after which a new archive is started, as in Common Crawl."""
_SECRET_HEADERS: Final = frozenset({b"Authorization", b"Cookie", b"Proxy-Authorization"})
_TRUNCATED: Final = {"dataloss": "disconnect", "download_stopped": "unspecified"}


class WarcMiddleware(Component):
    """Writes every request and response to WARC archives in the folder ``NEWSCRAWL_WARC``.

    Its priority (990) places it next to the downloader: it sees raw bodies, and also redirects,
    errors, robots.txt and style sheets. Cached responses are skipped.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        folder = setting(settings, "NEWSCRAWL_WARC")
        if not folder:
            raise NotConfigured  # without a message, because disabled is the default
        if find_spec("warcio") is None:
            raise SettingError("NEWSCRAWL_WARC needs warcio: pip install 'newscrawl[warc]'")
        # Imported here: warcio is optional.
        from newscrawl.archives.archive_writer import ArchiveThread, ArchiveWriter  # noqa: PLC0415

        self._listed = ListedSites.for_crawler(crawler)
        name = crawler.spidercls.name
        about = {
            "software": settings["BOT_NAME"],
            "robots": "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore",
            "http-header-user-agent": settings["USER_AGENT"],
            "isPartOf": name,
        }
        self._folder = Path(folder)
        self._archives = ArchiveThread(
            self._folder, ArchiveWriter(self._folder, name, size=ARCHIVE_SIZE, about=about)
        )
        self._stats = crawler.stats
        crawler.signals.connect(self._open, signals.spider_opened)
        crawler.signals.connect(self._close, signals.spider_closed)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Archive *response* and return it unchanged."""
        if response.protocol is not None and "cached" not in response.flags:
            listed = self._listed.of(site_key_or(response.url, ""))
            headers = response.headers
            if listed and (listed.cookies or listed.headers):  # its session is a secret
                headers = headers.copy()
                headers.pop("Set-Cookie", None)
            await self._archives.write(_exchange(request, response, headers))
        return response

    async def _open(self) -> None:
        for path in await self._archives.open():
            logger.info("Recovered the archive of a crashed crawl: %s", path)
            self._stats.inc_value("newscrawl/warc/recovered_count")

    async def _close(self) -> None:
        try:
            await self._archives.close()
        except OSError as error:
            logger.error("Could not close an archive in %s: %s", self._folder, error)  # noqa: TRY400
        self._stats.set_value("newscrawl/warc/response_count", self._archives.written)
        if self._archives.failed:
            self._stats.set_value("newscrawl/warc/failed_count", self._archives.failed)


def _exchange(request: Request, response: Response, headers: Headers) -> Any:
    from newscrawl.archives.archive_writer import Exchange  # noqa: PLC0415  # optional

    return Exchange(
        url=response.url,
        at=clock.now(),
        request=_request_head(request) + request.body,
        head=_head(_status_line(response.status), headers),
        body=response.body,
        ip=str(response.ip_address) if response.ip_address else None,
        truncated=next((_TRUNCATED[flag] for flag in response.flags if flag in _TRUNCATED), None),
        notes={name: request.meta[key] for key, name in NOTED.items() if request.meta.get(key)},
    )


def _request_head(request: Request) -> bytes:
    """Return the request line and headers of *request*, without credentials."""
    parts = urlsplit(request.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = request.headers.copy()
    headers.setdefault("Host", parts.netloc.rpartition("@")[2])
    for name in _SECRET_HEADERS:
        headers.pop(name, None)
    return _head(f"{request.method} {target} HTTP/1.1", headers)


def _status_line(status: int) -> str:
    try:
        return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP/1.1 {status}"


def _head(line: str, headers: Headers) -> bytes:
    return b"\r\n".join([line.encode(), *filter(None, [headers.to_string()]), b"", b""])
