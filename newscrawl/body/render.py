"""Rendering of subtrees to text: paragraphs separated by blank lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from newscrawl.document.document import TEXT
from newscrawl.document.rows import BLOCK_LEVEL, LEADING, TRAILING
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from newscrawl.document.document import Document

PARAGRAPH = "\n\n"
"""Break between paragraphs."""
_BREAKS = {**dict.fromkeys(BLOCK_LEVEL, PARAGRAPH), "br": "\n", "td": " ", "th": " "}
_OPENING = frozenset(_BREAKS) - {"br"}  # a br has one break, at its end
_INLINE = frozenset({"button", "math"})
_BULLETS = frozenset("|·•/")
_SPACES = {0: ("", ""), LEADING: (" ", ""), TRAILING: ("", " "), LEADING | TRAILING: (" ", " ")}
_PREFORMATTED = frozenset({"pre", "listing", "plaintext", "xmp"})
_BLANK_LINES = re.compile("\n\n\n+")
# Control characters, overrides of the direction, soft hyphens, byte order marks; joiners stay, some
# scripts need them.
INVISIBLE_CHARACTERS = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u202d\u202e\u2060\ufeff]"
)


def render(document: Document, roots: Iterable[int], skip: AbstractSet[int] = frozenset()) -> str:
    """Return the shown text of the subtrees of *roots*, which are in document order.

    Block-level elements and ``<br><br>`` separate paragraphs by a blank line; ``<br>`` and the lines
    of a ``pre`` end a line; inline elements join as in the source. White space is collapsed.
    Subtrees and text nodes with a row in *skip* are left out.
    """
    flow = Flow()
    write_flow(flow, document, roots, skip)
    return flow.text()


def write_flow(
    flow: Flow, document: Document, roots: Iterable[int], skip: AbstractSet[int] = frozenset()
) -> None:
    """Write the subtrees of *roots* to *flow*, as :func:`render` does."""
    end, parent = document.end, document.parent
    previous: int | None = None
    for root in roots:
        if previous is None or end[previous] != root or parent[previous] != parent[root]:
            flow.start(root, previous)
        previous = root
        tag = document.tag[root]
        if tag != TEXT:
            _write_element(flow, document, root, skip)
            if tag not in BLOCK_LEVEL and document.space[root] & TRAILING:
                flow.add_text(" ", parent[root])
        elif not document.hidden[root] and root not in skip:
            _write_text(flow, document, root)


class Flow:
    """Text and breaks in document order."""

    def __init__(self) -> None:
        self.pieces = [PARAGRAPH]
        #: number of open preformatted elements
        self.preformatted = 0

    def start(self, root: int, previous: int | None) -> None:  # noqa: ARG002  # for subclasses
        """Start a paragraph at *root*, which does not follow the root *previous* in the source."""
        self.add_break(PARAGRAPH)

    def open(self, row: int, tag: str) -> None:  # noqa: ARG002  # for subclasses
        """Start the element *row*: an image, or one that separates text."""
        if tag in _OPENING:
            self.add_break(_BREAKS[tag])
            self.preformatted += tag in _PREFORMATTED

    def close(self, tag: str) -> None:
        """End an element."""
        if tag in _BREAKS:
            self.add_break(_BREAKS[tag])
            self.preformatted -= tag in _PREFORMATTED

    def leave_out(self, row: int, tag: str) -> None:  # noqa: ARG002  # for subclasses
        """Add the break of the element *row*, whose content is left out."""
        if tag in _BREAKS:
            self.add_break(_BREAKS[tag])

    def add_text(self, text: str | None, parent: int) -> None:  # noqa: ARG002  # for subclasses
        """Add *text* in the element *parent*; white space at the start of a paragraph is dropped."""
        if not text or (self.pieces[-1] == PARAGRAPH and text.isspace()):
            return
        self.pieces.append(text if self.preformatted else text.replace("\n", " "))

    def add_break(self, separator: str) -> None:
        """Add *separator*, unless a paragraph has just ended."""
        if self.pieces[-1] != PARAGRAPH:
            self.pieces.append(separator)

    def text(self) -> str:
        """Return lines and paragraphs with collapsed white space."""
        lines = "".join(self.pieces).split("\n")
        text = "".join(lines)
        is_clean = text.isprintable() and "  " not in text  # the common case
        lines = [line.strip() if is_clean else _clean(line) for line in lines]
        text = "\n".join(lines)
        if "\n\n\n" in text:  # much faster than the pattern
            text = _BLANK_LINES.sub("\n\n", text)
        return text.strip("\n")


def _clean(line: str) -> str:
    if line.isprintable() and "  " not in line:
        return line.strip()
    return squeeze(INVISIBLE_CHARACTERS.sub("", line))


def _write_element(flow: Flow, document: Document, root: int, skip: AbstractSet[int]) -> None:
    """Write the subtree of the element *root*, without the white space after it."""
    tag, end, hidden, space = document.tag, document.end, document.hidden, document.space
    open_rows: list[int] = []
    row, last = root, end[root]
    while row < last:
        name = tag[row]
        if name == TEXT:
            if row not in skip:
                _write_text(flow, document, row)
        elif hidden[row] or row in skip:
            _leave_out(flow, document, row, skip)
            if space[row] & TRAILING and row != root:
                _write_tail(flow, document, row)
            row = end[row] - 1
        else:
            open_rows.append(row)
            if name in _OPENING or name == "img":
                flow.open(row, name)
            if space[row] & LEADING and (name not in _BREAKS or flow.preformatted):
                flow.add_text(document.element(row).text if flow.preformatted else " ", row)
        row += 1
        while open_rows and end[open_rows[-1]] == row:
            closed = open_rows.pop()
            flow.close(tag[closed])
            if space[closed] & TRAILING and closed != root:
                _write_tail(flow, document, closed)


def _leave_out(flow: Flow, document: Document, row: int, skip: AbstractSet[int]) -> None:
    """Leave out an element, but for the words of a button or a formula in a sentence."""
    if document.tag[row] in _INLINE and row not in skip and _is_in_sentence(document, row):
        flow.add_text(_hidden_text(document, row), document.parent[row])
    else:
        flow.leave_out(row, document.tag[row])


def _is_in_sentence(document: Document, row: int) -> bool:
    """Return whether text of the same parent follows the element *row*."""
    following, parent = document.end[row], document.parent[row]
    follows = following < document.end[parent] and document.tag[following] == TEXT
    return follows and document.text[following][:1] not in _BULLETS


def _hidden_text(document: Document, row: int) -> str:
    element = document.element(row)
    notes = {text for note in element.iter("annotation") for text in note.itertext()}
    return squeeze(" ".join([str(text) for text in element.itertext() if text not in notes]))


def _write_text(flow: Flow, document: Document, row: int) -> None:
    """Write the text node *row* with the white space around it."""
    parent = document.parent[row]
    if flow.preformatted:
        flow.add_text(_source_text(document, row), parent)
        return
    before, after = _SPACES[document.space[row]]
    flow.add_text(f"{before}{document.text[row]}{after}", parent)


def _write_tail(flow: Flow, document: Document, row: int) -> None:
    """Write the white space after the element *row*, unless the element is a break."""
    if flow.preformatted:
        flow.add_text(document.element(row).tail, document.parent[row])
    elif document.tag[row] not in _BREAKS:
        flow.add_text(" ", document.parent[row])


def _source_text(document: Document, row: int) -> str | None:
    """Return the text of a text node with its white space."""
    parent, previous = document.parent[row], row - 1
    if previous == parent:
        return document.element(parent).text
    while document.parent[previous] != parent:
        previous = document.parent[previous]
    return document.element(previous).tail
