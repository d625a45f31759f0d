"""Title of an article compared with its label and with the text nodes that hold it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from rapidfuzz.fuzz import ratio

from newscrawl.corpora.labels import align
from newscrawl.corpora.metrics import mean, score_of
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.document.document import Document
    from newscrawl.items import Article

Gold = Literal["label", "nodes"]


GOLDS: tuple[Gold, ...] = get_args(Gold)


EXACT = 95
"""Least fuzzy ratio (0..100, letter case and punctuation aside) of a title that is the label's."""


class TitleMatch(NamedTuple):
    """A title beside a labelled one."""

    exact: bool
    #: words that both have, and how many each has
    common: int
    output: int
    gold: int

    @classmethod
    def of(cls, output: str, gold: str) -> TitleMatch:
        """Return how *output* matches *gold*."""
        ours, theirs = words(output), words(gold)
        exact = ratio(" ".join(ours), " ".join(theirs)) >= EXACT
        return cls(exact, (Counter(ours) & Counter(theirs)).total(), len(ours), len(theirs))


def title_matches(
    page: LabelledPage, article: Article, document: Document | None
) -> dict[Gold, TitleMatch]:
    """Return how the title of *article* matches the label of *page* and the nodes that hold it.

    Without ``nodes`` where the title is in no text node of *document*, or that is not given; empty
    without a label.
    """
    if page.title is None:
        return {}
    title = article.title or ""
    matches: dict[Gold, TitleMatch] = {"label": TitleMatch.of(title, page.title)}
    if document is not None and (rows := align(document, page).title):
        shown = " ".join(document.text[row] for row in rows)
        matches["nodes"] = TitleMatch.of(title, shown)
    return matches


def match_means(matches: Sequence[TitleMatch]) -> dict[str, Any]:
    """Return micro scores, of the words of all pages together, the mean F1 and the exact share."""
    micro = score_of(*(sum(column) for column in _columns(matches)))
    return {
        "pages": len(matches),
        **{f"micro_{part}": value for part, value in micro._asdict().items()},
        "f1": mean([score_of(*match[1:]).f1 for match in matches]),
        "exact": mean([match.exact for match in matches]),
    }


def _columns(matches: Sequence[TitleMatch]) -> Iterable[tuple[int, ...]]:
    return zip(*(match[1:] for match in matches), strict=True) if matches else ((0,), (0,), (0,))
