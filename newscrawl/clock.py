"""The one clock: whatever needs to know the time asks here, so that tests can set it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _system() -> datetime:
    return datetime.now(UTC)


_source: Callable[[], datetime] = _system


def now() -> datetime:
    """Return the current instant (aware, UTC)."""
    return _source()


def set_clock(source: Callable[[], datetime] | None = None) -> None:
    """Make :func:`now` ask *source*; without one, the system's clock."""
    global _source  # noqa: PLW0603  # one clock is the point
    _source = source or _system
