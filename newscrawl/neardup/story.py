"""What goes into the index and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

LISTED = 20
"""Near-duplicates that a verdict names at most."""


@dataclass(frozen=True, slots=True)
class Story:
    """An article, as near-duplicates see it."""

    #: canonical URL: what makes two arrivals one story
    url: str
    #: the body
    text: str
    #: published, or else fetched; without a zone, UTC
    when: datetime
    #: registered domain
    site: str

    @property
    def timestamp(self) -> int:
        """Seconds since 1970."""
        when = self.when if self.when.tzinfo else self.when.replace(tzinfo=UTC)
        return int(when.timestamp())


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a story stands, as of the moment it came in."""

    #: name of the cluster; a later merge may make it an alias: see ``Index.resolve``
    cluster: str
    #: stories of the cluster so far, this one included
    size: int
    #: True for the story that the cluster began with
    is_first: bool
    #: containment in the nearest story of the cluster; None where no story is near
    similarity: float | None
    #: URLs of the stories of the cluster that it is near to, nearest first, :data:`LISTED` at most
    near_duplicates: tuple[str, ...]
    #: clusters that this story has joined to its own, whose names are aliases from now on
    merged: tuple[str, ...] = ()
