"""The rows of a page: the one pass over the lxml tree.

In Python here, and compiled in ``_rows.pyx``, which walks the C nodes that lxml's elements wrap:
lxml makes an object for each element asked for and decodes each text twice, half the time of a
parse together. Both give the same rows; this one is the reference.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lxml import etree

TEXT = "#text"
"""Tag of the rows that are text nodes (the DOM's ``nodeName``)."""

#: why a row's text does not count: values of ``Rows.hidden``
SCRIPT, WIDGET, INVISIBLE, HEAD = 1, 2, 3, 4

MARKS = {
    **dict.fromkeys(("script", "style", "noscript", "template", "svg", "math", "iframe"), SCRIPT),
    **dict.fromkeys(("select", "option", "button", "textarea", "datalist", "input"), WIDGET),
    **dict.fromkeys(("dialog", "object", "video", "audio", "canvas"), INVISIBLE),
    "head": HEAD,
}
"""Why the text of an element does not count, by tag."""

DISPLAY_NONE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
"""What hides in a ``style`` attribute."""

HIDING: Mapping[str, Callable[[str], bool]] = {
    "hidden": lambda _: True,
    "aria-hidden": "true".__eq__,
    "style": lambda value: DISPLAY_NONE.search(value) is not None,
}
"""The attributes that hide an element, and whether a value of one does."""

KEPT = ("class", "id", "itemtype", "role")
"""The attributes that are asked for again and again."""

_DIGIT = re.compile(r"\d")
MOST_SHORT = 60
"""Characters of a short text node: of one that may be a date, a number, a name."""

LEADING, TRAILING = 1, 2
"""Bits of ``Rows.space``."""

STATING = {
    "html": ("", ""),
    "a": ("rel", "author"),
    "meta": ("", ""),
    "title": ("", ""),
    "base": ("href", ""),
    "time": ("datetime", ""),
    "link": ("rel", "canonical"),
    "script": ("type", "json"),
}
"""What states something about the page, by tag: an attribute, and what it holds in lower case; ""
for any."""


class Statement(NamedTuple):
    """An element that states something about the page: without the element, which holds the tree."""

    row: int
    tag: str
    #: in the order of the source
    attributes: dict[str, str]
    #: of a script, its text
    script: str = ""

    def get(self, name: str, default: str = "") -> str:
        """Return the value of the attribute *name*, *default* without one."""
        return self.attributes.get(name, default)


@dataclass(slots=True)
class Rows:
    """The arrays of a page, one entry a row; see :class:`~newscrawl.document.document.Document`."""

    tag: list[str] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    hidden: bytearray = field(default_factory=bytearray)
    #: where white space stands, which is not in ``text``: a text node begins (:data:`LEADING`) or
    #: ends (:data:`TRAILING`) with some; of an element, all its text before its first child is
    #: some, and all text between it and what follows is
    space: bytearray = field(default_factory=bytearray)
    text_rows: list[int] = field(default_factory=list)
    #: of those, the ones whose text counts
    shown: list[int] = field(default_factory=list)
    #: the short ones (:data:`MOST_SHORT`) with a digit
    numbered: list[int] = field(default_factory=list)
    #: one entry more than there are rows, as the next
    chars_before: list[float] = field(default_factory=list)
    link_chars_before: list[float] = field(default_factory=list)
    #: what elements state about the page, in document order: see :data:`STATING`, and those with
    #: an ``itemprop``
    statements: list[Statement] = field(default_factory=list)
    #: the rows of the elements, by tag
    by_tag: dict[str, list[int]] = field(default_factory=dict)
    #: the values of the attributes :data:`KEPT`, by name and row
    attributes: dict[str, dict[int, str]] = field(
        default_factory=lambda: {name: {} for name in KEPT}
    )


def flatten(  # noqa: C901, PLR0912, PLR0915  # the one hot loop: calls would double its time
    root: etree._Element, *, scripts: bool = False
) -> Rows:
    """Return the rows of the tree under *root*, in which there are elements and text only.

    The text of scripts and the like has rows only with *scripts*: it is half of a page's bytes,
    and reading it costs 0.3 of a parse.

    One pass without recursion: preorder comes from ``iter()``, the ends of subtrees from
    counting children down.
    """
    rows = Rows()
    tag, parent, end, depth, text, hidden, space, text_rows, chars_before, link_chars_before = (
        rows.tag, rows.parent, rows.end, rows.depth, rows.text, rows.hidden, rows.space,
        rows.text_rows, rows.chars_before, rows.link_chars_before,
    )  # fmt: skip
    marks, attributes, has_digit = MARKS.get, rows.attributes, _DIGIT.search
    shown, numbered = rows.shown, rows.numbered
    by_tag: defaultdict[str, list[int]] = defaultdict(list)
    chars = link_chars = 0.0
    row = 0
    open_row, mark, in_link, left = -1, 0, False, 1  # of the innermost open element
    stack: list[tuple[etree._Element, int, int, bool, int]] = []
    for child in root.iter():
        left -= 1
        element, name, me = child, child.tag, row
        states = invisible = False
        items: list[tuple[str, str]] = element.items()  # type: ignore[assignment]  # of HTML, text
        for attribute, value in items:
            if attribute in attributes:
                attributes[attribute][me] = value
            elif attribute in HIDING:
                invisible = invisible or HIDING[attribute](value)
            elif attribute == "itemprop":
                states = True
        if states or (name in STATING and _states(name, items)):
            script = element.text if name == "script" else None
            rows.statements.append(Statement(me, name, dict(items), script or ""))
        own_mark = marks(name, 0)
        if own_mark != SCRIPT:
            own_mark = mark or own_mark or (INVISIBLE if invisible else 0)
        own_link = in_link or name == "a"
        tag.append(name)
        by_tag[name].append(row)
        parent.append(open_row)
        end.append(0)
        depth.append(len(stack))
        text.append("")
        hidden.append(own_mark)
        space.append(0)
        chars_before.append(chars)
        link_chars_before.append(link_chars)
        row += 1
        content = None if own_mark == SCRIPT and not scripts else element.text
        if content and content.isspace():
            space[me] = LEADING
        elif content:
            text_rows.append(row)
            tag.append(TEXT)
            parent.append(me)
            depth.append(len(stack) + 1)
            space.append(LEADING * content[0].isspace() + TRAILING * content[-1].isspace())
            text.append(content := content.strip())
            if len(content) <= MOST_SHORT and has_digit(content):
                numbered.append(row)
            hidden.append(own_mark)
            chars_before.append(chars)
            link_chars_before.append(link_chars)
            if not own_mark:
                shown.append(row)
                length = len(content) if content.isascii() else weighted_length(content)
                chars += length
                if own_link:
                    link_chars += length
            row += 1
            end.append(row)
        if children := len(element):
            stack.append((element, open_row, mark, in_link, left))
            open_row, mark, in_link, left = me, own_mark, own_link, children
            continue
        end[me] = row
        while element is not root:
            content = None if mark == SCRIPT and not scripts else element.tail
            if content and content.isspace():
                space[me] |= TRAILING
            elif content:
                text_rows.append(row)
                tag.append(TEXT)
                parent.append(open_row)
                depth.append(len(stack))
                space.append(LEADING * content[0].isspace() + TRAILING * content[-1].isspace())
                text.append(content := content.strip())
                if len(content) <= MOST_SHORT and has_digit(content):
                    numbered.append(row)
                hidden.append(mark)
                chars_before.append(chars)
                link_chars_before.append(link_chars)
                if not mark:
                    shown.append(row)
                    length = len(content) if content.isascii() else weighted_length(content)
                    chars += length
                    if in_link:
                        link_chars += length
                row += 1
                end.append(row)
            if left:
                break
            end[open_row] = row
            me = open_row
            element, open_row, mark, in_link, left = stack.pop()
    chars_before.append(chars)
    link_chars_before.append(link_chars)
    rows.by_tag = dict(by_tag)
    return rows


def _states(tag: str, attributes: Iterable[tuple[str, str]]) -> bool:
    wanted, part = STATING[tag]
    return not wanted or any(name == wanted and part in value.lower() for name, value in attributes)
