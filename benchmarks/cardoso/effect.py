"""Effect of style sheets on title and date: style from none, tags, newscrawl and Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from benchmarks.cardoso.cross_validation import folds, out_of_fold
from benchmarks.cardoso.scoring import ALL, Pair, by_group, classified_pairs, figure, fold_models
from benchmarks.cardoso.style_pool import GROUPS, INCOMPLETE
from benchmarks.dots import Dot, dot_chart
from benchmarks.result_page import Figure
from newscrawl.lab.corpora.metrics import mean
from newscrawl.lab.corpora.tables import Table
from newscrawl.lab.evaluation.bootstrap import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchmarks.cardoso.looks import Source
    from benchmarks.cardoso.style_pool import Groups, Pool
    from benchmarks.dots import Rows
    from benchmarks.result_page import Part
    from newscrawl.fields.cardoso import Models
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.evaluation.bootstrap import Comparison

    #: cost of style by group and source, formatted
    Costs = Mapping[tuple[str, Source], str]

FITTED_TO_ALL = "Effect of style sheets, models fitted to all three corpora"
FITTED_TO_COMPLETE = "Effect of style sheets, models fitted to the pages with all sheets"
NAMES: dict[Source, str] = {
    "none": "none",
    "tags": "tags, no author style",
    "ours": "our engine",
    "chromium": "Chromium",
}
ALL_SHEETS = "all sheets"
CROSSED = "Chromium, models fitted with ours"
COMPARED: tuple[tuple[Source, Source], ...] = (
    ("tags", "none"), ("ours", "none"), ("chromium", "none"), ("ours", "tags"), ("chromium", "ours"),
)  # fmt: skip
"""Pairs of sources whose difference is reported."""


class Result(NamedTuple):
    """Out-of-fold titles and dates with one source of style."""

    titles: list[Pair]
    dates: list[Pair]


def effect_parts(
    pool: Pool, groups: Groups, costs: Costs, trained: Sequence[str]
) -> Iterator[Part]:
    """Yield quality and cost by source, and confidence intervals of differences.

    Models are fitted to the *trained* corpora.
    """
    results = find(pool, trained)
    fitted = {name: _only(result, trained) for name, result in results.items()}
    yield effect_table(FITTED_TO_ALL, fitted, groups, costs)
    differences = list(find_differences(results, groups))
    yield difference_table(differences)
    if differences:
        yield Figure("styles", "Change of F1 by source of style", difference_chart(differences))
    few = pool.only(lambda page: page.corpus in trained and groups.complete(page))
    yield effect_table(FITTED_TO_COMPLETE, find(few, trained), groups, {})


def find(pool: Pool, trained: Sequence[str]) -> dict[str, Result]:
    """Return the results with each source of style, and with other training and test sources."""
    fold_of = folds(pool.pages, "extra-site")
    results = {}
    for source, examples in pool.examples.items():
        models = fold_models(pool.pages, examples, fold_of, trained)
        results[NAMES[source]] = _result(pool, source, fold_of, models)
        if source == "ours" and "chromium" in pool.examples:
            results[CROSSED] = _result(pool, "chromium", fold_of, models)
    return results


def _result(pool: Pool, test: Source, fold_of: Sequence[int], models: Sequence[Models]) -> Result:
    examples = pool.examples[test]
    found = out_of_fold(examples, fold_of, models)
    pairs = (classified_pairs(pool.pages, examples, found, label) for label in ("title", "date"))
    return Result(*map(list, pairs))


def _only(result: Result, corpora: Sequence[str]) -> Result:
    return Result(*([pair for pair in pairs if pair.page.corpus in corpora] for pairs in result))


def effect_table(title: str, results: Mapping[str, Result], groups: Groups, costs: Costs) -> Table:
    """Return quality and cost of each source, by group of pages and for all pages."""
    sources = {name: source for source, name in NAMES.items()}
    rows = []
    for name, result in results.items():
        for group, *cells in _quality(result, groups):
            source = sources.get(name)
            cost = costs.get((group, source), "") if source else ""
            rows.append([group, name, *cells, *([cost] if costs else [])])
    order = (*GROUPS, ALL)
    rows.sort(key=lambda row: order.index(row[0]))
    columns = ("pages", "style from", *_QUALITY, *(["CPU"] if costs else []))
    return Table(title, columns, rows)


_QUALITY = ("titles", "title F1", "title exact", "dates", "date F1", "date exact")


def _quality(result: Result, group_of: Callable[[LabelledPage], str]) -> Iterator[list[str]]:
    """Yield group, number, F1 and exact share of titles and of dates."""
    scores = [by_group(pairs, group_of) for pairs in result]
    for group in scores[0]:
        cells = [group]
        for pairs, by_name in zip(result, scores, strict=True):
            members = [pair for pair in pairs if group in (ALL, group_of(pair.page))]
            found = by_name.get(group)
            exact = figure(mean([pair.exact for pair in members]))
            cells += [str(len(members)), figure(found.micro.f1), exact] if found else ["0", "", ""]
        yield cells


class Difference(NamedTuple):
    """Comparisons of two sources of style, by group of pages."""

    field: str
    #: such as "our engine - tags"
    sources: str
    found: dict[str, Comparison]


def find_differences(results: Mapping[str, Result], groups: Groups) -> Iterator[Difference]:
    """Yield the differences of pairs of sources, by group of pages."""
    for first, second in COMPARED:
        names = NAMES[first], NAMES[second]
        if {*names} <= results.keys():
            mine, theirs = (results[name] for name in names)
            sources = " - ".join(name.partition(",")[0] for name in names)
            for field, pairs, others in (
                ("title", mine.titles, theirs.titles),
                ("date", mine.dates, theirs.dates),
            ):
                found = _comparisons(pairs, others, groups)
                if "chromium" in (first, second):
                    found.pop(INCOMPLETE, None)
                yield Difference(field, sources, found)


def _comparisons(
    pairs: Iterable[Pair], others: Iterable[Pair], groups: Groups
) -> dict[str, Comparison]:
    scores: dict[str, list[tuple[str, float, float]]] = {}
    for pair, other in zip(pairs, others, strict=True):
        group = groups(pair.page)
        for name in (group,) if group == INCOMPLETE else (ALL_SHEETS, group):
            scores.setdefault(name, []).append((pair.page.site, pair.f1, other.f1))
    return {name: compare(group) for name, group in scores.items()}


def difference_table(differences: Iterable[Difference]) -> Table:
    """Return the differences with their intervals."""
    order = (ALL_SHEETS, *GROUPS)
    rows = []
    for field, sources, by_name in differences:
        cells = [
            f"{found.difference:+.3f} ({found.low:+.3f} .. {found.high:+.3f})"
            if (found := by_name.get(name))
            else ""
            for name in order
        ]
        sizes = by_name.get(ALL_SHEETS)
        size = f"{sizes.pages} / {sizes.sites}" if sizes else ""
        rows.append([field, sources, size, *cells])
    columns = ("field", "style from", f"{ALL_SHEETS}: pages / sites", *order)
    return Table("Differences of F1 between sources of style", columns, rows)


def difference_chart(differences: Iterable[Difference]) -> str:
    """Return the differences on pages with all sheets as a chart."""
    rows: Rows = {}
    for field, sources, by_name in differences:
        if found := by_name.get(ALL_SHEETS):
            dot = Dot(found.difference, found.low, found.high)
            rows[f"{field}: {sources}"] = {"method papers": dot}
    axis = "change of mean F1, 95 % interval by site"
    return dot_chart("Is style worth its cost? Pages with all sheets, unseen sites", axis, rows)
