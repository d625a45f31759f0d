"""Publication date and time zone: evidence of structured data and visible text, and the decision.

Dates of modification are kept separate.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple, TypeGuard
from urllib.parse import urlsplit

from newscrawl.document.rows import MAX_SHORT_TEXT
from newscrawl.fields.dates.visible_dates import any_may_hold_date, read_dates
from newscrawl.fields.dates.vocabulary import zones_of
from newscrawl.fields.metadata.metadata import GENERIC_META, is_modified_mark
from newscrawl.fields.metadata.places import StoryPlaces, label_of
from newscrawl.fields.metadata.structured_date import day_of, is_plausible
from newscrawl.items import Evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import tzinfo

    from newscrawl.document.document import Document
    from newscrawl.fields.dates.calendars import VisibleDate
    from newscrawl.fields.metadata.metadata import Metadata, StatedDate
    from newscrawl.fields.metadata.places import Label
    from newscrawl.items import Day

CONFIDENCE = {
    # Several kinds of source give the day: JSON-LD, meta elements, microdata, <time>, URL, text.
    "agreed": 0.99,
    # One kind of structured data gives the day.
    "single": 0.97,
    # Only visible text gives the day, near the title (CLEAR_WEIGHT).
    "text": 0.9,
    # The same, uncertain or far from it.
    "faint": 0.83,
    # Two kinds agree on another day (possibly republished), or only visible text gives the day and
    # it is that of the modification.
    "disputed": 0.78,
}
"""Accuracy of the day by support: (right + 1) / (all + 2), measured by
``benchmarks/confidences.py``."""

# <time> and the URL may refer to another article, generic meta elements to an edit.
_WEAK_SOURCES = frozenset({"time", "url", *(f"meta:{name}" for name in GENERIC_META)})
# Zones differ by quarters of an hour. A time 12 hours behind UTC is one of a 12-hour clock.
_ZONE_STEP = timedelta(minutes=15)
_MIN_OFFSET, _MAX_OFFSET = timedelta(hours=-11), timedelta(hours=14)
# Maximum text nodes between the date of publication and that of an update in a byline.
_MAX_BYLINE_GAP = 2
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


class SiteZones(NamedTuple):
    """Time zones of a site's country."""

    zones: tuple[tzinfo, ...] = ()
    #: the domain names the country; language tags such as "en-US" are often the software's default
    certain: bool = False


_NO_ZONES = SiteZones()


class PublicationDate(NamedTuple):
    """A day or instant, the text it was read from, and its source."""

    value: Day | datetime
    raw: str
    evidence: Evidence


class PageDates(NamedTuple):
    """Dates of a page."""

    published: PublicationDate | None
    modified: PublicationDate | None
    #: evidence of the publication date, in order of trust
    evidence: list[DateEvidence]


def page_dates(
    document: Document,
    metadata: Metadata,
    forest: Sequence[int],
    title_row: int | None,
    *,
    url: str | None,
    fetched_at: datetime,
) -> PageDates:
    """Return the dates of a page; the arguments are those of :func:`gather`."""
    found = gather(document, metadata, forest, title_row, url=url, fetched_at=fetched_at)
    published = [item for item in found if item.label != "modified"]
    shown = [item for item in found if item.label == "modified"]
    modified = [*metadata_evidence(metadata.modified), *shown]
    zones = site_zones(url, metadata.language)
    chosen = decide(published, modified, zones)
    if chosen is None:
        # The head of a story often shows only the last day on which it was published.
        chosen = decide([item for item in shown if item.is_clear], modified, zones)
    return PageDates(chosen, decide(modified, site=zones), published)


def decide(
    evidence: Sequence[DateEvidence],
    modified: Sequence[DateEvidence] = (),
    site: SiteZones = _NO_ZONES,
) -> PublicationDate | None:
    """Return the publication date, or None without evidence.

    The first structured date in order of trust wins, then the best visible date, then the URL,
    ``<time>`` and generic meta elements. A clear visible day in the head of the story wins against
    a structured one if more kinds of source give it, or as many and it is earlier. A day is
    completed to the instant, and a naive time to the zone, that other evidence gives. *modified* is
    the evidence of the modification date, *site* the zones of the site's country. The confidence
    follows the support for the day (:data:`CONFIDENCE`).
    """
    stated = next((item for item in evidence if _is_strong(item)), None)
    if stated is not None:
        local = to_local_zone(stated.value, evidence, modified, site)
        evidence = [stated._replace(value=local), *evidence]
    chosen = _choose(evidence, {update.day for update in modified})
    if chosen is None:
        return None
    if not _is_aware(chosen.value):
        chosen = _complete(chosen, evidence)
    chosen = chosen._replace(value=to_local_zone(chosen.value, evidence, modified, site))
    confidence = CONFIDENCE[_support(chosen, evidence, modified)]
    return PublicationDate(chosen.value, chosen.raw, Evidence(chosen.source, confidence))


