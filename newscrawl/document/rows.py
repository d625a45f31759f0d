"""The columns of a document, and the tags and attributes that fill them.

:mod:`newscrawl.document.flatten` and its compiled counterpart fill :class:`Rows`.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TEXT = "#text"
"""Tag of text nodes (the ``nodeName`` of the DOM)."""

#: reasons why the text of a row is not part of the page's text: values of ``Rows.hidden``
SCRIPT, WIDGET, INVISIBLE, HEAD = 1, 2, 3, 4

HIDDEN_TAGS = {
    **dict.fromkeys(("script", "style", "noscript", "template", "svg", "math", "iframe"), SCRIPT),
    **dict.fromkeys(("select", "option", "button", "textarea", "datalist", "input"), WIDGET),
    **dict.fromkeys(("dialog", "object", "video", "audio", "canvas"), INVISIBLE),
    **dict.fromkeys(("rp", "rt", "rtc"), INVISIBLE),  # readings of ruby
    **dict.fromkeys(("head", "title"), HEAD),
}
"""Tags of elements whose text is hidden, with the reason."""

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
"""Tags of headings; a ``button`` in one is the heading of a panel, and shown."""

HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)", re.IGNORECASE)
"""Inline declaration that hides an element."""

HIDING_ATTRIBUTES: Mapping[str, Callable[[str], bool]] = {
    "hidden": lambda value: value.lower() != "until-found",  # found by a search in the page
    "aria-hidden": "true".__eq__,
    "style": lambda value: HIDDEN_STYLE.search(value) is not None,
}
"""Attributes that can hide an element, with a test of their value."""

VISIBLE_TAGS = frozenset({"b", "em", "mark", "span", "strong"})
"""Tags of parts of a sentence, which ``aria-hidden`` hides from screen readers only: initials,
words."""

KEPT_ATTRIBUTES = ("class", "id", "itemtype", "role", "href")
"""Attributes whose values are kept in ``Rows.attributes``."""

MAX_SHORT_TEXT = 60
"""Characters of a text node that may be a date, a number or a name."""

LEADING, TRAILING = 1, 2
"""Bits of ``Rows.space``."""

# https://html.spec.whatwg.org/multipage/rendering.html#flow-content-3
_BLOCK_LEVEL = """
    address article aside blockquote body caption center dd details dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main
    menu nav ol p plaintext pre search section summary table tbody tfoot thead tr ul xmp
"""
BLOCK_LEVEL = frozenset(_BLOCK_LEVEL.split())
"""Tags of block-level elements."""

MAX_LABEL = 45
"""Characters of a name, a date, a button or a heading."""

METADATA_TAGS = {
    "html": ("", ()),
    "article": ("lang", ("",)),
    "main": ("lang", ("",)),
    "a": ("rel", ("author", "tag", "next", "license")),
    "meta": ("", ()),
    "title": ("", ()),
    "base": ("href", ("",)),
    **dict.fromkeys(("time", "relative-time"), ("datetime", ("",))),
    "abbr": ("class", ("publish", "updat", "date", "time")),
    "link": ("rel", ("canonical", "alternate", "next", "amphtml", "license")),
    "script": ("type", ("json",)),
}
"""Tag -> (attribute, substrings of its lower-case value) of elements with metadata; "" is any."""


class Statement(NamedTuple):
    """An element with metadata, as plain values: an lxml element would keep the tree."""

    row: int
    tag: str
    #: in source order
    attributes: dict[str, str]
    #: text of a ``script`` element
    script: str = ""

    def get(self, name: str, default: str = "") -> str:
        """Return the value of the attribute *name*, or *default*."""
        return self.attributes.get(name, default)


@dataclass(slots=True, eq=False, repr=False)
class Rows:
    """Columns of a page; lists have one entry per row, prefix sums one more."""

    #: tag of an element, :data:`TEXT` for a text node
    tag: list[str] = field(default_factory=list)
    #: row of the parent, -1 for the root
    parent: list[int] = field(default_factory=list)
    #: row after the last row of the subtree
    end: list[int] = field(default_factory=list)
    #: distance from the root
    depth: list[int] = field(default_factory=list)
    #: stripped text of a text node, "" for an element
    text: list[str] = field(default_factory=list)
    #: 0, or the reason why the text is hidden: SCRIPT, WIDGET, INVISIBLE, HEAD
    hidden: bytearray = field(default_factory=bytearray)
    #: white space that ``text`` lacks. Text node: it starts (:data:`LEADING`) or ends
    #: (:data:`TRAILING`) with white space. Element: the text before its first child, or the text
    #: after the element, is white space only
    space: bytearray = field(default_factory=bytearray)
    #: rows of all text nodes
    text_rows: list[int] = field(default_factory=list)
    #: rows of the text nodes that are not hidden
    shown_rows: list[int] = field(default_factory=list)
    #: rows of text nodes of at most :data:`MAX_SHORT_TEXT` characters with a digit
    number_rows: list[int] = field(default_factory=list)
    #: rows of text nodes of at most :data:`MAX_LABEL` characters, hidden ones included
    label_rows: list[int] = field(default_factory=list)
    #: weighted characters (:func:`~newscrawl.text.weighted_length`) of shown text before a row
    chars_before: list[float] = field(default_factory=list)
    #: the same, of text inside ``a`` elements
    link_chars_before: list[float] = field(default_factory=list)
    #: elements of :data:`METADATA_TAGS` or with an ``itemprop``, and images in figures, in document
    #: order
    statements: list[Statement] = field(default_factory=list)
    #: tag -> rows of the elements
    by_tag: dict[str, list[int]] = field(default_factory=dict)
    #: place of the attributes in the bytes of the page, -1 for none; empty if read from a tree
    places: array[int] = field(default_factory=partial(array, "i"))
    #: name -> row -> value of :data:`KEPT_ATTRIBUTES`
    attributes: dict[str, dict[int, str]] = field(
        default_factory=lambda: {name: {} for name in KEPT_ATTRIBUTES}
    )
