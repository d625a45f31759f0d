"""SpotSigs: the words that follow stop words (Theobald, Siddharth, Paepcke 2008, section 3).

Running text is full of stop words, menus and lists are not: a text without boilerplate by
construction, for the languages whose stop words are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ANTECEDENTS: Final = frozenset(
    {"a", "an", "the", "is", "are", "was", "were", "be", "been", "do", "did", "does"}
    | {"have", "has", "had", "can", "will", "said"}
)
"""Where a spot begins."""

CHAIN: Final = 2
"""Words of a spot after its antecedent."""

_SKIPPED: Final = ANTECEDENTS | {
    *("of", "to", "in", "and", "or", "for", "on", "at", "by", "with", "from", "as", "it")
}


def spots(words: Sequence[str]) -> Iterator[str]:
    """Yield the spot signatures of a text: an antecedent and the next words of content."""
    content: list[str] = []
    begun = []
    for word in words:
        if word not in _SKIPPED:
            content.append(word)
        elif word in ANTECEDENTS:
            begun.append((word, len(content)))
    for word, place in begun:
        if place + CHAIN <= len(content):
            yield " ".join((word, *content[place : place + CHAIN]))
