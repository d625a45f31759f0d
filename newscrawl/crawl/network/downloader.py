"""Scrapy's downloader, with the registered domain as the unit of politeness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.utils.httpobj import urlparse_cached

from newscrawl.crawl.discovery.urls import registered_domain, site_key
from newscrawl.crawl.network.refused import RefusedError
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

MOST_WAITING: Final = 1000
"""Requests that may wait for slow domains beyond ``CONCURRENT_REQUESTS``."""


class Downloader(ScrapyDownloader):
    """Gives a registered domain one slot, with all its hosts: they are one server's, mostly.

    ``a.example.com`` and ``www.example.com`` share delay and concurrency. A slot that a request
    names (``download_slot``), or ``DOWNLOAD_SLOTS`` for its host, stays. What waits for
    a domain in :attr:`slow` does not count among the requests under way, so that a dozen
    domains that said "come back in five minutes" do not hold up all others.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._by_domain = setting(crawler.settings, "NEWSCRAWL_POLITENESS_ENABLED")
        self._domains: dict[str, str] = {}
        self._own: set[str] = set()
        #: keys of slots whose requests wait for long
        self.slow: set[str] = set()

    def get_slot_key(self, request: Request) -> str:
        """Return the registered domain of *request*, or the slot that it is given."""
        if not self._by_domain:
            return super().get_slot_key(request)
        given: str | None = request.meta.get(self.DOWNLOAD_SLOT)
        # A redirect to another domain brings the slot that the first request was in.
        if given is not None and given not in self._own:
            return given
        netloc = urlparse_cached(request).netloc
        key = self._domains.get(netloc)
        return self._remember(netloc, request) if key is None else key

    def _remember(self, netloc: str, request: Request) -> str:
        host = urlparse_cached(request).hostname or ""
        key = host if host in self.per_slot_settings else registered_domain(site_key(request.url))
        self._domains[netloc] = key
        self._own.add(key)
        return key

    def needs_backout(self) -> bool:
        """Return whether enough requests are under way."""
        if not self.slow:
            return super().needs_backout()
        slots = (self.slots[key] for key in self.slow if key in self.slots)
        waiting = min(sum(len(slot.queue) for slot in slots), MOST_WAITING)
        return 0 < self.total_concurrency <= len(self.active) - waiting

    def refuse_waiting(self, key: str, reason: str) -> None:
        """Let what waits in the slot *key* fail, as :class:`RefusedError` of *reason*."""
        slot = self.slots.get(key)
        while slot and slot.queue:
            _, waiting = slot.queue.popleft()
            waiting.errback(RefusedError(reason))
