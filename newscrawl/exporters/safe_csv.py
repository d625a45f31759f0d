"""CSV feeds that are safe to open in a spreadsheet: ``SafeCsvItemExporter`` for ``FEED_EXPORTERS``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Self

from scrapy import exporters

from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from io import BytesIO

    from scrapy import Field
    from scrapy.crawler import Crawler

# What spreadsheets take for a formula, also behind white space and in the full widths of Chinese,
# Japanese and Korean (https://owasp.org/www-community/attacks/CSV_Injection).
_FORMULA = re.compile(r"[\s\x00]*[=+\-@＝＋－＠]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*%?")


def neutral(cell: str) -> str:
    """Return *cell* with an apostrophe before it if a spreadsheet would take it for a formula.

    A number stays one, whatever its sign.
    """
    cell = cell.replace("\0", "")
    if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell.strip()):
        return f"'{cell}"
    return cell


class SafeCsvItemExporter(exporters.CsvItemExporter):
    """Scrapy's, with cells that would be formulas made text: titles are other people's.

    *formulas*: leave them. ``NEWSCRAWL_CSV_FORMULAS`` sets it for all feeds.
    """

    def __init__(self, file: BytesIO, *, formulas: bool = False, **kwargs: Any) -> None:
        super().__init__(file, **kwargs)
        self._formulas = formulas

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: BytesIO, **kwargs: Any) -> Self:
        """Return the exporter of a feed of *crawler*."""
        kwargs.setdefault("formulas", setting(crawler.settings, "NEWSCRAWL_CSV_FORMULAS"))
        return cls(file, **kwargs)

    def serialize_field(self, field: Mapping[str, Any] | Field, name: str, value: Any) -> Any:
        """Return the cell of *value*."""
        cell = super().serialize_field(field, name, value)
        if self._formulas or cell is None or isinstance(cell, int | float):
            return cell
        if isinstance(cell, bytes):
            cell = cell.decode(self.encoding or "utf-8", "replace")
        return neutral(str(cell))