def _choose(evidence: Sequence[DateEvidence], updates: Collection[Day]) -> DateEvidence | None:
    stated = next((item for item in evidence if _is_strong(item)), None)
    visible = _best_visible([item for item in evidence if item.source == TEXT_SOURCE])
    weak = next((item for item in evidence if item.source in _WEAK_SOURCES), None)
    if stated is None:
        # A guessed year or a relative date is less reliable than an attribute or a URL.
        return visible if visible and (visible.certain or weak is None) else weak
    if visible is None or visible.day in updates or not visible.is_clear:
        return stated
    if not visible.label and visible.weight < HEAD_WEIGHT:
        return stated
    if visible.label == "modified":  # stated by the software at any edit
        return visible
    kinds = _kinds(evidence)
    # An earlier visible day is the first publication: sites also state that of a migration.
    return max(stated, visible, key=lambda item: (len(kinds[item.day]), -item.day.toordinal()))


def _is_strong(item: DateEvidence) -> bool:
    return item.source != TEXT_SOURCE and item.source not in _WEAK_SOURCES


def _kinds(evidence: Iterable[DateEvidence]) -> dict[Day, set[str]]:
    kinds: dict[Day, set[str]] = {}
    for item in evidence:
        if item.certain:
            kinds.setdefault(item.day, set()).add(item.kind)
    return kinds


def _best_visible(visible: Sequence[DateEvidence]) -> DateEvidence | None:
    """Return the evidence with the highest weight, or an earlier day of similar weight."""
    best = max(visible, key=lambda item: (item.certain, item.weight), default=None)
    if best is None:
        return None
    neighbors = (
        item
        for item in visible
        if abs(item.position - best.position) <= _MAX_BYLINE_GAP
        and item.certain == best.certain
        and item.weight > best.weight / 2
    )
    return min(neighbors, key=lambda item: item.day)


def _complete(chosen: DateEvidence, evidence: Iterable[DateEvidence]) -> DateEvidence:
    """Return the first evidence that adds a time or zone to *chosen*, preferably both."""
    same = [item for item in evidence if _refines(item.value, chosen.value)]
    aware = (item for item in same if _is_aware(item.value))
    return next(aware, same[0] if same and not isinstance(chosen.value, datetime) else chosen)


def _refines(other: Day | datetime, value: Day | datetime) -> bool:
    """Return whether *other* is an instant on the day *value*, or at the same hour and minute."""
    if not isinstance(other, datetime) or day_of(value) != other.date():
        return False
    if not isinstance(value, datetime):
        return True
    return (value.hour, value.minute) == (other.hour, other.minute)


def _support(
    chosen: DateEvidence, evidence: Iterable[DateEvidence], modified: Iterable[DateEvidence]
) -> str:
    day = chosen.day
    kinds = _kinds([chosen._replace(certain=True), *evidence])
    own = kinds[day]
    if len(own) > 1:
        return "agreed"
    disputed = any(len(others) > 1 for others in kinds.values())
    if own != {TEXT_SOURCE}:
        return "disputed" if disputed else "single"
    if disputed or any(item.day == day for item in modified):
        return "disputed"
    return "text" if any(item.is_clear and item.day == day for item in evidence) else "faint"


def _is_aware(value: Day | datetime) -> TypeGuard[datetime]:
    return isinstance(value, datetime) and value.tzinfo is not None


def site_zones(url: str | None, language: str | None = None) -> SiteZones:
    """Return the time zones by the country of the domain, else by that of the *language* tag."""
    if region := region_of(url):
        return SiteZones(zones_of(region), certain=True)
    subtags = (language or "").split("-")[1:]
    return SiteZones(next((zones_of(part) for part in subtags if len(part) == 2), ()))


