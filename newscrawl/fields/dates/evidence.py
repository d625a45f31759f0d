"""Evidence of the publication date: all that a page states and shows of it.

Structured data (:mod:`~newscrawl.fields.metadata.metadata`) and the text nodes near the title
(:mod:`~newscrawl.fields.dates.visible_dates`) are gathered alike; :mod:`~newscrawl.fields.dates.decide` decides. What is marked as the modification
stays apart and never stands in for the publication.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from newscrawl.document.rows import MAX_SHORT_TEXT
from newscrawl.fields.dates.visible_dates import DateText, any_may_hold_date, read_dates
from newscrawl.fields.metadata.structured_date import day_of, is_plausible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields.metadata.metadata import Metadata, Stated
    from newscrawl.items import Day

TEXT_SOURCE = "text"
"""Source of what a text node shows."""

LONGEST_NODE = 120
"""Characters of the longest text node that is read for dates; longer ones are prose."""

FARTHEST = 20
"""Most text nodes between the title and a date; 30 find no more days on news212 and fundus."""

# Without a digit only "gestern", "2 days ago" spelt out and the like can be a date.
_LONGEST_WORDS = 24
_DIGIT = re.compile(r"\d")
# Pages without a title are long lists; hostile ones have a million nodes.
_MOST_NODES = 200
# Halves the weight of a date that is so many text nodes from where dates stand: after the title.
_NEAR = 8
_USUAL_DISTANCE = 2
_COUNTRY = re.compile(r"\.([a-z]{2})\.?$")
# Sold as words: https://developers.google.com/search/docs/specialty/international/managing-multi-regional-sites
_GENERIC = frozenset(
    "ad ai as bz cc cd co dj fm io la me ms nu sc sr su tv tk ws".split()  # noqa: SIM905
)


class DateEvidence(NamedTuple):
    """A day or instant, as one source gives it."""

    value: Day | datetime
    raw: str
    #: as in :class:`~newscrawl.fields.metadata.metadata.Metadata`, or :data:`TEXT_SOURCE`
    source: str
    #: of the text node
    row: int | None = None
    #: the text node's place among all of the page's
    place: int = 0
    #: how likely the node is the publication date's, in 0..1
    weight: float = 1.0
    #: False of a relative date and of one whose year or order is a guess
    certain: bool = True

    @property
    def day(self) -> Day:
        """The day in the value's own zone."""
        return day_of(self.value)

    @property
    def kind(self) -> str:
        """The source without its details."""
        return self.source.partition(":")[0]


def stated_dates(dates: Iterable[Stated]) -> list[DateEvidence]:
    """Return what structured data states, as evidence."""
    return [DateEvidence(one.value, one.raw, one.source) for one in dates]


def gather(
    document: Document,
    metadata: Metadata,
    forest: Sequence[int],
    title_row: int | None,
    *,
    url: str | None,
    fetched_at: datetime,
) -> list[DateEvidence]:
    """Return what the page states and shows of its publication, in order of trust.

    Text nodes are read where they are near *title_row*, the row of the title's element; without
    one, up to the end of *forest*, the roots of the relevant content. Nearness and brevity rate
    them. Classifiers do no better: on other sites (660 pages of news212 and fundus, three folds)
    the day is right on 0.989 with the papers' date model, 0.991 with a forest over 14 features
    of the dates read, and 0.991 so; of text alone on 0.947 with each. They do not know better
    where they err, either (area under the curve 0.80 with each), and the papers' model costs
    seven parses of the page.
    """
    stated = stated_dates(metadata.published)
    known = {day_of(one.value) for one in (*metadata.published, *metadata.modified)}
    language = metadata.language
    region = None if language and "-" in language else region_of(url)
    shown = []
    for place, distance, row in _rows(document, forest, title_row, language):
        text = " ".join(document.text[row].split())
        for found in read_dates(text, language=language, region=region, now=fetched_at):
            if value := _value(found, known, fetched_at):
                share = len(found.text) / len(text)
                weight = share / (1 + abs(distance - _USUAL_DISTANCE) / _NEAR)
                guessed = found.ambiguous and day_of(value) not in known
                certain = found.has_year and found.kind == "absolute" and not guessed
                shown.append(
                    DateEvidence(value, found.text, TEXT_SOURCE, row, place, weight, certain)
                )
    return stated + shown


def region_of(url: str | None) -> str | None:
    """Return the country (ISO 3166) of a URL's top-level domain, if that is a country's."""
    match = _COUNTRY.search(urlsplit(url).hostname or "") if url else None
    if match is None or match[1] in _GENERIC:
        return None
    return "GB" if match[1] == "uk" else match[1].upper()


def _rows(
    document: Document, forest: Sequence[int], title_row: int | None, language: str | None
) -> list[tuple[int, int, int]]:
    """Return place, distance to the title and row of text nodes that may hold a date."""
    rows, text = document.text_nodes(), document.text
    title = 0 if title_row is None else bisect_left(rows, title_row)
    first, last = max(0, title - FARTHEST), title + FARTHEST + 1
    if title_row is None:
        end = max((document.end[root] for root in forest), default=len(document))
        first, last = 0, bisect_left(rows, end) + _NEAR
    rows = rows[first:last]
    with_digit = _numbered(document, rows)
    found, numbered, bare = [], [], []
    for place, row in enumerate(rows, first):
        length = len(text[row])
        if row in with_digit or (
            MAX_SHORT_TEXT < length <= LONGEST_NODE and _DIGIT.search(text[row])
        ):
            found.append((place, place - title, row))
            numbered.append(found[-1])
        elif length <= _LONGEST_WORDS and abs(place - title) <= _NEAR:
            found.append((place, place - title, row))
            bare.append(text[row])
        if len(found) == _MOST_NODES:
            break
    return found if any_may_hold_date(bare, language) else numbered


def _numbered(document: Document, rows: Sequence[int]) -> set[int]:
    """Return those of *rows*, which follow one another, whose text is short and has a digit."""
    if not rows:
        return set()
    numbered = document.number_rows
    first = bisect_left(numbered, rows[0])
    return set(numbered[first : bisect_right(numbered, rows[-1], first)])


def _value(found: DateText, known: Iterable[Day], now: datetime) -> Day | datetime | None:
    """Return what a text says; what it leaves open is taken from the days that the page states."""
    day = found.day
    if found.ambiguous and day not in known:
        swapped = date(day.year, day.day, day.month)
        day = swapped if swapped in known else day
    if not found.has_year:
        same = (other for other in known if (other.month, other.day) == (day.month, day.day))
        day = next(same, day)
    if not is_plausible(day, now):
        return None
    return datetime.combine(day, found.time, found.zone) if found.time else day
