"""Longest runs of prose of a page: sibling blocks, text in links excluded."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from newscrawl.compiled import compiled

if TYPE_CHECKING:
    from newscrawl.document.document import Document

# Weighted characters: a shorter block is a caption or a teaser, a longer one is a run of its own.
_BLOCK = 80
_LONG_BLOCK = 400
INLINE = frozenset(
    {"a", "abbr", "b", "cite", "em", "font", "i", "mark", "q", "small", "span", "strong", "sub",
     "sup", "u"}
)  # fmt: skip


def longest_runs(document: Document) -> tuple[float, float]:
    """Return the weighted characters of the two longest runs of text outside of links."""
    runs: dict[int, float] = defaultdict(float)
    for block, chars in block_chars(document).items():
        if chars >= _BLOCK:
            separate = chars >= _LONG_BLOCK and document.tag[block] != "p"
            runs[block if separate else document.parent[block]] += chars
    longest, second = sorted([0.0, 0.0, *runs.values()])[:-3:-1]
    return longest, second


@compiled("newscrawl.fields.kind._text_measures", inline_tags=INLINE)
def block_chars(document: Document) -> dict[int, float]:
    """Return block row -> weighted characters outside of links."""
    tag, parent = document.tag, document.parent
    chars, link_chars = document.chars_before, document.link_chars_before
    blocks: dict[int, float] = defaultdict(float)
    for row in document.text_nodes():
        if link_chars[row] == link_chars[row + 1]:
            block = parent[row]
            while tag[block] in INLINE and parent[block] >= 0:
                block = parent[block]
            blocks[block] += chars[row + 1] - chars[row]
    return blocks
