"""Which text nodes of a page a plain text was taken from: word-level LCS."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

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
    for start, length in _runs(longest_common_subsequence(page, text)):
        if length >= shortest:
            covered[start : start + length] = b"\1" * length
    return covered


def _runs(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield (start in the first sequence, length) of each stretch without a gap on either side."""
    start = 0
    for position in range(1, len(pairs) + 1):
        left, right = pairs[position - 1]
        if position == len(pairs) or pairs[position] != (left + 1, right + 1):
            yield pairs[start][0], position - start
            start = position


def longest_common_subsequence(
    first: Sequence[Hashable], second: Sequence[Hashable]
) -> list[tuple[int, int]]:
    """Return index pairs, increasing on both sides, of a longest common subsequence.

    Bit-parallel (H. Hyyrö, "Bit-Parallel LCS-length Computation Revisited", 2004): row *j* is
    one integer whose bit *i* is 0 where the LCS of ``first[:i + 1]`` and ``second[:j]`` is
    longer than that of ``first[:i]``. Takes ``len(first) * len(second) / 8`` bytes.
    """
    positions: dict[Hashable, int] = {}
    for index, symbol in enumerate(first):
        positions[symbol] = positions.get(symbol, 0) | 1 << index
    mask = (1 << len(first)) - 1
    rows = [mask]
    for symbol in second:
        row = rows[-1]
        matches = row & positions.get(symbol, 0)
        rows.append((row + matches | row - matches) & mask)
    return _trace(rows, len(first))


def _trace(rows: list[int], width: int) -> list[tuple[int, int]]:
    pairs = []
    left, right = width, len(rows) - 1
    while left and right:
        bit = 1 << left - 1
        if rows[right] & bit:
            left -= 1
        elif rows[right - 1] & bit:
            left, right = left - 1, right - 1
            pairs.append((left, right))
        else:
            right -= 1
    return pairs[::-1]
