"""The style sheets that a page asks for: their URLs, read from its bytes.

``sheet_urls`` reads the bytes without a parser, so that a crawler can ask for the sheets before
anyone has parsed the page. ``links_sheet`` and ``sheet_url`` are the rules, and serve the tree, too.
As Chromium does where scripts are off: sheets in ``noscript`` count, those that a script would switch
on (``media="print" onload=...``) do not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urldefrag, urljoin

from newscrawl.compiled import compiled_module
from newscrawl.css.sheets.import_rules import parse_import
from newscrawl.css.syntax.masking import mask, unmask
from newscrawl.css.syntax.media_queries import media_applies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAX_SCANNED_BYTES = 2**21
"""Bytes of a page that are looked at; the last link of a news page comes before 1.3 MB."""

# 99 news pages in 100 have less than 700 of the tags below; what has far more is made to cost time.
_MAX_TAGS = 2000
_MAX_ATTRIBUTES = 32
# In bytes; longer tags hold data in an attribute.
_MAX_TAG_LENGTH = 4096
_MAX_IMPORTS = 32
# In bytes; imports come first in a sheet, after comments.
_MAX_PRELUDE_LENGTH = 16384
_OPENER = re.compile(rb"<(?:(!--)|(script|template|style|link|base)(?=[\s/>]))")
_PARAGRAPH = re.compile(rb"<[pP][\s>]")
_CLOSERS = {
    b"!--": b"-->",
    b"script": b"</script",
    b"template": b"</template",
    b"style": b"</style",
}
_ATTRIBUTE = re.compile(
    rb"""[\s/]*+([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?+"""
)
# A tag up to its first ">", if that does not stand between quotes.
_WHOLE_TAG = re.compile(
    rb"""(?:[\s/]*+[^\s/>=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^\s>]*+))?+)*+[\s/]*+"""
)
# In bytes; longer ones are not worth their place in memory.
_MAX_CACHED_TAG_LENGTH = 512
_PRELUDE_RULE = re.compile(
    r"(?:[ \t\n\r\f]++|<!--|-->)*+@(charset|layer|import)(?![\w-])([^;{}]*+)(?:;|\Z)", re.IGNORECASE
)
# Of the base, scheme and host are all that such a URL needs.
_ROOTED = re.compile(r"/(?![/\s])|(?:https?:)?//[^/?#\s]")
_TEXT_CSS = frozenset({"", "text/css"})


def sheet_urls(html: bytes, url: str, *, limit: int | None = None) -> list[str]:
    """Return the absolute URLs of the sheets of the page *html* fetched from *url*.

    In document order, each once, the first *limit*: sheets linked for a screen, and those that
    ``style`` elements import. URLs may have any scheme but ``data``. Time is linear in the length of
    *html*, of which at most ``MAX_SCANNED_BYTES`` bytes are looked at.
    """
    references = list(_references(html[:MAX_SCANNED_BYTES]))
    bases = (reference.href for reference in references if reference.is_base)
    base = sheet_url(next(bases, ""), url) or url
    hrefs = (reference.href for reference in references if not reference.is_base)
    found = dict.fromkeys(filter(None, (sheet_url(href, base) for href in hrefs)))
    return list(found)[:limit]


def links_sheet(attribute: Callable[[str], str | None]) -> bool:
    """Return whether a ``link`` element has a style sheet that is shown on a screen.

    *attribute* gives the value of an attribute by its name, or None.
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
    """Return the absolute URL of the sheet *href*; None where it is no URL or holds the sheet itself."""
    href = "".join(href.split("\n")).strip()
    if not href:
        return None
    if _ROOTED.match(href):
        base = "/".join(base.split("/", 3)[:3])
    return _joined(href, base)


@lru_cache(1024)  # the pages of a site share sheets
def _joined(href: str, base: str) -> str | None:
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
    """Yield what ``base``, ``link`` and ``style`` elements refer to, in document order."""
    for name, start, end in _parts(html, _MAX_TAGS):
        if name == b"style":
            attributes, inside = _attributes(html, start)
            prelude = html[inside : min(end, inside + _MAX_PRELUDE_LENGTH)]
            if b"@import" in prelude.lower() and holds_css(attributes.get):
                yield from _imports(prelude)
        elif reference := _reference(html, name, start):
            yield reference


def parts_in_python(html: bytes, most: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield ``style``, ``link`` and ``base``: the name, where that ends, and where the element ends.

    What stands in comments, scripts and templates is passed over; these, too, count among the *most*
    tags that are looked at.
    """
    text, at = html.lower(), 0
    for _ in range(most):
        opener = _OPENER.search(text, at)
        if opener is None:
            return
        name, at = opener[1] or opener[2], opener.end()
        if closer := _CLOSERS.get(name):
            at = text.find(closer, opener.start() + 2)  # <!--> is a whole comment
            at = len(html) if at < 0 else at
        if name in (b"style", b"link", b"base"):
            yield name, opener.end(), at


def has_paragraphs_in_python(html: bytes, least: int) -> bool:
    """Return whether the page *html* has *least* paragraphs, told by their tags alone."""
    return sum(1 for _ in islice(_PARAGRAPH.finditer(html), least)) == least


_compiled = compiled_module("newscrawl.css._sheet_links")
_parts: Callable[[bytes, int], Iterable[tuple[bytes, int, int]]] = (
    _compiled.find_parts if _compiled else parts_in_python
)
has_paragraphs: Callable[[bytes, int], bool] = (
    _compiled.has_paragraphs if _compiled else has_paragraphs_in_python
)


def _reference(html: bytes, name: bytes, start: int) -> _Reference | None:
    """Return what the ``base`` or ``link`` whose name ends at *start* refers to."""
    end = html.find(b">", start, start + _MAX_CACHED_TAG_LENGTH)
    known = _whole_reference(name, html[start:end]) if end >= 0 else None
    return known[0] if known else _reference_of(name, _attributes(html, start)[0])


@lru_cache(1024)  # the pages of a site have most of their tags in common
def _whole_reference(name: bytes, tag: bytes) -> tuple[_Reference | None] | None:
    """Return what *tag* refers to: all behind the *name* and before the first ">".

    None where the tag goes on behind that.
    """
    if not _WHOLE_TAG.fullmatch(tag):
        return None
    return (_reference_of(name, _attributes(tag, 0)[0]),)


def _reference_of(name: bytes, attributes: dict[str, str]) -> _Reference | None:
    href = attributes.get("href")
    if not href:
        return None
    if name == b"base":
        return _Reference(href, is_base=True)
    return _Reference(href) if links_sheet(attributes.get) else None


def _attributes(html: bytes, start: int) -> tuple[dict[str, str], int]:
    """Return the attributes of the tag whose name ends at *start*, and where the tag ends."""
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


def _imports(css: bytes) -> Iterator[_Reference]:
    """Yield the ``@import`` rules of a style sheet: only ``@charset`` and ``@layer`` come before."""
    text, at = mask(css.decode(errors="replace")), 0
    for _ in range(_MAX_IMPORTS):
        rule = _PRELUDE_RULE.match(text, at)
        if rule is None:
            return
        at = rule.end()
        found = parse_import(unmask(rule[2]).strip()) if rule[1].lower() == "import" else None
        if found is not None:
            yield _Reference(found[0])
