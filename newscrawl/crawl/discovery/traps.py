"""URLs that a program makes without end, told by their shape alone.

A trap is bounded by its site's budgets anyway; here it is kept from eating them. Refusing an
article costs more than following a trap for a while, so each rule is a narrow one: figures in
``docs/guide/safety.md``.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, Literal
from urllib.parse import parse_qsl, urlsplit

Trap = Literal["depth", "repeats", "calendar", "query"]

MOST_SEGMENTS: Final = 12
"""Segments of a path."""
MOST_REPEATS: Final = 2
"""Times that one segment may stand in a path: ``/news/news/`` exists."""
MOST_PARAMETERS: Final = 10
"""Parameters of a query, after those that track visitors are gone."""
MOST_VALUES: Final = 3
"""Values of one parameter."""
LONGEST_QUERY: Final = 512
"""Characters of a query."""

# Leaves of a calendar: the path ends with a month, a week or a day, and no title follows.
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
# An escaped percent sign, escaped: a URL that was put into itself more than once.
_NESTED = re.compile(r"%25(?:25)+")


def trap(url: str) -> Trap | None:
    """Return why *url* looks generated without end; None where it does not.

    Sessions are no reason: :func:`~newscrawl.crawl.discovery.urls.absolute_url` takes them out.
    """
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    if len(segments) > MOST_SEGMENTS:
        return "depth"
    if _repeats(segments):
        return "repeats"
    if _CALENDAR.fullmatch(parts.path):
        return "calendar"
    return _query_trap(parts.query) if parts.query else None


def _repeats(segments: list[str]) -> bool:
    """Return True for ``a/a/a``, and for ``a/b/a/b``: a relative link that adds itself."""
    if max(map(segments.count, segments), default=0) > MOST_REPEATS:
        return True
    pairs = [(a, b) for a, b in pairwise(segments) if a != b]
    return len(pairs) != len(set(pairs))


def _query_trap(query: str) -> Trap | None:
    if len(query) > LONGEST_QUERY or _NESTED.search(query):
        return "query"
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_PARAMETERS)
    except ValueError:  # more
        return "query"
    names = [name.lower() for name, _ in pairs]
    if max(map(names.count, names), default=0) > MOST_VALUES:
        return "query"
    return "calendar" if _is_calendar(pairs) else None


def _is_calendar(pairs: list[tuple[str, str]]) -> bool:
    """Return True where all parameters turn the leaves of a calendar, and one would not do."""
    if not pairs or not all(
        _CALENDAR_PARAMETER.fullmatch(name) and _CALENDAR_VALUE.fullmatch(value)
        for name, value in pairs
    ):
        return False
    names = {name.lower() for name, _ in pairs}
    return len(names & _YEAR_OR_MONTH) != 1 or len(names) > 1
