"""Evidence of the publication date, from structured data and from visible text near the title.

:mod:`~newscrawl.fields.dates.decide` decides on the date. Dates of modification are kept separate.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from newscrawl.document.repeats import dated_teasers
from newscrawl.document.rows import MAX_SHORT_TEXT
from newscrawl.fields.dates.visible_dates import any_may_hold_date, read_dates
from newscrawl.fields.metadata.metadata import is_modified_mark
from newscrawl.fields.metadata.places import label_of, place_in_list, place_of
from newscrawl.fields.metadata.structured_date import day_of, is_plausible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields.dates.calendars import VisibleDate
    from newscrawl.fields.metadata.metadata import Metadata, StatedDate
    from newscrawl.fields.metadata.places import Label
    from newscrawl.items import Day

TEXT_SOURCE = "text"
"""Source of a date in a text node."""

CLEAR_WEIGHT = 0.3
"""Minimum weight of a visible date that belongs to this article, as in a byline."""

HEAD_WEIGHT = 0.45
"""Minimum weight of a visible date in the head of the story: most of a text next to the title."""

MAX_NODE_LENGTH = 120
"""Maximum characters of a text node that is searched for dates; longer ones are prose."""

MAX_TITLE_DISTANCE = 20
"""Maximum text nodes between the title and a date."""

# Minimum share of a date in its text node, farther from the title.
_MIN_DISTANT_SHARE = 0.45
# Maximum characters of a date without digits, such as "gestern".
_MAX_WORDS_LENGTH = 24
_DIGIT = re.compile(r"\d")
# Limits the cost of hostile pages.
_MAX_NODES = 200
# Distance from the usual position, after the title, at which the weight of a date is halved.
_HALF_WEIGHT_DISTANCE = 8
_USUAL_DISTANCE = 2
# Characters of the link of a teaser; names of authors are shorter.
_MIN_TEASER = 22
# Side columns seldom hold the date of the story.
_ASIDE_WEIGHT = 0.2
_COUNTRY = re.compile(r"\.([a-z]{2})\.?$")
# Country domains in generic use: https://developers.google.com/search/docs/specialty/international/managing-multi-regional-sites
_GENERIC_DOMAINS = frozenset(
    "ad ai as bz cc cd co dj fm io la me ms nu sc sr su tv tk ws".split()  # noqa: SIM905
)

# Characters of a day or a year in an element of its own.
_MAX_PART = 4
_MAX_LEVELS = 3
# Start of a paragraph: "(18 January 2018) ...", "MELBY, March 14, 2021 — ...".
_DATELINE = re.compile(r"[^.!?\d]{0,40}\d[^–—:)）】]{0,25}?\s?(?:[–—)）】]|\.-|\s-\s|:\s)")
_LABEL_AFTER = re.compile(r"\s?(?:公開|掲載|更新|修改|发布|發布|입력|수정|등록)(?![\w:：])")


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
    #: what the words before the date say
    label: Label = ""

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
    rows = document.shown_rows
    title = 0 if title_row is None else bisect_left(rows, title_row)
    teasers = () if title_row is None else dated_teasers(document, title_row)
    reader = _TextReader(document, language, region, fetched_at, known, title_row, title, teasers)
    for position in reader.candidates(forest):
        evidence += reader.read(position)
    if not evidence:
        start, numbered = bisect_left(rows, min(forest, default=0)), set(document.number_rows)
        positions = (position for position, row in enumerate(rows) if row in numbered)
        nearest = sorted(positions, key=lambda position: abs(position - start))[:_MAX_NODES]
        reader = reader._replace(usual=start, min_share=_MIN_DISTANT_SHARE)
        for position in nearest:
            evidence += reader.read(position)
    return evidence


class _TextReader(NamedTuple):
    """Reader of dates in text nodes; a position is the number of a node among those shown."""

    document: Document
    language: str | None
    region: str | None
    fetched_at: datetime
    #: days that structured data states
    known: set[Day]
    title_row: int | None
    #: position near which the date usually is: that of the title
    usual: int
    #: rows of teasers of other stories
    teasers: Collection[int]
    #: minimum share of a date in its text node
    min_share: float = 0.0

    def candidates(self, forest: Sequence[int]) -> list[int]:
        """Return the positions near the title, or up to the end of *forest*, with dates perhaps."""
        rows, text = self.document.shown_rows, self.document.text
        title = self.usual
        first, last = max(0, title - MAX_TITLE_DISTANCE), title + MAX_TITLE_DISTANCE + 1
        if self.title_row is None:
            end = max((self.document.end[root] for root in forest), default=len(self.document))
            first, last = 0, bisect_left(rows, end) + _HALF_WEIGHT_DISTANCE
        numbers = set(self.document.number_rows)
        with_digit, without_digit = [], []
        for position, row in enumerate(rows[first:last], first):
            length = len(text[row])
            is_long = length > MAX_NODE_LENGTH
            may_hold_date = _DATELINE.match if is_long else _DIGIT.search
            if row in numbers or (
                length > MAX_SHORT_TEXT
                and (position > title or not is_long)
                and may_hold_date(text[row])
            ):
                with_digit.append(position)
            elif length <= _MAX_WORDS_LENGTH and abs(position - title) <= _HALF_WEIGHT_DISTANCE:
                without_digit.append(position)
            if len(with_digit) + len(without_digit) == _MAX_NODES:
                break
        words = (text[rows[position]] for position in without_digit)
        if not any_may_hold_date(words, self.language):
            return with_digit
        return sorted(with_digit + without_digit)

    def read(self, position: int) -> Iterator[DateEvidence]:
        """Yield the dates of the text node at *position*."""
        row = self.document.shown_rows[position]
        text = " ".join(self._text(row).split())
        dateline = _DATELINE.match(text) if len(text) > MAX_NODE_LENGTH else None
        text = dateline[0] if dateline else text
        is_part = dateline is not None or len(self.document.text[row]) <= _MAX_PART
        dates = read_dates(text, language=self.language, region=self.region, now=self.fetched_at)
        if not dates:
            return
        place = place_of(self.document, row, self.title_row, self.teasers)
        in_list = place_in_list(self.document, row, self.title_row)
        if in_list == "other" or (place == "other" and in_list != "own"):
            return
        before = self._label_before(position)
        parent = self.document.parent[row]
        is_time = self.document.tag[parent] == "time"
        marks = self.document.attributes["class"].get(parent, "") if is_time else ""
        distance = position - self.usual
        closeness = 1 / (1 + abs(distance - _USUAL_DISTANCE) / _HALF_WEIGHT_DISTANCE)
        if dateline or place == "aside" or self._follows_teaser(position, distance):
            closeness *= _ASIDE_WEIGHT
        end = 0
        for found in dates:
            label = label_of(before + text[end : found.start])
            before, end = "", found.end
            if not label and (after := _LABEL_AFTER.match(text, end)):
                label, end = label_of(after[0]), after.end()
            if not label and is_modified_mark(marks):
                label = "modified"
            if in_list == "own":
                label = "published"
            share = len(found.text) / len(text)
            if label == "other" or (is_part and not found.has_year) or share < self.min_share:
                continue
            value = _value(found, self.known, self.fetched_at)
            if value is not None:
                complete = found.has_year and not found.ambiguous
                certain = found.kind == "absolute" and (complete or day_of(value) in self.known)
                yield DateEvidence(
                    value, found.text, TEXT_SOURCE, row, position, share * closeness, certain, label
                )

    def _text(self, row: int) -> str:
        """Return the text of *row*, or of all parts of a date that has elements of its own."""
        text = self.document.text[row]
        if len(text) > _MAX_PART:
            return text
        above = islice(self.document.ancestors(row), _MAX_LEVELS)
        sizes = ((it, self.document.chars(it)) for it in above)
        whole = next((it for it, size in sizes if len(text) < size <= _MAX_WORDS_LENGTH), None)
        rows = (row,) if whole is None else self.document.text_nodes(whole)
        return " ".join(map(self.document.text.__getitem__, rows))

    def _follows_teaser(self, position: int, distance: int) -> bool:
        """Return whether the text before the date is a long link after the title."""
        if distance < 2:  # the title itself
            return False
        row = self.document.shown_rows[position - 1]
        is_link = any(
            self.document.tag[it] == "a" for it in islice(self.document.ancestors(row), 2)
        )
        return is_link and len(self.document.text[row]) >= _MIN_TEASER

    def _label_before(self, position: int) -> str:
        """Return the short text without a date before a text node: "Updated:"."""
        rows = self.document.shown_rows
        text = self.document.text[rows[position - 1]] if 0 < position <= len(rows) else ""
        is_label = len(text) <= _MAX_WORDS_LENGTH and not _DIGIT.search(text)
        return f"{text} " if is_label else ""


def region_of(url: str | None) -> str | None:
    """Return the country (ISO 3166) of a URL's country-code domain, or None for other domains."""
    match = _COUNTRY.search(urlsplit(url).hostname or "") if url else None
    if match is None or match[1] in _GENERIC_DOMAINS:
        return None
    return "GB" if match[1] == "uk" else match[1].upper()


def _value(found: VisibleDate, known: Iterable[Day], now: datetime) -> Day | datetime | None:
    """Return the value of *found*; the *known* days resolve an ambiguous order and a missing year."""
    day = found.day
    if found.ambiguous and day not in known:
        swapped = date(day.year, day.day, day.month)
        day = swapped if swapped in known or not is_plausible(day, now) else day
    if not found.has_year:
        same = (other for other in known if (other.month, other.day) == (day.month, day.day))
        day = next(same, day)
    if not is_plausible(day, now):
        return None
    return found._replace(day=day).value
