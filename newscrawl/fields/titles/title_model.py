"""Title selection: classifies candidates with a tree ensemble."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from newscrawl.ensemble.ensemble import load_model
from newscrawl.fields.titles.title import CONFIDENCE, Headline
from newscrawl.fields.titles.title_features import TITLE_CANDIDATE_FEATURES, TitleCandidates
from newscrawl.items import Evidence

if TYPE_CHECKING:
    from pathlib import Path

    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import Model
    from newscrawl.fields.titles.title_candidates import TitleSpan

TITLE_MODEL_FILE = "title.npz"

MIN_PROBABILITY = 0.05
"""Minimum probability of the best candidate; below, a stated title takes precedence."""

MIN_PROBABILITY_TITLE_ELEMENT = 0.02
"""The same if only the ``title`` element states a title; it often names the site."""

MIN_PROBABILITY_SHARED = 0.2
"""The same if the relevant content has at least :data:`MIN_SHARE` of the stated title's words."""

MIN_SHARE = 0.7


def load_title_model(folder: Path | None = None) -> Model:
    """Return the title ensemble, see :func:`~newscrawl.ensemble.ensemble.load_model`."""
    return load_model(TITLE_MODEL_FILE, TITLE_CANDIDATE_FEATURES, folder)


class TitleChoice(NamedTuple):
    """The most probable candidate."""

    span: TitleSpan
    probability: float


def choose_span(candidates: TitleCandidates, model: Model) -> TitleChoice | None:
    """Return the first of the most probable *candidates*, or None without candidates."""
    probabilities = model.ensemble.predict(candidates.features)
    if not probabilities:
        return None
    probability = max(probabilities)
    return TitleChoice(candidates.spans[probabilities.index(probability)], probability)


def find_headline(
    document: Document, candidates: TitleCandidates, model: Model, fallback: Headline | None = None
) -> Headline | None:
    """Return the title of a page, or None for a page without any.

    The most probable candidate, if its probability reaches the threshold
    (:data:`MIN_PROBABILITY` and the two after it), else the first stated title without the site's
    name, *fallback* (the title of another method), or the most probable heading. The confidence
    of a candidate is its calibrated probability.
    """
    choice = choose_span(candidates, model)
    found = None if choice is None else _headline(document, choice, model)
    if choice is not None and choice.probability >= _min_probability(candidates):
        return found
    is_heading = choice is not None and choice.span.heading is not None
    return _stated(candidates) or fallback or (found if is_heading else None)


def title_text(candidates: TitleCandidates, model: Model) -> str:
    """Return the text of the title by :func:`find_headline` without a fallback."""
    choice = choose_span(candidates, model)
    stated = next(iter(candidates.stated.values()), "")
    if choice is None or (stated and choice.probability < _min_probability(candidates)):
        return stated
    return choice.span.text


def _min_probability(candidates: TitleCandidates) -> float:
    if candidates.stated_in_content >= MIN_SHARE:
        return MIN_PROBABILITY_SHARED
    alone = next(iter(candidates.stated), "title") == "title"
    return MIN_PROBABILITY_TITLE_ELEMENT if alone else MIN_PROBABILITY


def _headline(document: Document, choice: TitleChoice, model: Model) -> Headline:
    span = choice.span
    row = span.rows[0] if span.heading is None else span.heading
    source = "text" if span.heading is None else document.tag[row]
    return Headline(span.text, Evidence(source, model.ensemble.calibrated(choice.probability)), row)


def _stated(candidates: TitleCandidates) -> Headline | None:
    for source, text in candidates.stated.items():
        return Headline(text, Evidence(source, CONFIDENCE["stated"]))
    return None
