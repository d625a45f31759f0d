"""Labels of blocks: part of the labelled body or not."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from newscrawl.lab.corpora.alignment import covered_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MIN_TRIGRAM_COVERAGE = 0.4
"""Minimum share of a block's word trigrams that the body must contain."""

Trigram = tuple[str, str, str]


def label_blocks(blocks: Sequence[Sequence[str]], body: Sequence[str]) -> list[bool]:
    """Return whether each block belongs to *body*; blocks and body are given as words.

    Blocks aligned with the body in page order belong to it
    (:func:`~newscrawl.lab.corpora.alignment.covered_nodes`). So do blocks whose trigrams occur in
    the rest of the body, since some labelled bodies have another order than the page.
    """
    labels = [False] * len(blocks)
    unused = Counter(_trigrams(body))
    for index in covered_nodes(blocks, body):
        labels[index] = True
        unused.subtract(_trigrams(blocks[index]))
    for index, block in enumerate(blocks):
        trigrams = Counter(_trigrams(block))
        min_common = MIN_TRIGRAM_COVERAGE * trigrams.total()
        if not labels[index] and trigrams and (trigrams & unused).total() >= min_common:
            labels[index] = True
            unused.subtract(trigrams)
    return labels


def _trigrams(words: Sequence[str]) -> Iterable[Trigram]:
    return zip(words, words[1:], words[2:], strict=False)
