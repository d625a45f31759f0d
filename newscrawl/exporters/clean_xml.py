"""XML exporter for ``FEED_EXPORTERS`` whose feeds are well-formed and have no empty elements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Any

from itemadapter import ItemAdapter, is_item
from scrapy import exporters
from scrapy.utils.python import is_listlike

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class CleanXmlItemExporter(exporters.XmlItemExporter):
    """Scrapy's XML exporter without elements for None and without characters that XML excludes.

    Dates are ISO 8601, nested items have an element for each field.
    """

    def get_serialized_fields(
        self,
        item: Any,
        default_value: Any = None,
        include_empty: bool | None = None,  # noqa: FBT001  # interface
    ) -> Iterable[tuple[str, Any]]:
        """Return the names and values of the elements of *item*."""
        fields = super().get_serialized_fields(item, default_value, include_empty)
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
    return _NOT_IN_XML.sub("", text)
