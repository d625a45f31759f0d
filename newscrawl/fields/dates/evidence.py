"""Evidence of the publication date, from structured data and from visible text near the title.

:mod:`~newscrawl.fields.dates.decide` decides on the date. Dates of modification are kept separate.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from newscrawl.document.rows import MAX_SHORT_TEXT
from newscrawl.fields.dates.visible_dates import VisibleDate, any_may_hold_date, read_dates
from newscrawl.fields.metadata.structured_date import day_of, is_plausible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields.metadata.metadata import Metadata, StatedDate
    from newscrawl.items import Day

TEXT_SOURCE = "text"
"""Source of a date in a text node."""

CLEAR_WEIGHT = 0.3
"""Minimum weight of a visible date that belongs to this article, as in a byline."""

MAX_NODE_LENGTH = 120
"""Maximum characters of a text node that is searched for dates; longer ones are prose."""

MAX_TITLE_DISTANCE = 20
"""Maximum text nodes between the title and a date."""

# Minimum share of a date in its text node, farther from the title.
_MIN_DISTANT_SHARE = 0.5
# Maximum characters of a date without digits, such as "gestern".
_MAX_WORDS_LENGTH = 24
_DIGIT = re.compile(r"\d")
# Limits the cost of hostile pages.
_MAX_NODES = 200
# Distance from the usual position, after the title, at which the weight of a date is halved.
_HALF_WEIGHT_DISTANCE = 8
_USUAL_DISTANCE = 2
_COUNTRY = re.compile(r"\.([a-z]{2})\.?$")
# Country domains in generic use: https://developers.google.com/search/docs/specialty/international/managing-multi-regional-sites
_GENERIC_DOMAINS = frozenset(
    "ad ai as bz cc cd co dj fm io la me ms nu sc sr su tv tk ws".split()  # noqa: SIM905
)


class DateEvidence(NamedTuple):
    """A day or instant from one source."""

    value: Day | datetime
    raw: str
    #: as in :class:`~newscrawl.fields.metadata.metadata.Metadata`, or :data:`TEXT_SOURCE`
    source: str
    #: row of the text node
    row: int | None = None
    #: position among all text nodes of the page
    position: int = 0
    #: relative likelihood that this is the publication date, in 0..1
    weight: float = 1.0
    #: False for a relative date or a guessed year or order of day and month
    certain: bool = True

    @property
    def day(self) -> Day:
        """The day in the value's own zone."""
        return day_of(self.value)

    @property
    def kind(self) -> str:
        """The source without its details."""
        return self.source.partition(":")[0]

    @property
    def is_clear(self) -> bool:
        """Whether this is a certain visible date near the title."""
        return self.source == TEXT_SOURCE and self.certain and self.weight >= CLEAR_WEIGHT


def metadata_evidence(dates: Iterable[StatedDate]) -> list[DateEvidence]:
    """Convert dates of structured data to evidence."""
    return [DateEvidence(date.value, date.raw, date.source) for date in dates]


def gather(
    document: Document,
    metadata: Metadata,
    forest: Sequence[int],
    title_row: int | None,
    *,
    url: str | None,
    fetched_at: datetime,
) -> list[DateEvidence]:
    """Return the evidence of the publication date, in order of trust.

    Text nodes near *title_row*, the row of the title's element, are searched; without a title,
    those up to the end of *forest*, the roots of the relevant content. A visible date weighs more
    the closer it is to the title and the less other text its node has: a classifier of the dates
    is no more accurate.
    """
    known = {day_of(date.value) for date in (*metadata.published, *metadata.modified)}
    language = metadata.language
    region = None if language and "-" in language else region_of(url)
    evidence = metadata_evidence(metadata.published)
    reader = _TextReader(document, language, region, fetched_at, known)
    for position, distance, row in _candidates(document, forest, title_row, language):
        evidence += reader.read(position, distance, row)
    if not evidence:
        for position, distance, row in _distant_candidates(document, forest):
            evidence += reader.read(position, distance, row, min_share=_MIN_DISTANT_SHARE)
    return evidence


