"""The text of a forest, as a reader sees it: paragraphs separated by blank lines."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from newscrawl.compiled import compiled_module
from newscrawl.document.document import TEXT
from newscrawl.document.flatten import LEADING, TRAILING
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Set as AbstractSet

    from newscrawl.document.document import Document

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
_SPACES = {0: ("", ""), LEADING: (" ", ""), TRAILING: ("", " "), LEADING | TRAILING: (" ", " ")}
_PREFORMATTED = frozenset({"pre", "listing", "plaintext", "xmp"})
# Control characters, hints to a line breaker, byte order marks; joiners stay, scripts need them.
_GAP = re.compile("\n\n\n+")  # three written out are found in a tenth of the time of {3,}
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff]")


def render(document: Document, forest: Iterable[int], skip: AbstractSet[int] = frozenset()) -> str:
    """Return the shown text of the subtrees in *forest*, which are in document order.

    Block-level elements and ``<br><br>`` separate paragraphs, by a blank line; ``<br>`` and the
    lines of a ``pre`` end a line; inline elements join as they stand in the source. White space is
    squeezed. Subtrees and text nodes whose row is in *skip*, and hidden text, are left out.
    """
    flow = Flow()
    plain = not any(map(document.rows_of, _PREFORMATTED))
    (write_forest if plain else forest_in_python)(flow, document, forest, skip)
    return flow.text()


def forest_in_python(
    flow: Flow, document: Document, forest: Iterable[int], skip: AbstractSet[int]
) -> None:
    """Write the subtrees in *forest*: see :func:`render`."""
    last = -1
    for root in forest:
        if last < 0 or document.end[last] != root or document.parent[last] != document.parent[root]:
            flow.mark(_PARAGRAPH)
        last = root
        tag = document.tag[root]
        if tag != TEXT:
            _write_tree(flow, document, root, skip)
            if tag not in BLOCK_LEVEL and document.space[root] & TRAILING:
                flow.write(" ")
        elif not document.hidden[root] and root not in skip:
            _write_text(flow, document, root)


class Flow:
    """Text and breaks in the order of the page."""

    def __init__(self) -> None:
        self.pieces = [_PARAGRAPH]
        #: in how many preformatted elements we are
        self.preformatted = 0

    def write(self, text: str | None) -> None:
        """Add *text* of the source: white space at the start of a line or paragraph is nothing."""
        if not text or (self.pieces[-1] == _PARAGRAPH and text.isspace()):
            return
        self.pieces.append(text if self.preformatted else text.replace("\n", " "))

    def mark(self, mark: str) -> None:
        """Add a break."""
        if self.pieces[-1] != _PARAGRAPH:
            self.pieces.append(mark)

    def text(self) -> str:
        """Return lines and paragraphs, white space squeezed."""
        lines = "".join(self.pieces).split("\n")
        text = "".join(lines)
        is_clean = text.isprintable() and "  " not in text  # as most texts are
        lines = [line.strip() if is_clean else _cleaned(line) for line in lines]
        return _GAP.sub("\n\n", "\n".join(lines)).strip("\n")


def _cleaned(line: str) -> str:
    if line.isprintable() and "  " not in line:  # its only white space is " "
        return line.strip()
    return squeeze(_NO_TEXT.sub("", line))


def _write_tree(flow: Flow, document: Document, root: int, skip: AbstractSet[int]) -> None:
    """Write the subtree of *root*, an element; without its tail."""
    tag, end, hidden, space = document.tag, document.end, document.hidden, document.space
    open_rows: list[int] = []
    row, last = root, end[root]
    while row < last:
        name = tag[row]
        if name == TEXT:
            if row not in skip:
                _write_text(flow, document, row)
        elif hidden[row] or row in skip:
            if name in _BREAKS:
                flow.mark(_BREAKS[name])
            if space[row] & TRAILING and row != root:
                _write_tail(flow, document, row)
            row = end[row] - 1
        else:
            open_rows.append(row)
            _open(flow, name)
            if space[row] & LEADING and (name not in _BREAKS or flow.preformatted):
                flow.write(document.element(row).text if flow.preformatted else " ")
        row += 1
        while open_rows and end[open_rows[-1]] == row:
            closed = open_rows.pop()
            _close(flow, tag[closed])
            if space[closed] & TRAILING and closed != root:
                _write_tail(flow, document, closed)


_compiled = compiled_module("newscrawl.body._blocks")
# Where nothing is preformatted.
write_forest: Callable[[Flow, Document, Iterable[int], AbstractSet[int]], None] = (
    partial(_compiled.write_forest, breaks=_BREAKS, block_level=BLOCK_LEVEL)
    if _compiled
    else forest_in_python
)


def _write_text(flow: Flow, document: Document, row: int) -> None:
    """Write the text node *row* with its white space."""
    if flow.preformatted:
        flow.write(_source_text(document, row))
        return
    before, after = _SPACES[document.space[row]]
    flow.write(f"{before}{document.text[row]}{after}")


def _write_tail(flow: Flow, document: Document, row: int) -> None:
    """Write the white space after the element *row*: beside a break it is nothing."""
    if flow.preformatted:
        flow.write(document.element(row).tail)
    elif document.tag[row] not in _BREAKS:
        flow.write(" ")


def _open(flow: Flow, tag: str) -> None:
    # A br breaks once, when it closes.
    if tag in _BREAKS and tag != "br":
        flow.mark(_BREAKS[tag])
        flow.preformatted += tag in _PREFORMATTED


def _close(flow: Flow, tag: str) -> None:
    if tag in _BREAKS:
        flow.mark(_BREAKS[tag])
        flow.preformatted -= tag in _PREFORMATTED


def _source_text(document: Document, row: int) -> str | None:
    """Return the text of a text node as it stands in the source."""
    parent, before = document.parent[row], row - 1
    if before == parent:
        return document.element(parent).text
    while document.parent[before] != parent:
        before = document.parent[before]
    return document.element(before).tail
