"""The style sheets of a page in cascade order.

https://html.spec.whatwg.org/multipage/semantics.html#the-link-element and #the-style-element
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.css.parser import Sheet, parse_sheet
from newscrawl.css.sheet_links import holds_css, links_sheet, sheet_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml import etree

    from newscrawl.css.sheet_store import SheetStore

MAX_SHEETS = 500
"""Maximum number of sheets of a page, including imports."""

MAX_IMPORT_DEPTH = 8
"""Maximum length of a chain of imports."""


def collect_sheets(
    root: etree._Element,
    sheets: Mapping[str, str | Sheet],
    base_url: str,
    store: SheetStore | None = None,
) -> tuple[list[Sheet], list[str]]:
    """Return the sheets that apply to the page under *root*, and the URLs of missing ones.

    *sheets* are given by URL. An imported sheet precedes the one that imports it.
    """
    collector = _SheetCollector(sheets, store)
    collector.add_page(root, base_url)
    return collector.found, collector.missing


class _SheetCollector:
    def __init__(self, sheets: Mapping[str, str | Sheet], store: SheetStore | None) -> None:
        self.found: list[Sheet] = []
        self.missing: list[str] = []
        self._sheets = sheets
        self._store = store
        self._count = 0

    def add_page(self, root: etree._Element, base_url: str) -> None:
        elements = list(root.iter("base", "link", "style"))
        bases = (item.get("href") for item in elements if item.tag == "base")
        if href := next((href for href in bases if href is not None), None):
            base_url = sheet_url(href, base_url) or base_url
        for item in elements:
            if item.tag == "link" and links_sheet(item.get):
                self._add_url(item.get("href") or "", base_url, ())
            elif item.tag == "style" and item.text and holds_css(item.get):
                self._add(item.text, base_url, ())

    def _add_url(self, href: str, base: str, importers: tuple[str, ...]) -> None:
        """Add the sheet at *href*; *importers* are the URLs of the sheets that import it."""
        url = sheet_url(href, base)
        if url is None or url in importers:
            return
        found = self._sheets.get(url)
        if found is None:
            self.missing.append(url)
        else:
            self._add(found, url, (*importers, url))

    def _add(self, given: str | Sheet, url: str, importers: tuple[str, ...]) -> None:
        self._count += 1
        if self._count > MAX_SHEETS or len(importers) > MAX_IMPORT_DEPTH:
            self.missing.append(url)
            return
        sheet = given if isinstance(given, Sheet) else self._parse(given)
        for href in sheet.imports:
            self._add_url(href, url, importers)
        self.found.append(sheet)

    def _parse(self, text: str) -> Sheet:
        return parse_sheet(text) if self._store is None else self._store.parsed(text)
