"""The text of a forest, as a reader sees it: paragraphs separated by blank lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from newscrawl.document import TEXT
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from newscrawl.document import Document

# https://html.spec.whatwg.org/multipage/rendering.html#flow-content-3; all else flows in lines.
_BLOCKS = """
    address article aside blockquote body caption center dd details dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main
    menu nav ol p plaintext pre search section summary table tbody tfoot thead tr ul xmp
"""
_BREAKS = {**dict.fromkeys(_BLOCKS.split(), "\n\n"), "br": "\n", "td": " ", "th": " "}
_PREFORMATTED = frozenset({"pre", "listing", "plaintext", "xmp"})
# Control characters, hints to a line breaker, byte order marks; joiners stay, scripts need them.
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff]")


def render(document: Document, forest: Iterable[int], skip: AbstractSet[int] = frozenset()) -> str:
    """Return the shown text of the subtrees in *forest*, which are in document order.

    Block-level elements and ``<br><br>`` separate paragraphs, by a blank line; ``<br>`` and the
    lines of a ``pre`` end a line; inline elements join as they stand in the source. White space is
    squeezed. Subtrees whose row is in *skip*, and hidden text, are left out.
    """
    pieces: list[str] = []
    last = -1
    for root in forest:
        if last < 0 or document.end[last] != root or document.parent[last] != document.parent[root]:
            pieces.append("\n\n")
        last = root
        if document.tag[root] != TEXT:
            pieces.extend(_pieces(document, root, skip))
            # Its text, if there is any, is a row of its own; a space between siblings is not.
            tail = document.element(root).tail
            pieces.append(" " if tail and tail.isspace() else "")
        elif not document.hidden[root] and root not in skip:
            pieces.append(_source_text(document, root).replace("\n", " "))
    return _paragraphs("".join(pieces))


def _pieces(document: Document, root: int, skip: AbstractSet[int]) -> Iterator[str]:
    """Give text and breaks of the subtree of *root*, an element; without its tail."""
    tag, end, hidden = document.tag, document.end, document.hidden
    open_rows: list[int] = []
    preformatted = 0
    row = root
    while row < end[root] or open_rows:
        if open_rows and end[open_rows[-1]] <= row:
            closed = open_rows.pop()
            yield _BREAKS.get(tag[closed], "")
            preformatted -= tag[closed] in _PREFORMATTED
            if open_rows:
                yield _flow(document.element(closed).tail, preformatted)
        elif tag[row] == TEXT:
            row += 1
        elif hidden[row] or row in skip:
            yield _BREAKS.get(tag[row], "")
            if open_rows:
                yield _flow(document.element(row).tail, preformatted)
            row = end[row]
        else:
            open_rows.append(row)
            preformatted += tag[row] in _PREFORMATTED
            # A br breaks once, when it closes.
            yield _BREAKS.get(tag[row], "") if tag[row] != "br" else ""
            yield _flow(document.element(row).text, preformatted)
            row += 1


def _flow(text: str | None, preformatted: int) -> str:
    if not text:
        return ""
    return text if preformatted else text.replace("\n", " ")


def _source_text(document: Document, row: int) -> str:
    """Return the text of a text node with its white space."""
    parent, before = document.parent[row], row - 1
    if before == parent:
        return document.element(parent).text or ""
    while document.parent[before] != parent:
        before = document.parent[before]
    return document.element(before).tail or ""


def _paragraphs(text: str) -> str:
    lines = (squeeze(line) for line in _NO_TEXT.sub("", text).split("\n"))
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if line:
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    return "\n\n".join("\n".join(paragraph) for paragraph in paragraphs if paragraph)
