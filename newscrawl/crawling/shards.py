"""Shards: parts of a site list, crawled by independent processes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from newscrawl.crawling.urls import absolute_url, registered_domain, site_key

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

MAX_SHARDS: Final = 65_536
"""Maximum number of shards of a list."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of *count* shards of about the same size; ``3-of-16`` as text."""

    #: 1 to *count*
    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a shard such as ``3/16``; raises ``ValueError`` if *text* is invalid."""
        match = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text, re.ASCII)
        if not match:
            raise ValueError(f"shard must be written as 3/16, not {text!r}")
        shard = cls(int(match[1]), int(match[2]))
        if not 1 <= shard.count <= MAX_SHARDS:
            raise ValueError(f"shard {text!r}: there can be 1 to {MAX_SHARDS} shards")
        if not 1 <= shard.number <= shard.count:
            raise ValueError(f"shard {text!r}: shards are numbered from 1 to {shard.count}")
        return shard

    def holds(self, url: str) -> bool:
        """Return True if the site of *url* is in this shard.

        Sites are distributed by a hash of the registered domain, so that one process enforces
        the download delay of a domain. The hash is the same on all machines.
        """
        domain = registered_domain(site_key(absolute_url(url) or url))
        digest = blake2b(domain.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}-of-{self.count}"


def shard_path(crawler: Crawler, path: str | Path) -> Path:
    """Return *path* with the shard of the spider in its name: ``index-3-of-16.sqlite``.

    *path* is unchanged if the spider has no attribute ``shard`` of type :class:`Shard`, or there is
    only one shard.
    """
    path, shard = Path(path), getattr(crawler.spider, "shard", None)
    if not isinstance(shard, Shard) or shard.count == 1:
        return path
    return path.with_name(f"{path.stem}-{shard}{path.suffix}")
