"""``ChangeRates``: how often the articles of a site change at which age, and when to look again.

A visit tells whether an article has changed since the last one, not when. Changes are therefore
shared out over the hours between two visits in proportion to the rates known so far, the
expectation step of an EM estimate. As the cost of a visit is weighed against the expected time that
an outdated text is kept, visits are dense at the ages at which articles of the site change, and
cease if they do not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

HOUR: Final = 3600.0
EDGES: Final = tuple(hours * HOUR for hours in (0, 1, 2, 4, 8, 16, 24, 48, 96, 10**9))
"""Limits of the ages between which the rate of changes is taken as constant, in seconds."""
_PRIOR: Final = tuple(
    rate / HOUR for rate in (0.05, 0.03, 0.02, 0.008, 0.003, 0.002, 0.0005, 0.0002, 0)
)
"""Changes per second at each age on a site of which nothing is known."""
_PRIOR_ARTICLES: Final = 3
"""Number of articles that the prior counts for."""
_MAX_ARTICLES: Final = 400
"""Number of articles that are remembered: older ones count half."""
_ANNOUNCED_ARTICLES: Final = 20
"""Number of articles without an unannounced change that a true announcement counts for."""
MIN_VAIN: Final = 10
"""Number of vain announcements of a site from which on they may be ignored."""
MAX_STALENESS: Final = 0.75 * HOUR
"""Expected time for which an outdated text is kept, in seconds, that makes a visit due."""
MIN_CHANGE: Final = 0.01
"""Probability of a change that makes a last visit due at the end of the update window."""
_STEP: Final = HOUR / 2
_LAST_RATIO: Final = 0.85
"""Share of the window after which a visit is put off to its end."""


@dataclass(slots=True)
class ChangeRates:
    """Unannounced changes of a site's articles by age, and true and vain announcements."""

    #: time for which articles were watched at each age, in seconds
    watched: list[float] = field(default_factory=lambda: [0.0] * len(_PRIOR))
    changes: list[float] = field(default_factory=lambda: [0.0] * len(_PRIOR))
    announced: int = 0
    vain: int = 0

    @property
    def trusts_announcements(self) -> bool:
        """False if hardly any announced change was true, as with the time of the request."""
        return self.vain < MIN_VAIN or 4 * self.announced >= self.vain

    def record_visit(self, last: float, age: float, *, changed: bool) -> None:
        """Record a visit at *age* that no listing has announced, the first since the age *last*."""
        spans = _spans(last, age)
        weights = [self._rate(place) * span for place, span in enumerate(spans)]
        total = sum(weights)
        for place, (weight, span) in enumerate(zip(weights, spans, strict=True)):
            self.watched[place] += span
            if changed and total:
                self.changes[place] += weight / total
            self._forget(place)

    def record_announcement(self, age: float, *, changed: bool) -> None:
        """Record whether an article has the change that a listing announced, visited at *age*."""
        self.announced += changed
        self.vain += not changed
        if changed:  # then the listing announces others of this age as well
            for place, span in enumerate(_spans(0, age)):
                self.watched[place] += _ANNOUNCED_ARTICLES * span
                self._forget(place)

    def _forget(self, place: int) -> None:
        if self.watched[place] > _MAX_ARTICLES * (EDGES[place + 1] - EDGES[place]):
            self.watched[place] /= 2
            self.changes[place] /= 2

    def _rate(self, place: int) -> float:
        """Return the changes per second between two of the :data:`EDGES`."""
        prior = _PRIOR_ARTICLES * (EDGES[place + 1] - EDGES[place])
        return (self.changes[place] + prior * _PRIOR[place]) / (self.watched[place] + prior)

    def next_visit(
        self, age: float, window: float, *, visits: int, sampled: bool = False
    ) -> float | None:
        """Return the age of the next visit after one at *age*, None if there is none.

        *window*: age after which articles are not visited; *visits*: maximum number in it of an
        article without a change; *sampled*: visit it at the end of the window in any case.
        """
        if age >= window or not visits:
            return None
        staleness = MAX_STALENESS
        while len(self._plan(0, window, staleness)) > visits:
            staleness *= 1.5
        return next(iter(self._plan(age, window, staleness, sampled=sampled)), None)

    def _plan(
        self, age: float, window: float, staleness: float, *, sampled: bool = False
    ) -> list[float]:
        """Return the ages of all visits after one at *age*."""
        plan: list[float] = []
        step = max(_STEP, window / 100)
        outdated = stale = 0.0
        place = 0
        while age < window * _LAST_RATIO:
            while EDGES[place + 1] <= age:
                place += 1
            age += step
            stale += (outdated + self._rate(place) * step / 2) * step
            outdated += self._rate(place) * step
            if stale >= staleness:
                plan.append(min(age, window))
                outdated = stale = 0.0
        outdated += sum(self._rate(place) * span for place, span in enumerate(_spans(age, window)))
        if outdated >= MIN_CHANGE or sampled:
            plan.append(window)
        return plan


def _spans(start: float, end: float) -> list[float]:
    """Return the time between two ages that is between each two of the :data:`EDGES`."""
    return [max(0.0, min(end, after) - max(start, before)) for before, after in pairwise(EDGES)]
