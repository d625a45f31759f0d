"""Style sheets of a page: the URLs in its bytes, and the sheets in cascade order.

https://html.spec.whatwg.org/multipage/semantics.html#the-link-element and #the-style-element

``sheet_urls`` works without an HTML parser, so that a crawler can request the sheets before the
page is parsed. As in Chromium without scripts, sheets in ``noscript`` count, while sheets that a
script would enable (``media="print" onload=...``) do not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urljoin

from newscrawl.css.parser import Sheet, media_applies, parse_sheet
from newscrawl.patterns import lazy_regex
from newscrawl.text import unescape

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from newscrawl.css.sheet_store import SheetStore
    from newscrawl.document.document import Document

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
# Imports come first in a sheet.
_MAX_PRELUDE_LENGTH = 16384
_OPENER = lazy_regex(rb"<(?:(!--)|(script|template|style|link|base)(?=[\s/>]))")
_CLOSERS = {
    b"!--": b"-->",
    b"script": b"</script",
    b"template": b"</template",
    b"style": b"</style",
}
_ATTRIBUTE = lazy_regex(
    rb"""[\s/]*+([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?+"""
)
_TAG_END = lazy_regex(rb"""(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""")
_STYLE_END = lazy_regex(rb"</style", re.IGNORECASE)
_IMPORT = lazy_regex("@import", re.IGNORECASE)
# Services and files of fonts and icons, whose sheets have no style of text.
_FONTS = lazy_regex(
    r"//(?:fonts\.(?:googleapis|bunny)|use\.(?:typekit|fontawesome)|kit\.fontawesome|p\.typekit|cloud\.typography)\."
    r"|(?:font-?awesome|fontello|icomoon|dashicons|(?:glyph|bootstrap-|material-|line-?|simple-line-)icons?"
    r"|flaticon|ionicons)[^/?]{0,60}(?:/css/(?:all|brands|solid)[^/?]{0,60})?\.css(?:$|[?#])",
    re.IGNORECASE,
)
_TEXT_CSS = frozenset({"", "text/css"})


def sheet_urls(html: bytes, url: str, *, limit: int | None = None) -> list[str]:
    """Return the absolute URLs of the style sheets of the page *html* fetched from *url*.

    Covers sheets linked for a screen and sheets imported by ``style`` elements, in document order,
    without duplicates, at most *limit*. URLs may have any scheme but ``data``. Runs in time linear
    in the length of *html*, of which ``MAX_SCANNED_BYTES`` are scanned.
    """
    references = list(_references(html))
    base = _base_url(references, url)
    hrefs = chain.from_iterable(map(_hrefs, references))
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


def sheet_url(href: str, base: str) -> str | None:
    """Return the absolute URL of the sheet *href*; None if invalid, ``data:``, or of fonts only."""
    href = "".join(href.split("\n")).strip()
    if href.startswith(("/", "http://", "https://")):  # the same in all pages of the site
        base = "/".join(base.split("/", 3)[:3])
    return _resolved(href, base)


@lru_cache(1024)
def _resolved(href: str, base: str) -> str | None:
    if not href:
        return None
    try:
        url = urljoin(base, href.partition("#")[0])
    except ValueError:
        return None
    scheme = url.partition(":")[0].lower()
    return None if scheme in {"data", url.lower()} or _FONTS.search(url) else url


_Reference: TypeAlias = tuple[str, str]
"""Name of an element, and address of a ``base`` or ``link`` of a sheet, or CSS of a ``style``."""


def _references(html: bytes) -> Iterator[_Reference]:
    """Yield the ``base``, ``link`` and ``style`` elements that matter, in document order."""
    html = html[:MAX_SCANNED_BYTES]
    for name, start, end in _find_elements(html, _MAX_TAGS):
        attributes = _attributes(html, start)
        if _matters(name, attributes.get):
            css = _content(html, start, end) if name == "style" else ""
            yield name, css or attributes.get("href", "")


def _matters(name: str, attribute: Callable[[str], str | None]) -> bool:
    if name == "style":
        return holds_css(attribute)
    return bool(attribute("href")) and (name == "base" or links_sheet(attribute))


def _references_in(document: Document, names: Collection[str]) -> Iterator[_Reference]:
    """Yield those of the elements with one of *names* of a parsed page."""
    source, places, end = document.source, document.places, document.end
    templates = [range(row, end[row]) for row in document.rows_of("template")]
    for row in sorted(row for name in names for row in document.rows_of(name)):
        name, attributes = document.tag[row], document.attributes_of(row)
        if any(row in template for template in templates) or not _matters(name, attributes.get):
            continue
        if name != "style":
            yield name, attributes["href"]
        elif places:
            closer = _STYLE_END.search(source, places[row])
            yield name, _content(source, places[row], closer.start() if closer else len(source))
        else:
            yield name, document.element(row).text or ""


def _base_url(references: Iterable[_Reference], url: str) -> str:
    bases = (href for name, href in references if name == "base")
    return sheet_url(next(bases, ""), url) or url


def _hrefs(reference: _Reference) -> list[str]:
    """Return the references of a ``link`` or a ``style`` to sheets."""
    name, text = reference
    if name == "style":
        prelude = text[:_MAX_PRELUDE_LENGTH]
        return parse_sheet(prelude).imports if _IMPORT.search(prelude) else []
    return [text] if name == "link" else []


def _find_elements(html: bytes, limit: int) -> Iterator[tuple[str, int, int]]:
    """Yield name, end of name and end of element of ``style``, ``base`` and ``link`` elements.

    Skips links without "stylesheet", and the content of comments, scripts and templates, whose tags
    count towards *limit*.
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
        if name in (b"style", b"base") or (
            name == b"link" and b"stylesheet" in text[position : text.find(b"<", position)]
        ):
            yield name.decode(), opener.end(), position


def _attributes(html: bytes, start: int) -> dict[str, str]:
    """Return the attributes of the tag whose name ends at *start*, if it is short."""
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
    return attributes


def _content(html: bytes, start: int, end: int) -> str:
    """Return the content of the element that ends at *end*; the name of its tag ends at *start*."""
    tag = _TAG_END.match(html, start, end)
    return html[tag.end() if tag else start : end].decode(errors="replace")


def style_blocks(document: Document) -> list[str]:
    """Return the CSS of the ``style`` elements of a page."""
    return [css for _, css in islice(_references_in(document, ("style",)), MAX_SHEETS)]


class CollectedSheets:
    """The sheets that apply to a page, in cascade order.

    *sheets* are given by URL. An imported sheet precedes the one that imports it. Sheets without
    imports that are given as text are not parsed.
    """

    def __init__(
        self,
        document: Document,
        sheets: Mapping[str, str | Sheet],
        base_url: str,
        store: SheetStore,
    ) -> None:
        self.found: list[Sheet | str] = []
        #: URLs of the sheets that are not given
        self.missing: list[str] = []
        self._sheets = sheets
        self._store = store
        self._count = 0
        references = list(_references_in(document, ("base", "link", "style")))
        base_url = _base_url(references, base_url)
        for name, text in references:
            if name == "link":
                self._add_url(text, base_url, ())
            elif name == "style":
                self._add(text, base_url, ())

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
        if isinstance(given, str) and _IMPORT.search(given):
            given = self._store.parsed(given)
        for href in given.imports if isinstance(given, Sheet) else ():
            self._add_url(href, url, importers)
        self.found.append(given)
