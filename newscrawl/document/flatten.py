"""The pass over the lxml tree that fills the columns of a document.

This is the reference of :mod:`newscrawl.document.document`, and its fallback.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml import etree

from newscrawl.document.rows import (
    HEADINGS,
    HIDDEN_TAGS,
    HIDING_ATTRIBUTES,
    INVISIBLE,
    LEADING,
    MAX_LABEL,
    MAX_SHORT_TEXT,
    METADATA_TAGS,
    SCRIPT,
    TEXT,
    TRAILING,
    VISIBLE_TAGS,
    Rows,
    Statement,
)
from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

_DIGIT = re.compile(r"\d")


def flatten(
    root: etree._Element, *, scripts: bool = False, shown: AbstractSet[int] = frozenset()
) -> Rows:
    """Return the columns of the tree under *root*, which holds elements and text only.

    No attribute hides the elements at the rows *shown*.

    Text of :data:`~newscrawl.document.rows.SCRIPT` elements gets rows only with *scripts*: it is
    half of a page's bytes.
    """
    builder = _RowsBuilder(shown)
    open_elements = [_OpenElement(-1, 0, in_link=False, in_figure=False)]
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            previous = None
            open_elements.append(builder.append_element(element, open_elements[-1]))
        else:
            previous = open_elements.pop()
            builder.close(previous)
        if scripts or open_elements[-1].mark != SCRIPT:
            text = element.text if previous is None else element.tail
            builder.append_text(text, open_elements[-1], previous)
    return builder.finish()


@dataclass(slots=True)
class _OpenElement:
    """An element whose subtree is being walked."""

    row: int
    #: value of ``Rows.hidden``, inherited by the text in it
    mark: int
    in_link: bool
    in_figure: bool


class _RowsBuilder:
    """Columns under construction."""

    def __init__(self, shown: AbstractSet[int]) -> None:
        self._rows = Rows()
        self._shown = shown
        self._chars = self._link_chars = 0.0

    def append_element(self, element: etree._Element, parent: _OpenElement) -> _OpenElement:
        rows, tag, row = self._rows, element.tag, len(self._rows.tag)
        in_figure = tag == "figure" or parent.in_figure
        invisible = self._read_attributes(element, row, in_figure=in_figure)
        mark = HIDDEN_TAGS.get(tag, 0)
        if tag == "button" and row and rows.tag[parent.row] in HEADINGS:
            mark = 0
        if mark != SCRIPT:
            mark = parent.mark or mark or (INVISIBLE if invisible and row not in self._shown else 0)
        rows.by_tag.setdefault(tag, []).append(row)
        self._append(tag, "", parent, mark, 0)
        is_link = tag == "a" and element.get("href") is not None
        return _OpenElement(row, mark, is_link or parent.in_link, in_figure)

    def _read_attributes(self, element: etree._Element, row: int, *, in_figure: bool) -> bool:
        """Keep attributes and metadata of *element*; return whether an attribute hides it."""
        rows, tag = self._rows, element.tag
        has_metadata, invisible = in_figure and tag == "img", False
        items: list[tuple[str, str]] = element.items()  # type: ignore[assignment]  # of HTML, text
        for name, value in items:
            if name in rows.attributes:
                rows.attributes[name][row] = value
            elif name in HIDING_ATTRIBUTES and (name != "aria-hidden" or tag not in VISIBLE_TAGS):
                invisible = invisible or HIDING_ATTRIBUTES[name](value)
            elif name == "itemprop":
                has_metadata = True
        if has_metadata or (tag in METADATA_TAGS and _has_metadata(tag, items)):
            script = element.text if tag == "script" else None
            rows.statements.append(Statement(row, tag, dict(items), script or ""))
        return invisible

    def append_text(
        self, text: str | None, parent: _OpenElement, previous: _OpenElement | None = None
    ) -> None:
        """Append the row of *text* in *parent*, after the element *previous* if there is one.

        White space alone gets no row, only a bit of ``Rows.space``.
        """
        if not text:
            return
        rows, row = self._rows, len(self._rows.tag)
        if text.isspace():
            if previous is None:
                rows.space[parent.row] |= LEADING
            else:
                rows.space[previous.row] |= TRAILING
            return
        space = LEADING * text[0].isspace() + TRAILING * text[-1].isspace()
        stripped = text.strip()
        self._append(TEXT, stripped, parent, parent.mark, space)
        rows.end[row] = row + 1
        rows.text_rows.append(row)
        if len(stripped) <= MAX_SHORT_TEXT and _DIGIT.search(stripped):
            rows.number_rows.append(row)
        if len(stripped) <= MAX_LABEL:
            rows.label_rows.append(row)
        if not parent.mark:
            rows.shown_rows.append(row)
            length = weighted_length(stripped)
            self._chars += length
            if parent.in_link:
                self._link_chars += length

    def _append(self, tag: str, text: str, parent: _OpenElement, mark: int, space: int) -> None:
        rows = self._rows
        rows.tag.append(tag)
        rows.parent.append(parent.row)
        rows.end.append(0)
        rows.depth.append(rows.depth[parent.row] + 1 if rows.depth else 0)
        rows.text.append(text)
        rows.hidden.append(mark)
        rows.space.append(space)
        rows.chars_before.append(self._chars)
        rows.link_chars_before.append(self._link_chars)

    def close(self, closed: _OpenElement) -> None:
        """End the subtree of *closed* here."""
        self._rows.end[closed.row] = len(self._rows.tag)

    def finish(self) -> Rows:
        self._rows.chars_before.append(self._chars)
        self._rows.link_chars_before.append(self._link_chars)
        return self._rows


def _has_metadata(tag: str, attributes: Iterable[tuple[str, str]]) -> bool:
    wanted, parts = METADATA_TAGS[tag]
    values = (value.lower() for name, value in attributes if name == wanted)
    return not wanted or any(part in value for value in values for part in parts)
