"""The clock of the package: every module gets the time here, so that tests can set it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _system_time() -> datetime:
    return datetime.now(UTC)


_START, _STARTED = _system_time(), monotonic()


def _steady_time() -> datetime:
    return _START + timedelta(seconds=monotonic() - _STARTED)


_source: Callable[[], datetime] = _system_time
_steady_source: Callable[[], datetime] = _steady_time


def now() -> datetime:
    """Return the current instant (aware, UTC)."""
    return _source()


def steady() -> datetime:
    """Return the instant at which the process started, plus the time since (aware, UTC).

    For waits inside a process, which must not end early or last for hours if the system clock is
    set meanwhile.
    """
    return _steady_source()


def on_system_clock(moment: datetime) -> datetime:
    """Return the instant of the system clock at which :func:`steady` returns *moment*."""
    return now() + (moment - steady())


def on_steady_clock(moment: datetime) -> datetime:
    """Return the instant of :func:`steady` at which :func:`now` returns *moment*."""
    return steady() + (moment - now())


def set_clock(
    source: Callable[[], datetime] | None = None, steady: Callable[[], datetime] | None = None
) -> None:
    """Make :func:`now` return the result of *source*, and :func:`steady` that of *steady*.

    *steady* is *source* by default. None restores the system clock.
    """
    global _source, _steady_source  # noqa: PLW0603  # there is one clock by design
    _source = source or _system_time
    _steady_source = steady or source or _steady_time
