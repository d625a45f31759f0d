"""Repairs of pages that libxml2 parses differently from browsers.

Without them, the article would be in a hidden element: an unclosed ``button``, the ``head``, the
``title``, ``noscript``, a shadow root, or content that React streams after the page.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from newscrawl.text import unescape

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml import etree

    from newscrawl.document.rows import Rows

# https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inhead; other elements end the
# head.
_METADATA = frozenset(
    {"base", "basefont", "bgsound", "link", "meta", "noscript", "script", "style", "template", "title"}
)  # fmt: skip
_TITLE = re.compile(rb"<title\b[^<>]*+>[^<]*", re.IGNORECASE)
_BODY = re.compile(r"</head\b|<body\b", re.IGNORECASE)
_NOSCRIPT = re.compile(
    rb"(<noscript\b[^<>]*+>)((?:[^<]++|<(?!/?noscript))*+)(?=</noscript)", re.IGNORECASE
)
# Elements that the end of a noscript element does not close: see html_tables.PRIORITIES.
_UNCLOSED = (b"table", b"div")
_TEMPLATE = re.compile(
    rb"<(?P<end>/?)(?P<name>template|noscript|script)(?P<attributes>(?=[\s/>])[^<>]*+)>",
    re.IGNORECASE,
)
_SHADOW_ROOT = re.compile(rb"\sshadowroot(?:mode)?\s*=", re.IGNORECASE)
_FRAME = re.compile(
    rb"<iframe\b[^<>]*?\ssrcdoc\s*=\s*(?:\"([^\"]*+)\"|'([^']*+)')[^<>]*+>", re.IGNORECASE
)
_TEXT_TYPE = re.compile(
    rb"\stype\s*=\s*[\"']?text/(?:x-)?[\w.-]*(?:html|template|handlebars|tmpl)", re.IGNORECASE
)
# ids of placeholders for a boundary or a segment; their content has an id with "S:"
_PLACEHOLDERS = frozenset({"B:", "P:"})
_MAX_PLACEHOLDERS = 500  # they may be nested, and trees must stay shallow


def close_open_title(rows: Rows, utf8: bytes) -> bytes | None:
    """Return the page with its ``title`` closed if that contains the body; else None."""
    tag, parent = rows.tag, rows.parent
    for row in rows.by_tag.get("title", ()):
        if tag[parent[row]] == "head" and rows.end[row] > row + 1:
            if _BODY.search(rows.text[row + 1]):
                return _TITLE.sub(rb"\g<0></title>", utf8, count=1)
            break
    return None


def close_noscripts(rows: Rows, utf8: bytes) -> bytes | None:
    """Return the page with unclosed elements in ``noscript`` closed; None if there are none.

    Browsers do not parse the content, libxml2 does: the rest of the page would be in it.
    """
    if not any(
        bisect_left(nested, row) < bisect_left(nested, rows.end[row])
        for row in rows.by_tag.get("noscript", ())
        for nested in (rows.by_tag.get("div", ()), rows.by_tag.get("table", ()))
    ):
        return None
    closed = _NOSCRIPT.sub(_close_elements, utf8)
    return closed if closed != utf8 else None


def _close_elements(found: re.Match[bytes]) -> bytes:
    start, content = found.groups()
    before = after = b""
    content_lower = content.lower()
    for name in _UNCLOSED:
        opened, closed = (re.findall(mark + name + rb"\b", content_lower) for mark in (b"<", b"</"))
        missing = len(opened) - len(closed)
        after += b"</%s>" % name * missing
        before += b"<%s>" % name * -missing
    return start + before + content + after


def show_shadow_roots(rows: Rows, utf8: bytes) -> bytes | None:
    """Return the page with declarative shadow roots as ``div``, as browsers do; else None."""
    if "template" not in rows.by_tag or b"shadowroot" not in utf8:
        return None
    return _as_divs(utf8, lambda _, attributes: bool(_SHADOW_ROOT.search(attributes)))


def show_fallbacks(utf8: bytes) -> bytes:
    """Return the page with templates, frames and content without scripts as ``div``."""
    if b"srcdoc" in utf8:
        utf8 = _FRAME.sub(_as_div, utf8)
    return _as_divs(
        utf8, lambda name, attributes: name != b"script" or bool(_TEXT_TYPE.search(attributes))
    )


def _as_div(frame: re.Match[bytes]) -> bytes:
    content = unescape((frame[1] or frame[2] or b"").decode(errors="replace"))
    return b"<div>%s</div>" % content.encode(errors="replace")


def _as_divs(utf8: bytes, is_wanted: Callable[[bytes, bytes], bool]) -> bytes:
    """Return the page with those of the elements of :data:`_TEMPLATE` renamed that *is_wanted*."""
    parts: list[bytes] = []
    opened: list[tuple[bytes, bool]] = []
    place = 0
    for tag in _TEMPLATE.finditer(utf8):
        name = tag["name"].lower()
        if opened and opened[-1] == (b"script", False) and not (tag["end"] and name == b"script"):
            continue  # the text of a script
        if not tag["end"]:
            wanted = is_wanted(name, tag["attributes"])
            opened.append((name, wanted))
        elif opened and opened[-1][0] == name:
            _, wanted = opened.pop()
        else:
            continue
        if wanted:
            parts += (utf8[place : tag.start()], b"<", tag["end"], b"div", tag["attributes"], b">")
            place = tag.end()
    return b"".join((*parts, utf8[place:]))


def needs_repair(rows: Rows) -> bool:
    """Return whether :func:`repair_tree` may change the tree of *rows*."""
    by_tag, end, identity = rows.by_tag, rows.end, rows.attributes["id"].get
    if "body" not in by_tag:
        return True
    if any(after < end[row] for row, after in pairwise(by_tag.get("button", ()))):
        return True
    return any(identity(row, "")[:2] in _PLACEHOLDERS for row in by_tag.get("template", ()))


def repair_tree(root: etree._Element) -> None:
    """Change the tree to that of a browser."""
    _close_buttons(root)
    _end_head(root)
    _place_streamed(root)


def _close_buttons(root: etree._Element) -> None:
    """Rename each ``button`` that contains another one to ``div``.

    HTML closes a ``button`` at its end tag and at the next ``button``; libxml2 leaves it open.
    """
    for button in list(root.iter("button")):
        if next(button.iterdescendants("button"), None) is not None:
            button.tag = "div"


def _end_head(root: etree._Element) -> None:
    """Move content from the ``head`` of a page without ``body`` into a new ``body``."""
    head = root.find("head")
    if head is None or root.find("body") is not None or root.find("frameset") is not None:
        return
    children = list(head)
    first = next((n for n, child in enumerate(children) if child.tag not in _METADATA), None)
    if first is not None:
        body = root.makeelement("body")
        head.addnext(body)
        body.extend(children[first:])


def _place_streamed(root: etree._Element) -> None:
    """Move content that React streams after the page to its placeholders.

    A placeholder is ``<template id="B:1">`` or ``"P:1"``, its content ``<div hidden id="S:1">``.
    """
    streamed = {
        identity[2:]: element
        for element in root.iter("div")
        if (identity := element.get("id", "")).startswith("S:") and "hidden" in element.attrib
    }
    for template in list(islice(root.iter("template"), _MAX_PLACEHOLDERS)):
        identity = template.get("id", "")
        content = streamed.get(identity[2:]) if identity[:2] in _PLACEHOLDERS else None
        if content is None or content in list(template.iterancestors()):
            continue
        del streamed[identity[2:]], content.attrib["hidden"]
        template.addnext(content)
