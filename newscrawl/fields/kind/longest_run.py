"""Longest runs of prose of a page: sibling blocks, text in links excluded."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from newscrawl.compiled import compiled_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from newscrawl.document.document import Document

# Weighted characters: a shorter block is a caption or a teaser, a longer one is a run of its own.
_BLOCK = 80
_LONG_BLOCK = 400
INLINE = frozenset(
    {"a", "abbr", "b", "cite", "em", "font", "i", "mark", "q", "small", "span", "strong", "sub",
     "sup", "u"}
)  # fmt: skip


def runs_in_python(document: Document) -> tuple[float, float]:
    """Python implementation of :data:`longest_runs`."""
    runs: dict[int, float] = defaultdict(float)
    for block, chars in _blocks(document).items():
        if chars >= _BLOCK:
            separate = chars >= _LONG_BLOCK and document.tag[block] != "p"
            runs[block if separate else document.parent[block]] += chars
    longest, second = sorted([0.0, 0.0, *runs.values()])[:-3:-1]
    return longest, second


_compiled = compiled_module("newscrawl.body._blocks")
longest_runs: Callable[[Document], tuple[float, float]] = (
    partial(_compiled.longest_runs, inline=INLINE, least=_BLOCK, alone=_LONG_BLOCK)
    if _compiled
    else runs_in_python
)
"""Return the weighted characters of the longest run of text outside of links, and of the second."""


def _blocks(document: Document) -> dict[int, float]:
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
