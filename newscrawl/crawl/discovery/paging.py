"""Numbered pages of a listing, searched for the articles of a period in few requests."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

#: when the articles of a page were published, compared with the period; the undated may be of it
Place = Literal["newer", "within", "undated", "older"]

_NUMBER = re.compile(r"(?<!\d)[1-9]\d*")


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
