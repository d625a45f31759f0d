"""The publication date, decided once among all that a page states and shows."""

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
"""What speaks for a date, and against it.

``shown``
    Several kinds of source give the day, text among them. The kinds are JSON-LD, meta elements,
    microdata, ``<time>``, the URL and text.
``agreed``
    Several do, and the text is silent.
``single``
    One kind of structured data gives it.
``text``, ``faint``
    Text alone does: clearly (:data:`CLEAR_WEIGHT`), or as a guess or far from where dates stand.
``contested``
    Text clearly shows another day that is no date of modification.
``disputed``
    Two kinds agree on another day (the story may have been published again); or text alone gives
    the day, and it is that of the modification.
``refuted``
    Two kinds agree on another day, and text shows it.
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
"""How often the day is right.

Of right days among all, (right + 1) / (all + 2), on 676 pages of news212 and fundus, doubtful labels
taken as they are; a label that is the page's date of modification counts as right. In the order
above 505 of 513, 87 of 92, 16 of 16, 13 of 13, 23 of 25, 2 of 3, 11 of 11, 1 of 3. For ``faint`` pages
without their structured data were counted (52 of 60); there ``text`` is right on 547 of 562.
``disputed`` is set lower than its few pages say. ``benchmarks/dates.py`` fits these to the pages of
other sites and prints what comes of it.
"""

CLEAR_WEIGHT = 0.3
"""Least weight of a date in text that is sure to be the story's, as that of a byline is."""

# They may be about another story, or about no day at all.
_WEAK = frozenset({"time", "url"})
# Zones differ by quarters of an hour, up to 14 hours from UTC.
_ZONE_STEP = timedelta(minutes=15)
_WIDEST_OFFSET = timedelta(hours=14)
_MOST_UPDATES = 10
# A date of publication and one of an update stand side by side.
_BESIDE = 2


class PublicationDate(NamedTuple):
    """A day or instant, the text it was read from, and where that stood."""

    value: Day | datetime
    raw: str
    evidence: Evidence


def decide(
    evidence: Sequence[DateEvidence], modified: Sequence[DateEvidence] = ()
) -> PublicationDate | None:
    """Return the publication date, or None without evidence.

    The first structured statement in order of trust; else the best text node, the earlier of two
    side by side; else what ``<time>`` or the URL says. A day becomes the instant that other
    evidence gives for it, and a time gets its zone; an instant in UTC is told in the zone of the newsroom where other
    evidence, but for that of *modified*, tells the same instant so: its day there is the day that
    readers see. The confidence is that of what speaks for the day (:data:`CONFIDENCE`).
    """
    chosen = _choose(evidence)
    if chosen is None:
        return None
    if not _is_aware(chosen.value):
        chosen = _fuller(chosen, evidence)
    value = chosen.value
    if isinstance(value, datetime):
        value = _in_local_zone(value, evidence, modified)
    support = _support(day_of(value), chosen, evidence, modified)
    return PublicationDate(value, chosen.raw, Evidence(chosen.source, CONFIDENCE[support]))


def _choose(evidence: Sequence[DateEvidence]) -> DateEvidence | None:
    shown, weak = [], []
    for one in evidence:
        if one.source == TEXT_SOURCE:
            shown.append(one)
        elif one.source in _WEAK:
            weak.append(one)
        else:
            return one
    return _best_shown(shown) or next(iter(weak), None)


def _best_shown(shown: Sequence[DateEvidence]) -> DateEvidence | None:
    best = max(shown, key=lambda one: (one.certain, one.weight), default=None)
    if best is None:
        return None
    beside = (
        one
        for one in shown
        if abs(one.place - best.place) <= _BESIDE
        and one.certain == best.certain
        and one.weight > best.weight / 2
    )
    return min(beside, key=lambda one: one.day)


def _fuller(chosen: DateEvidence, evidence: Iterable[DateEvidence]) -> DateEvidence:
    """Return the first evidence that adds a clock or a zone to *chosen*, one with both before others."""
    same = [one for one in evidence if _is_told_by(chosen.value, one.value)]
    aware = (one for one in same if _is_aware(one.value))
    return next(aware, same[0] if same and not isinstance(chosen.value, datetime) else chosen)


def _is_told_by(value: Day | datetime, other: Day | datetime) -> bool:
    """Return True if *other* is an instant of the day *value*, or of the same time to the minute."""
    if not isinstance(other, datetime) or day_of(value) != other.date():
        return False
    if not isinstance(value, datetime):
        return True
    return (value.hour, value.minute) == (other.hour, other.minute)


def _in_local_zone(
    instant: datetime, evidence: Sequence[DateEvidence], modified: Sequence[DateEvidence]
) -> datetime:
    """Return *instant*, if it is in UTC, in the zone in which other evidence tells it."""
    if instant.utcoffset() != timedelta(0):
        return instant
    # Of the time elements the first alone is sure to be this story's.
    times = [one for one in evidence if one.source == "time"]
    for one in (*(one for one in evidence if one.source != "time"), *times[:1]):
        zone = _zone_of(instant, one)
        if zone and not _is_clock_of_update(one, instant, modified):
            return instant.astimezone(zone)
    return instant


def _is_clock_of_update(
    one: DateEvidence, instant: datetime, modified: Sequence[DateEvidence]
) -> bool:
    """Return True if the clock shown may be the update's, a whole number of hours away."""
    updates = [update.value for update in modified[:_MOST_UPDATES]]
    return any(_is_later(update, instant) and _zone_of(update, one) for update in updates)


def _zone_of(instant: Day | datetime, one: DateEvidence) -> timezone | None:
    """Return the zone, other than UTC, in which the evidence tells *instant*."""
    if not (isinstance(instant, datetime) and isinstance(one.value, datetime)):
        return None
    if one.source == TEXT_SOURCE and one.value.second == 0:
        instant = instant.replace(second=0, microsecond=0)
    offset = one.value.replace(tzinfo=UTC) - instant
    if not offset or offset % _ZONE_STEP or abs(offset) > _WIDEST_OFFSET:
        return None
    return timezone(offset) if not _is_aware(one.value) or one.value == instant else None


def _is_later(update: Day | datetime, instant: datetime) -> bool:
    """Return True if *update* is another minute than *instant*: clocks on pages show no seconds."""
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
    shown = set()
    for one in evidence:
        if one.certain:
            kinds.setdefault(one.day, set()).add(one.kind)
            if one.source == TEXT_SOURCE and one.weight >= CLEAR_WEIGHT:
                shown.add(one.day)
    own = kinds[day]
    disputed = len(own) == 1 and any(len(others) > 1 for others in kinds.values())
    updates = {one.day for one in modified}
    if own == {TEXT_SOURCE}:
        return "disputed" if disputed or day in updates else "text" if day in shown else "faint"
    if shown - updates - {day}:
        return "refuted" if disputed else "contested"
    if len(own) > 1:
        return "shown" if TEXT_SOURCE in own else "agreed"
    return "disputed" if disputed else "single"


def _is_aware(value: Day | datetime) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None
