"""Copies articles into items of any class that ItemAdapter supports."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter

if TYPE_CHECKING:
    from newscrawl.items import Article

logger = logging.getLogger(__name__)

_EMPTY: tuple[Any, ...] = (None, "", [], (), {})


class ItemFiller:
    """Fills item fields with article fields; *names* maps article to item fields, None skips one.

    Only fields that the item declares (any field of a dict) and that have no value are written.
    """

    def __init__(self, names: dict[str, str | None]) -> None:
        self._names = names
        self._rejected: set[tuple[type, str]] = set()

    def fill(self, item: Any, article: Article) -> None:
        """Copy the fields of *article* that have a value to *item*, dates as objects."""
        dates = {name: getattr(article, name) for name in ("date", "date_modified", "fetched_at")}
        for field, value in (article.to_dict() | dates).items():
            name = self._names.get(field, field)
            if name and value not in _EMPTY:
                self.set(item, name, value, keep=True)

    def set(self, item: Any, name: str, value: Any, *, keep: bool = False) -> None:
        """Set field *name* if *item* declares it; with *keep*, only if it has no value.

        If the item rejects the value (frozen class, wrong type), a warning is logged once for each
        class and field.
        """
        adapter = ItemAdapter(item)
        declared = ItemAdapter.get_field_names_from_class(type(item))
        if declared is not None and name not in declared:
            return
        if keep and adapter.get(name) not in _EMPTY:
            return
        try:
            adapter[name] = value
        except (AttributeError, TypeError, ValueError) as error:
            self._log_rejection(type(item), name, error)

    def clear(self, item: Any, name: str) -> None:
        """Remove the key *name* of a dict, or set the field to an empty value."""
        adapter = ItemAdapter(item)
        if ItemAdapter.get_field_names_from_class(type(item)) is None:
            adapter.pop(name, None)
        elif adapter.get(name):
            self.set(item, name, type(adapter[name])())

    def _log_rejection(self, item_class: type, name: str, error: Exception) -> None:
        if (item_class, name) not in self._rejected:
            self._rejected.add((item_class, name))
            logger.warning("Could not set %s.%s: %s", item_class.__name__, name, error)
