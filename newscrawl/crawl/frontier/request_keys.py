"""What makes two requests the same: within a crawl, and across a crash."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from typing import TYPE_CHECKING, Final

from newscrawl.crawl.frontier.lease import NO_KEY

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from newscrawl.crawl.frontier.lease import Lease

PLANNED: Final = "newscrawl_planned"
"""Meta of a request that its spider plans again by itself when the crawl is resumed."""


class Keys:
    """The keys of requests, 64 bits each.

    A request that the dupefilter would filter has the key of its fingerprint
    (``REQUEST_FINGERPRINTER_CLASS``). One that is not to be filtered is told by where it comes
    from, so that what a page yields again after a crash is not done again: the first, second, ...
    request of a fingerprint that one parent yields.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._fingerprinter = crawler.request_fingerprinter
        self._start: Counter[bytes] = Counter()

    def fingerprint(self, request: Request) -> int:
        """Return the key that the URL, method and body of *request* have."""
        return _number(self._fingerprinter.fingerprint(request))

    def key(self, request: Request, parent: Lease | None, *, from_start: bool) -> int:
        """Return the key of *request*, which *parent* yields, or start(), or somebody else."""
        if request.meta.get(PLANNED):
            return NO_KEY
        if not request.dont_filter:
            return self.fingerprint(request)
        if not from_start and (parent is None or parent.key == NO_KEY):
            return random.getrandbits(63)  # an extension's, for example: new each time
        fingerprint = self._fingerprinter.fingerprint(request)
        twins = parent.twins if parent else self._start
        twins[fingerprint] += 1
        origin = f"{parent.key if parent else 0} {twins[fingerprint]}"
        return _number(hashlib.sha256(fingerprint + origin.encode()).digest())


def _number(digest: bytes) -> int:
    """Return a number that fits into SQLite's integers."""
    return int.from_bytes(digest[:8], "big", signed=True)
