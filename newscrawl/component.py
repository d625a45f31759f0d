"""``Component``: a part of a crawl, with an instance for each crawler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Component:
    """Base class of what Scrapy creates for a crawl, and of what its components share."""

    _shared: ClassVar[WeakKeyDictionary[Crawler, dict[type, Any]]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        """Create the component for *crawler*."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return a new instance.

        Raises ``NotConfigured`` if a setting disables it, ``ValueError`` for an invalid setting.
        """
        return cls(crawler)

    @classmethod
    def for_crawler(cls, crawler: Crawler) -> Self:
        """Return the instance that the components of *crawler* share; the errors are the same."""
        shared = cls._shared.setdefault(crawler, {})
        if cls not in shared:
            shared[cls] = cls.from_crawler(crawler)
        return shared[cls]  # type: ignore[no-any-return]
