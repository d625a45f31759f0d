"""Local time zone of an instant in UTC, from other evidence or the country of the site."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.fields.dates.evidence import TEXT_SOURCE, region_of
from newscrawl.fields.dates.vocabulary import zones_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import tzinfo

    from newscrawl.fields.dates.evidence import DateEvidence
    from newscrawl.items import Day

# Zones differ by quarters of an hour. A time 12 hours behind UTC is one of a 12-hour clock.
_ZONE_STEP = timedelta(minutes=15)
_MIN_OFFSET, _MAX_OFFSET = timedelta(hours=-11), timedelta(hours=14)


class SiteZones(NamedTuple):
    """Time zones of a site's country."""

    zones: tuple[tzinfo, ...] = ()
    #: the domain names the country; language tags such as "en-US" are often the software's default
    certain: bool = False


NO_ZONES = SiteZones()


def site_zones(url: str | None, language: str | None = None) -> SiteZones:
    """Return the time zones by the country of the domain, else by that of the *language* tag."""
    if region := region_of(url):
        return SiteZones(zones_of(region), certain=True)
    subtags = (language or "").split("-")[1:]
    return SiteZones(next((zones_of(part) for part in subtags if len(part) == 2), ()))


def to_local_zone(
    instant: datetime,
    evidence: Sequence[DateEvidence],
    modified: Sequence[DateEvidence],
    site: SiteZones,
) -> datetime:
    """Convert a UTC *instant* to the zone in which other evidence gives the same instant or day.

    The day is compared in the zones of *site*. If no evidence shows a day, a certain country's
    zones must agree on it.
    """
    if instant.utcoffset() != timedelta(0):
        return instant
    # Only the first <time> is sure to belong to this article.
    times = [item for item in evidence if item.source == "time"]
    same = [item for item in modified if item.value == instant]
    for item in (*(item for item in evidence if item.source != "time"), *times[:1], *same):
        zone = _zone_of(instant, item)
        if zone:
            return instant.astimezone(zone)
    local = _zone_by_day(instant, evidence, site)
    return instant if local is None else instant.astimezone(local)


def _zone_by_day(
    instant: datetime, evidence: Iterable[DateEvidence], site: SiteZones
) -> tzinfo | None:
    """Return the first zone in which *instant* is on the day shown, or on the same day as in all."""
    shown = {item.day for item in evidence if item.is_clear or item.source == "url"}
    # Midnight in UTC stands for a day.
    if instant.date() in shown or instant.time() == time.min:
        return None
    days = [instant.astimezone(zone).date() for zone in site.zones]
    matching = (zone for zone, day in zip(site.zones, days, strict=True) if day in shown)
    agreed = site.certain and len(set(days)) == 1
    return next(matching, site.zones[0] if agreed else None)


def _zone_of(instant: Day | datetime, item: DateEvidence) -> timezone | None:
    """Return the zone, other than UTC, in which *item* gives *instant*."""
    if not (isinstance(instant, datetime) and isinstance(item.value, datetime)):
        return None
    if item.source == TEXT_SOURCE and item.value.second == 0:
        instant = instant.replace(second=0, microsecond=0)
    offset = item.value.replace(tzinfo=UTC) - instant
    if not offset or offset % _ZONE_STEP or not _MIN_OFFSET <= offset <= _MAX_OFFSET:
        return None
    return timezone(offset) if item.value.tzinfo is None or item.value == instant else None
