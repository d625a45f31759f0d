"""Confidence and accuracy of title, date, authors and body, with models of other sites.

For each source of a field and each confidence that is not calibrated by a model: number of pages,
confidence, share of right values, and the rate for the package, (right + 1) / (all + 2) on the
corpora that may be used for training. For each corpus: expected calibration error, as it is and
with the rates of other sites (three folds). A date counts as right if the label is its day or that
of the modification; a title at a fuzzy ratio of 95; a body by its F1.

    python -m benchmarks.confidences [--corpora DIR]
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.lab.corpora.calibration import calibration_error, confidence_bins
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.day_match import day_result
from newscrawl.lab.corpora.folds import FOLDS, extra_site
from newscrawl.lab.corpora.map_pages import PageOutcome
from newscrawl.lab.corpora.metadata_match import MetadataValues, field_matches
from newscrawl.lab.corpora.metrics import bag_score, mean
from newscrawl.lab.corpora.tables import Table, figure, print_tables
from newscrawl.lab.corpora.title_match import title_matches
from newscrawl.lab.evaluation.families import FAMILY_OF, MAY_TRAIN
from newscrawl.lab.evaluation.out_of_fold import map_folds
from newscrawl.lab.training.bundle import fit_default
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from newscrawl.items import Article
    from newscrawl.lab.corpora.corpus import LabelledPage

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
NAMES = (*FAMILY_OF, *sorted(MAY_TRAIN - FAMILY_OF.keys()))
# Their confidences are calibrated probabilities.
_MODELS = frozenset({"text", "blocks", *(f"h{level}" for level in range(1, 7))})

Key = tuple[str, str, float]


class Case(NamedTuple):
    """A field of a page."""

    page: LabelledPage
    field: str
    source: str
    confidence: float
    #: in 0..1
    result: float

    @property
    def key(self) -> Key:
        """Field, kind of source and confidence; dates by their support, which decides it."""
        source = "" if self.field == "date" else self.source.partition(":")[0]
        return self.field, source, self.confidence

    @property
    def is_fitted(self) -> bool:
        """Whether the confidence is a rate, not a probability of a model."""
        return self.field == "date" or self.source not in _MODELS


def measure(pages: Sequence[LabelledPage], models: Path) -> list[PageOutcome[list[Case]]]:
    """Return the cases of each page, extracted with *models*."""
    return [PageOutcome(page, list(_cases(page, models))) for page in pages]


def _cases(page: LabelledPage, models: Path) -> Iterator[Case]:
    article = extract(
        page.html(), page.url, fetched_at=page.fetched_at, options=ExtractOptions(models=models)
    )
    for name, result in _results(page, article):
        if found := article.evidence.get(name):
            yield Case(page, name, found.source, found.confidence, result)


def _results(page: LabelledPage, article: Article) -> Iterator[tuple[str, float]]:
    if title := title_matches(page, article, None).get("label"):
        yield "title", float(title.exact)
    if page.day_counts and (day := day_result(page, article)):
        yield "date", float(day.right)
    if page.body is not None:
        yield "body", bag_score(words(article.body), words(page.body)).f1
    if authors := field_matches(page, MetadataValues.of(article)).get("authors"):
        yield "authors", float(authors.right)


def rates(cases: Iterable[Case]) -> dict[Key, float]:
    """Return (right + 1) / (all + 2) of the cases that confidences may be fitted to."""
    results: dict[Key, list[float]] = defaultdict(list)
    for case in cases:
        if case.is_fitted and case.page.corpus in MAY_TRAIN:
            results[case.key].append(case.result)
    return {key: (sum(found) + 1) / (len(found) + 2) for key, found in results.items()}


def source_table(cases: Sequence[Case]) -> Table:
    """Return the shares of right values by field, source and confidence."""
    fitted = rates(cases)
    groups: dict[Key, list[float]] = defaultdict(list)
    for case in cases:
        if case.is_fitted:
            groups[case.key].append(case.result)
    rows = [
        [
            *key[:2],
            str(len(found)),
            figure(key[2]),
            figure(mean(found)),
            figure(fitted.get(key, 0.5)),
        ]
        for key, found in sorted(groups.items())
    ]
    return Table("sources", ("field", "source", "pages", "confidence", "right", "rate"), rows)


def error_table(cases: Sequence[Case]) -> Table:
    """Return the calibration error by field and corpus: today's, and with rates of other sites."""
    fold_of = dict(zip(pages := [case.page for case in cases], extra_site(pages), strict=True))
    by_fold = [rates(it for it in cases if fold_of[it.page] != fold) for fold in range(FOLDS)]
    none: list[dict[Key, float]] = [{}] * FOLDS
    groups: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.field, case.page.corpus].append(case)
        groups[case.field, "all"].append(case)
    rows = [
        [*key, str(len(found)), *(figure(_error(found, it, fold_of)) for it in (none, by_fold))]
        for key, found in sorted(groups.items())
    ]
    return Table("calibration error", ("field", "corpus", "pages", "error", "error, rates"), rows)


def _error(
    cases: Iterable[Case],
    rates_of: Sequence[Mapping[Key, float]],
    fold_of: Mapping[LabelledPage, int],
) -> float:
    pairs = (
        (rates_of[fold_of[case.page]].get(case.key, case.confidence), case.result) for case in cases
    )
    return calibration_error(confidence_bins(pairs))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    folders = [arguments.corpora / name for name in NAMES if (arguments.corpora / name).is_dir()]
    pages = [page for folder in folders for page in load_corpus(folder).pages]
    learn_from = [page for page in pages if page.corpus in MAY_TRAIN]
    outcomes = map_folds(
        pages, measure, learn_from=learn_from, fit=fit_default, workers=arguments.workers
    )
    cases = [case for outcome in outcomes for case in outcome.value]
    print_tables([source_table(cases), error_table(cases)], sys.stdout)


if __name__ == "__main__":
    main()
