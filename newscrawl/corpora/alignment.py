"""Which text nodes of a page a plain text was taken from: word-level LCS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN = 3
"""Aligned words count from this many in a row: single words align anywhere by chance."""
COVERAGE = 0.5
"""A node belongs to a text when at least this share of its words is covered."""


def covered_nodes(nodes: Sequence[Sequence[str]], text: Sequence[str]) -> frozenset[int]:
    """Return the indices of the *nodes* that the words of *text* were taken from.

    *nodes* holds the words of each text node, in document order. The words of all nodes, one
    after the other, are aligned with *text* by a longest common subsequence. A word is covered
    when it lies in a run of at least :data:`RUN` aligned words that are neighbours on both
    sides (of the whole text, where it is shorter); runs cross the borders of nodes, so that
    a link inside a sentence counts with it. A node belongs to the text when at least
    :data:`COVERAGE` of its words are covered. Nodes without words never do.
    """
    page = [word for node in nodes for word in node]
    covered = _covered(page, text)
    members = []
    start = 0
    for index, node in enumerate(nodes):
        end = start + len(node)
        if node and sum(covered[start:end]) >= COVERAGE * len(node):
            members.append(index)
        start = end
    return frozenset(members)


def _covered(page: Sequence[str], text: Sequence[str]) -> bytearray:
    covered = bytearray(len(page))
    shortest = min(RUN, len(text))
    for block in LCSseq.editops(page, text).as_matching_blocks():
        if block.size >= shortest:
            covered[block.a : block.a + block.size] = b"\1" * block.size
    return covered
