"""Copies of pages that are gone, in a web archive.

An archive has the index of the Wayback Machine
(https://github.com/internetarchive/wayback/tree/master/wayback-cdx-server), or a TimeGate of Memento
(RFC 7089), which redirects to the copy closest to a time.
"""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlencode

from newscrawl import clock
from newscrawl.crawling.article_filters import moment_setting
from newscrawl.crawling.network.page_download import download_page, page_of
from newscrawl.defaults import setting
from newscrawl.items import ARCHIVED, PageItem
from newscrawl.workers.child import is_stopped

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

_MAX_INDEX: Final = 16 * 1024
_TIMESTAMP: Final = "%Y%m%d%H%M%S"


class WebArchive:
    """Finds the newest copy of a page before the time *before*."""

    def __init__(self, crawler: Crawler, address: str, before: datetime | None) -> None:
        self._crawler = crawler
        self._address = address.rstrip("/")
        self._before = before

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self | None:
        """Return the archive of the settings, None without. Raises ``SettingError``."""
        if not setting(crawler.settings, "NEWSCRAWL_ARCHIVED"):
            return None
        before = moment_setting(crawler.settings, "NEWSCRAWL_ARCHIVED_BEFORE")
        if before is not None and not isinstance(before, datetime):
            before = datetime.combine(before, time(), UTC) + timedelta(days=1, seconds=-1)
        return cls(crawler, setting(crawler.settings, "NEWSCRAWL_WEB_ARCHIVE"), before)

    async def newest_copy(self, url: str, **meta: Any) -> PageItem | None:
        """Return the newest copy of the page *url*; None, with a line in the log, if there is none."""
        find = self._by_timegate if "{url}" in self._address else self._by_index
        try:
            copy, fetched_at = await find(url, meta)
        except LookupError:
            return None
        except Exception as error:
            if is_stopped(error):
                raise
            logger.info("Could not fetch a copy (%s): %s", error, url)
            return None
        hints = {ARCHIVED: copy.url}
        return replace(page_of(copy), url=url, fetched_at=fetched_at, hints=hints)

    async def _by_index(self, url: str, meta: dict[str, Any]) -> tuple[Response, datetime]:
        query = {
            "url": url,
            "output": "json",
            "fl": "timestamp,original",
            "filter": "statuscode:200",
            "limit": -1,
            "to": self._before.strftime(_TIMESTAMP) if self._before else "",
        }
        address = f"{self._address}/cdx/search/cdx?{urlencode(query)}"
        index = await download_page(self._crawler, address, meta)
        timestamp, original = json.loads(index.body[:_MAX_INDEX])[1:][-1]
        fetched_at = datetime.strptime(timestamp, _TIMESTAMP).replace(tzinfo=UTC)
        address = f"{self._address}/web/{timestamp}id_/{original}"
        return await download_page(self._crawler, address, meta), fetched_at

    async def _by_timegate(self, url: str, meta: dict[str, Any]) -> tuple[Response, datetime]:
        before = self._before or clock.now()
        copy = await download_page(
            self._crawler,
            self._address.replace("{url}", url),
            meta,
            headers={"Accept-Datetime": format_datetime(before.astimezone(UTC), usegmt=True)},
        )
        stated = copy.headers.get("Memento-Datetime") or b""
        fetched_at = parsedate_to_datetime(stated.decode(errors="replace"))
        if fetched_at > before:
            raise LookupError(url)
        return copy, fetched_at
