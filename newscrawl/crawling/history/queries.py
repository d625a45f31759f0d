"""``Query``: what a crawl is asked for. Each query has a history of its own in the state.

What is due, and which pages were judged, is remembered by query: an answer in a used state equals
the answer in a new one. Of other queries, what they have written to the same output counts, so that
no output has an article twice, and which pages are gone or of another period. The names of outputs
are no part of a query, as schedulers change them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from newscrawl.component import Component
from newscrawl.defaults import DEFAULTS, setting

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from newscrawl.crawling.discovery.site_list import Site

SELECTION: Final = (
    "NEWSCRAWL_SINCE", "NEWSCRAWL_UNTIL", "NEWSCRAWL_KEYWORDS", "NEWSCRAWL_LANGUAGES",
    "NEWSCRAWL_INCLUDE", "NEWSCRAWL_EXCLUDE", "NEWSCRAWL_LIMIT", "NEWSCRAWL_SITE_LIMIT",
    "NEWSCRAWL_KEEP", "NEWSCRAWL_MIN_BODY", "NEWSCRAWL_METHOD", "NEWSCRAWL_RENDER",
    "NEWSCRAWL_MAX_AGE", "NEWSCRAWL_SITE_REQUESTS", "NEWSCRAWL_EXTRA_FIELDS", "NEWSCRAWL_WARC",
    "NEWSCRAWL_METADATA_ONLY", "NEWSCRAWL_SITE_RULES",
)  # fmt: skip
"""Settings that decide which articles a crawl gives, and what it keeps of them."""
_NAMED: Final = ("since", "until", "keywords", "languages", "include", "exclude", "limit", "warc")


@dataclass(frozen=True, slots=True)
class Query:
    """The articles that a crawl is asked for."""

    #: number in the state: a hash
    id: int
    #: JSON: settings that are not the default
    text: str

    @classmethod
    def read(
        cls, settings: BaseSettings, site: Site | None = None, limit: int | None = None
    ) -> Self:
        """Return the query in *settings*, of the crawl or of a *site* with options of its own.

        *limit*: article pages a site, instead of ``NEWSCRAWL_SITE_LIMIT``. A relative period
        (``24h``) is one query at any time.
        """
        asked = {name: setting(settings, name) for name in SELECTION}
        asked["NEWSCRAWL_KEEP"] = settings.get("NEWSCRAWL_KEEP", DEFAULTS["NEWSCRAWL_KEEP"])
        asked["NEWSCRAWL_SITE_LIMIT"] = limit or asked["NEWSCRAWL_SITE_LIMIT"]
        if site:
            asked["NEWSCRAWL_SITE_LIMIT"] = site.limit or asked["NEWSCRAWL_SITE_LIMIT"]
            asked["NEWSCRAWL_INCLUDE"] = site.include or asked["NEWSCRAWL_INCLUDE"]
            asked["NEWSCRAWL_EXCLUDE"] = [*site.exclude, *asked["NEWSCRAWL_EXCLUDE"]]
            if site.render is not None:
                asked["NEWSCRAWL_RENDER"] = "auto" if site.render else ""
            if site.rules is not None:
                asked["NEWSCRAWL_SITE_RULES"] = site.rules
        asked = {
            name.removeprefix("NEWSCRAWL_").lower(): value
            for name, value in asked.items()
            if _text(value) != _text(DEFAULTS[name])
        }
        if site and (site.cookies or site.headers):  # pages may be others with them
            asked["login"] = True
        text = _text(asked)
        return cls(_number(text), text)

    def __str__(self) -> str:
        """Return the filters in words: ``since 2026-10-01; keywords library, ferry``."""
        asked = json.loads(self.text)
        named = ((name, asked[name]) for name in _NAMED if name in asked)
        return "; ".join(
            f"{name} {', '.join(map(str, value)) if isinstance(value, list) else value}"
            for name, value in named
        )


def _text(value: Any) -> str:
    """Return *value* as JSON, dates as text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _number(text: str) -> int:
    """Return a hash of *text* as a positive integer of SQLite."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


class Queries(Component):
    """The query that is put to each site in this crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._settings = crawler.settings
        self._default = Query.read(crawler.settings)
        self._of_site: dict[str, Query] = {}
        #: by the options of sites
        self._read: dict[tuple[Any, ...], Query] = {}
        feeds = sorted(map(str, crawler.settings.getdict("FEEDS")))
        segments = setting(crawler.settings, "NEWSCRAWL_SEGMENTS")
        is_printed = any(feed.startswith("stdout:") for feed in feeds)
        #: number of the feeds and segments; 0 for standard output, which has no memory
        self.output = 0 if is_printed else _number(_text([feeds, segments]))
        #: pages are fetched for their raw copies, too
        self.keeps_pages = bool(setting(crawler.settings, "NEWSCRAWL_WARC"))

    def put(self, site: Site, limit: int | None = None) -> None:
        """Set the query of *site*."""
        has_login = bool(site.cookies or site.headers)
        options = (
            site.limit or limit, site.include, site.exclude, site.render, site.rules, has_login
        )  # fmt: skip
        if options not in self._read:  # most sites have none of their own
            self._read[options] = Query.read(self._settings, site, limit)
        self._of_site[site.key] = self._read[options]

    def of(self, site: str) -> Query:
        """Return the query that is put to the site with the key *site*."""
        return self._of_site.get(site, self._default)

    def is_given(self, query: Query, other: int, output: int | None) -> bool:
        """Return whether the article of another query in *output* is in the output of *query*."""
        return query.id == other or (output == self.output != 0)
