"""Comparison of the extracted title with the label and with the text nodes of the title."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from rapidfuzz.fuzz import ratio

from newscrawl.lab.corpora.labels import align
from newscrawl.lab.corpora.metrics import mean, score_of
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.document.document import Document
    from newscrawl.items import Article
    from newscrawl.lab.corpora.corpus import LabelledPage

Gold = Literal["label", "nodes"]
GOLDS: tuple[Gold, ...] = get_args(Gold)

EXACT_RATIO = 95
"""Minimum fuzzy ratio (0..100, ignoring case and punctuation) of an exact match."""


class TitleMatch(NamedTuple):
    """Words of an extracted title and of a labelled one."""

    exact: bool
    #: number of words in both, in the extracted title, in the labelled title
    common: int
    output: int
    gold: int

    @classmethod
    def of(cls, output: str, gold: str) -> TitleMatch:
        """Compare the title *output* with the title *gold*."""
        found, labelled = words(output), words(gold)
        exact = ratio(" ".join(found), " ".join(labelled)) >= EXACT_RATIO
        common = (Counter(found) & Counter(labelled)).total()
        return cls(exact, common, len(found), len(labelled))


def title_matches(
    page: LabelledPage, article: Article, document: Document | None
) -> dict[Gold, TitleMatch]:
    """Compare the title of *article* with the label of *page* and with its text nodes.

    ``nodes`` is missing if *document* is None or no text node holds the title. Empty if the title
    is not labelled.
    """
    if page.title is None:
        return {}
    title = article.title or ""
    matches: dict[Gold, TitleMatch] = {"label": TitleMatch.of(title, page.title)}
    if document is not None and (rows := align(document, page).title):
        visible = " ".join(document.text[row] for row in rows)
        matches["nodes"] = TitleMatch.of(title, visible)
    return matches


def match_means(matches: Sequence[TitleMatch]) -> dict[str, Any]:
    """Return scores over the words of all pages, mean F1 and share of exact titles."""
    micro = score_of(*(sum(match[part] for match in matches) for part in (1, 2, 3)))
    return {
        "pages": len(matches),
        **{f"micro_{part}": value for part, value in micro._asdict().items()},
        "f1": mean([score_of(*match[1:]).f1 for match in matches]),
        "exact": mean([match.exact for match in matches]),
    }
