"""Which blocks of a page are of its labelled body."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from newscrawl.corpora.alignment import covered_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COVERAGE = 0.4
"""Least share of a block's word trigrams that the body must hold."""

Trigram = tuple[str, str, str]


def label_blocks(blocks: Sequence[Sequence[str]], body: Sequence[str]) -> list[bool]:
    """Return whether each of *blocks* is of *body*; both are given by their words.

    A block is that is aligned with the body, in the order of the page
    (:func:`~newscrawl.corpora.alignment.covered_nodes`): of several that say the same, the one
    in its place. Of the others those of which the body holds the trigrams, as often: bodies have
    been put together in another order.
    """
    labels = [False] * len(blocks)
    left = Counter(_trigrams(body))
    for place in covered_nodes(blocks, body):
        labels[place] = True
        left.subtract(_trigrams(blocks[place]))
    for place, block in enumerate(blocks):
        trigrams = Counter(_trigrams(block))
        least = COVERAGE * trigrams.total()
        if not labels[place] and trigrams and (trigrams & left).total() >= least:
            labels[place] = True
            left.subtract(trigrams)
    return labels


def _trigrams(words: Sequence[str]) -> Iterable[Trigram]:
    return zip(words, words[1:], words[2:], strict=False)
