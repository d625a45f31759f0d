"""Training of V-Wrapper on rendered pages (extra ``train``)."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from newscrawl.document.document import parse_document
from newscrawl.lab.corpora.alignment import covered_nodes
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.folds import extra_site, site_names
from newscrawl.lab.corpora.labels import align
from newscrawl.lab.corpora.map_pages import map_pages
from newscrawl.lab.corpora.metrics import score_of
from newscrawl.lab.corpora.rendering import read_geometry
from newscrawl.lab.training.boosting import Boosting, feature_rows
from newscrawl.lab.training.examples import Examples
from newscrawl.lab.training.training_errors import TooFewPagesError
from newscrawl.lab.visual.v_wrapper import BODY_FILE, MAIN_FILE, TITLE_FILE, VisualModels
from newscrawl.lab.visual.visual_features import EXTENDED_FEATURES, INNER_FEATURES, VisualBlocks
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from newscrawl.ensemble.ensemble import Columns, Model

MAIN = Boosting(MAIN_FILE, INNER_FEATURES, trees=80, leaves=10, rate=0.1, min_leaf=15)
TITLE = Boosting(TITLE_FILE, EXTENDED_FEATURES, trees=80, leaves=10, rate=0.1, min_leaf=10)
BODY = Boosting(BODY_FILE, EXTENDED_FEATURES, trees=100, leaves=16, rate=0.1, min_leaf=20)

MAX_MAIN_LOSS = 0.02
"""F1 that a main block may lack of the best inner block: nested blocks often hold the same text."""


@dataclass(frozen=True, slots=True)
class VisualExample:
    """Visual blocks of a page, with the labels of leaf and inner blocks."""

    blocks: VisualBlocks
    #: leaf block holds the title; None if it only repeats it
    title: list[bool | None]
    body: list[bool]
    main: list[bool]

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> VisualExample:
        """Convert the fields as JSON values."""
        return cls(**{**plain, "blocks": VisualBlocks.from_plain(plain["blocks"])})


def read_visual_examples(
    pages: Sequence[LabelledPage],
    *,
    workers: int,
    advance: Callable[[], object] | None = None,
    geometry: Path,
) -> Examples[VisualExample]:
    """Return the examples of those *pages* whose title and body are labelled.

    *geometry* is the folder of their stored geometry; *advance* is called after each page.
    """
    labelled = [page for page in pages if page.relevant_content is not None]
    outcomes = map_pages(
        "newscrawl.lab.evaluation.visual_training:read_visual_example",
        labelled,
        VisualExample.from_plain,
        lambda _page: None,
        workers=workers,
        advance=advance,
        geometry=str(geometry),
    )
    return Examples.of(outcomes)


def read_visual_example(html: bytes, *, page: dict[str, Any], geometry: str) -> dict[str, Any]:
    """Return the :class:`VisualExample` of a :class:`LabelledPage`, both as JSON values."""
    labelled = LabelledPage.from_plain(page)
    document = parse_document(html)
    blocks = VisualBlocks.of(document, read_geometry(Path(geometry), labelled))
    labels = align(document, labelled)
    shown = document.text_nodes()
    covered = covered_nodes(
        [words(document.text[row]) for row in shown], words(labelled.body or "")
    )
    in_body = {shown[index] for index in covered}.difference(labels.title)
    body = [row in in_body for row in blocks.rows]
    title = [None if row in labels.title_repeats else row in labels.title for row in blocks.rows]
    return asdict(VisualExample(blocks, title, body, _main_blocks(blocks, body)))


def _main_blocks(blocks: VisualBlocks, body: Sequence[bool]) -> list[bool]:
    """Return whether each inner block holds the body and little else."""
    gold = sum(size for size, label in zip(blocks.chars, body, strict=True) if label)
    scores = []
    for first, last in blocks.inner_spans:
        sizes = blocks.chars[first:last]
        common = sum(s for s, label in zip(sizes, body[first:last], strict=True) if label)
        scores.append(score_of(common, sum(sizes), gold).f1 if gold else 0.0)
    best = max(scores, default=0.0)
    return [bool(score) and score >= best - MAX_MAIN_LOSS for score in scores]


def fit_visual_models(
    pages: Sequence[LabelledPage], examples: Sequence[VisualExample]
) -> VisualModels:
    """Fit both steps; the second one to out-of-fold results of the first. Deterministic.

    Pages without a label among their leaf blocks are left out. Raises
    :class:`~newscrawl.lab.training.training_errors.TooFewPagesError`.
    """
    used = [(p, e) for p, e in zip(pages, examples, strict=True) if any(e.body) and any(e.title)]
    if not used:
        raise TooFewPagesError("too few rendered pages to train v-wrapper")
    pages, examples = [p for p, _ in used], [e for _, e in used]
    sites = {name for page in pages for name in site_names(page)}
    weights = _page_weights(pages)
    features = list(_extended_out_of_fold(pages, examples))
    titles = [e.title for e in examples]
    bodies = [e.body for e in examples]
    return VisualModels(
        _fit_main(examples, weights, sites),
        _fit(TITLE, features, titles, weights, sites),
        _fit(BODY, features, bodies, weights, sites),
    )


def _page_weights(pages: Sequence[LabelledPage]) -> list[float]:
    """Return the weight of each page: the total of a site grows with the root of its pages."""
    sites = Counter(page.site for page in pages)
    return [1 / sqrt(sites[page.site]) for page in pages]


def _extended_out_of_fold(
    pages: Sequence[LabelledPage], examples: Sequence[VisualExample]
) -> Iterator[Columns]:
    folds, weights = extra_site(pages), _page_weights(pages)
    models = {}
    for fold in sorted(set(folds)):
        others = [i for i, other in enumerate(folds) if other != fold] or range(len(folds))
        models[fold] = _fit_main([examples[i] for i in others], [weights[i] for i in others])
    for example, fold in zip(examples, folds, strict=True):
        probabilities = models[fold].ensemble.predict(example.blocks.inner_features)
        yield example.blocks.extended_features(probabilities)


def _fit_main(
    examples: Sequence[VisualExample], weights: Sequence[float], sites: Iterable[str] = ()
) -> Model:
    features = [e.blocks.inner_features for e in examples]
    return _fit(MAIN, features, [e.main for e in examples], weights, sites)


def _fit(
    boosting: Boosting,
    features: Sequence[Columns],
    labels: Sequence[Sequence[bool | None]],
    page_weights: Sequence[float],
    sites: Iterable[str],
) -> Model:
    """Fit a model to the blocks whose label is known, which share the weight of their page."""
    rows, truth, weights = [], [], []
    for columns, page_labels, weight in zip(features, labels, page_weights, strict=True):
        known = [index for index, label in enumerate(page_labels) if label is not None]
        rows.append(feature_rows(columns, boosting.names)[known])
        truth += [bool(page_labels[index]) for index in known]
        weights += [weight / len(known)] * len(known)
    scale = len(weights) / sum(weights)
    return boosting.fit(np.concatenate(rows), truth, [weight * scale for weight in weights], sites)
