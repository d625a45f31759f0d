"""Filling somebody else's item: any class that ItemAdapter takes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter

if TYPE_CHECKING:
    from newscrawl.items import Article

logger = logging.getLogger(__name__)


class ItemFiller:
    """Writes articles into items, under *names*: our field's name -> theirs, None for not.

    Only fields that an item has or declares are written (a dict has any), and only where it
    has no value yet: what the spider found is the spider's.
    """

    def __init__(self, names: dict[str, str | None]) -> None:
        self._names = names
        self._refused: set[tuple[type, str]] = set()

    def fill(self, item: Any, article: Article) -> None:
        """Write the known fields of *article* into *item*."""
        for ours, value in article_values(article).items():
            theirs = self._names.get(ours, ours)
            if theirs and value not in (None, "", [], {}):
                self.set(item, theirs, value, keep=True)

    def set(self, item: Any, name: str, value: Any, *, keep: bool = False) -> None:
        """Set field *name* if *item* can hold it; with *keep*, only if it has no value yet.

        An item that refuses the value (frozen, or by its type) keeps what it has; the first
        refusal of each class and field is logged.
        """
        adapter = ItemAdapter(item)
        if not can_hold(item, name) or (keep and adapter.get(name) not in (None, "", [], {})):
            return
        try:
            adapter[name] = value
        except (AttributeError, TypeError, ValueError) as error:
            self._log_refusal(type(item), name, error)

    def clear(self, item: Any, name: str) -> None:
        """Remove the value of *name*: dicts lose the key, others keep an empty value."""
        adapter = ItemAdapter(item)
        if ItemAdapter.get_field_names_from_class(type(item)) is None:
            adapter.pop(name, None)
        elif adapter.get(name):
            self.set(item, name, type(adapter[name])())

    def _log_refusal(self, item_class: type, name: str, error: Exception) -> None:
        if (item_class, name) not in self._refused:
            self._refused.add((item_class, name))
            logger.warning("%s.%s cannot be filled: %s", item_class.__name__, name, error)


def can_hold(item: Any, name: str) -> bool:
    """Return True if *item* is a dict, or its class declares the field *name*."""
    declared = ItemAdapter.get_field_names_from_class(type(item))
    return declared is None or name in declared


def article_values(article: Article) -> dict[str, Any]:
    """Return the fields of *article* as plain values, but for dates, which stay objects."""
    dates = {name: getattr(article, name) for name in ("date", "date_modified", "fetched_at")}
    return article.to_dict() | dates
