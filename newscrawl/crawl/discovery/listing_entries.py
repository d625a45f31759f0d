"""Entries of sitemaps, feeds and pages: validated, newest first, limited in number."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from newscrawl.crawl.discovery.link_classifier import date_in_url
from newscrawl.crawl.discovery.traps import trap_kind
from newscrawl.crawl.discovery.urls import absolute_url, page_key, registered_domain, site_key

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_URL_LENGTH = 2083
"""Maximum length of a URL; longer ones are generated or hostile."""
_MAX_TITLE_LENGTH = 500
_MONTH = re.compile(r"(\d{4})-?(\d\d)?$")


def iso_date(text: str | None) -> str | None:
    """Return the W3C date *text* as ISO 8601; None if it is invalid or has no day."""
    if not text:
        return None
    text = text.strip()
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return text if len(text) == len("2026-01-31") else parsed.isoformat()


def date_timestamp(text: str | None) -> float | None:
    """Return the W3C date *text* in seconds since 1970, for ordering; None if it is invalid.

    A date without time zone is UTC; a month or a year is its first day.
    """
    if not text:
        return None
    text = text.strip()
    if month := _MONTH.fullmatch(text):
        text = f"{month[1]}-{month[2] or '01'}-01"
    try:
        parsed = datetime.fromisoformat(text)
        return parsed.replace(tzinfo=parsed.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError):
        return None


class EntryCollector:
    """Collects the entries of one document.

    *domains*: registered domains to accept; *since*: ISO 8601, older entries are skipped; *limit*:
    maximum number of entries, the newest are kept; *traps*: skip URLs of crawler traps
    (:func:`~newscrawl.crawl.discovery.traps.trap_kind`).
    """

    def __init__(
        self,
        base: str,
        domains: Sequence[str],
        *,
        since: str | None = None,
        limit: int = 1000,
        traps: bool = True,
    ) -> None:
        self._base = base
        self._domains = frozenset(domains)
        self._since = date_timestamp(since)
        self._limit = limit
        self._traps = traps
        self._entries: dict[str, dict[str, Any]] = {}
        self._left_out: Counter[str] = Counter()

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
        any_domain: bool = False,
    ) -> None:
        """Add an entry, or count why it is skipped.

        *date* is the publication date, *changed* the last modification, which only orders entries.
        """
        absolute = absolute_url(url, self._base) if len(url) <= MAX_URL_LENGTH else None
        if absolute is None or url.strip() in ("", "//"):  # the document itself
            self.skip("bad")
            return
        if self._traps and trap_kind(absolute):
            self.skip("trap")
            return
        modified = date_timestamp(changed)
        timestamp = date_timestamp(date) or modified or date_timestamp(date_in_url(absolute))
        if not any_domain and registered_domain(site_key(absolute)) not in self._domains:
            self.skip("other_site")
        elif self._since is not None and timestamp is not None and timestamp < self._since:
            self.skip("too_old")
        else:
            hints = {
                "title": title and title[:_MAX_TITLE_LENGTH],
                "date": iso_date(date),
                "language": language,
            }
            key = page_key(absolute)
            entry = {
                "url": absolute,
                "key": key,
                "timestamp": timestamp,
                "changed": modified,
                "hints": {name: text for name, text in hints.items() if text},
            }
            self._entries.setdefault(key, entry)

    def result(self, kind: str) -> dict[str, Any]:
        """Return ``kind``, ``entries`` (newest first, undated last) and ``left_out`` counts.

        An entry has ``url``, ``key`` (:func:`~newscrawl.crawl.discovery.urls.page_key`),
        ``timestamp`` (seconds, or None), ``changed`` (last modification according to the listing,
        likewise) and ``hints`` (``title``, ``date``, ``language``, if known).
        """
        entries = sorted(
            self._entries.values(),
            key=lambda entry: (entry["timestamp"] is None, -(entry["timestamp"] or 0)),
        )
        self._left_out["over_limit"] += max(0, len(entries) - self._limit)
        left_out = {reason: count for reason, count in self._left_out.items() if count}
        return {"kind": kind, "entries": entries[: self._limit], "left_out": left_out}
