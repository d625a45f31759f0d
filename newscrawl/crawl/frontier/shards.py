"""Shards: parts of a site list for several processes or machines, which need not know each other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from newscrawl.crawl.discovery.urls import absolute_url, owner, site_key

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

MOST: Final = 65_536
"""Shards of a list; with more, the hash would part them unevenly, and nobody has the machines."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several shards of equal size. ``3-of-16`` as text, in names of files for example."""

    #: from 1 on
    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the shard that is written as ``3/16``; raises ``ValueError`` saying what is wrong."""
        found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text, re.ASCII)
        if not found:
            raise ValueError(f"shard must be written as 3/16, not {text!r}")
        shard = cls(int(found[1]), int(found[2]))
        if not 1 <= shard.of <= MOST:
            raise ValueError(f"shard {text!r}: there can be 1 to {MOST} shards")
        if not 1 <= shard.number <= shard.of:
            raise ValueError(f"shard {text!r}: shards are numbered from 1 to {shard.of}")
        return shard

    def holds(self, url: str) -> bool:
        """Return True if the site of *url* is in this shard.

        By its registered domain, whose delays one process must keep. The same on every machine
        and in every version of Python.
        """
        domain = owner(site_key(absolute_url(url) or url))
        value = int.from_bytes(blake2b(domain.encode(), digest_size=8).digest(), "big")
        return value % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}-of-{self.of}"


def shard_path(crawler: Crawler, path: str | Path) -> Path:
    """Return *path* with the shard of the crawl in its name: ``index-3-of-16.sqlite``.

    Unchanged where the spider has no :class:`Shard` as ``shard``, or the only one.
    """
    path, shard = Path(path), getattr(crawler.spider, "shard", None)
    if not isinstance(shard, Shard) or shard.of == 1:
        return path
    return path.with_name(f"{path.stem}-{shard}{path.suffix}")
