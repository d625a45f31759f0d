"""Rendering of subtrees to text: paragraphs separated by blank lines.

Cython compiles this module, with the types in ``render.pxd``.
"""

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
_PREFORMATTED = frozenset({"pre", "listing", "plaintext", "xmp"})
_PLAIN_BLOCKS = _OPENING - _PREFORMATTED
_BLANK_LINES = re.compile("\n\n\n+")
# Control characters, overrides of the direction, soft hyphens, byte order marks; joiners stay, some
# scripts need them.
INVISIBLE_CHARACTERS = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u202d\u202e\u2060\ufeff]"
)


def render(document: Document, roots: Iterable[int], skip: AbstractSet[int] = frozenset()) -> str:
    """Return the shown text of the subtrees of *roots*, which are in document order.

    Block-level elements and ``<br><br>`` separate paragraphs by a blank line; ``<br>`` and the
    lines of a ``pre`` end a line; inline elements join as in the source. White space is collapsed.
    Subtrees and text nodes with a row in *skip* are left out.
    """
    flow = Flow(document)
    flow.write(roots, skip)
    return flow.text()


class Flow:
    """Text and breaks in document order: :attr:`pieces`, and the element of each."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.pieces = [PARAGRAPH]
        #: row of the element that contains the piece; -1 for a break
        self.rows = [-1]
        self._preformatted = 0  # open elements

    def write(self, roots: Iterable[int], skip: AbstractSet[int]) -> None:
        """Write the subtrees of *roots*, as :func:`render` does."""
        document = self.document
        end, parent = document.end, document.parent
        previous: int | None = None
        for root in roots:
            if previous is None or end[previous] != root or parent[previous] != parent[root]:
                self.start(root, previous)
            previous = root
            self._write_subtree(root, skip)
            tag = document.tag[root]
            if document.space[root] & TRAILING and tag != TEXT and tag not in BLOCK_LEVEL:
                self.add_space(" ", parent[root])

    def start(self, root: int, previous: int | None) -> None:  # noqa: ARG002  # for subclasses
        """Start a paragraph at *root*, which does not follow the root *previous* in the source."""
        self.add_space(PARAGRAPH)

    def open_image(self, row: int) -> None:
        """Reach the ``img`` element *row*, which subclasses may add."""

    def leave_out(self, row: int) -> None:
        """Add the break of the element *row*, whose content is left out."""
        self.add_space(_BREAKS.get(self.document.tag[row], ""))

    def add_space(self, space: str, row: int = -1) -> None:
        """Add a break, or white space in the element *row*, unless a paragraph has just ended."""
        if space and self.pieces[-1] != PARAGRAPH:
            self.pieces.append(space)
            self.rows.append(row)

    def text(self) -> str:
        """Return lines and paragraphs with collapsed white space."""
        text = "\n".join([_clean(line) for line in "".join(self.pieces).split("\n")])
        if "\n\n\n" in text:  # much faster than the pattern
            text = _BLANK_LINES.sub("\n\n", text)
        return text.strip("\n")

    def _write_subtree(self, root: int, skip: AbstractSet[int]) -> None:
        """Write the subtree of *root*, without the white space after an element."""
        document, pieces, rows = self.document, self.pieces, self.rows
        tag, end, parent, texts = document.tag, document.end, document.parent, document.text
        hidden, space = document.hidden, document.space
        open_rows: list[int] = []  # without elements that add no white space
        row, last, next_end = root, end[root], 0
        while row < last:
            name = tag[row]
            if hidden[row] or row in skip:
                self._leave_out(row, root, is_hidden=row not in skip)
                row = end[row]
            elif name == TEXT:
                is_source = self._preformatted > 0
                pieces.append(
                    _source_text(document, row) if is_source else _flowing(texts[row], space[row])
                )
                rows.append(parent[row])
                row += 1
            else:
                if name in _BREAKS or space[row] or name == "img":
                    open_rows.append(row)
                    next_end = end[row]
                    if name not in _PLAIN_BLOCKS or self._preformatted:
                        self._open(row, name)
                    elif pieces[-1] != PARAGRAPH:
                        pieces.append(_BREAKS[name])
                        rows.append(-1)
                row += 1
            while row == next_end:
                closed = open_rows.pop()
                next_end = end[open_rows[-1]] if open_rows else 0
                if tag[closed] not in _PLAIN_BLOCKS or self._preformatted:
                    self._close(closed, root)
                elif pieces[-1] != PARAGRAPH:
                    pieces.append(_BREAKS[tag[closed]])
                    rows.append(-1)

    def _open(self, row: int, tag: str) -> None:
        if tag in _OPENING:
            self.add_space(_BREAKS[tag])
            self._preformatted += tag in _PREFORMATTED
        elif tag == "img":
            self.open_image(row)
        if self.document.space[row] & LEADING and (self._preformatted or tag not in _BREAKS):
            source = self._preformatted and self.document.element(row).text
            self.add_space(source or " ", row)

    def _close(self, row: int, root: int) -> None:
        tag = self.document.tag[row]
        if tag in _BREAKS:
            self.add_space(_BREAKS[tag])
            self._preformatted -= tag in _PREFORMATTED
        self._add_tail(row, root)

    def _leave_out(self, row: int, root: int, *, is_hidden: bool) -> None:
        """Leave out an element, but for the words of a button or a formula in a sentence."""
        document = self.document
        if document.tag[row] == TEXT:
            return
        is_inline = is_hidden and document.tag[row] in _INLINE
        if is_inline and _is_in_sentence(document, row) and (text := _hidden_text(document, row)):
            self.pieces.append(text)
            self.rows.append(document.parent[row])
        else:
            self.leave_out(row)
        self._add_tail(row, root)

    def _add_tail(self, row: int, root: int) -> None:
        """Add the white space after the element *row* in *root*, unless the element is a break."""
        document = self.document
        if row == root or not document.space[row] & TRAILING:
            return
        if self._preformatted:
            self.add_space(document.element(row).tail or "", document.parent[row])
        elif document.tag[row] not in _BREAKS:
            self.add_space(" ", document.parent[row])


def _flowing(text: str, space: int) -> str:
    """Return *text* on one line, with the white space *space* around it."""
    text = text.replace("\n", " ")
    text = " " + text if space & LEADING else text
    return text + " " if space & TRAILING else text


def _clean(line: str) -> str:
    if not _is_clean(line):
        line = squeeze(line)
        line = line if line.isprintable() else squeeze(INVISIBLE_CHARACTERS.sub("", line))
    return line.strip()


def _is_clean(line: str) -> bool:
    """Return whether all characters are printable, without two spaces in a row."""
    is_after_space = False
    for character in line:
        is_space = character == " "
        if is_space and is_after_space:
            return False
        is_ascii = " " <= character <= "~"
        if not (is_ascii or character.isprintable()):
            return False
        is_after_space = is_space
    return True


def _is_in_sentence(document: Document, row: int) -> bool:
    """Return whether text of the same parent follows the element *row*."""
    following, parent = document.end[row], document.parent[row]
    follows = following < document.end[parent] and document.tag[following] == TEXT
    return follows and document.text[following][:1] not in _BULLETS


def _hidden_text(document: Document, row: int) -> str:
    element = document.element(row)
    notes = {text for note in element.iter("annotation") for text in note.itertext()}
    return squeeze(" ".join([str(text) for text in element.itertext() if text not in notes]))


def _source_text(document: Document, row: int) -> str:
    """Return the text of a text node with its white space."""
    parent, previous = document.parent[row], row - 1
    if previous == parent:
        return document.element(parent).text or " "
    while document.parent[previous] != parent:
        previous = document.parent[previous]
    return document.element(previous).tail or " "
