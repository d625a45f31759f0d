"""``SeenPages``: which pages and sources of a site were found in a crawl, each by its key."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from newscrawl.crawling.urls import page_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from newscrawl.crawling.discovery.target import Role, Target

# Front page, of a language or edition too.
_HOME_PATH = re.compile(
    r"/?(?:[a-z]{2}(?:[-_][a-z]{2})?/?)?(?:(?:index|home|default|start)(?:\.\w+)?/?)?",
    re.IGNORECASE,
)
# Parameter of a page below the front page.
_IDENTIFIER = re.compile(r"(?:^|&)(?!utm_)[^=&]*=(?!40[0-9](?:&|$))\d")


class SeenPages:
    """Keys of pages and sources, at most *limit* of each kind.

    *start*: the pages of the site list.
    """

    def __init__(self, start: Iterable[str], limit: int) -> None:
        self._start = {page_key(url) for url in start}
        self.limit = limit
        self._seen: set[tuple[bool, str]] = set()
        #: keys of pages that a source has listed as articles
        self.articles: set[str] = set()
        self._known: set[str] = set()
        self._final: set[str] = set()
        #: keys of pages that a listing dates outside of the period
        self.outside: set[str] = set()
        #: articles that sources have listed, new and known ones
        self.listed_count = 0
        #: articles that former crawls have read, also of sources that are not read again
        self.known_count = 0
        #: pages and sources that are not requested, by reason: ``over_limit`` (of their number),
        #: ``changed_later`` (after the period), ``likely_list``, ``sitemap_depth``
        self.left_out: Counter[str] = Counter()

    def mark(self, role: Role, key: str) -> bool:
        """Return True the first time, within the limit; a feed may have the URL of a page."""
        mark = (role in ("section", "article"), key)
        if mark in self._seen:
            return False
        if len(self._seen) >= self.limit:
            self.left_out["over_limit"] += 1
            return False
        self._seen.add(mark)
        return True

    def add_article(self, key: str, *, confirmed: bool) -> bool:
        """Return True the first time that a page is added as an article.

        A page that was added as a section must be *confirmed* by a source that lists only articles.
        """
        if key in self.articles or key in self._start:
            return False
        if not self.mark("article", key):
            if not confirmed or not self._has_page(key):
                return False
            self._final.discard(key)
        self.articles.add(key)
        self.listed_count += 1
        return True

    def mark_article(self, key: str) -> bool:
        """Mark a section page as an article; return False if it is marked already."""
        new = key not in self.articles
        self.articles.add(key)
        return new

    def restore(self, key: str, final_key: str) -> None:
        """Mark an article that the crawl requested before it was interrupted."""
        self._seen.add((True, key))
        self.articles.add(key)
        self._final.add(final_key)

    def add_known(self, keys: Iterable[str]) -> int:
        """Count the listed pages that former crawls have read; return their number."""
        known = (key for key in keys if key not in self._known and not self._has_page(key))
        new = set(islice(known, self.limit - len(self._known)))
        self._known |= new
        self.known_count += len(new)
        self.listed_count += len(new)
        return len(new)

    def add_final_url(self, url: str) -> bool:
        """Record the final *url* of a target; return False if another target had the same."""
        key = page_key(url)
        new = key not in self._final
        self._final.add(key)
        return new

    def home_reason(self, target: Target, url: str) -> str | None:
        """Return ``redirected_home`` if *target*, an article, led to the front page or a section.

        *url* is its final URL: the front page, or a known section page above the address.
        """
        key, parts = page_key(url), urlsplit(url)
        if target.role != "article" or key == target.key:
            return None
        is_home = bool(_HOME_PATH.fullmatch(parts.path)) and not _IDENTIFIER.search(parts.query)
        above = f"{parts.path.rstrip('/')}/"
        is_section = self._has_page(key) and key not in self.articles
        is_above = is_section and urlsplit(target.url).path.startswith(above)
        return "redirected_home" if is_home or key in self._start or is_above else None

    def _has_page(self, key: str) -> bool:
        return (True, key) in self._seen
