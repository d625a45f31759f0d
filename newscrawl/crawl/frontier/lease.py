"""Leases: the state of requests in progress."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

OUTCOME: Final = "newscrawl_outcome"
"""Meta key with which a spider overrides the outcome of a request."""
NO_KEY: Final = 0
"""The key of a planned request."""


class FinishedRequest(NamedTuple):
    """A finished request and its outcome."""

    #: purpose of the request (meta ``newscrawl_role``)
    role: Any
    url: str
    final_url: str
    outcome: str


class StalledRequest(NamedTuple):
    """A request that blocked the event loop of an earlier run."""

    #: ID and key of its lease
    id: int
    key: int
    url: str
    site: str
    role: str
    #: function and line
    place: str


@dataclass(slots=True, eq=False)
class Lease:
    """A request returned by the scheduler, until all its results are processed."""

    id: int
    #: key of the request, the same after a crash
    key: int
    url: str
    #: download slot of the request in flight
    slot: str
    #: False for a request that is only in memory
    durable: bool = True
    #: lease that must not end before this one
    parent: Lease | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    final_url: str = ""
    #: no response or failure yet
    in_flight: bool = True
    #: spider middlewares process the response, or the output of its callback
    in_spider: bool = False
    #: its callback or errback has not finished
    running: bool = False
    #: number of items in the pipelines
    items: int = 0
    #: number of requests on their way to the scheduler
    requests: int = 0
    #: number of in-memory requests that must end before this lease
    children: int = 0
    #: a redirect or retry of the request was announced, but has not reached the scheduler
    replacement_announced: bool = False
    #: queued to be ended
    ending: bool = False
    scraped: bool = False
    dropped: str | None = None
    failed: str | None = None
    unchanged: bool = False
    #: keys of the URLs that it was redirected to
    redirects: set[int] = field(default_factory=set)
    #: number of unfiltered child requests by fingerprint
    fingerprint_counts: Counter[bytes] = field(default_factory=Counter)
    #: keys of child requests that are not in the file yet
    unwritten_keys: list[int] = field(default_factory=list)
    #: statements to write at the end
    writes: list[tuple[str, list[tuple[Any, ...]]]] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        """``article``, ``dropped/<reason>``, ``failed/<reason>``, ``unchanged`` or ``read``."""
        if override := self.meta.get(OUTCOME):
            return str(override)
        if self.scraped:
            return "article"
        if self.dropped or self.failed:
            return self.dropped or f"failed/{self.failed}"
        return "unchanged" if self.unchanged else "read"

    @property
    def is_finished(self) -> bool:
        """True if no more results can follow."""
        return not (self.in_flight or self.running or self.items or self.requests or self.children)
