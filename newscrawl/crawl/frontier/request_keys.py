"""Request keys: they identify a request within a crawl and after a crash."""

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
"""Meta key of a request that its spider makes again when the crawl is resumed."""


class RequestKeys:
    """Computes the 64-bit keys of requests.

    The key of a request subject to the dupefilter is its fingerprint
    (``REQUEST_FINGERPRINTER_CLASS``). The key of an unfiltered request also covers its parent and
    its number among the requests of this parent with the same fingerprint, so that a repeated
    callback after a crash yields the same keys.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._fingerprinter = crawler.request_fingerprinter
        self._start_counts: Counter[bytes] = Counter()

    def fingerprint_key(self, request: Request) -> int:
        """Return the key of the fingerprint of *request*."""
        return _to_integer(self._fingerprinter.fingerprint(request))

    def key(self, request: Request, parent: Lease | None, *, from_start: bool) -> int:
        """Return the key of *request*, yielded by the callback of *parent* or by ``start()``."""
        if request.meta.get(PLANNED):
            return NO_KEY
        if not request.dont_filter:
            return self.fingerprint_key(request)
        if not from_start and (parent is None or parent.key == NO_KEY):
            return random.getrandbits(63)  # of an extension, for example: a new key each time
        fingerprint = self._fingerprinter.fingerprint(request)
        counts = parent.fingerprint_counts if parent else self._start_counts
        counts[fingerprint] += 1
        origin = f"{parent.key if parent else 0} {counts[fingerprint]}"
        return _to_integer(hashlib.sha256(fingerprint + origin.encode()).digest())


def _to_integer(digest: bytes) -> int:
    """Return the first 8 bytes of *digest* as an SQLite integer."""
    return int.from_bytes(digest[:8], "big", signed=True)
