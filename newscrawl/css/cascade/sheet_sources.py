"""The style sheets of a page, in the order in which they count.

https://html.spec.whatwg.org/multipage/semantics.html#the-link-element and #the-style-element
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from w3lib.url import parse_data_uri

from newscrawl.css.sheet_links import holds_css, links_sheet, sheet_url
from newscrawl.css.sheets.sheet import Sheet, parse_sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml import etree

    from newscrawl.css.sheets.sheet_store import SheetStore

MOST_SOURCES = 500
"""Sheets of a page, each import counted."""

MOST_IMPORTS_DEEP = 8
"""Sheets that import each other in a row."""

LayerPath = tuple[str, ...]


class Source(NamedTuple):
    """A sheet at its place; *layer* is the cascade layer that it is imported into."""

    sheet: Sheet
    layer: LayerPath
    #: makes the layers without a name of this sheet others than those of the next
    number: int
    #: whether the same object may come again: it is of a store, or was given parsed
    kept: bool

    def path(self, layer: str | None) -> LayerPath:
        """Return the names, from the outermost in, of one of the sheet's layers."""
        if layer is None:
            return self.layer
        names = (f"{name}{self.number}" if name[:1] == "(" else name for name in layer.split("."))
        return (*self.layer, *names)


@dataclass(slots=True)
class PageSheets:
    """What a page's ``style`` and ``link`` elements hold and ask for."""

    #: those imported before the one that imports them
    sheets: list[Source] = field(default_factory=list)
    #: paths of the cascade layers, in order of appearance
    layers: list[LayerPath] = field(default_factory=list)
    #: URLs of sheets that were not given
    missing: list[str] = field(default_factory=list)


def collect(
    root: etree._Element,
    sheets: Mapping[str, str | Sheet],
    base_url: str,
    store: SheetStore | None = None,
) -> PageSheets:
    """Return the sheets that apply to the page under *root*; *sheets* are known by their URLs."""
    collector = _Collector(sheets, store)
    collector.page(root, base_url)
    return collector.sources


class _Collector:
    def __init__(self, sheets: Mapping[str, str | Sheet], store: SheetStore | None) -> None:
        self.sources = PageSheets()
        self._sheets = sheets
        self._store = store
        self._title = ""
        self._count = 0

    def page(self, root: etree._Element, base_url: str) -> None:
        for base in root.iter("base"):
            if (href := base.get("href")) is not None:
                base_url = sheet_url(href, base_url) or base_url
                break
        for element in root.iter("style", "link"):
            linked = element.tag == "link"
            if not (links_sheet if linked else holds_css)(element.get):
                continue
            if not self._applies(element):
                continue
            if linked:
                self._ask(element.get("href") or "", base_url, (), ())
            elif text := element.text:
                self._add(text, base_url, (), ())

    def _applies(self, element: etree._Element) -> bool:
        """Return whether a sheet is of the set of the first title, and in no template."""
        if next(element.iterancestors("template"), None) is not None:
            return False
        title = element.get("title")
        if not title:
            return True
        self._title = self._title or title
        return title == self._title

    def _ask(self, href: str, base: str, layer: LayerPath, above: tuple[str, ...]) -> None:
        """Add the sheet at *href*; *above* are the URLs of those that import it."""
        if href[:5].lower() == "data:":
            self._add(_data(href), base, layer, above)
            return
        url = sheet_url(href, base)
        if url is None or url in above:
            return
        found = self._sheets.get(url)
        if found is None:
            self.sources.missing.append(url)
            return
        self._add(found, url, layer, (*above, url))

    def _parsed(self, text: str) -> Sheet:
        return parse_sheet(text) if self._store is None else self._store.parsed(text)

    def _add(self, given: str | Sheet, url: str, layer: LayerPath, above: tuple[str, ...]) -> None:
        self._count += 1
        if self._count > MOST_SOURCES or len(above) > MOST_IMPORTS_DEEP:
            self.sources.missing.append(url)
            return
        sheet = self._parsed(given) if isinstance(given, str) else given
        kept = self._store is not None or sheet is given
        source = Source(sheet, layer, self._count, kept)
        listed = 0
        for item in sheet.imports:
            self._list(source, sheet.layers[listed : item.layers_before])
            listed = max(listed, item.layers_before)
            path = source.path(item.layer)
            if item.layer is not None:
                self.sources.layers.append(path)
            self._ask(item.url, url, path, above)
        self._list(source, sheet.layers[listed:])
        self.sources.sheets.append(source)

    def _list(self, source: Source, layers: list[str]) -> None:
        self.sources.layers.extend(source.path(layer) for layer in layers)


def _data(url: str) -> str:
    """Return the text of a ``data:`` URL, "" where it is none."""
    try:
        return parse_data_uri(url).data.decode(errors="replace")
    except ValueError:
        return ""
