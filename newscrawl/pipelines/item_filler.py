"""Articles as items: in Scrapy's exporters, in other items, and as those of Zyte."""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import MutableMapping
from contextlib import suppress
from dataclasses import fields
from datetime import UTC, date, datetime, time
from functools import cache
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from itemadapter.adapter import DataclassAdapter

from newscrawl.items import EXTRA_FIELDS, Article

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, KeysView, Mapping

logger = logging.getLogger(__name__)

_EMPTY: tuple[Any, ...] = (None, "", [], (), {})
# In the text of an annotation, which may be unresolved: "datetime", "dt.date | None",
# "<class 'datetime.datetime'>", "AwareDatetime". Not the module: "datetime.timedelta".
_TIME_TYPE = re.compile(r"date(time)?\b(?!\.)", re.IGNORECASE)


class ItemFiller:
    """Fills item fields with article fields; *names* maps article to item fields, None skips one.

    *converters* maps article fields to functions of their values. Other values are JSON values,
    except dates in fields that are annotated as date or datetime. Only fields that the item
    declares and that have no value are written; a dict also gets the fields without a value, of
    :data:`~newscrawl.items.EXTRA_FIELDS` those in *extra_fields*.
    """

    def __init__(
        self,
        names: Mapping[str, str | None],
        converters: Mapping[str, Callable[[Any], Any]] | None = None,
        extra_fields: Collection[str] = (),
    ) -> None:
        self._names = names
        self._converters = converters or {}
        unused = set(EXTRA_FIELDS).difference(extra_fields)
        self._fields = {field.name: None for field in fields(Article) if field.name not in unused}
        self._rejected: set[tuple[type, str]] = set()

    def fill(self, item: Any, article: Article | None) -> None:
        """Copy the fields of *article* to *item*; without an article, a dict gets empty fields."""
        plain = self._fields | article.to_dict() if article else self._fields
        for field, value in plain.items():
            name = self._names.get(field, field)
            if not name or ItemAdapter(item).get(name) not in _EMPTY:
                continue
            if value not in _EMPTY:
                self._write(item, name, field, value, getattr(article, field))
            elif isinstance(item, dict):
                item.setdefault(name, value)

    def write(self, item: Any, field: str, value: Any) -> None:
        """Set the item field of the article field *field* to the JSON value *value*, converted."""
        if name := self._names.get(field, field):
            self._write(item, name, field, value, value)

    def _write(self, item: Any, name: str, field: str, plain: Any, value: Any) -> None:
        """Set *name* to the conversion of *value*, a date if *name* is annotated so, or *plain*."""
        if convert := self._converters.get(field):
            try:
                self.set(item, name, convert(value))
            except Exception as error:  # noqa: BLE001  # code of the project; the item is kept
                self._log_rejection(type(item), name, error)
            return
        item_class: type = type(item)
        if isinstance(value, date) and (annotation := _time_annotation(item_class, name)):
            plain = _as_annotated(value, annotation)
        self.set(item, name, plain)

    def set(self, item: Any, name: str, value: Any) -> None:
        """Set field *name* if *item* declares it.

        If the item rejects the value (frozen class, wrong type), a warning is logged once for each
        class and field.
        """
        declared = ItemAdapter.get_field_names_from_class(type(item))
        if declared is not None and name not in declared:
            return
        try:
            ItemAdapter(item)[name] = value
        except (AttributeError, TypeError, ValueError) as error:
            self._log_rejection(type(item), name, error)

    def clear(self, item: Any, name: str) -> None:
        """Remove the page in field *name*: no bytes remain, which JSON feeds cannot write."""
        if isinstance(item, MutableMapping):
            item.pop(name, None)
            return
        adapter = ItemAdapter(item)
        if not isinstance(adapter.get(name), bytes | str):
            return
        with suppress(AttributeError, TypeError, ValueError):
            adapter[name] = ""
        if adapter[name] != "":  # a frozen class, or one that accepts only bytes
            object.__setattr__(item, name, "")

    def _log_rejection(self, item_class: type, name: str, error: Exception) -> None:
        if (item_class, name) not in self._rejected:
            self._rejected.add((item_class, name))
            logger.warning("Could not set %s.%s: %s", item_class.__name__, name, error)


@cache
def _time_annotation(item_class: type, name: str) -> str:
    """Return the annotation of the field *name* if it is a date or datetime, else ""."""
    annotations = (vars(base).get("__annotations__", {}) for base in item_class.__mro__)
    found = next((str(types[name]) for types in annotations if name in types), "")
    return found if _TIME_TYPE.search(found) else ""


def _as_annotated(moment: date, annotation: str) -> date:
    """Return *moment* as the type in *annotation*: a day of a time, or the midnight of a day."""
    types = {found[0].lower() for found in _TIME_TYPE.finditer(annotation)}
    if types == {"date"} and isinstance(moment, datetime):
        return moment.date()
    if types == {"datetime"} and not isinstance(moment, datetime):
        return datetime.combine(moment, time())
    return moment


class ArticleAdapter(DataclassAdapter):
    """Adapter of articles with the fields of :meth:`Article.to_dict`."""

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
            if name not in EXTRA_FIELDS or getattr(self.item, name) is not None:
                yield name


def use_article_adapter() -> None:
    """Use :class:`ArticleAdapter` for articles, also in Scrapy's exporters."""
    if ArticleAdapter not in ItemAdapter.ADAPTER_CLASSES:
        classes = deque(ItemAdapter.ADAPTER_CLASSES)
        classes.appendleft(ArticleAdapter)
        ItemAdapter.ADAPTER_CLASSES = classes


def to_zyte(article: Article) -> Any:
    """Return *article* as ``zyte_common_items.Article``.

    ``datePublished`` is None if only the date of modification is known, which differs from Zyte's
    schema. A day without time becomes its midnight, without a time zone.
    """
    import zyte_common_items as zyte  # noqa: PLC0415  # optional

    body, image = article.evidence.get("body"), article.image
    breadcrumbs = [zyte.Breadcrumb(name=part.name, url=part.url) for part in article.breadcrumbs]
    return zyte.Article(
        url=article.url,
        headline=article.title,
        datePublished=_iso(article.date),
        datePublishedRaw=article.date_raw,
        dateModified=_iso(article.date_modified),
        authors=[zyte.Author(name=name, nameRaw=name) for name in article.authors] or None,
        breadcrumbs=breadcrumbs or None,
        inLanguage=article.language,
        mainImage=zyte.Image(url=image.url) if image else None,
        images=[zyte.Image(url=it.url) for it in article.images or ()] or None,
        videos=[zyte.Video(url=it.url) for it in article.videos or ()] or None,
        audios=[zyte.Audio(url=it.url) for it in article.audio or ()] or None,
        description=article.description,
        articleBody=article.body or None,
        articleBodyHtml=article.to_html() if article.body_html else None,
        canonicalUrl=article.canonical_url,
        metadata=zyte.ArticleMetadata(
            dateDownloaded=_iso(article.fetched_at),
            probability=body.confidence if body else None,
        ),
    )


def _iso(moment: date | datetime | None) -> str | None:
    """Return *moment* as in Zyte's schema: without microseconds, ``Z`` for UTC, else an offset."""
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    text = moment.replace(microsecond=0).isoformat()
    return text.removesuffix("+00:00") + "Z" if moment.tzinfo == UTC else text
