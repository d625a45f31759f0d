"""Style sheets of a page: the URLs in its bytes, and the sheets in cascade order.

https://html.spec.whatwg.org/multipage/semantics.html#the-link-element and #the-style-element

``sheet_urls`` works without an HTML parser, so that a crawler can request the sheets before the
page is parsed. As in Chromium without scripts, sheets in ``noscript`` count, while sheets that a
script would enable (``media="print" onload=...``) do not.
"""

from __future__ import annotations

from functools import lru_cache
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urldefrag, urljoin

from newscrawl.css.parser import Sheet, media_applies, parse_sheet
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lxml import etree

    from newscrawl.css.sheet_store import SheetStore

MAX_SCANNED_BYTES = 2**21
"""Number of bytes of a page that are scanned."""

MAX_SHEETS = 500
"""Maximum number of sheets of a page, including imports."""

MAX_IMPORT_DEPTH = 8
"""Maximum length of a chain of imports."""

# Bounds the time for hostile pages; nearly all news pages have less than 700 of these tags.
_MAX_TAGS = 2000
_MAX_ATTRIBUTES = 32
# In bytes; longer tags contain data in an attribute.
_MAX_TAG_LENGTH = 4096
# In bytes; imports come first in a sheet.
_MAX_PRELUDE_LENGTH = 16384
_OPENER = lazy_regex(rb"<(?:(!--)|(script|template|style|link|base)(?=[\s/>]))")
_PARAGRAPH = lazy_regex(rb"<[pP][\s>]")
_CLOSERS = {
    b"!--": b"-->",
    b"script": b"</script",
    b"template": b"</template",
    b"style": b"</style",
}
_ATTRIBUTE = lazy_regex(
    rb"""[\s/]*+([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?+"""
)
_TEXT_CSS = frozenset({"", "text/css"})


def sheet_urls(html: bytes, url: str, *, limit: int | None = None) -> list[str]:
    """Return the absolute URLs of the style sheets of the page *html* fetched from *url*.

    Covers sheets linked for a screen and sheets imported by ``style`` elements, in document order,
    without duplicates, at most *limit*. URLs may have any scheme but ``data``. Runs in time linear
    in the length of *html*, of which ``MAX_SCANNED_BYTES`` are scanned.
    """
    references = list(_references(html[:MAX_SCANNED_BYTES]))
    bases = (reference.href for reference in references if reference.is_base)
    base = sheet_url(next(bases, ""), url) or url
    hrefs = (reference.href for reference in references if not reference.is_base)
    found = dict.fromkeys(filter(None, (sheet_url(href, base) for href in hrefs)))
    return list(found)[:limit]


def links_sheet(attribute: Callable[[str], str | None]) -> bool:
    """Return whether a ``link`` element links a style sheet that applies to a screen.

    *attribute* returns the value of an attribute by name, or None.
    """
    relations = (attribute("rel") or "").lower().split()
    return (
        "stylesheet" in relations
        and "alternate" not in relations
        and attribute("disabled") is None
        and holds_css(attribute)
    )


def holds_css(attribute: Callable[[str], str | None]) -> bool:
    """Return whether the ``type`` and ``media`` of a ``link`` or ``style`` are CSS for a screen."""
    kind = (attribute("type") or "").partition(";")[0].strip().lower()
    return kind in _TEXT_CSS and media_applies(attribute("media") or "")


@lru_cache(1024)
def sheet_url(href: str, base: str) -> str | None:
    """Return the absolute URL of the sheet *href*, None for invalid and ``data:`` URLs."""
    href = "".join(href.split("\n")).strip()
    if not href:
        return None
    try:
        url = urldefrag(urljoin(base, href)).url
    except ValueError:
        return None
    scheme = url.partition(":")[0].lower()
    return None if scheme == "data" or scheme == url.lower() else url


class _Reference(NamedTuple):
    href: str
    is_base: bool = False


def _references(html: bytes) -> Iterator[_Reference]:
    """Yield the references of ``base``, ``link`` and ``style`` elements, in document order."""
    for name, start, end in _find_elements(html, _MAX_TAGS):
        if name == b"style":
            attributes, inside = _attributes(html, start)
            prelude = html[inside : min(end, inside + _MAX_PRELUDE_LENGTH)]
            if b"@import" in prelude.lower() and holds_css(attributes.get):
                yield from map(_Reference, parse_sheet(prelude.decode(errors="replace")).imports)
        elif reference := _reference(html, name, start):
            yield reference


def _find_elements(html: bytes, limit: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, end of name and end of element of ``style``, ``link`` and ``base`` elements.

    Skips the content of comments, scripts and templates, whose tags count towards *limit*.
    """
    text, position = html.lower(), 0
    for _ in range(limit):
        opener = _OPENER.search(text, position)
        if opener is None:
            return
        name, position = opener[1] or opener[2], opener.end()
        if closer := _CLOSERS.get(name):
            position = text.find(closer, opener.start() + 2)  # <!--> is a complete comment
            position = len(html) if position < 0 else position
        if name in (b"style", b"link", b"base"):
            yield name, opener.end(), position


def has_paragraphs(html: bytes, minimum: int) -> bool:
    """Return whether the page *html* has at least *minimum* ``p`` start tags."""
    return sum(1 for _ in islice(_PARAGRAPH.finditer(html), minimum)) == minimum


def _reference(html: bytes, name: bytes, start: int) -> _Reference | None:
    """Return the reference of the ``base`` or ``link`` whose name ends at *start*."""
    attributes, _ = _attributes(html, start)
    href = attributes.get("href")
    if not href:
        return None
    if name == b"base":
        return _Reference(href, is_base=True)
    return _Reference(href) if links_sheet(attributes.get) else None


def _attributes(html: bytes, start: int) -> tuple[dict[str, str], int]:
    """Return the attributes of the tag whose name ends at *start*, and the end of the tag."""
    attributes: dict[str, str] = {}
    stop = start + _MAX_TAG_LENGTH
    for _ in range(_MAX_ATTRIBUTES):
        part = _ATTRIBUTE.match(html, start, stop)
        if part is None:
            break
        name = part[1].decode("latin-1").lower()
        value = part[2] or part[3] or part[4] or b""
        attributes.setdefault(name, unescape(value.decode(errors="replace")))
        start = part.end()
    return attributes, html.find(b">", start, stop) + 1 or start


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
