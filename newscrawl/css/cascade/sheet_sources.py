"""The style sheets of a page in cascade order.

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

MAX_SHEETS = 500
"""Maximum number of sheets of a page, including imports."""

MAX_IMPORT_DEPTH = 8
"""Maximum length of a chain of imports."""

LayerPath = tuple[str, ...]


class SheetSource(NamedTuple):
    """A use of a sheet; *layer* is the cascade layer that it is imported into."""

    sheet: Sheet
    layer: LayerPath
    #: distinguishes the anonymous layers of different sheets
    number: int
    #: whether the same object may be used again: it is from a store or was given parsed
    reusable: bool

    def path(self, layer: str | None) -> LayerPath:
        """Return the path of one of the sheet's layers, from the outermost one inwards."""
        if layer is None:
            return self.layer
        names = (f"{name}{self.number}" if name[:1] == "(" else name for name in layer.split("."))
        return (*self.layer, *names)


@dataclass(slots=True)
class PageSheets:
    """The sheets of the ``style`` and ``link`` elements of a page."""

    #: imported sheets precede the sheet that imports them
    sheets: list[SheetSource] = field(default_factory=list)
    #: paths of the cascade layers, in order of appearance
    layers: list[LayerPath] = field(default_factory=list)
    #: URLs of sheets that were not supplied
    missing: list[str] = field(default_factory=list)


def collect_sheets(
    root: etree._Element,
    sheets: Mapping[str, str | Sheet],
    base_url: str,
    store: SheetStore | None = None,
) -> PageSheets:
    """Return the sheets that apply to the page under *root*; *sheets* are given by URL."""
    collector = _SheetCollector(sheets, store)
    collector.add_page(root, base_url)
    return collector.sources


class _SheetCollector:
    def __init__(self, sheets: Mapping[str, str | Sheet], store: SheetStore | None) -> None:
        self.sources = PageSheets()
        self._sheets = sheets
        self._store = store
        self._title = ""
        self._has_templates = False
        self._count = 0

    def add_page(self, root: etree._Element, base_url: str) -> None:
        elements = list(root.iter("base", "link", "style", "template"))
        tags = [element.tag for element in elements]
        self._has_templates = "template" in tags
        hrefs = (
            item.get("href") for item, tag in zip(elements, tags, strict=True) if tag == "base"
        )
        if (href := next((href for href in hrefs if href is not None), None)) is not None:
            base_url = sheet_url(href, base_url) or base_url
        for element, tag in zip(elements, tags, strict=True):
            if tag not in {"link", "style"}:
                continue
            linked = tag == "link"
            if not (links_sheet if linked else holds_css)(element.get):
                continue
            if not self._applies(element):
                continue
            if linked:
                self._add_url(element.get("href") or "", base_url, (), ())
            elif text := element.text:
                self._add(text, base_url, (), ())

    def _applies(self, element: etree._Element) -> bool:
        """Return whether a sheet is untitled or of the first titled set, and not in a template."""
        if self._has_templates and next(element.iterancestors("template"), None) is not None:
            return False
        title = element.get("title")
        if not title:
            return True
        self._title = self._title or title
        return title == self._title

    def _add_url(self, href: str, base: str, layer: LayerPath, importers: tuple[str, ...]) -> None:
        """Add the sheet at *href*; *importers* are the URLs of the sheets that import it."""
        if href[:5].lower() == "data:":
            self._add(_data_text(href), base, layer, importers)
            return
        url = sheet_url(href, base)
        if url is None or url in importers:
            return
        found = self._sheets.get(url)
        if found is None:
            self.sources.missing.append(url)
            return
        self._add(found, url, layer, (*importers, url))

    def _parse(self, text: str) -> Sheet:
        return parse_sheet(text) if self._store is None else self._store.parsed(text)

    def _add(
        self, given: str | Sheet, url: str, layer: LayerPath, importers: tuple[str, ...]
    ) -> None:
        self._count += 1
        if self._count > MAX_SHEETS or len(importers) > MAX_IMPORT_DEPTH:
            self.sources.missing.append(url)
            return
        sheet = self._parse(given) if isinstance(given, str) else given
        reusable = self._store is not None or sheet is given
        source = SheetSource(sheet, layer, self._count, reusable)
        added = 0
        for item in sheet.imports:
            self._add_layers(source, sheet.layers[added : item.layers_before])
            added = max(added, item.layers_before)
            path = source.path(item.layer)
            if item.layer is not None:
                self.sources.layers.append(path)
            self._add_url(item.url, url, path, importers)
        self._add_layers(source, sheet.layers[added:])
        self.sources.sheets.append(source)

    def _add_layers(self, source: SheetSource, layers: list[str]) -> None:
        self.sources.layers.extend(source.path(layer) for layer in layers)


def _data_text(url: str) -> str:
    """Return the text of a ``data:`` URL, "" if it is invalid."""
    try:
        return parse_data_uri(url).data.decode(errors="replace")
    except ValueError:
        return ""
