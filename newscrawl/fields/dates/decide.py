"""Decision on the publication date from all evidence of a page, and on its time zone."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from newscrawl.fields.dates.evidence import (
    HEAD_WEIGHT,
    TEXT_SOURCE,
    gather,
    metadata_evidence,
    region_of,
)
from newscrawl.fields.dates.vocabulary import zones_of
from newscrawl.fields.metadata.metadata import GENERIC_META
from newscrawl.fields.metadata.structured_date import day_of
from newscrawl.items import Evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import tzinfo

    from newscrawl.document.document import Document
    from newscrawl.fields.dates.evidence import DateEvidence
    from newscrawl.fields.metadata.metadata import Metadata
    from newscrawl.items import Day

CONFIDENCE = {
    # Several kinds of source give the day: JSON-LD, meta elements, microdata, <time>, URL, text.
    "agreed": 0.99,
    # One kind of structured data gives the day.
    "single": 0.96,
    # Only visible text gives the day, near the title (CLEAR_WEIGHT).
    "text": 0.9,
    # The same, uncertain or far from it.
    "faint": 0.88,
    # Two kinds agree on another day (possibly republished), or only visible text gives the day and
    # it is that of the modification.
    "disputed": 0.77,
}
"""Accuracy of the day by support: (right + 1) / (all + 2), measured by ``benchmarks/confidences.py``."""

# <time> and the URL may refer to another article, generic meta elements to an edit.
_WEAK_SOURCES = frozenset({"time", "url", *(f"meta:{name}" for name in GENERIC_META)})
# Zones differ by quarters of an hour. A time 12 hours behind UTC is one of a 12-hour clock.
_ZONE_STEP = timedelta(minutes=15)
_MIN_OFFSET, _MAX_OFFSET = timedelta(hours=-11), timedelta(hours=14)
# Maximum text nodes between the date of publication and that of an update in a byline.
_MAX_BYLINE_GAP = 2


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
    ``<time>`` and generic meta elements. A clear visible day in the head of the story wins against a
    structured one if more kinds of source give it, or as many and it is earlier. A day is completed
    to the instant, and a naive time to the zone, that other evidence gives. *modified* is the
    evidence of the modification date, *site* the zones of the site's country. The
    confidence follows the support for the day (:data:`CONFIDENCE`).
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
    if visible.label != "published" and visible.weight < HEAD_WEIGHT:
        return stated
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
    """Return the evidence with the highest weight, or an earlier day of similar weight next to it."""
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
    """Return the first zone in which *instant* is on the day shown, or on the same day as in all."""
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
