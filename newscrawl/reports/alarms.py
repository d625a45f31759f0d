"""Alarms with a state: each is opened once, reported once, and reported again when it is closed."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from newscrawl.crawling.reporting.crawl_recorder import SCHEMA
from newscrawl.reports.drift import ALL_SITES, Alarm
from newscrawl.sqlite import execute_all, transaction

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_WAIT: Final = 30.0  # seconds for a commit of a crawl that is running
_SELECT: Final = "SELECT site, measure, message, since, closed FROM alarm WHERE query = ?"
_MARK_SENT: Final = """
UPDATE alarm SET sent = max(?, coalesce(closed, since))
WHERE query = ? AND ((closed IS NULL AND sent IS NULL) OR sent < closed)
"""


class Changes(NamedTuple):
    """Alarms that were not reported yet."""

    opened: list[Alarm]
    closed: list[Alarm]


class AlarmBook:
    """The table ``alarm`` of the state file *path*; in memory if it cannot be written.

    Alarms are those of crawls for one *query*. A site has one open alarm at a time, the most
    certain one, next to that of its listings.
    """

    def __init__(self, path: str, query: int = 0) -> None:
        self._query = query
        if not os.access(path, os.W_OK):
            path = ":memory:"
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=_MAX_WAIT)
        with transaction(self._connection):
            execute_all(self._connection, SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    @property
    def past(self) -> list[Alarm]:
        """All alarms in order of time."""
        return self._select("TRUE")

    def _select(self, condition: str) -> list[Alarm]:
        sql = f"{_SELECT} AND {condition} ORDER BY id"
        rows = self._connection.execute(sql, (self._query,))
        return [
            Alarm(site, measure, message, since=since, closed=closed)
            for site, measure, message, since, closed in rows
        ]

    def update(self, found: Iterable[Alarm], when: float) -> Changes:
        """Open and close alarms after a crawl that ended at *when*, with the alarms *found*.

        While no site is reached, no alarm is closed. Returns what is to be reported.
        """
        worst: dict[tuple[str, bool], Alarm] = {}
        for alarm in sorted(found, key=lambda alarm: -alarm.score):
            worst.setdefault(alarm.key, alarm)
        opened = {alarm.key for alarm in self._select("closed IS NULL")}
        new = [
            (self._query, alarm.site, alarm.measure, alarm.message, when)
            for key, alarm in worst.items()
            if key not in opened
        ]
        is_lost = any(alarm.site == ALL_SITES for alarm in worst.values())
        ended = set() if is_lost else opened - worst.keys()
        with transaction(self._connection):
            self._connection.executemany(
                "INSERT INTO alarm (query, site, measure, message, since) VALUES (?, ?, ?, ?, ?)",
                new,
            )
            self._connection.executemany(
                "UPDATE alarm SET closed = ? WHERE query = ? AND site = ? "
                "AND (measure = 'rolled_over') = ? AND closed IS NULL",
                [(when, self._query, *key) for key in ended],
            )
        return Changes(
            self._select("closed IS NULL AND sent IS NULL"), self._select("sent < closed")
        )

    def mark_sent(self, when: float) -> None:
        """Record that the changes were reported at *when*."""
        self._connection.execute(_MARK_SENT, (when, self._query))
