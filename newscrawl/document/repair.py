"""Repairs of pages that libxml2 parses differently from browsers.

Without them, the article would be in a hidden element: an unclosed ``button``, the ``head``, the
``title``, or content that React streams after the page.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

    from newscrawl.document.rows import Rows

# https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inhead; other elements end the head.
_METADATA = frozenset(
    {"base", "basefont", "bgsound", "link", "meta", "noscript", "script", "style", "template", "title"}
)  # fmt: skip
_TITLE = re.compile(rb"<title\b[^>]*>[^<]*", re.IGNORECASE)
_BODY = re.compile(r"</head\b|<body\b", re.IGNORECASE)
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
