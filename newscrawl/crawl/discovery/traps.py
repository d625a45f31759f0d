"""Crawler traps: URLs that a site generates without end, detected by their shape.

A trap would use up the budgets of its site. The rules are narrow, since skipping an article costs
more than following a trap for a while.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, Literal
from urllib.parse import parse_qsl, urlsplit

Trap = Literal["depth", "repeats", "calendar", "query"]

MAX_SEGMENTS: Final = 12
"""Maximum number of path segments."""
MAX_REPEATS: Final = 2
"""Maximum occurrences of one segment in a path: ``/news/news/`` exists."""
MAX_PARAMETERS: Final = 10
"""Maximum number of query parameters, tracking parameters not counted."""
MAX_VALUES: Final = 3
"""Maximum number of values of one parameter."""
MAX_QUERY_LENGTH: Final = 512
"""Maximum length of a query, in characters."""

# Pages of a calendar: the path ends with a month, a week or a day, without a title.
_CALENDAR = re.compile(
    r".*/(?:e?calendars?|kalender|calendrier|calendario|events?|tribe[_-]?events|eventlist)"
    r"(?:[/.-][a-z]+)?/(?:19|20|21)\d\d(?:[/-]\d{1,2}|-w\d\d?){1,2}/?",
    re.IGNORECASE,
)
_CALENDAR_PARAMETER = re.compile(
    r"(?:cal(?:endar)?_?(?:date|day|month|year|week|view)?|tribe-bar-date|eventdisplay|ical"
    r"|view_?month|view_?year|month|mon|yr|year|week)",
    re.IGNORECASE,
)
_CALENDAR_VALUE = re.compile(r"\d{1,4}(?:[-/.]\d{1,2}){0,2}|list|month|day|week|past|1")
_YEAR_OR_MONTH = frozenset({"year", "yr", "month", "mon", "week"})
# A percent sign that is escaped twice: a URL contains itself more than once.
_NESTED = re.compile(r"%25(?:25)+")


def trap_kind(url: str) -> Trap | None:
    """Return the kind of crawler trap that *url* belongs to; None if it is not a trap.

    Session IDs are ignored: :func:`~newscrawl.crawl.discovery.urls.absolute_url` removes them.
    """
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    if len(segments) > MAX_SEGMENTS:
        return "depth"
    if _has_repeats(segments):
        return "repeats"
    if _CALENDAR.fullmatch(parts.path):
        return "calendar"
    return _query_trap(parts.query) if parts.query else None


def _has_repeats(segments: list[str]) -> bool:
    """Return True for ``a/a/a`` and ``a/b/a/b``: a relative link that is appended repeatedly."""
    if max(map(segments.count, segments), default=0) > MAX_REPEATS:
        return True
    pairs = [(first, second) for first, second in pairwise(segments) if first != second]
    return len(pairs) != len(set(pairs))


def _query_trap(query: str) -> Trap | None:
    if len(query) > MAX_QUERY_LENGTH or _NESTED.search(query):
        return "query"
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:  # more parameters
        return "query"
    names = [name.lower() for name, _ in pairs]
    if max(map(names.count, names), default=0) > MAX_VALUES:
        return "query"
    return "calendar" if _is_calendar(pairs) else None


def _is_calendar(pairs: list[tuple[str, str]]) -> bool:
    """Return True if all parameters select a page of a calendar.

    A year, month or week as the only parameter may belong to an archive instead.
    """
    if not pairs or not all(
        _CALENDAR_PARAMETER.fullmatch(name) and _CALENDAR_VALUE.fullmatch(value)
        for name, value in pairs
    ):
        return False
    names = {name.lower() for name, _ in pairs}
    return len(names & _YEAR_OR_MONTH) != 1 or len(names) > 1
