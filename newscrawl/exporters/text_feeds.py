"""JSON, CSV and XML exporters for ``FEED_EXPORTERS``: quick, safe in a spreadsheet, well-formed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import IO, TYPE_CHECKING, Any

from itemadapter import ItemAdapter, is_item
from scrapy import exporters
from scrapy.utils.python import is_listlike
from scrapy.utils.serialize import ScrapyJSONEncoder

from newscrawl.items import Article
from newscrawl.text import xml_text

if TYPE_CHECKING:
    from scrapy import Field


class ArticleFields(exporters.BaseItemExporter):
    """Base class for JSON, to which an :class:`~newscrawl.items.Article` converts itself.

    Field by field, Scrapy takes longer for an article than for its response.
    """

    def get_serialized_fields(
        self, item: Any, *args: Any, **kwargs: Any
    ) -> Iterable[tuple[str, Any]]:
        """Return the names and JSON values of an article, or what Scrapy returns for *item*."""
        if self.fields_to_export is None and isinstance(item, Article):
            return item.to_dict().items()
        return super().get_serialized_fields(item, *args, **kwargs)


class JsonItemExporter(ArticleFields, exporters.JsonItemExporter):
    """Scrapy's JSON exporter, quick for articles."""


class JsonLinesItemExporter(ArticleFields, exporters.JsonLinesItemExporter):
    """Scrapy's JSON Lines exporter, quick for articles."""


# Starts of formulas, also after white space and invisible characters, and with full-width ones
# (https://owasp.org/www-community/attacks/CSV_Injection).
_FORMULA = re.compile(r"[\s\x00\xad\u200b-\u200f\u2060-\u206f\ufeff]*[=+\-@＝＋－＠]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*%?")


def escape_formula(cell: str) -> str:
    """Return *cell*, prefixed with an apostrophe if a spreadsheet would run it as a formula.

    Signed numbers are not prefixed.
    """
    cell = cell.replace("\0", "")
    if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell.strip()):
        return f"'{cell}"
    return cell


class SafeCsvItemExporter(exporters.CsvItemExporter):
    """Scrapy's CSV exporter with formulas escaped, since sites control the cells.

    Dates are ISO 8601. An existing file gets no second header. *formulas* leaves formulas
    unescaped.
    """

    def __init__(self, file: IO[bytes], *, formulas: bool = False, **kwargs: Any) -> None:
        if file.seekable() and file.tell():  # appended to: the header is in the file
            kwargs.setdefault("include_headers_line", False)
        super().__init__(file, **kwargs)  # type: ignore[arg-type]  # any binary file
        self._formulas = formulas
        self._json = ScrapyJSONEncoder(ensure_ascii=False)

    def serialize_field(self, field: Mapping[str, Any] | Field, name: str, value: Any) -> Any:
        """Return the cell for *value*; dicts and items, and lists of them, as JSON."""
        cell = super().serialize_field(field, name, value)
        if any(map(is_item, cell if isinstance(cell, list | tuple) else [cell])):
            cell = self._json.encode(cell)
        if isinstance(cell, date | time):
            return cell.isoformat()
        if self._formulas or cell is None or isinstance(cell, int | float):
            return cell
        if isinstance(cell, bytes):
            cell = cell.decode(self.encoding or "utf-8", "replace")
        return escape_formula(str(cell))


class CleanXmlItemExporter(exporters.XmlItemExporter):
    """Scrapy's XML exporter without elements for None and without characters that XML excludes.

    Dates are ISO 8601, nested items have an element for each field.
    """

    def get_serialized_fields(
        self, item: Any, *args: Any, **kwargs: Any
    ) -> Iterable[tuple[str, Any]]:
        """Return the names and values of the elements of *item*."""
        fields = super().get_serialized_fields(item, *args, **kwargs)
        return ((name, _plain(value)) for name, value in fields if value is not None)


def _plain(value: Any) -> Any:
    """Return *value* as nested dicts, lists and text, without None."""
    if is_item(value):
        value = ItemAdapter(value).asdict()
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items() if inner is not None}
    if is_listlike(value):
        return [_plain(inner) for inner in value if inner is not None]
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    text = value.isoformat() if isinstance(value, date | time) else str(value)
    return xml_text(text)
