"""Delay and back-off of a registered domain, without any network access."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

MIN_BACKOFF: Final = 1.0
"""Delay in seconds at the first sign of overload, if the delay was shorter."""
RECOVERY_FACTOR: Final = 0.7
"""Factor of the delay after each successful response: two of them halve it."""
FAILURE_THRESHOLD: Final = 3
"""Consecutive failures that count as overload, though no response says so."""
REFUSAL_LIMIT: Final = 10
"""Consecutive refusals (429, 503) after which a domain is closed."""
_MIN_DELAY: Final = 0.01


def retry_after(header: bytes | None, now: datetime) -> float | None:
    """Return the seconds to wait according to a Retry-After header; None if it is invalid.

    Both forms of RFC 9110, section 10.2.3, are supported: seconds and an HTTP date.
    """
    text = (header or b"").decode("latin-1").strip()
    if text.isdecimal() and text.isascii():
        return float(text[:10])
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - now).total_seconds())


@dataclass(slots=True)
class Pace:
    """Delay between two requests to a domain, adapted to its responses.

    *base* is the delay from the settings or robots.txt, *max_delay* the limit of the back-off
    (both in seconds).
    """

    base: float
    max_delay: float
    delay: float = 0.0
    #: 429 and 503 since the last successful response
    refusals: int = 0
    #: failures of any kind since the last successful response
    failures: int = 0
    #: end of the last Retry-After
    waiting_until: datetime | None = None
    #: no requests are sent before this time
    closed_until: datetime | None = None

    def __post_init__(self) -> None:
        self.set_base(self.base)

    def set_base(self, base: float) -> None:
        """Set the delay without overload."""
        # Scrapy does not record the request times of a slot without delay.
        self.base = max(base, _MIN_DELAY)
        self.delay = max(self.delay, self.base)

    def record_success(self) -> None:
        """Reset the failure counts and reduce the delay by one step."""
        self.refusals = self.failures = 0
        recovered = self.delay * RECOVERY_FACTOR
        self.delay = self.base if recovered < max(self.base, MIN_BACKOFF / 2) else recovered

    def record_failure(self) -> None:
        """Count a failure that may be caused by overload."""
        self.failures += 1
        if self.failures >= FAILURE_THRESHOLD:
            self._slow_down()

    def record_refusal(self, now: datetime, wait: float | None) -> None:
        """Count a 429 or 503 with a Retry-After of *wait* seconds, if it has one."""
        # Responses to requests sent before the domain asked to wait are not counted again.
        if self.waiting_until is None or self.waiting_until <= now:
            self.refusals += 1
            if wait is None:
                self._slow_down()
        if wait is not None:
            until = _later(now, wait)
            self.waiting_until = max(until, self.waiting_until or until)

    def _slow_down(self) -> None:
        self.delay = min(max(2 * self.delay, MIN_BACKOFF), max(self.max_delay, self.base))

    @property
    def gives_up(self) -> bool:
        """Whether the domain has refused too many requests in a row."""
        return self.refusals >= REFUSAL_LIMIT

    def close(self, now: datetime, seconds: float) -> None:
        """Send no requests for *seconds*."""
        until = _later(now, seconds)
        self.closed_until = max(until, self.closed_until or until)
        self.refusals = 0

    def is_closed(self, now: datetime) -> bool:
        """Return whether no requests are to be sent at the time *now*."""
        if self.closed_until and self.closed_until <= now:
            self.closed_until = None
        return self.closed_until is not None


def _later(now: datetime, seconds: float) -> datetime:
    return now + timedelta(seconds=min(seconds, 366 * 86_400))
