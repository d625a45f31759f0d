"""Alignment of a plain text with the text nodes of a page by a word-level LCS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_RUN = 3
"""Minimum length of a run of aligned words; shorter runs align by chance."""
MIN_COVERAGE = 0.5
"""Minimum share of covered words for a node to belong to the text."""


def covered_nodes(nodes: Sequence[Sequence[str]], text: Sequence[str]) -> frozenset[int]:
    """Return the indices of the *nodes* that the words of *text* were taken from.

    *nodes* holds the words of each text node, in document order. Their concatenation is aligned
    with *text* by a longest common subsequence. A word is covered if it lies in a run of at least
    :data:`MIN_RUN` aligned words, consecutive on both sides (fewer if *text* is shorter). Runs may
    span nodes, so a link inside a sentence belongs to it. A node belongs to the text if at least
    :data:`MIN_COVERAGE` of its words are covered.
    """
    page = [word for node in nodes for word in node]
    covered = _covered(page, text)
    members = []
    start = 0
    for index, node in enumerate(nodes):
        end = start + len(node)
        if node and sum(covered[start:end]) >= MIN_COVERAGE * len(node):
            members.append(index)
        start = end
    return frozenset(members)


def _covered(page: Sequence[str], text: Sequence[str]) -> bytearray:
    covered = bytearray(len(page))
    min_run = min(MIN_RUN, len(text))
    for block in LCSseq.editops(page, text).as_matching_blocks():
        if block.size >= min_run:
            covered[block.a : block.a + block.size] = b"\1" * block.size
    return covered
