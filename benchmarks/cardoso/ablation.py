"""Title and date without one of the attributes 1 to 9, with other edit costs and without rules."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.distance import Levenshtein

from benchmarks.cardoso.cross_validation import folds
from benchmarks.cardoso.scoring import Pair, figure, score_of_pairs
from benchmarks.dots import Dot, dot_chart
from benchmarks.result_page import Figure
from newscrawl.fields.cardoso import (
    ATTRIBUTES,
    DATE_FEATURES,
    EDIT_WEIGHTS,
    INDEPENDENT_DATE_FEATURES,
    PROBABILITY_THRESHOLD,
    TITLE_FEATURES,
    Models,
    find_date,
    find_title,
)
from newscrawl.lab.corpora.folds import FOLDS
from newscrawl.lab.corpora.tables import Table
from newscrawl.lab.evaluation.bootstrap import compare
from newscrawl.lab.training.fit import Data, date_data, fit, title_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.dots import Rows
    from benchmarks.result_page import Part
    from newscrawl.ensemble.ensemble import TreeEnsemble
    from newscrawl.fields.cardoso import TextNodes
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.evaluation.bootstrap import Comparison
    from newscrawl.lab.training.example_types import Example

    Pairs = list[Pair]

VISUAL = ("font_size", "relative_font_size", "bold", "similar_nodes")
"""Attributes that need style."""


class Pages(NamedTuple):
    """Labelled pages, their examples and their extra-site folds."""

    pages: Sequence[LabelledPage]
    examples: Sequence[Example]
    fold_of: Sequence[int]

    def training(self, fold: int) -> list[Example]:
        """Return the examples outside of *fold*."""
        return [it for it, other in zip(self.examples, self.fold_of, strict=True) if other != fold]

    def models(self, data_of: Callable[[list[Example]], Data]) -> list[TreeEnsemble]:
        """Return a model for each fold, fitted to the others."""
        return [fit(data_of(self.training(fold))) for fold in range(FOLDS)]


def ablation_parts(pages: Sequence[LabelledPage], examples: Sequence[Example]) -> Iterator[Part]:
    """Yield the tables and the chart of the attributes, edit costs and rules."""
    results = Results.of(Pages(pages, examples, folds(pages, "extra-site")))
    changes = _changes(results.pages, results.found)
    yield _attribute_table(results.titles, results.dates, changes)
    description = "Change of F1 of title and date without an attribute"
    yield Figure("thesis-attributes", description, _chart(results.titles, results.dates, changes))
    yield _decision_table(results)


class Results(NamedTuple):
    """Models with all attributes, and what they find."""

    pages: Pages
    title_models: list[TreeEnsemble]
    date_models: list[TreeEnsemble]
    #: indices of the title nodes
    found: list[int | None]
    titles: Pairs
    dates: Pairs

    @classmethod
    def of(cls, pages: Pages) -> Results:
        """Fit and score the models of all folds."""
        title_models, date_models = pages.models(title_data), pages.models(date_data)
        found = _titles(pages, title_models)
        titles, dates = _title_pairs(pages, found), _date_pairs(pages, date_models, found)
        return cls(pages, title_models, date_models, found, titles, dates)


def _changes(
    pages: Pages, found: Sequence[int | None]
) -> dict[str, tuple[Pairs | None, Pairs | None]]:
    """Return titles and dates by omitted attributes, None if one is not used."""
    groups = {_label(name): (name,) for name in INDEPENDENT_DATE_FEATURES}
    changes: dict[str, tuple[Pairs | None, Pairs | None]] = {}
    for label, names in (groups | {"4 to 7, all visual": VISUAL}).items():
        changed_dates = pages.models(partial(date_data, names=_without(DATE_FEATURES, names)))
        changes[label] = (_titles_without(pages, names), _date_pairs(pages, changed_dates, found))
    far = _date_pairs(pages, pages.models(_dates_without_distance), found)
    changes[_label("title_distance")] = None, far
    changes[_label("title_edit_distance")] = _titles_without(pages, ("title_edit_distance",)), None
    return changes


def _label(name: str) -> str:
    return f"{ATTRIBUTES.index(name) + 1} {name}"


def _without(names: Sequence[str], omitted: Sequence[str]) -> list[str]:
    return [name for name in names if name not in omitted]


def _titles_without(pages: Pages, omitted: Sequence[str]) -> Pairs:
    models = pages.models(partial(title_data, names=_without(TITLE_FEATURES, omitted)))
    return _title_pairs(pages, _titles(pages, models))


def _dates_without_distance(examples: Sequence[Example]) -> Data:
    """Return the training data of dates with a constant distance, which no tree can use."""
    data = date_data(examples)
    for row in data.rows:
        row[data.names.index("title_distance")] = 0.0
    return data


def _titles(pages: Pages, models: Sequence[TreeEnsemble]) -> list[int | None]:
    return [
        find_title(example.nodes, models[fold])[0]
        for example, fold in zip(pages.examples, pages.fold_of, strict=True)
    ]


def _title_pairs(pages: Pages, found: Sequence[int | None]) -> Pairs:
    return [
        Pair(page, e.head_title if title is None else e.nodes.texts[title], e.title)
        for page, e, title in zip(pages.pages, pages.examples, found, strict=True)
        if e.title
    ]


def _date_pairs(
    pages: Pages, models: Sequence[TreeEnsemble], titles: Sequence[int | None]
) -> Pairs:
    pairs = []
    for page, example, fold, title in zip(*pages, titles, strict=True):
        if example.date:
            nodes, _ = find_date(example.nodes, Models(models[fold], models[fold]), title)
            text = " ".join(example.nodes.texts[index] for index in nodes)
            pairs.append(Pair(page, text, example.date))
    return pairs


def _attribute_table(
    titles: Pairs, dates: Pairs, changes: dict[str, tuple[Pairs | None, Pairs | None]]
) -> Table:
    full = [cell for pairs in (titles, dates) for cell in (_f1(pairs), "")]
    rows = [["none", *full]]
    for name, (changed_titles, changed_dates) in changes.items():
        cells = [*_cells(changed_titles, titles), *_cells(changed_dates, dates)]
        rows.append([name, *cells])
    columns = (
        "without",
        "title F1",
        "change, mean over pages",
        "date F1",
        "change, mean over pages",
    )
    return Table("Attributes 1 to 9: extra-site F1 without one", columns, rows)


def _cells(changed: Pairs | None, full: Pairs) -> tuple[str, str]:
    if changed is None:
        return "not used", ""
    found = _difference(changed, full)
    return _f1(changed), f"{found.difference:+.3f} ({found.low:+.3f} .. {found.high:+.3f})"


def _f1(pairs: Pairs) -> str:
    return figure(score_of_pairs(pairs).micro.f1)


def _difference(changed: Pairs, full: Pairs) -> Comparison:
    return compare((new.page.site, new.f1, old.f1) for new, old in zip(changed, full, strict=True))


def _chart(
    titles: Pairs, dates: Pairs, changes: dict[str, tuple[Pairs | None, Pairs | None]]
) -> str:
    rows: Rows = {}
    for name, changed in changes.items():
        rows[name] = {
            field: Dot(found.difference, found.low, found.high)
            for field, pairs, full in zip(("title", "date"), changed, (titles, dates), strict=True)
            if pairs is not None and (found := _difference(pairs, full))
        }
    axis = "change of mean F1, 95 % interval by site"
    return dot_chart("Title and date without an attribute", axis, rows)


def _decision_table(results: Results) -> Table:
    """Return the effect of edit costs and rules that the thesis states without figures."""
    pages, found, titles, dates = results.pages, results.found, results.titles, results.dates
    plain = pages._replace(examples=[_with_plain_costs(example) for example in pages.examples])
    costs = ", ".join(map(str, EDIT_WEIGHTS))
    variants = (
        ("title", f"insertion, deletion, change cost 1, 1, 1 instead of {costs}",
         _title_pairs(plain, _titles(plain, plain.models(title_data))), titles),
        ("title", "all classified nodes, not only the first",
         list(_all_titles(pages, results.title_models)), titles),
        ("date", "all classified nodes: no clusters, no limit of length",
         list(_all_dates(pages, results.date_models, found)), dates),
    )  # fmt: skip
    rows = [["title", "as published", _f1(titles), ""], ["date", "as published", _f1(dates), ""]]
    rows += [[field, name, *_cells(changed, full)] for field, name, changed, full in variants]
    rows.sort(key=lambda row: row[0], reverse=True)
    return Table(
        "Edit costs and rules after classification: extra-site F1",
        ("", "variant", "F1", "change, mean over pages"),
        rows,
    )


def _with_plain_costs(example: Example) -> Example:
    title = example.head_title
    distances = [
        Levenshtein.distance(text, title) / max(len(title), 1) for text in example.nodes.texts
    ]
    features = {**example.nodes.features, "title_edit_distance": distances}
    return replace(example, nodes=replace(example.nodes, features=features))


def _all_titles(pages: Pages, models: Sequence[TreeEnsemble]) -> Iterator[Pair]:
    for page, example, fold in zip(*pages, strict=True):
        if example.title:
            texts = _classified(example.nodes, models[fold].predict(example.nodes.features))
            yield Pair(page, texts or example.head_title, example.title)


def _all_dates(
    pages: Pages, models: Sequence[TreeEnsemble], titles: Sequence[int | None]
) -> Iterator[Pair]:
    for page, example, fold, title in zip(*pages, titles, strict=True):
        if example.date:
            position = None if title is None else example.nodes.positions[title]
            probabilities = models[fold].predict(example.nodes.date_features(position))
            yield Pair(page, _classified(example.nodes, probabilities), example.date)


def _classified(nodes: TextNodes, probabilities: Sequence[float]) -> str:
    return " ".join(
        text
        for text, probability in zip(nodes.texts, probabilities, strict=True)
        if probability >= PROBABILITY_THRESHOLD
    )
