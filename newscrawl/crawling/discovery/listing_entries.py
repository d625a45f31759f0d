"""Entries of sitemaps, feeds and pages: validated, newest first, limited in number."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from heapq import nsmallest
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from newscrawl import clock
from newscrawl.crawling.discovery.entries import Entry, Listing
from newscrawl.crawling.discovery.period import Period, span_of
from newscrawl.crawling.urls import (
    UrlPatterns,
    absolute_url,
    page_key,
    registered_domain,
    site_key,
    trap_kind,
)
from newscrawl.fields import further_pages, parse_date
from newscrawl.fields.kind.link_classifier import date_in_url, is_file
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.items import Day

MAX_URL_LENGTH = 2083
"""Maximum length of a URL; longer ones are generated or hostile."""
MAX_UNDATED = {"index": 2000, "article": 2000, "section": 2000}
"""Maximum number of undated entries of a document by its kind, which are searched for a period."""
MAX_OUTSIDE = 1000
"""Maximum number of entries outside of the period that are returned, the nearest ones."""
MAX_RESULT_SIZE = 8 * 2**20
"""Maximum size of the entries of a document in characters: 80,000 with usual URLs."""
_MAX_TITLE_LENGTH = 500
_MAX_LANGUAGE_LENGTH = _MAX_DATE_LENGTH = 40
_DAY = 24 * 3600
_MONTH = re.compile(r"(\d{4})-?(\d\d)?$")
_DAY_FIRST = re.compile(r"^(\d\d?)-(\d\d?)-(\d{4})(?!\d)")


def is_usable(url: str) -> bool:
    """Return whether *url* is neither empty nor too long."""
    return 0 < len(url) <= MAX_URL_LENGTH


def read_date(text: str | None, language: str | None = None) -> Day | datetime | None:
    """Return the day or the instant of *text*, a date of a feed or a sitemap in any notation.

    None for a month, for several days, and for a day whose order of day and month is not certain.
    """
    if not text:
        return None
    # As PHP and browsers read numbers with hyphens.
    return parse_date(_DAY_FIRST.sub(r"\3-\2-\1", squeeze(text)), clock.now(), language)


def date_timestamp(text: str | None, language: str | None = None) -> float | None:
    """Return the date *text* in seconds since 1970, for ordering; None if it is invalid.

    A date without time zone is UTC; a month or a year is its first day.
    """
    if text and (month := _MONTH.fullmatch(text.strip())):
        text = f"{month[1]}-{month[2] or '01'}-01"
    return _timestamp(read_date(text, language))


def _timestamp(value: Day | datetime | None) -> float | None:
    if value is None:
        return None
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    return value.replace(tzinfo=value.tzinfo or UTC).timestamp()


class EntryCollector:
    """Collects the entries of one document.

    *domains*: registered domains to accept; *since*, *until* (ISO 8601): entries that were
    certainly published outside of this period are skipped; *limit*: maximum number of entries, the
    newest are kept, of the period first; *patterns*: expressions to include and to exclude
    (:class:`~newscrawl.crawling.urls.UrlPatterns`).
    """

    def __init__(
        self,
        base: str,
        domains: Sequence[str],
        *,
        since: str | None = None,
        until: str | None = None,
        limit: int = 1000,
        patterns: tuple[Sequence[str], Sequence[str]] = ((), ()),
    ) -> None:
        self.base = base
        self._domains = frozenset(domains)
        self._period = Period.of(since, until)
        self._limit = limit
        self._patterns = UrlPatterns(*patterns)
        self._entries: dict[str, Entry] = {}
        self._left_out: Counter[str] = Counter()
        #: distance to the period and URL of entries outside of it
        self._outside: list[tuple[float, str]] = []

    def set_base(self, home: str) -> None:
        """Resolve relative URLs against *home* if that is another host of the site."""
        host = urlsplit(home).netloc
        if (
            host != urlsplit(self.base).netloc
            and registered_domain(site_key(home)) in self._domains
        ):
            self.base = home

    def skip(self, reason: str) -> None:
        """Count a skipped entry."""
        self._left_out[reason] += 1

    def add(
        self,
        url: str,
        *,
        date: str | None = None,
        changed: str | None = None,
        title: str | None = None,
        language: str | None = None,
        link_text: str | None = None,
        shown_day: str | None = None,
        is_sitemap: bool = False,
        is_feed: bool = False,
        span: tuple[float, float] | None = None,
    ) -> None:
        """Add an entry, or count why it is skipped.

        *date* is the publication date, *changed* the last modification, which only orders entries
        and shows what is too old; in a feed it is a hint of the publication, too. *shown_day* is
        next to the link on an HTML page. *span*: when the pages of a sitemap or of an archive page
        were published, by its name.
        """
        absolute = absolute_url(url, self.base) if len(url) <= MAX_URL_LENGTH else None
        if absolute is None or url.strip() in ("", "//"):  # the document itself
            self.skip("bad")
            return
        listing_span = span
        if not span and trap_kind(absolute):
            self.skip("trap")
            return
        modified, published = date_timestamp(changed, language), read_date(date, language)
        first, of_url = _timestamp(published), date_in_url(absolute)
        if not is_sitemap and not span:
            span = (first, first) if first else span_of(of_url)
        begin, end = span or (None, modified)
        if end and modified and not first:
            # What was changed lately is no old story, unless a period was asked for.
            end = (min if self._period.until is not None else max)(end, modified)
        # A date of a month has no day.
        timestamp = first or date_timestamp(date, language) or modified or date_timestamp(of_url)
        if listing_span and self._period.until is not None:
            timestamp = min(listing_span[1], self._period.until)
        reason = None if is_sitemap else self._exclusion(absolute)
        if reason := reason or self._period.excludes(begin, end):
            self.skip(reason)
            if timestamp and reason in ("too_old", "too_new") and not is_sitemap:
                self._outside.append((self._period.distance(timestamp), absolute))
            return
        hints = {
            "title": title and title[:_MAX_TITLE_LENGTH],
            "date": published and published.isoformat(),
            "updated": changed and changed[:_MAX_DATE_LENGTH]
            if is_feed and not published
            else None,
            "language": language and language[:_MAX_LANGUAGE_LENGTH],
            "link_text": link_text and link_text[:_MAX_TITLE_LENGTH],
            "shown_day": shown_day,
        }
        # That of a source is computed if it is among the first.
        key = absolute if is_sitemap else page_key(absolute)
        known = {name: text for name, text in hints.items() if text}
        self._entries.setdefault(key, Entry(absolute, key, timestamp, modified, known))

    def _exclusion(self, url: str) -> str | None:
        """Return why no page at *url* is requested."""
        if registered_domain(site_key(url)) not in self._domains:
            return "other_site"
        if not self._patterns.accept(url):
            return "pattern"
        return "file" if is_file(url) else None

    def result(self, kind: str, **values: Any) -> Listing:
        """Return the listing of this *kind*, with further *values*."""
        entries = list(self._entries.values())
        self._date_changed(entries, kind)
        entries.sort(key=lambda entry: self._period.rank(entry.timestamp))
        kept = self._limited(entries, kind)
        self._left_out["over_limit"] += len(entries) - len(kept)
        stories = further_pages(entry.url for entry in kept) if kind != "index" else {}
        for entry in kept:
            if kind == "index":
                entry.key = page_key(entry.url)
            if story := stories.get(entry.url):
                entry.story = page_key(story)
        left_out = {reason: count for reason, count in self._left_out.items() if count}
        nearest = nsmallest(MAX_OUTSIDE, self._outside)
        outside = [page_key(url) for _, url in nearest]
        return Listing(kind, kept, left_out, outside, **values)

    def _date_changed(self, entries: list[Entry], kind: str) -> None:
        """Correct the times of *entries* that were changed later than they were published."""
        after = [entry for entry in entries if self._period.is_after(entry.timestamp)]
        if 2 * len(after) < len(entries) - self._left_out["too_new"]:
            # Most neighbours are of the period, so these were changed later.
            for entry in after:
                entry.timestamp = self._period.until
        elif kind != "index" and len(after) == len(entries) and not any(map(_is_dated, entries)):
            times = [entry.timestamp for entry in entries if entry.timestamp is not None]
            if times and max(times) - min(times) < _DAY:  # of a change of the site
                for entry in entries:
                    entry.timestamp = None

    def _limited(self, entries: list[Entry], kind: str) -> list[Entry]:
        """Return the first *entries* within the limits; undated ones of a period are searched."""
        undated = sum(entry.timestamp is None for entry in entries)
        undated = min(undated, MAX_UNDATED.get(kind, undated))
        limit = max(self._limit, undated if self._period.until is not None else 0)
        sizes = accumulate(map(_size, entries[:limit]))
        return entries[: sum(size <= MAX_RESULT_SIZE for size in sizes)]


def _size(entry: Entry) -> int:
    return len(entry.url) + len(entry.key) + sum(map(len, entry.hints.values()))


def _is_dated(entry: Entry) -> bool:
    return "date" in entry.hints or date_in_url(entry.url) is not None
