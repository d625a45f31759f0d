"""Boilerplate of sites: shingles that a site repeats, learned page by page."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from newscrawl.neardup.shingles import distinct, is_among
from newscrawl.neardup.sketch import share_frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from newscrawl.near_duplicate_options import Options
    from newscrawl.neardup.database import StoryRecord, StoryTable

MAX_PAGES: Final = 32
"""Maximum number of recent pages of a site that boilerplate is learned from."""

MAX_SITES: Final = 512
"""Maximum number of sites whose recent pages are cached."""

MAX_BOILERPLATE_SITES: Final = 4096
"""Maximum number of sites whose boilerplate is cached."""


class RecentPage(NamedTuple):
    """A recent page of a site."""

    lineage: int
    #: sorted
    hashes: NDArray[np.uint32]


class RecentPages(dict[int, RecentPage]):
    """Recent pages of a site by story, in order of arrival."""

    def add(self, story: int, lineage: int, hashes: NDArray[np.uint32]) -> None:
        """Add a page, and remove the oldest if there are too many."""
        self[story] = RecentPage(lineage, hashes)
        if len(self) > MAX_PAGES:
            del self[next(iter(self))]

    def shared(
        self, hashes: NDArray[np.uint32], lineage: int, options: Options
    ) -> tuple[NDArray[np.uint32], list[int]]:
        """Return those of *hashes* that are boilerplate, and the stories that share enough of them.

        *hashes* are those of a new page. Pages of its *lineage* do not count, those of another
        once.
        """
        holders = [
            (position, story, page.lineage)
            for story, page in self.items()
            if page.lineage != lineage and page.hashes.size
            for position in np.flatnonzero(is_among(hashes, page.hashes)).tolist()
        ]
        lineages = Counter(position for position, _ in {(it[0], it[2]) for it in holders})
        repeated = sorted(p for p, count in lineages.items() if count >= options.site_pages - 1)
        stories = Counter(story for _, story, _ in holders)
        sharing = [story for story, count in stories.items() if count >= options.min_shared]
        return hashes[repeated], sharing


class SiteBoilerplate:
    """Boilerplate hashes of all sites: stored in the database, cached for recent sites."""

    def __init__(self, stories: StoryTable, options: Options) -> None:
        self._stories = stories
        self._options = options
        self._pages: OrderedDict[int, RecentPages] = OrderedDict()
        self._hashes: OrderedDict[int, NDArray[np.uint32]] = OrderedDict()

    def reset(self) -> None:
        """Clear the caches, after a rollback."""
        self._pages.clear()
        self._hashes.clear()

    def hashes(self, site: int) -> NDArray[np.uint32]:
        """Return the boilerplate hashes of a site, sorted."""
        found = self._hashes.get(site)
        if found is None:
            found = self._hashes[site] = self._stories.boilerplate(site)
            if len(self._hashes) > MAX_BOILERPLATE_SITES:
                self._hashes.popitem(last=False)
        return found

    def learn(self, record: StoryRecord, hashes: NDArray[np.uint32]) -> None:
        """Learn boilerplate from a new story; *hashes* are those not known as boilerplate."""
        if not self._options.site_pages:
            return
        pages = self._recent_pages(record.site)
        repeated, sharing = pages.shared(hashes, record.lineage, self._options)
        self._add(record, repeated)
        if sharing:
            self._add(record, self._frame_hashes(record, sharing))
        pages.add(record.id, record.lineage, hashes)

    def _frame_hashes(self, record: StoryRecord, stories: Iterable[int]) -> NDArray[np.uint32]:
        """Return the hashes that a new page shares with other *stories* in the same frame."""
        known = self.hashes(record.site)
        new = record.sketch.without(known)
        shared = [np.empty(0, np.uint32)]
        for page in self._stories.records(stories):
            other = page.sketch.without(known)
            if share_frame(new, other, known, self._options):
                shared.append(np.intersect1d(new.hashes, other.hashes, assume_unique=True))
        return distinct(np.concatenate(shared))

    def _add(self, record: StoryRecord, hashes: NDArray[np.uint32]) -> None:
        if hashes.size:
            self._stories.add_boilerplate(record.site, hashes, record.id)
            self._hashes[record.site] = np.union1d(self.hashes(record.site), hashes)

    def is_learned(self, site: int) -> bool:
        """Return whether enough pages of the site were seen to know its boilerplate."""
        lineages = {page.lineage for page in self._recent_pages(site).values()}
        return bool(len(lineages) >= self._options.site_pages or self.hashes(site).size)

    def forget(self, record: StoryRecord) -> None:
        """Clear the cached pages of a story that is removed from the index."""
        if record.id in self._pages.get(record.site, {}):
            del self._pages[record.site]

    def _recent_pages(self, site: int) -> RecentPages:
        pages = self._pages.get(site)
        if pages is None:
            pages = self._pages[site] = RecentPages()
            for record in self._stories.pages(site, MAX_PAGES):
                pages.add(
                    record.id, record.lineage, record.sketch.without(self.hashes(site)).hashes
                )
            if len(self._pages) > MAX_SITES:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(site)
        return pages