class _TextReader(NamedTuple):
    document: Document
    language: str | None
    region: str | None
    fetched_at: datetime
    #: days that structured data states
    known: set[Day]

    def read(
        self, position: int, distance: int, row: int, min_share: float = 0.0
    ) -> Iterator[DateEvidence]:
        """Yield the dates of the text node *row* that take up *min_share* of its characters."""
        text = " ".join(self.document.text[row].split())
        for found in read_dates(
            text, language=self.language, region=self.region, now=self.fetched_at
        ):
            share = len(found.text) / len(text)
            value = _value(found, self.known, self.fetched_at) if share >= min_share else None
            if value is not None:
                weight = share / (1 + abs(distance - _USUAL_DISTANCE) / _HALF_WEIGHT_DISTANCE)
                complete = found.has_year and not found.ambiguous
                certain = found.kind == "absolute" and (complete or day_of(value) in self.known)
                yield DateEvidence(value, found.text, TEXT_SOURCE, row, position, weight, certain)


def region_of(url: str | None) -> str | None:
    """Return the country (ISO 3166) of a URL's country-code domain, or None for other domains."""
    match = _COUNTRY.search(urlsplit(url).hostname or "") if url else None
    if match is None or match[1] in _GENERIC_DOMAINS:
        return None
    return "GB" if match[1] == "uk" else match[1].upper()


def _candidates(
    document: Document, forest: Sequence[int], title_row: int | None, language: str | None
) -> list[tuple[int, int, int]]:
    """Return position, distance to the title and row of text nodes that may contain a date."""
    rows, text = document.text_nodes(), document.text
    title = 0 if title_row is None else bisect_left(rows, title_row)
    first, last = max(0, title - MAX_TITLE_DISTANCE), title + MAX_TITLE_DISTANCE + 1
    if title_row is None:
        end = max((document.end[root] for root in forest), default=len(document))
        first, last = 0, bisect_left(rows, end) + _HALF_WEIGHT_DISTANCE
    rows = rows[first:last]
    short_with_digit = _numbered(document, rows)
    candidates, with_digit, texts_without_digit = [], [], []
    for position, row in enumerate(rows, first):
        length = len(text[row])
        if row in short_with_digit or (
            MAX_SHORT_TEXT < length <= MAX_NODE_LENGTH and _DIGIT.search(text[row])
        ):
            candidates.append((position, position - title, row))
            with_digit.append(candidates[-1])
        elif length <= _MAX_WORDS_LENGTH and abs(position - title) <= _HALF_WEIGHT_DISTANCE:
            candidates.append((position, position - title, row))
            texts_without_digit.append(text[row])
        if len(candidates) == _MAX_NODES:
            break
    return candidates if any_may_hold_date(texts_without_digit, language) else with_digit


def _distant_candidates(document: Document, forest: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return position, distance and row of the numbered text nodes closest to the content."""
    rows = document.text_nodes()
    start = bisect_left(rows, min(forest, default=0))
    numbered = _numbered(document, rows)
    positions = (position for position, row in enumerate(rows) if row in numbered)
    nearest = sorted(positions, key=lambda position: abs(position - start))[:_MAX_NODES]
    return [(position, position - start, rows[position]) for position in nearest]


def _numbered(document: Document, rows: Sequence[int]) -> set[int]:
    """Return the numbered rows of *document* from the first to the last of *rows*."""
    if not rows:
        return set()
    numbered = document.number_rows
    first = bisect_left(numbered, rows[0])
    return set(numbered[first : bisect_right(numbered, rows[-1], first)])


def _value(found: VisibleDate, known: Iterable[Day], now: datetime) -> Day | datetime | None:
    """Return the value of *found*; the *known* days resolve an ambiguous order and a missing year."""
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
