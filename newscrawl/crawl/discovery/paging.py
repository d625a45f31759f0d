"""Numbered pages and sitemaps, searched for the articles of a period in few requests."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from newscrawl.crawl.discovery.target import Target

#: when the articles of a page were published, compared with the period; the undated may be of it
Place = Literal["newer", "within", "undated", "older"]

_NUMBER = re.compile(r"(?<!\d)(?<!limit=)(?<!size=)[1-9]\d*")


@dataclass(slots=True)
class ListingPages:
    """The pages of a listing, newest first, whose addresses differ in a number."""

    #: before and after the number
    template: tuple[str, str]
    #: number in the address of the second page, and what each page adds to it
    second: int
    step: int
    #: last page that lists only later articles
    newer: int = 0
    #: first page that lists only earlier ones, or that does not exist
    older: int | None = None
    within: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, following: str) -> ListingPages | None:
        """Return the pages of a listing by the URL of its second page; None without a number.

        Pages are counted from one or zero, or by their articles (``?start=20``).
        """
        found = list(_NUMBER.finditer(following, following.find("/", len("https://"))))
        query = following.find("?")
        for second, step in ((2, 1), (1, 1), (None, None)):
            for match in reversed(found):
                if int(match[0]) == second or (second is None and 0 < query < match.start()):
                    template = following[: match.start()], following[match.end() :]
                    return cls(template, int(match[0]), step or int(match[0]))
        return None

    def url(self, number: int) -> str:
        """Return the URL of a page, counted from one."""
        return f"{self.second + (number - 2) * self.step}".join(self.template)

    def record(self, number: int, place: Place) -> None:
        """Record what a page lists; one that cannot be read is ``older``."""
        if place in ("within", "undated"):
            self.within.add(number)
        elif place == "newer":
            self.newer = max(self.newer, number)
        else:
            self.older = min(self.older or number, number)

    def next_number(self) -> int | None:
        """Return the number of the page to read next; None if the period is covered."""
        if self.within:
            for number in (max(self.within) + 1, min(self.within) - 1):
                if self.newer < number < (self.older or number + 1):
                    return number
            return None
        if self.older is None:
            return 2 * self.newer
        middle = (self.newer + self.older) // 2
        return middle if middle > self.newer else None


@dataclass(slots=True)
class SitemapSeries:
    """Sitemaps whose names differ in numbers only: their articles are in order of time."""

    #: by page key, in the order of the index
    targets: dict[str, Target] = field(default_factory=dict)
    #: of those that were requested
    places: dict[str, Place] = field(default_factory=dict)

    def next_target(self) -> Target | None:
        """Return the sitemap to read next; None if the period is covered.

        The neighbours of one within the period, else the middle of where it must be, or may be.
        """
        keys, found = list(self.targets), []
        read = [number for number, key in enumerate(keys) if key in self.places]
        for left, right in pairwise([-1, *read, len(keys)]):
            ends = [self.places[keys[n]] for n in (left, right) if 0 <= n < len(keys)]
            known = [place for place in ends if place != "undated"]
            if right - left > 1 and "within" in known:
                found.append((0, 0, left + 1 if left >= 0 and ends[0] == "within" else right - 1))
            elif right - left > 1:
                rank = 1 if len(set(known)) > 1 else len(known) + 1
                found.append((rank, left - right, (left + right) // 2))
        if not found or (min(found)[0] and "within" in self.places.values()):
            return None
        return self.targets[keys[min(found)[2]]]
