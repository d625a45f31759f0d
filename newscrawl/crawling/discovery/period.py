"""Publication period of a crawl, and the dates in names of sitemaps."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import Self

#: year, month and day of a sitemap's name: ``sitemap-2024-03.xml``, ``?yyyy=2024&mm=03``
_NAME: Final = re.compile(
    r"(?<!\d)((?:19|20)\d\d)(?:(?:[-_/.]|&mm?=|&month=)?(\d\d)"
    r"(?:(?:[-_/.]|&dd?=|&day=)?(\d\d))?)?(?!\d)"
)
_MONTHS: Final = 12
#: end of the address of an archive page (``/2024/3/``, ``?m=202403``), or of an index of these
_ARCHIVE: Final = re.compile(
    r"(?:[/=]|ar(?:c?h|k|qu)i[ve]\w{0,5}[-_.])((?:19|20)\d\d)"
    r"(?:(?:[-_/.]|&\w{1,9}=|(?=\d\d))(\d\d?)(?:(?:[-_/.]|&\w{1,9}=|(?=\d\d))(\d\d?))?)?"
    r"(?:/|\.\w{2,5})?$|/ar(?:c?h|k|qu)i[ve]\w{0,5}(?:/|\.\w{2,5})?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Period:
    """A publication period in seconds since 1970; None: without limit."""

    since: float | None = None
    until: float | None = None

    @classmethod
    def of(cls, since: str | None, until: str | None) -> Self:
        """Return the period between two instants in ISO 8601."""
        times = (
            datetime.fromisoformat(text).timestamp() if text else None for text in (since, until)
        )
        return cls(*times)

    def excludes(self, begin: float | None, end: float | None) -> str | None:
        """Return ``too_old`` or ``too_new`` for what was published from *begin* to *end*."""
        if self.since is not None and end is not None and end <= self.since:
            return "too_old"
        is_late = self.until is not None and begin is not None and begin >= self.until
        return "too_new" if is_late else None

    def is_after(self, timestamp: float | None) -> bool:
        """Return whether *timestamp* is known and after the period."""
        return timestamp is not None and self.until is not None and timestamp > self.until

    def distance(self, timestamp: float) -> float:
        """Return the seconds from *timestamp* to the nearer limit of the period."""
        limits = (limit for limit in (self.since, self.until) if limit is not None)
        return min((abs(limit - timestamp) for limit in limits), default=0.0)

    def months(self) -> list[tuple[str, float]]:
        """Return the months of a period with two ends, as ``2024/03``, with their last seconds."""
        if self.since is None or self.until is None:
            return []
        # Both ends have a margin of a day or two.
        day = datetime.fromtimestamp(self.since, UTC) + timedelta(1)
        end = min(datetime.fromtimestamp(self.until, UTC) - timedelta(2), day + timedelta(366))
        found = {}
        while day <= end:
            span = span_of(f"{day:%Y-%m}")
            found[f"{day:%Y/%m}"] = min(span[1] if span else self.until, self.until)
            day += timedelta(1)
        return list(found.items())

    def rank(self, timestamp: float | None) -> float:
        """Return the place of *timestamp*, of a publication or a change, in the order of requests.

        The newest of the period first, then what was changed soon after it, then the undated.
        """
        if timestamp is None:
            return float("inf")
        return timestamp if self.is_after(timestamp) else -timestamp


ANY_TIME: Final = Period()


def span_of(text: str | None) -> tuple[float, float] | None:
    """Return begin and end of a year, month or day in ISO 8601, in seconds (UTC).

    A year and a month are without their first and last day, which the period of a crawl has in
    addition, as days may be local.
    """
    if not text:
        return None
    year, month, day = ([int(part) for part in text.split("-")] + [0, 0])[:3]
    try:
        begin = datetime(year, month or 1, day or 1, tzinfo=UTC)
    except ValueError:
        return None
    days = 1 if day else monthrange(year, month)[1] if month else 365 + (year % 4 == 0)
    margin = timedelta(0 if day else 1)
    return (begin + margin).timestamp(), (begin + timedelta(days) - margin).timestamp()


def archive_span(url: str) -> tuple[float, float] | None:
    """Return when the articles of the archive page at *url* were published; None if it is none.

    An index of archive pages has no limits.
    """
    if not (found := _ARCHIVE.search(url)):
        return None
    parts = [part for part in found.groups() if part]
    return span_of("-".join(parts)) if parts else (-inf, inf)


def sitemap_spans(urls: list[str]) -> list[tuple[float, float] | None]:
    """Return the spans that the names of the sitemaps of an index state.

    If a year is followed by more than twelve numbers, these are no months.
    """
    names = [_NAME.search(re.sub(r"^\w+://[^/]*", "", url)) for url in urls]
    numbered = any(name and name[2] and not 1 <= int(name[2]) <= _MONTHS for name in names)
    parts = [[part for part in name.groups() if part] if name else [] for name in names]
    return [span_of("-".join(found[:1] if numbered else found)) for found in parts]
