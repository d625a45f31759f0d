"""Decision on the publication date from all evidence of a page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Literal, NamedTuple

from newscrawl.fields.dates.evidence import TEXT_SOURCE
from newscrawl.fields.metadata.structured_date import day_of
from newscrawl.items import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.fields.dates.evidence import DateEvidence
    from newscrawl.items import Day

Support = Literal["shown", "agreed", "single", "text", "faint", "contested", "disputed", "refuted"]
"""Evidence for and against a date.

The kinds of source are JSON-LD, meta elements, microdata, ``<time>``, the URL and visible text.

``shown``
    Several kinds give the day, visible text among them.
``agreed``
    Several kinds give the day, visible text shows none.
``single``
    One kind of structured data gives the day.
``text``, ``faint``
    Only visible text gives the day: near the title (:data:`CLEAR_WEIGHT`), or uncertain or far
    from it.
``contested``
    Visible text near the title shows another day, which is not that of the modification.
``disputed``
    Two kinds agree on another day (possibly republished), or only visible text gives the day and
    it is that of the modification.
``refuted``
    Two kinds agree on another day, and visible text shows it.
"""

CONFIDENCE: dict[Support, float] = {
    "shown": 0.98,
    "agreed": 0.94,
    "single": 0.94,
    "text": 0.93,
    "contested": 0.89,
    "faint": 0.85,
    "disputed": 0.85,
    "refuted": 0.4,
}
"""Accuracy of the day by support: (right + 1) / (all + 2), measured by ``benchmarks/dates.py``.

``disputed`` is set by hand, as too few pages have it.
"""

CLEAR_WEIGHT = 0.3
"""Minimum weight of a visible date that belongs to this article, as in a byline."""

# <time> and the URL may refer to another article.
_WEAK_SOURCES = frozenset({"time", "url"})
# Zones differ by quarters of an hour, up to 14 hours from UTC.
_ZONE_STEP = timedelta(minutes=15)
_MAX_OFFSET = timedelta(hours=14)
_MAX_UPDATES = 10
# Maximum text nodes between the date of publication and that of an update in a byline.
_MAX_BYLINE_GAP = 2


class PublicationDate(NamedTuple):
    """A day or instant, the text it was read from, and its source."""

    value: Day | datetime
    raw: str
    evidence: Evidence


def decide(
    evidence: Sequence[DateEvidence], modified: Sequence[DateEvidence] = ()
) -> PublicationDate | None:
    """Return the publication date, or None without evidence.

    The first structured date in order of trust wins, then the best visible date (the earlier of
    two next to each other), then ``<time>`` and the URL. A day is completed to the instant, and a
    naive time to the zone, that other evidence gives. An instant in UTC is converted to the local
    zone in which other evidence gives the same instant. *modified* is the evidence of the
    modification date. The confidence follows the support for the day (:data:`CONFIDENCE`).
    """
    chosen = _choose(evidence)
    if chosen is None:
        return None
    if not _is_aware(chosen.value):
        chosen = _complete(chosen, evidence)
    value = chosen.value
    if isinstance(value, datetime):
        value = _to_local_zone(value, evidence, modified)
    support = _support(day_of(value), chosen, evidence, modified)
    return PublicationDate(value, chosen.raw, Evidence(chosen.source, CONFIDENCE[support]))


def _choose(evidence: Sequence[DateEvidence]) -> DateEvidence | None:
    visible, weak = [], []
    for item in evidence:
        if item.source == TEXT_SOURCE:
            visible.append(item)
        elif item.source in _WEAK_SOURCES:
            weak.append(item)
        else:
            return item
    return _best_visible(visible) or next(iter(weak), None)


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


def _to_local_zone(
    instant: datetime, evidence: Sequence[DateEvidence], modified: Sequence[DateEvidence]
) -> datetime:
    """Convert a UTC *instant* to the zone in which other evidence gives the same instant."""
    if instant.utcoffset() != timedelta(0):
        return instant
    # Only the first <time> is sure to belong to this article.
    times = [item for item in evidence if item.source == "time"]
    for item in (*(item for item in evidence if item.source != "time"), *times[:1]):
        zone = _zone_of(instant, item)
        if zone and not _may_be_update_time(item, instant, modified):
            return instant.astimezone(zone)
    return instant


def _may_be_update_time(
    item: DateEvidence, instant: datetime, modified: Sequence[DateEvidence]
) -> bool:
    """Return whether *item* may give the time of an update rather than of *instant*."""
    updates = [update.value for update in modified[:_MAX_UPDATES]]
    return any(_is_other_minute(update, instant) and _zone_of(update, item) for update in updates)


def _zone_of(instant: Day | datetime, item: DateEvidence) -> timezone | None:
    """Return the zone, other than UTC, in which *item* gives *instant*."""
    if not (isinstance(instant, datetime) and isinstance(item.value, datetime)):
        return None
    if item.source == TEXT_SOURCE and item.value.second == 0:
        instant = instant.replace(second=0, microsecond=0)
    offset = item.value.replace(tzinfo=UTC) - instant
    if not offset or offset % _ZONE_STEP or abs(offset) > _MAX_OFFSET:
        return None
    return timezone(offset) if not _is_aware(item.value) or item.value == instant else None


def _is_other_minute(update: Day | datetime, instant: datetime) -> bool:
    """Return whether *update* is a minute or more away; visible times have no seconds."""
    return (
        isinstance(update, datetime)
        and update.tzinfo is not None
        and abs(update - instant) >= timedelta(minutes=1)
    )


def _support(
    day: Day,
    chosen: DateEvidence,
    evidence: Iterable[DateEvidence],
    modified: Iterable[DateEvidence],
) -> Support:
    kinds: dict[Day, set[str]] = {day: {chosen.kind}}
    visible = set()
    for item in evidence:
        if item.certain:
            kinds.setdefault(item.day, set()).add(item.kind)
            if item.source == TEXT_SOURCE and item.weight >= CLEAR_WEIGHT:
                visible.add(item.day)
    own = kinds[day]
    disputed = len(own) == 1 and any(len(others) > 1 for others in kinds.values())
    updates = {item.day for item in modified}
    if own == {TEXT_SOURCE}:
        return "disputed" if disputed or day in updates else "text" if day in visible else "faint"
    if visible - updates - {day}:
        return "refuted" if disputed else "contested"
    if len(own) > 1:
        return "shown" if TEXT_SOURCE in own else "agreed"
    return "disputed" if disputed else "single"


def _is_aware(value: Day | datetime) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None
