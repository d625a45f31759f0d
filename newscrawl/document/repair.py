"""Repairs of a parsed page where libxml2's tree is not that of a browser.

Each of them concerns a story that would otherwise be in no element that is shown: below an open
``button``, in the ``head``, in the ``title``, or in what React streams behind the page.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

    from newscrawl.document.flatten import Rows

# https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inhead; anything else ends it.
_METADATA = frozenset(
    {"base", "basefont", "bgsound", "link", "meta", "noscript", "script", "style", "template", "title"}
)  # fmt: skip
_TITLE = re.compile(rb"<title\b[^>]*>[^<]*", re.IGNORECASE)
_BODY = re.compile(r"</head\b|<body\b", re.IGNORECASE)
# Of a boundary, of a segment; the content that a script moves there is S:
_PLACEHOLDERS = frozenset({"B:", "P:"})
_MAX_PLACEHOLDERS = 500  # each may be inside the one before, and trees have to stay shallow


def without_open_title(root: etree._Element, utf8: bytes) -> bytes | None:
    """Return the page with its ``title`` ended, if that holds the body; else None."""
    title = root.find("head/title")
    if title is None or not title.text or not _BODY.search(title.text):
        return None
    return _TITLE.sub(rb"\g<0></title>", utf8, count=1)


def needs_repair(rows: Rows) -> bool:
    """Return whether :func:`repair_tree` may change the tree of these rows."""
    by_tag, end, identity = rows.by_tag, rows.end, rows.attributes["id"].get
    if "body" not in by_tag:
        return True
    if any(after < end[row] for row, after in pairwise(by_tag.get("button", ()))):
        return True
    return any(identity(row, "")[:2] in _PLACEHOLDERS for row in by_tag.get("template", ()))


def repair_tree(root: etree._Element) -> None:
    """Change the tree of a page to what a browser makes of the same page."""
    _close_buttons(root)
    _end_head(root)
    _place_streamed(root)


def _close_buttons(root: etree._Element) -> None:
    """Turn each ``button`` around others, which libxml2 leaves open, into a ``div``.

    HTML ends it at its end tag, whatever is open in it, and at the next ``button``.
    """
    for button in list(root.iter("button")):
        if next(button.iterdescendants("button"), None) is not None:
            button.tag = "div"


def _end_head(root: etree._Element) -> None:
    """Move what is no metadata from the ``head`` of a page without a ``body`` into one."""
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
    """Put the content that React streams behind a page into its placeholders.

    The placeholder is ``<template id="B:1">`` or ``"P:1"``, the content ``<div hidden id="S:1">``.
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