def to_local_zone(
    instant: Day | datetime,
    evidence: Sequence[DateEvidence],
    modified: Sequence[DateEvidence],
    site: SiteZones,
) -> Day | datetime:
    """Convert a UTC *instant* to the zone in which other evidence gives the same instant or day.

    The day is compared in the zones of *site*. If no evidence shows a day, a certain country's
    zones must agree on it.
    """
    if not isinstance(instant, datetime) or instant.utcoffset() != timedelta(0):
        return instant
    # Only the first <time> is sure to belong to this article.
    times = [item for item in evidence if item.source == "time"]
    same = [item for item in modified if item.value == instant]
    items = (*(item for item in evidence if item.source != "time"), *times[:1], *same)
    zones = (_zone_of(instant, item) for item in items)
    local = next(filter(None, zones), None) or _zone_by_day(instant, evidence, site)
    return instant if local is None else instant.astimezone(local)


def _zone_by_day(
    instant: datetime, evidence: Iterable[DateEvidence], site: SiteZones
) -> tzinfo | None:
    """Return the first zone in which *instant* is on the day shown, or the first if all agree."""
    # An instant at midnight in UTC is often a day without a time.
    if not site.zones or instant.time() == time.min:
        return None
    shown = {item.day for item in evidence if item.is_clear or item.source == "url"}
    if instant.date() in shown or not (shown or site.certain):
        return None
    days: set[Day] = set()
    for zone in site.zones:
        day = instant.astimezone(zone).date()
        if day in shown:
            return zone
        days.add(day)
    return site.zones[0] if site.certain and len(days) == 1 else None


def _zone_of(instant: datetime, item: DateEvidence) -> timezone | None:
    """Return the zone, other than UTC, in which *item* gives *instant*."""
    if not isinstance(item.value, datetime):
        return None
    if item.source == TEXT_SOURCE and item.value.second == 0:
        instant = instant.replace(second=0, microsecond=0)
    offset = item.value.replace(tzinfo=UTC) - instant
    if not offset or offset % _ZONE_STEP or not _MIN_OFFSET <= offset <= _MAX_OFFSET:
        return None
    return timezone(offset) if item.value.tzinfo is None or item.value == instant else None


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
    places = StoryPlaces.of(document, title_row)
    reader = _TextReader(document, language, region, fetched_at, known, places, title)
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
    places: StoryPlaces
    #: position near which the date usually is: that of the title
    usual: int
    #: minimum share of a date in its text node
    min_share: float = 0.0

    def candidates(self, forest: Sequence[int]) -> list[int]:
        """Return the positions near the title, or up to the end of *forest*, with dates perhaps."""
        rows, text = self.document.shown_rows, self.document.text
        title = self.usual
        first, last = max(0, title - MAX_TITLE_DISTANCE), title + MAX_TITLE_DISTANCE + 1
        if self.places.title_row is None:
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
        words = [text[rows[position]] for position in without_digit]
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
        place = self.places.place_of(row)
        if place == "other":
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
            if place == "own":
                label = "published"
            share = len(found.text) / len(text)
            if label == "other" or (is_part and not found.has_year) or share < self.min_share:
                continue
            value = _value(found, self.known, self.fetched_at)
            if value is not None:
                complete = found.has_year and not found.ambiguous
                is_exact = found.kind == "absolute" and not found.approximate
                certain = is_exact and (complete or day_of(value) in self.known)
                yield DateEvidence(
                    value, found.text, TEXT_SOURCE, row, position, share * closeness, certain, label
                )

    def _text(self, row: int) -> str:
        """Return the text of *row*, or of all parts of a date that has elements of its own."""
        text = self.document.text[row]
        if len(text) > _MAX_PART:
            return text
        above = self.document.closest_ancestors(row, _MAX_LEVELS)
        sizes = ((it, self.document.chars(it)) for it in above)
        whole = next((it for it, size in sizes if len(text) < size <= _MAX_WORDS_LENGTH), None)
        rows = (row,) if whole is None else self.document.text_nodes(whole)
        return " ".join(map(self.document.text.__getitem__, rows))

    def _follows_teaser(self, position: int, distance: int) -> bool:
        """Return whether the text before the date is a long link after the title."""
        if distance < 2:  # the title itself
            return False
        row = self.document.shown_rows[position - 1]
        above = self.document.closest_ancestors(row, 2)
        is_link = any(self.document.tag[it] == "a" for it in above)
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
    """Return the value of *found*; *known* days resolve an ambiguous order and a missing year."""
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
