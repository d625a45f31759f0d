"""Similarity of title candidates to the stated titles, and differences to the best candidate."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.fuzz import ratio

from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from newscrawl.fields.attributes import FeatureColumns
    from newscrawl.fields.titles.title_candidates import TitleSpan

MIN_LEADING_SIMILARITY = 0.3
"""Minimum F1 of the words of the leading heading and a stated title."""

_VOTE_RATIO = 95
_EXACT = 0.999


class WordSet(NamedTuple):
    """Words of a text, as normalized text and as a set."""

    normalized: str
    words: frozenset[str]

    @classmethod
    def of(cls, text: str) -> WordSet:
        """Return the words of *text*."""
        found = words(text)
        return cls(" ".join(found), frozenset(found))

    def f1(self, other: WordSet) -> float:
        """Return the F1 of the two sets of words."""
        if self.normalized == other.normalized:
            return 1.0
        common = len(self.words & other.words)
        return 2 * common / ((len(self.words) + len(other.words)) or 1)


class StatedTitleFeatures(NamedTuple):
    """Similarity of a candidate to the stated titles."""

    by_source: dict[str, float]
    ratio: float
    likeness: float
    share: float
    votes: int
    length_gap: float


def stated_title_features(
    text: WordSet, stated: Mapping[str, str], stated_words: Mapping[str, WordSet]
) -> StatedTitleFeatures:
    """Return the similarity of *text* to the stated titles.

    *stated*: source -> title; *stated_words*: title -> its words.
    """
    if not stated_words:
        return StatedTitleFeatures({}, -1, -1, 0, 0, -1)
    length = len(text.normalized)
    ratios: dict[str, float] = {}
    likeness, share, gap = 0.0, 0.0, inf
    for title, other in stated_words.items():
        size = len(other.normalized) or 1
        ratios[title] = ratio(text.normalized, other.normalized)
        likeness = max(likeness, text.f1(other))
        if text.normalized in other.normalized:
            share = max(share, length / size)
        gap = min(gap, abs(length - len(other.normalized)) / size)
    by_source = {source: ratios[title] for source, title in stated.items()}
    votes = sum(value >= _VOTE_RATIO for value in by_source.values())
    return StatedTitleFeatures(by_source, max(ratios.values()), likeness, share, votes, gap)


def similarity_columns(similarities: Sequence[StatedTitleFeatures]) -> FeatureColumns:
    """Return the columns of the candidates with these *similarities*."""
    return {
        "json_ld_ratio": [it.by_source.get("json-ld", -1) for it in similarities],
        "og_ratio": [it.by_source.get("og:title", -1) for it in similarities],
        "head_ratio": [it.by_source.get("title", -1) for it in similarities],
        "ratio": [it.ratio for it in similarities],
        "likeness": [it.likeness for it in similarities],
        "share_of_stated": [it.share for it in similarities],
        "votes": [it.votes for it in similarities],
        "length_gap": [it.length_gap for it in similarities],
    }


def gaps_to_best(
    spans: Sequence[TitleSpan],
    similarities: Sequence[StatedTitleFeatures],
    is_top: Sequence[bool],
) -> FeatureColumns:
    """Return the difference of each candidate to the best in likeness, length, votes and ratio.

    *is_top*: in an ``h1`` that does not link to the home page.
    """
    likeness = max((it.likeness for it in similarities), default=0.0)
    length = max((len(span.text) for span in spans), default=0)
    votes = max((it.votes for it in similarities), default=0)
    headings = [span.rows[0] if span.heading is None else span.heading for span in spans]
    ratios: dict[int, float] = {}
    for heading, it in zip(headings, similarities, strict=True):
        ratios[heading] = max(ratios.get(heading, -1), it.ratio)
    leading = _leading(spans, similarities, is_top)
    return {
        "likeness_behind": [likeness - it.likeness for it in similarities],
        "length_behind": [length - len(span.text) for span in spans],
        "votes_behind": [votes - it.votes for it in similarities],
        "ratio_behind_in_heading": [
            ratios[heading] - it.ratio for heading, it in zip(headings, similarities, strict=True)
        ],
        "leading": [float(index == leading) for index in range(len(spans))],
    }


def _leading(
    spans: Sequence[TitleSpan],
    similarities: Sequence[StatedTitleFeatures],
    is_top: Sequence[bool],
) -> int | None:
    """Return the index of the ``h1``, or exactly matching part of one, most similar to a stated title."""
    best, best_f1 = None, 0.0
    for index, (span, similarity) in enumerate(zip(spans, similarities, strict=True)):
        f1 = similarity.likeness
        eligible = is_top[index] and f1 >= MIN_LEADING_SIMILARITY
        if eligible and (span.whole or f1 >= _EXACT) and f1 > best_f1:
            best, best_f1 = index, f1
    return best
