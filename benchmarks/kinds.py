"""Evaluation of page kinds: precision and recall, and pages kept by threshold and family.

The first table evaluates the models of the package on generated pages (``tests.pages.kind_pages``,
halves ``tune`` and ``report``), on the sample sites and on the labelled pages of two corpora, which
are articles unless ``kinds.json`` lists them. ``index`` and ``other`` count as one kind,
*no article*.

The other tables evaluate all corpora out of fold. Models are never fitted to :data:`HELD_OUT`.

    python -m benchmarks.kinds [--corpora DIR] [--wrong] [--workers N]
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from newscrawl.extraction.extract import extract
from newscrawl.fields.kind.page_kind import (
    KIND_MODEL_FILE,
    KIND_THRESHOLD,
    PAGE_KIND_MODEL_FILE,
    PAGE_KIND_THRESHOLD,
)
from newscrawl.lab.corpora.calibration import confidence_bins
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.metrics import mean
from newscrawl.lab.corpora.tables import Table, print_tables
from newscrawl.lab.training.examples import read_examples
from newscrawl.lab.training.kind_training import (
    LABELLED,
    calibration_curve,
    predict_in_folds,
    read_kind_pages,
    read_out_of_fold,
)
from samples import expected_pages
from tests.pages.kind_pages import kind_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.kind_training import KindPrediction

REPOSITORY = Path(__file__).resolve().parents[1]
CORPORA = REPOSITORY.parent / "shared" / "corpora"
LABELS = json.loads((Path(__file__).parent / "kinds.json").read_text())
NAMES = ("news212", "fundus")
NO_ARTICLE = "no article"
KINDS = ("article", "live", "gallery", NO_ARTICLE, "paywalled")
TRAINED = ("news212", "fundus", "fundus-history", "css-sites", "wcxb", "postlight", "wcxb-kinds")
HELD_OUT = ("l3sgn1", "daniel", "dragnet", "mkwebs")
FAMILIES = {"news212": "news212 + fundus", "fundus": "news212 + fundus"}
THRESHOLDS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7)
BINS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0)
TITLES = {
    KIND_MODEL_FILE: f"Kinds: share of pages kept, by threshold (default {KIND_THRESHOLD})",
    PAGE_KIND_MODEL_FILE: "Kinds before extraction: share of pages kept "
    f"(default {PAGE_KIND_THRESHOLD})",
}


@dataclass(frozen=True)
class ClassifiedPage:
    """Page with its labelled and its found kinds."""

    name: str
    group: str
    #: kind, and ``paywalled`` for a stub
    labels: frozenset[str]
    found: frozenset[str]

    @property
    def kind_is_correct(self) -> bool:
        """Whether the kind is correct, apart from the paywall."""
        return self.labels - {"paywalled"} == self.found - {"paywalled"}


def classify_page(
    name: str, group: str, html: bytes, kind: str, *, stub: bool, fetched_at: datetime | None = None
) -> ClassifiedPage:
    """Return the kinds of a page as labelled and as extracted."""
    article = extract(html, fetched_at=fetched_at)
    # A paywall in structured data alone is not counted as wrong: most such pages are complete.
    evidence = article.evidence.get("paywalled")
    shown = evidence is not None and evidence.source == "shown"
    return ClassifiedPage(
        name,
        group,
        kind_labels(kind, stub=stub),
        kind_labels(article.kind, stub=shown or (stub and article.paywalled is True)),
    )


def kind_labels(kind: str, *, stub: bool) -> frozenset[str]:
    """Return *kind*, with ``index`` and ``other`` merged, and ``paywalled`` for a stub."""
    kind = NO_ARTICLE if kind in {"index", "other"} else kind
    return frozenset({kind, "paywalled"} if stub else {kind})


def generated_pages() -> Iterator[ClassifiedPage]:
    """Yield the generated pages and those of the sample sites."""
    for page in kind_pages():
        group = f"made, {page.half}"
        yield classify_page(page.page, group, page.html, page.kind, stub=page.paywalled)
    for expected in expected_pages():
        html = expected.file.read_bytes()
        yield classify_page(expected.path, "sample sites", html, expected.kind, stub=False)


def corpus_pages(folder: Path) -> Iterator[ClassifiedPage]:
    """Yield the labelled pages of :data:`NAMES`."""
    for name in NAMES:
        kinds, stubs = LABELS["kinds"].get(name, {}), LABELS["stubs"].get(name, [])
        for page in load_corpus(folder / name).pages:
            yield classify_page(
                page.id,
                name,
                page.html(),
                kinds.get(page.id, "article"),
                stub=page.id in stubs,
                fetched_at=page.fetched_at,
            )


def family_tables(folder: Path, workers: int) -> Iterator[Table]:
    """Yield the share of pages kept by threshold, and the calibration of probabilities."""
    corpora = [load_corpus(folder / name) for name in TRAINED]
    examples = read_examples([page for corpus in corpora for page in corpus.pages], workers=workers)
    typed = [page for corpus in corpora for page in corpus.typed]
    pages = read_out_of_fold(examples.pages, examples.examples, typed, workers=workers)
    held_out = [page for name in HELD_OUT for page in load_corpus(folder / name).pages]
    pages += [
        page._replace(examples=[row for row in page.examples if row.group == "article"])
        for page in read_kind_pages(held_out, workers=workers)
    ]
    for file, title in TITLES.items():
        predictions = list(predict_in_folds(pages, file, fitted=is_fitted))
        known = [it for it in predictions if is_fitted(it.page)]
        calibrated: list[tuple[float, KindPrediction]] = []
        for fold in sorted({it.fold for it in predictions}):
            curve = np.array(calibration_curve([it for it in known if it.fold != fold])).T
            calibrated += [
                (float(np.interp(it.probability, *curve)), it)
                for it in predictions
                if it.fold == fold
            ]
        yield kept_table(title, calibrated)
        if file == KIND_MODEL_FILE:
            yield reliability_table([case for case in calibrated if is_fitted(case[1].page)])


def is_fitted(page: LabelledPage) -> bool:
    """Return whether models are fitted to *page*."""
    return page.corpus not in HELD_OUT


def kept_table(title: str, predictions: Iterable[tuple[float, KindPrediction]]) -> Table:
    """Return the share of pages kept by threshold, by family."""
    groups: dict[str, list[float]] = {}
    for probability, it in predictions:
        corpus, group = it.page.corpus, it.example.group
        name = FAMILIES.get(corpus, corpus) if group == "article" else group
        groups.setdefault(name, []).append(probability)
    rows = [
        [name, str(len(group)), *(f"{mean([p >= at for p in group]):.3f}" for at in THRESHOLDS)]
        for name, group in groups.items()
    ]
    return Table(title, ("pages", "number", *map(str, THRESHOLDS)), rows)


def reliability_table(predictions: Iterable[tuple[float, KindPrediction]]) -> Table:
    """Return the share of articles by probability."""
    cases = [
        (probability, float(it.example.is_article))
        for probability, it in predictions
        if it.example.group in LABELLED
    ]
    rows = [
        [
            f"{it.low:.2f} to {it.high:.2f}",
            str(len(it.results)),
            f"{it.confidence:.3f}",
            f"{it.result:.3f}",
        ]
        for it in confidence_bins(cases, BINS)
    ]
    head = ("probability", "pages", "mean probability", "articles")
    return Table("Kinds: probability, extra-site, labelled pages", head, rows)


def score_table(pages: Sequence[ClassifiedPage]) -> Table:
    """Return precision and recall of each kind, by group."""
    rows = []
    for group in dict.fromkeys(page.group for page in pages):
        members = [page for page in pages if page.group == group]
        for kind in KINDS:
            gold = sum(kind in page.labels for page in members)
            found = sum(kind in page.found for page in members)
            both = sum(kind in page.labels & page.found for page in members)
            if gold or found:
                rows.append(
                    [group, kind, str(gold), str(found), ratio(both, found), ratio(both, gold)]
                )
    return Table("Kinds of page", ("pages", "kind", "are", "found", "precision", "recall"), rows)


def ratio(part: int, whole: int) -> str:
    """Return ``part / whole`` as text, empty if *whole* is 0."""
    return f"{part / whole:.3f}" if whole else ""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--wrong", action="store_true", help="print the misclassified pages")
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    options = parser.parse_args()
    pages = list(generated_pages())
    if options.corpora.is_dir():
        pages += corpus_pages(options.corpora)
    print_tables([score_table(pages)], sys.stdout)
    if options.corpora.is_dir():
        print_tables(family_tables(options.corpora, options.workers), sys.stdout)
    if options.wrong:
        for page in pages:
            if page.labels != page.found:
                print(page.group, page.name, *sorted(page.labels), "->", *sorted(page.found))


if __name__ == "__main__":
    main()
