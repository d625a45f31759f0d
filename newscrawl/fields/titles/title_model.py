"""Title selection: a tree ensemble classifies candidates; style, where a page has none."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.ensemble.ensemble import load_model
from newscrawl.fields.titles.title import (
    CONFIDENCE,
    MAX_SITE_WORDS,
    Headline,
    heading_text,
    separators,
)
from newscrawl.fields.titles.title_candidates import MAX_AFTER
from newscrawl.fields.titles.title_features import TITLE_CANDIDATE_FEATURES, TitleCandidates
from newscrawl.items import Evidence
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import Model
    from newscrawl.fields.cardoso import StyleOf
    from newscrawl.fields.titles.title_candidates import TitleSpan

TITLE_MODEL_FILE = "title.npz"

MIN_PROBABILITY = 0.05
"""Minimum probability of the best candidate; below, a stated title takes precedence."""

MIN_PROBABILITY_SHARED = 0.2
"""The same if content and candidate have at least :data:`MIN_SHARE` of the stated title's words."""

MIN_SHARE = 0.7

MIN_SLUG_GAP = 0.5
"""Minimum share of the words of the address that a stated title or a candidate has more than the
most probable one, which is then another heading of the page."""

STATED_CONFIDENCE = {True: 0.6, False: 0.33}
"""Rates of ``benchmarks/confidences.py`` of improbable titles: of metadata, of the ``title``
element."""

AGREED_CONFIDENCE = 0.96
"""Confidence in the only heading if the page states its text as the title: the share of right ones
on the corpora that may be used for training."""

# With the first share of its words in the content or less, a title names the site or a section; a
# candidate at the start of the content with the second share wins, unless its probability is small
# next to that of the most probable one.
_MAX_FOREIGN_SHARE, _MIN_CONTENT_SHARE, _MIN_CONTENT_RATIO = 0.2, 0.3, 0.25
MIN_SIZE_RATIO = 1.3
"""Minimum font size of a headline, relative to the first paragraph of the story."""

_MIN_PARAGRAPH, _MIN_WORDS = 100, 3


def load_title_model(folder: Path | None = None) -> Model:
    """Return the title ensemble, see :func:`~newscrawl.ensemble.ensemble.load_model`."""
    return load_model(TITLE_MODEL_FILE, TITLE_CANDIDATE_FEATURES, folder)


class TitleChoice(NamedTuple):
    """The most probable candidate."""

    span: TitleSpan
    probability: float


def choose_span(candidates: TitleCandidates, model: Model) -> TitleChoice | None:
    """Return the first of the most probable *candidates*, or None without candidates.

    Those that the address names take precedence (:data:`MIN_SLUG_GAP`).
    """
    probabilities = model.ensemble.predict(candidates.features)
    if not probabilities:
        return None
    best, shares = probabilities.index(max(probabilities)), candidates.features["slug"]
    named = [
        number
        for number, probability in enumerate(probabilities)
        if probability >= MIN_PROBABILITY and shares[number] - shares[best] >= MIN_SLUG_GAP
    ]
    best = max(named if candidates.slug else (), key=probabilities.__getitem__, default=best)
    return TitleChoice(candidates.spans[best], probabilities[best])


def find_headline(
    document: Document, candidates: TitleCandidates, model: Model, fallback: Headline | None = None
) -> Headline | None:
    """Return the title of a page, or None for a page without any.

    The most probable candidate, if its probability reaches the threshold
    (:data:`MIN_PROBABILITY`, or the next one) and the address does not name the stated title
    instead (:data:`MIN_SLUG_GAP`), else the first stated title without the site's
    name, or *fallback* (the title of another method). A ``title`` element that names the site or a
    section yields to a text at the start of the content. The confidence of a candidate is its
    calibrated probability; the model is not asked if the page agrees on its title.
    """
    if candidates.agreed:
        found: Headline | None = _headline(document, candidates.agreed, AGREED_CONFIDENCE)
    else:
        choice, stated = _choose(candidates, model)
        if candidates.stated.keys() == {"title"}:
            choice = _of_content(candidates, model, choice) or choice
        confidence = model.ensemble.calibrated(choice.probability) if choice else 0
        found = _headline(document, choice.span, confidence) if choice else stated or fallback
    return found and found._replace(text=_whole(found.text, candidates))


def title_text(candidates: TitleCandidates, model: Model) -> str:
    """Return the text of the title by :func:`find_headline` without a fallback."""
    choice, stated = _choose(candidates, model)
    return choice.span.text if choice else stated.text if stated else ""


def _choose(
    candidates: TitleCandidates, model: Model
) -> tuple[TitleChoice | None, Headline | None]:
    """Return the most probable candidate, None below the threshold, and the stated title."""
    choice, stated = choose_span(candidates, model), _stated(candidates)
    if choice:
        shown = words(choice.span.text)
        least = _min_probability(stated, {*candidates.content_words, *shown})
        if choice.probability < least or _is_address_of(stated, candidates.slug, shown):
            choice = None
    return choice, stated


