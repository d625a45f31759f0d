"""What the sites of the index repeat on their pages, learned page by page."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from newscrawl.neardup.shingles import distinct, merged
from newscrawl.neardup.sketch import framed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from newscrawl.neardup.near_duplicate_options import Options
    from newscrawl.neardup.story_table import Shelf, StoryRecord

PAGES: Final = 32
"""Pages of a site, the last ones, that tell what it repeats."""

SITES: Final = 512
"""Sites whose last pages are kept in memory."""

REPEATED: Final = 4096
"""Sites of which is kept in memory what they repeat."""

_STORY: Final = np.uint64(2**32 - 1)


class RecentPages:
    """The hashes of the last pages of a site."""

    def __init__(self) -> None:
        #: story -> lineage, of the last pages, in their order
        self.lineages: dict[int, int] = {}
        #: hash and story, sorted; of pages that have gone, too
        self._seen = np.empty(0, np.uint64)
        self._gone = 0

    def add(self, story: int, lineage: int, hashes: NDArray[np.uint32]) -> None:
        """Add a page; the first one goes when there are enough."""
        self.lineages[story] = lineage
        if len(self.lineages) > PAGES:
            del self.lineages[next(iter(self.lineages))]
            self._gone += 1
        if self._gone > PAGES // 4:
            self._seen = self._seen[(self._seen & _STORY) >= next(iter(self.lineages))]
            self._gone = 0
        page = _shifted(hashes) | np.uint64(story)
        self._seen = merged(self._seen, page)

    def holders(self, hashes: NDArray[np.uint32], lineage: int) -> Holders:
        """Return which of *hashes* are on pages of other lineages than a new one."""
        wanted = _shifted(hashes)
        low, high = np.searchsorted(self._seen, (wanted, wanted + _STORY))
        counts = high - low
        first = np.repeat(low - np.cumsum(counts) + counts, counts)
        stories = (self._seen[first + np.arange(first.size)] & _STORY).tolist()
        places = np.repeat(np.arange(counts.size), counts).tolist()
        held = zip(places, stories, strict=True)
        # One that has gone is in no lineage, which is as good as that of the new one.
        lineages = self.lineages.get
        return Holders(
            hashes, [pair for pair in held if lineages(pair[1], lineage) != lineage], self.lineages
        )


class Holders(NamedTuple):
    """Pages of a site that hold some of the hashes of a new one."""

    hashes: NDArray[np.uint32]
    #: each place of a hash among ``hashes`` with a story that holds it
    held: list[tuple[int, int]]
    #: of the stories
    lineages: dict[int, int]

    def repeated(self, least: int) -> NDArray[np.uint32]:
        """Return the hashes that pages of *least* lineages have, the new one included."""
        lineages = {(place, self.lineages[story]) for place, story in self.held}
        counts = Counter(place for place, _ in lineages)
        places = sorted(place for place, count in counts.items() if count >= least - 1)
        return self.hashes[places]

    def sharing(self, least: int) -> list[int]:
        """Return the pages that hold at least so many of the hashes."""
        counts = Counter(story for _, story in self.held)
        return sorted(story for story, count in counts.items() if count >= least)


def _shifted(hashes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    return hashes.astype(np.uint64) << np.uint64(32)


class Sites:
    """What each site repeats: read from the shelf, and kept in memory for the sites at hand."""

    def __init__(self, shelf: Shelf, options: Options) -> None:
        self._shelf = shelf
        self._options = options
        self._pages: OrderedDict[int, RecentPages] = OrderedDict()
        self._repeated: OrderedDict[int, NDArray[np.uint32]] = OrderedDict()

    def recall(self) -> None:
        """Forget what is in memory: where what was written has been undone."""
        self._pages.clear()
        self._repeated.clear()

    def repeated(self, site: int) -> NDArray[np.uint32]:
        """Return the hashes that a site repeats, sorted."""
        found = self._repeated.get(site)
        if found is None:
            found = self._repeated[site] = self._shelf.boilerplate(site)
            _limit(self._repeated, REPEATED)
        return found

    def learn(self, record: StoryRecord, hashes: NDArray[np.uint32]) -> None:
        """Learn from a new story what its site repeats: *hashes* of it not known to be repeated."""
        least = self._options.site_pages
        if not least:
            return
        pages = self._of(record.site)
        holders = pages.holders(hashes, record.lineage)
        self._suppress(record, holders.repeated(least))
        sharing = holders.sharing(self._options.least_shared)
        if sharing:
            self._suppress(record, self._frames(record, sharing))
        pages.add(record.id, record.lineage, hashes)

    def _frames(self, record: StoryRecord, stories: Iterable[int]) -> NDArray[np.uint32]:
        """Return what a new page shares with those of *stories* that tell another story."""
        repeated = self.repeated(record.site)
        made = record.sketch.without(repeated)
        shared = [np.empty(0, np.uint32)]
        for page in self._shelf.records(stories):
            other = page.sketch.without(repeated)
            if framed(made, other, repeated, self._options):
                shared.append(np.intersect1d(made.hashes, other.hashes, assume_unique=True))
        return distinct(np.concatenate(shared))

    def _suppress(self, record: StoryRecord, hashes: NDArray[np.uint32]) -> None:
        """Note hashes that the site of a new story repeats."""
        if hashes.size:
            self._shelf.suppress(record.site, hashes, record.id)
            self._repeated[record.site] = np.union1d(self.repeated(record.site), hashes)

    def known(self, site: int) -> bool:
        """Return True if what a site repeats shows on the pages seen so far."""
        lineages = self._of(site).lineages.values()
        return bool(len(set(lineages)) >= self._options.site_pages or self.repeated(site).size)

    def forget(self, record: StoryRecord) -> None:
        """Forget a story that is no longer in the index."""
        pages = self._pages.get(record.site)
        if pages and record.id in pages.lineages:
            del self._pages[record.site]

    def _of(self, site: int) -> RecentPages:
        pages = self._pages.get(site)
        if pages is None:
            pages = self._pages[site] = RecentPages()
            for record in self._shelf.pages(site, PAGES):
                pages.add(
                    record.id, record.lineage, record.sketch.without(self.repeated(site)).hashes
                )
            _limit(self._pages, SITES)
        else:
            self._pages.move_to_end(site)
        return pages


def _limit(
    kept: OrderedDict[int, NDArray[np.uint32]] | OrderedDict[int, RecentPages], most: int
) -> None:
    if len(kept) > most:
        kept.popitem(last=False)
