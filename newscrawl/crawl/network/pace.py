"""How fast one registered domain is asked, and when it is left alone. No network in here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

FIRST: Final = 1.0
"""Seconds between requests at the first sign of overload, where there was less."""
RECOVERY: Final = 0.7
"""What a request that went well leaves of the delay that overload brought: half in two."""
PATIENCE: Final = 3
"""Failures in a row that are overload, too, though none of them says so."""
REFUSALS: Final = 10
"""Refusals in a row (429, 503) after which a domain is left alone."""
_SHORTEST: Final = 0.01


def retry_after(header: bytes | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After asks for; None where it says nothing.

    Both forms of RFC 9110, section 10.2.3: seconds, and an HTTP date.
    """
    text = (header or b"").decode("latin-1").strip()
    if text.isdecimal() and text.isascii():
        return float(text[:10])
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - now).total_seconds())


@dataclass(slots=True)
class Pace:
    """The pace of a domain that is not asked as the settings say.

    *base*: seconds between two requests, of the settings or of robots.txt; *longest*: what
    overload may make of them.
    """

    base: float
    longest: float
    delay: float = 0.0
    #: 429 and 503 since the last answer that went well
    refusals: int = 0
    #: failures of any kind since then
    failures: int = 0
    #: the domain asked to wait until then
    waiting: datetime | None = None
    #: nothing is asked for before then
    closed: datetime | None = None

    def __post_init__(self) -> None:
        self.set_base(self.base)

    def set_base(self, base: float) -> None:
        """Set what is asked at the best of times."""
        # Scrapy's slots keep no time for a domain without any delay.
        self.base = max(base, _SHORTEST)
        self.delay = max(self.delay, self.base)

    def well(self) -> None:
        """Note an answer: what went wrong before is over, step by step."""
        self.refusals = self.failures = 0
        recovered = self.delay * RECOVERY
        self.delay = self.base if recovered < max(self.base, FIRST / 2) else recovered

    def failed(self) -> None:
        """Note a failure that may be overload."""
        self.failures += 1
        if self.failures >= PATIENCE:
            self._slow_down()

    def refused(self, now: datetime, wait: float | None) -> None:
        """Note a 429 or 503. Where it says how long to *wait* (seconds), its word is enough."""
        # What was under way when the domain asked to wait says nothing new.
        if self.waiting is None or self.waiting <= now:
            self.refusals += 1
            if wait is None:
                self._slow_down()
        if wait is not None:
            until = _later(now, wait)
            self.waiting = max(until, self.waiting or until)

    def _slow_down(self) -> None:
        longest = max(self.longest, self.base)
        self.delay = min(max(2 * self.delay, FIRST), longest)

    @property
    def gives_up(self) -> bool:
        """Whether asking on makes no sense."""
        return self.refusals >= REFUSALS

    def close(self, now: datetime, seconds: float) -> None:
        """Ask for nothing for *seconds*."""
        until = _later(now, seconds)
        self.closed = max(until, self.closed or until)
        self.refusals = 0

    def is_closed(self, now: datetime) -> bool:
        """Return whether nothing is to be asked for yet."""
        if self.closed and self.closed <= now:
            self.closed = None
        return self.closed is not None


def _later(now: datetime, seconds: float) -> datetime:
    return now + timedelta(seconds=min(seconds, 366 * 86_400))
