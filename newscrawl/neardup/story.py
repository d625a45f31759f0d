"""Input and output of the index."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

MAX_LISTED = 20
"""Maximum number of near-duplicates that a verdict lists."""


@dataclass(frozen=True, slots=True)
class Story:
    """An article to compare."""

    #: canonical URL, which identifies the story
    url: str
    #: text of the body
    text: str
    #: time of publication, or else of the fetch; UTC if naive
    when: datetime
    #: registered domain
    site: str

    @property
    def timestamp(self) -> int:
        """Unix time."""
        when = self.when if self.when.tzinfo else self.when.replace(tzinfo=UTC)
        return int(when.timestamp())


@dataclass(frozen=True, slots=True)
class Verdict:
    """Cluster and near-duplicates of a story at the time of its arrival."""

    #: name of the cluster, which a later merge may make an alias: see ``Index.resolve``
    cluster: str
    #: number of stories in the cluster so far, including this one
    size: int
    #: whether the cluster began with this story
    is_first: bool
    #: containment with the most similar story of the cluster, or None without near-duplicates
    similarity: float | None
    #: URLs of near-duplicates in the cluster, the most similar first, at most ``MAX_LISTED``
    near_duplicates: tuple[str, ...]
    #: names of the clusters that this story merged into its own, which become aliases
    merged: tuple[str, ...] = ()
