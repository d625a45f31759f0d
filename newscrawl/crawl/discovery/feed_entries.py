"""What sitemaps, feeds and pages list: entries, checked one by one, newest first, bounded."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from newscrawl.crawl.discovery.link_classifier import date_in_url
from newscrawl.crawl.discovery.traps import trap
from newscrawl.crawl.discovery.urls import absolute_url, owner, page_key, site_key

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_URL = 2083
"""Characters of a URL that any server must take; longer ones are generated or hostile."""
_MAX_TITLE = 500
_MONTH = re.compile(r"(\d{4})-?(\d\d)?$")


def iso_date(text: str | None) -> str | None:
    """Return *text*, a W3C date, as ISO 8601 that :func:`newscrawl.items.parse_iso` reads.

    None where it is none, or names no more than a month.
    """
    if not text:
        return None
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return text.strip() if len(text.strip()) == len("2026-01-31") else when.isoformat()


def order_date(text: str | None) -> float | None:
    """Return the instant that a W3C date names, in seconds, to order by; None where it is none.

    A date without zone counts as UTC, a month or a year as its first day.
    """
    if not text:
        return None
    text = text.strip()
    if month := _MONTH.fullmatch(text):
        text = f"{month[1]}-{month[2] or '01'}-01"
    try:
        when = datetime.fromisoformat(text)
        return when.replace(tzinfo=when.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError):
        return None


# References to the list that they stand in.
_ITSELF = frozenset({"", "//"})


class Entries:
    """Collects the entries of one document.

    *owners*: registered domains whose URLs are taken; *since*: ISO 8601, entries known to be
    older are left out; *limit*: entries kept, the newest ones; *traps*: leave out what looks
    generated without end (:func:`~newscrawl.crawl.discovery.traps.trap`).
    """

    def __init__(
        self,
        base: str,
        owners: Sequence[str],
        *,
        since: str | None = None,
        limit: int = 1000,
        traps: bool = True,
    ) -> None:
        self._base = base
        self._owners = frozenset(owners)
        self._since = order_date(since)
        self._limit = limit
        self._traps = traps
        self._found: dict[str, dict[str, Any]] = {}
        self._left_out: Counter[str] = Counter()

    def leave_out(self, reason: str) -> None:
        """Count an entry that is not taken."""
        self._left_out[reason] += 1

    def add(
        self,
        url: str,
        *,
        date: str | None = None,
        changed: str | None = None,
        title: str | None = None,
        language: str | None = None,
        any_owner: bool = False,
    ) -> None:
        """Take an entry, or count why it is left out.

        *date* is the publication, *changed* the last change: the latter only orders.
        """
        absolute = absolute_url(url, self._base) if len(url) <= MAX_URL else None
        if absolute is None or url.strip() in _ITSELF:
            self.leave_out("bad")
            return
        if self._traps and trap(absolute):
            self.leave_out("trap")
            return
        when = order_date(date) or order_date(changed) or order_date(date_in_url(absolute))
        if not any_owner and owner(site_key(absolute)) not in self._owners:
            self.leave_out("other_site")
        elif self._since is not None and when is not None and when < self._since:
            self.leave_out("too_old")
        else:
            hints = {
                "title": title and title[:_MAX_TITLE],
                "date": iso_date(date),
                "language": language,
            }
            known = {name: text for name, text in hints.items() if text}
            key = page_key(absolute)
            entry = {
                "url": absolute,
                "key": key,
                "when": when,
                "changed": order_date(changed),
                "hints": known,
            }
            self._found.setdefault(key, entry)

    def result(self, kind: str) -> dict[str, Any]:
        """Return ``kind``, the ``entries`` (newest first, undated last) and ``left_out`` counts.

        An entry is ``url``, ``key`` (see :func:`~newscrawl.crawl.discovery.urls.page_key`), ``when``
        (seconds, or None), ``changed`` (the last change that the listing tells, likewise) and
        ``hints`` (``title``, ``date``, ``language``, where known).
        """
        entries = sorted(
            self._found.values(), key=lambda entry: (entry["when"] is None, -(entry["when"] or 0))
        )
        self._left_out["over_limit"] += max(0, len(entries) - self._limit)
        left_out = {reason: count for reason, count in self._left_out.items() if count}
        return {"kind": kind, "entries": entries[: self._limit], "left_out": left_out}
