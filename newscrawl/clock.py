"""The clock of the package: every module gets the time here, so that tests can set it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _system_time() -> datetime:
    return datetime.now(UTC)


_source: Callable[[], datetime] = _system_time


def now() -> datetime:
    """Return the current instant (aware, UTC)."""
    return _source()


def set_clock(source: Callable[[], datetime] | None = None) -> None:
    """Make :func:`now` return the result of *source*; None restores the system clock."""
    global _source  # noqa: PLW0603  # there is one clock by design
    _source = source or _system_time
