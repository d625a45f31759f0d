"""Repairs of a parsed page where libxml2's tree is not that of a browser.

Each of them concerns a story that would otherwise be in no element that is shown: below an open
``button``, in the ``head``, in the ``title``, or in what React streams behind the page.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

# https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inhead; anything else ends it.
_METADATA = frozenset(
    {"base", "basefont", "bgsound", "link", "meta", "noscript", "script", "style", "template", "title"}
)  # fmt: skip
_TITLE = re.compile(rb"<title\b[^>]*>[^<]*", re.IGNORECASE)
_BODY = re.compile(r"</head\b|<body\b", re.IGNORECASE)
# Placeholders (B: of a boundary, P: of a segment) and the content that a script moves there (S:).
_STREAMED = b'id="S:'
_MAX_PLACEHOLDERS = 500  # each may be inside the one before, and trees have to stay shallow


def repair_tree(root: etree._Element, utf8: bytes) -> None:
    """Change the tree of the page *utf8* to what a browser makes of the same page."""
    _close_buttons(root)
    _end_head(root)
    if _STREAMED in utf8:
        _place_streamed(root)


def without_open_title(root: etree._Element, utf8: bytes) -> bytes | None:
    """Return the page with its ``title`` ended, if that holds the body; else None."""
    title = root.find("head/title")
    if title is None or not title.text or not _BODY.search(title.text):
        return None
    return _TITLE.sub(rb"\g<0></title>", utf8, count=1)


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
        kind, _, number = template.get("id", "").partition(":")
        content = streamed.get(number) if kind in {"B", "P"} else None
        if content is None or content in list(template.iterancestors()):
            continue
        del streamed[number], content.attrib["hidden"]
        template.addnext(content)