def _is_address_of(stated: Headline | None, slug: Collection[str], shown: Collection[str]) -> bool:
    """Return whether the words of the address are those of the stated title, not those *shown*."""
    named = set(words(stated.text)) if stated and slug else set[str]()
    gap = len(named.intersection(slug)) - len(set(shown).intersection(slug))
    return bool(named) and gap >= MIN_SLUG_GAP * len(slug)


def _of_content(
    candidates: TitleCandidates, model: Model, best: TitleChoice | None
) -> TitleChoice | None:
    """Return the best candidate at the start of the content, None if the titles may be right."""
    content, features = set(candidates.content_words), candidates.features
    least = _MIN_CONTENT_RATIO * (best.probability if best else MIN_PROBABILITY)
    titles = {best.span.text if best else "", candidates.stated["title"]} - {""}
    for found in map(set, map(words, titles)):
        if len(found & content) > _MAX_FOREIGN_SHARE * len(found):
            return None
    choices = [
        choice
        for number, choice in enumerate(
            map(TitleChoice, candidates.spans, model.ensemble.predict(features))
        )
        if choice.probability >= least
        and 0 <= features["distance_to_content"][number] <= MAX_AFTER
        and features["words_in_content"][number] >= _MIN_CONTENT_SHARE
    ]
    return max(choices, key=lambda choice: choice.probability, default=None)


def _whole(title: str, candidates: TitleCandidates) -> str:
    """Return the candidate or stated title that *title* abbreviates with an ellipsis."""
    start = title.rstrip("….")
    if start == title or not title.endswith(("…", "...")):
        return title
    texts = (*(span.text for span in candidates.spans), *candidates.stated.values())
    longer = (text for text in texts if text.startswith(start) and not text.endswith(("…", "...")))
    return next((text for text in longer if text[len(start) :].lstrip()[:1].isalnum()), title)


def _min_probability(stated: Headline | None, shown: AbstractSet[str]) -> float:
    found = words(stated.text) if stated else []
    shared = sum(map(shown.__contains__, found))
    return MIN_PROBABILITY_SHARED if found and shared >= MIN_SHARE * len(found) else MIN_PROBABILITY


def _headline(document: Document, span: TitleSpan, confidence: float) -> Headline:
    row = span.rows[0] if span.heading is None else span.heading
    source = "text" if span.heading is None else document.tag[row]
    return Headline(span.text, Evidence(source, confidence), row)


def _stated(candidates: TitleCandidates) -> Headline | None:
    for source, text in candidates.stated.items():
        known = source != "title"
        shown = text if known else _without_unknown_site(text, set(candidates.content_words))
        return Headline(shown, Evidence(source, STATED_CONFIDENCE[known]))
    return None


def _without_unknown_site(title: str, content: AbstractSet[str]) -> str:
    """Return *title* without a first or last part of which the *content* has no word."""
    found = separators(title)
    if not found:
        return title
    (start, end), (first_start, first_end) = found[-1].span(), found[0].span()
    for rest, part in ((title[:start], title[end:]), (title[first_end:], title[:first_start])):
        kept, cut = words(rest), words(part)
        is_known = 2 * sum(word in content for word in kept) >= len(kept)
        is_short = len(part) < len(rest) and len(cut) <= MAX_SITE_WORDS
        if is_known and is_short and content.isdisjoint(cut):
            return _without_unknown_site(rest, content)
    return title


def headline_by_style(
    document: Document, region: Sequence[int], style_of: StyleOf
) -> Headline | None:
    """Return the largest text before the first paragraph of *region*, None if none is large.

    Texts that are links or hidden, and those of one or two words do not count. None if the page
    shows an ``h1``, which is the better headline.
    """
    if any(document.chars(row) and not style_of(row).hidden for row in document.rows_of("h1")):
        return None
    paragraph = next(
        (
            row
            for root in region
            for row in document.text_nodes(root)
            if document.chars(row) >= _MIN_PARAGRAPH and not style_of(row).hidden
        ),
        None,
    )
    if paragraph is None:
        return None
    least = MIN_SIZE_RATIO * style_of(paragraph).font_size
    sizes = {
        row: style_of(row).font_size
        for row in takewhile(paragraph.__gt__, document.text_nodes())
        if not document.link_chars(row)
        and len(words(document.text[row])) >= _MIN_WORDS
        and not style_of(row).hidden
    }
    row = max(
        reversed(sizes), key=sizes.__getitem__, default=None
    )  # of equals the one closest to it
    if row is None or sizes[row] < least:
        return None
    element = document.parent[row]
    shown = [it for it in document.text_nodes(element) if style_of(it).font_size == sizes[row]]
    evidence = Evidence("style", CONFIDENCE["method"])
    return Headline(heading_text(document.join_texts(shown)), evidence, element)
