"""Leases of requests: what a crawl keeps of a request in flight."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

OUTCOME: Final = "newscrawl_outcome"
"""Meta in which a spider may say how a request ended, where it knows better."""


class Ended(NamedTuple):
    """How a request ended."""

    #: what the spider made it for (meta ``newscrawl_role``)
    role: Any
    url: str
    final_url: str
    outcome: str


@dataclass(slots=True, eq=False)
class Lease:
    """A request that was handed out, until everything that it led to is settled."""

    id: int
    #: the same for the same request after a crash
    key: int
    url: str
    #: download slot that it counts in while it is in flight
    slot: str
    #: False for a request that is in memory alone
    durable: bool = True
    #: the lease that must not end before this one
    parent: Lease | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    final_url: str = ""
    #: handed out, and no response yet
    flying: bool = True
    #: its response is in the hands of spider middlewares, which see what comes of it
    in_spider: bool = False
    #: its callback or errback is not exhausted
    running: bool = False
    #: items in the pipelines
    items: int = 0
    #: requests on their way to the scheduler
    requests: int = 0
    #: requests in memory that end before it does
    children: int = 0
    #: a request that replaces it, a redirect or a retry, was announced
    announced: bool = False
    #: its end is on the way
    settling: bool = False
    delivered: bool = False
    dropped: str | None = None
    failed: str | None = None
    unchanged: bool = False
    #: keys of the URLs that it was redirected to
    redirects: set[int] = field(default_factory=set)
    #: how often a fingerprint was among its children
    twins: Counter[bytes] = field(default_factory=Counter)
    #: keys of the requests that it led to and that the file does not have yet
    offspring: list[int] = field(default_factory=list)
    #: written with its end
    writes: list[tuple[str, list[tuple[Any, ...]]]] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        """How the request ended."""
        if given := self.meta.get(OUTCOME):
            return str(given)
        if self.delivered:
            return "article"
        if self.dropped or self.failed:
            return self.dropped or f"failed/{self.failed}"
        return "unchanged" if self.unchanged else "read"

    @property
    def is_over(self) -> bool:
        """True when nothing can come of the request any more."""
        return not (self.flying or self.running or self.items or self.requests or self.children)


NO_KEY: Final = 0
"""The key of a planned request."""
