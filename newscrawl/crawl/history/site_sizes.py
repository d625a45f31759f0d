"""``SiteSizes``: a limit on what is remembered of each site, so that none fills the disk."""

from __future__ import annotations

import json
import logging
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

from newscrawl.crawl.history import schema

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from newscrawl.crawl.frontier.crawl_store import CrawlStore

    Table = Literal["page", "source"]

logger = logging.getLogger(__name__)

_FULL_RATIO: Final = 0.9
"""Share of the limit above which a site makes room for new pages when a crawl starts."""
_KEPT_RATIO: Final = 0.8
"""Share of the limit that such a site keeps."""


class SiteSizes:
    """Sizes of the rows of each site in the tables ``page`` and ``source``.

    *limit*: maximum size of a site's rows in each table, in bytes; 0 is none.
    """

    def __init__(self, limit: int, stats: StatsCollector) -> None:
        self._limit = limit
        self._stats = stats
        self._sizes: Counter[tuple[Table, str]] = Counter()
        self._warned: set[str] = set()

    async def reduce(self, store: CrawlStore) -> None:
        """Read the sizes; delete the rows used longest ago of sites near the limit."""
        [(file_size,)] = await store.read(schema.FILE_SIZE)
        if not 0 < self._limit < 2 * file_size:  # no site can be near it
            return
        kept = int(self._limit * _KEPT_RATIO)
        tables: tuple[Table, ...] = ("page", "source")
        for table in tables:
            rows = await store.read(schema.SITE_SIZES[table])
            full = [site for site, size in rows if size > self._limit * _FULL_RATIO]
            if full:
                store.write(schema.DELETE_OLDEST[table], [(json.dumps(full), kept)])
            self._sizes.update({(table, site): size for site, size in rows})
            for site in full:
                self._sizes[table, site] = kept
                self._warn(site)

    def admits(self, table: Table, site: str, key: str, *texts: str) -> bool:
        """Return whether a new row of *site* with these values is to be stored; add its size."""
        size = schema.ROW_SIZE + schema.KEY_COPIES * len(key) + sum(map(len, texts))
        if 0 < self._limit < self._sizes[table, site] + size:
            self._stats.inc_value("newscrawl/state/forgotten_count")
            self._warn(site)
            return False
        self._sizes[table, site] += size
        return True

    def _warn(self, site: str) -> None:
        if site not in self._warned:
            self._warned.add(site)
            logger.warning(
                "%s has more pages than NEWSCRAWL_STATE_SITE_SIZE (%d bytes) permits to remember;"
                " articles of the forgotten ones may be emitted again",
                site,
                self._limit,
            )
