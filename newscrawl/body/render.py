"""The text of a forest, as a reader sees it: paragraphs separated by blank lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from newscrawl.document import TEXT
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from newscrawl.document import Document

# https://html.spec.whatwg.org/multipage/rendering.html#flow-content-3; all else flows in lines.
_BLOCKS = """
    address article aside blockquote body caption center dd details dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main
    menu nav ol p plaintext pre search section summary table tbody tfoot thead tr ul xmp
"""
BLOCK_LEVEL = frozenset(_BLOCKS.split())
"""Tags of block-level elements."""
_PARAGRAPH = "\n\n"
_BREAKS = {**dict.fromkeys(BLOCK_LEVEL, _PARAGRAPH), "br": "\n", "td": " ", "th": " "}
_PREFORMATTED = frozenset({"pre", "listing", "plaintext", "xmp"})
# Control characters, hints to a line breaker, byte order marks; joiners stay, scripts need them.
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff]")


def render(document: Document, forest: Iterable[int], skip: AbstractSet[int] = frozenset()) -> str:
    """Return the shown text of the subtrees in *forest*, which are in document order.

    Block-level elements and ``<br><br>`` separate paragraphs, by a blank line; ``<br>`` and the
    lines of a ``pre`` end a line; inline elements join as they stand in the source. White space is
    squeezed. Subtrees and text nodes whose row is in *skip*, and hidden text, are left out.
    """
    flow = _Flow()
    texts = {row for row in skip if document.tag[row] == TEXT}
    last = -1
    for root in forest:
        if last < 0 or document.end[last] != root or document.parent[last] != document.parent[root]:
            flow.mark(_PARAGRAPH)
        last = root
        tag = document.tag[root]
        if tag != TEXT:
            _write_tree(flow, document, root, skip, texts)
            # Its text, if there is any, is a row of its own; a space between siblings is not.
            tail = None if tag in BLOCK_LEVEL else document.element(root).tail
            flow.write(" " if tail and tail.isspace() else None)
        elif not document.hidden[root] and root not in skip:
            flow.write(_source_text(document, root))
    return flow.text()


class _Flow:
    """Text and breaks in the order of the page."""

    def __init__(self) -> None:
        self._pieces = [_PARAGRAPH]
        #: in how many preformatted elements we are
        self.preformatted = 0

    def write(self, text: str | None) -> None:
        """Add *text* of the source: white space at the start of a line or paragraph is nothing."""
        if not text or (self._pieces[-1] == _PARAGRAPH and text.isspace()):
            return
        self._pieces.append(text if self.preformatted else text.replace("\n", " "))

    def mark(self, mark: str) -> None:
        """Add a break."""
        if self._pieces[-1] != _PARAGRAPH:
            self._pieces.append(mark)

    def text(self) -> str:
        """Return lines and paragraphs, white space squeezed."""
        text = _NO_TEXT.sub("", "".join(self._pieces))
        paragraphs: list[list[str]] = [[]]
        for line in map(squeeze, text.split("\n")):
            if line:
                paragraphs[-1].append(line)
            elif paragraphs[-1]:
                paragraphs.append([])
        return "\n\n".join("\n".join(paragraph) for paragraph in paragraphs if paragraph)


def _write_tree(
    flow: _Flow, document: Document, root: int, skip: AbstractSet[int], texts: AbstractSet[int]
) -> None:
    """Write the subtree of *root*, an element; without its tail. *texts* are text nodes of *skip*."""
    tag, end, hidden = document.tag, document.end, document.hidden
    open_rows: list[int] = []
    row = root
    while row < end[root] or open_rows:
        if open_rows and end[open_rows[-1]] <= row:
            closed = open_rows.pop()
            _close(flow, tag[closed])
            if open_rows and row not in texts:
                _write_tail(flow, document, closed, open_rows[-1])
        elif tag[row] == TEXT:
            row += 1
        elif hidden[row] or row in skip:
            if tag[row] in _BREAKS:
                flow.mark(_BREAKS[tag[row]])
            if open_rows and end[row] not in texts:
                _write_tail(flow, document, row, open_rows[-1])
            row = end[row]
        else:
            open_rows.append(row)
            _open(flow, tag[row])
            row += 1
            if row not in texts:
                _write_text(flow, document, row - 1)


# White space beside a break is nothing: the tree, which has it, is not asked.


def _write_text(flow: _Flow, document: Document, row: int) -> None:
    """Write the text that the element at *row* begins with."""
    first, end, tag = row + 1, document.end[row], document.tag
    if tag[row] not in _BREAKS or flow.preformatted:
        flow.write(document.element(row).text)
    elif first < end and tag[first] == TEXT:
        alone = document.end[first] == end
        flow.write(document.text[first] if alone else document.element(row).text)


def _write_tail(flow: _Flow, document: Document, row: int, parent: int) -> None:
    """Write the text between the element at *row* and the next in *parent*."""
    after, tag = document.end[row], document.tag
    if (
        tag[row] not in _BREAKS
        or flow.preformatted
        or (after < document.end[parent] and tag[after] == TEXT)
    ):
        flow.write(document.element(row).tail)


def _open(flow: _Flow, tag: str) -> None:
    # A br breaks once, when it closes.
    if tag in _BREAKS and tag != "br":
        flow.mark(_BREAKS[tag])
        flow.preformatted += tag in _PREFORMATTED


def _close(flow: _Flow, tag: str) -> None:
    if tag in _BREAKS:
        flow.mark(_BREAKS[tag])
        flow.preformatted -= tag in _PREFORMATTED


def _source_text(document: Document, row: int) -> str:
    """Return the text of a text node with its white space."""
    parent, before = document.parent[row], row - 1
    if before == parent:
        return document.element(parent).text or ""
    while document.parent[before] != parent:
        before = document.parent[before]
    return document.element(before).tail or ""
