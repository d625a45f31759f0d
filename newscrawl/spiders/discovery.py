"""``DiscoverySpider``: lists the newest articles of sites without fetching them."""

from __future__ import annotations

from collections.abc import Iterator  # noqa: TC003  # scrapy-poet reads it
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from newscrawl.fields.kind.link_classifier import date_in_url
from newscrawl.items import ListedArticle
from newscrawl.spiders.sitelist import SitelistSpider

if TYPE_CHECKING:
    from newscrawl.crawling.discovery.entries import Entry
    from newscrawl.crawling.discovery.site_plan import SitePlan
    from newscrawl.crawling.discovery.target import Target


class DiscoverySpider(SitelistSpider):
    """Yields a :class:`~newscrawl.items.ListedArticle` where ``sitelist`` requests an article.

    Arguments are those of ``sitelist``. It neither reads nor writes the state of crawls.
    """

    name = "discover"
    custom_settings: dict[str, Any] = {  # noqa: RUF012  # Scrapy declares it so
        "ITEM_PIPELINES": {},
        "NEWSCRAWL_SEGMENTS": "",
        "NEWSCRAWL_SITE_LIMIT": 10_000,
        "NEWSCRAWL_STATE": "",
        "NEWSCRAWL_WARC": "",
    }

    def _spider_opened(self) -> None:
        super()._spider_opened()
        #: the first entry of each page, with the URL that lists it
        self._listed: dict[str, tuple[Entry, str]] = {}
        self.tools.reader.fetches_stories = False
        self.tools.observer = self._listed_by

    def _listed_by(self, entries: list[Entry], url: str) -> None:
        for entry in entries:
            self._listed.setdefault(entry.key, (entry, url))

    def _next_requests(self, plan: SitePlan) -> Iterator[Any]:
        for request in super()._next_requests(plan):
            ticket = request.meta["newscrawl_ticket"]
            target = plan.requests.in_flight[ticket]
            if target.role != "article":
                yield request
                continue
            plan.requests.close(ticket, accepted=True)
            plan.requests.accepted += 1
            self.site_stats.count(plan.site.key, "article_count")
            yield self._item(plan, target)

    def _item(self, plan: SitePlan, target: Target) -> ListedArticle:
        entry, source = self._listed[target.key]
        return ListedArticle(
            url=target.url,
            title=target.hints.get("title") or target.hints.get("link_text"),
            date=target.hints.get("date") or date_in_url(target.url),
            changed=datetime.fromtimestamp(entry.changed, UTC).isoformat()
            if entry.changed
            else None,
            source=source,
            site=plan.site.key,
        )
