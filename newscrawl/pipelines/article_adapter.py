"""Fields of articles in Scrapy's exporters: all except formats of the body that were not requested."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from itemadapter.adapter import DataclassAdapter

from newscrawl.items import BODY_FORMAT_FIELDS, Article

if TYPE_CHECKING:
    from collections.abc import Iterator, KeysView


class ArticleAdapter(DataclassAdapter):
    """Adapter of articles, as in :meth:`Article.to_dict` without the formats that are None."""

    @classmethod
    def is_item(cls, item: Any) -> bool:
        """Return whether *item* is an article."""
        return isinstance(item, Article)

    @classmethod
    def is_item_class(cls, item_class: type) -> bool:
        """Return whether *item_class* is that of articles."""
        return issubclass(item_class, Article)

    def field_names(self) -> KeysView[str]:
        """Return the names of the fields, which are the columns of CSV."""
        return dict.fromkeys(self).keys()

    def __iter__(self) -> Iterator[str]:
        for name in super().__iter__():
            if name not in BODY_FORMAT_FIELDS or getattr(self.item, name) is not None:
                yield name


def register() -> None:
    """Use :class:`ArticleAdapter` for articles, also in Scrapy's exporters."""
    if ArticleAdapter not in ItemAdapter.ADAPTER_CLASSES:
        classes = deque(ItemAdapter.ADAPTER_CLASSES)
        classes.appendleft(ArticleAdapter)
        ItemAdapter.ADAPTER_CLASSES = classes
