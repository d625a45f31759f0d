"""Effect of style sheets on title and date: style from none, tags, newscrawl and Chromium."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.cardoso.looks import ChromiumStyles, Source, oracle_page, tag_styles
from benchmarks.cardoso.scoring import (
    ALL,
    Pair,
    by_group,
    date_pairs,
    figure,
    find_in_folds,
    title_pairs,
)
from newscrawl.corpora.folds import FOLDS, KINDS, folds
from newscrawl.corpora.metrics import mean
from newscrawl.corpora.tables import Table
from newscrawl.document.document import DocumentError, parse_document
from newscrawl.evaluation.bootstrap import compare
from newscrawl.fields.attributes import ATTRIBUTES, TextNodes
from newscrawl.fields.titles.title_model import title_text
from newscrawl.training.examples import Examples, example
from newscrawl.training.title_training import fit_title_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.corpora.folds import Kind
    from newscrawl.document.document import Document
    from newscrawl.fields.attributes import StyleOf
    from newscrawl.fields.cardoso import ClassifiedNodes
    from newscrawl.training.example_types import Example

    #: cost of style by group and source, formatted
    Costs = Mapping[tuple[str, Source], str]

GROUPS = COMPLETE, SITES, INCOMPLETE = "css-complete", "css-sites", "sheets missing"
DEFAULT_TITLE = "Effect of style sheets on the title of method newscrawl, extra-site"
FITTED_TO_ALL = "Effect of style sheets, models fitted to all three corpora"
FITTED_TO_COMPLETE = "Effect of style sheets, models fitted to the pages with all sheets"
NAMES: dict[Source, str] = {
    "none": "none",
    "tags": "tags, no author style",
    "ours": "our engine",
    "chromium": "Chromium",
}
CROSSED = "Chromium, models fitted with ours"
TOLERANCES = {3: 0.06, 4: 0.5, 5: 0.0, 6: 0.0}
"""Indices of attributes 4 to 7 and the tolerance of equal values, in pixels or per cent."""

_BATCH_SIZE = 60
"""Pages rendered in one batch; limits the memory for their bytes and sheets."""


class Pool(NamedTuple):
    """Pages and their examples with each source of style."""

    pages: list[LabelledPage]
    examples: dict[Source, list[Example]]

    def only(self, chosen: Callable[[LabelledPage], bool]) -> Pool:
        """Return the pool of the pages for which *chosen* is true."""
        indices = [index for index, page in enumerate(self.pages) if chosen(page)]
        return Pool(
            [self.pages[index] for index in indices],
            {
                source: [examples[index] for index in indices]
                for source, examples in self.examples.items()
            },
        )


class Result(NamedTuple):
    """Out-of-fold titles and dates with one source of style."""

    titles: dict[Kind, list[Pair]]
    dates: dict[Kind, list[Pair]]


class Groups:
    """Groups of pages by the availability of their style sheets."""

    def __init__(self, corpora: Path) -> None:
        listed = json.loads((corpora / f"{COMPLETE}.json").read_bytes())
        self._inline = {(entry["corpus"], entry["id"]) for entry in listed}

    def __call__(self, page: LabelledPage) -> str:
        """Return the group of *page*."""
        if page.corpus == SITES:
            return SITES
        return COMPLETE if (page.corpus, page.id) in self._inline else INCOMPLETE

    def complete(self, page: LabelledPage) -> bool:
        """Return whether all style sheets of *page* are available."""
        return self(page) != INCOMPLETE


def read_pool(
    pages: Sequence[LabelledPage], sources: Sequence[Source], folder: Path, workers: int
) -> Pool:
    """Return the examples of *pages* with all *sources*, without pages that Chromium rejects."""
    if "chromium" in sources:
        render_missing(pages, folder)
    pool = Pool([], {source: [] for source in sources})
    read = partial(read_sources, sources=sources, folder=folder)
    with ProcessPoolExecutor(workers, get_context("spawn")) as processes:
        for page, by_source in zip(pages, processes.map(read, pages, chunksize=8), strict=True):
            if by_source is not None:
                pool.pages.append(page)
                for source in sources:
                    pool.examples[source].append(by_source[source])
    return pool


def render_missing(pages: Sequence[LabelledPage], folder: Path) -> None:
    """Render the *pages* that are not cached in *folder* with Chromium, in batches."""
    chromium = ChromiumStyles(folder)
    for start in range(0, len(pages), _BATCH_SIZE):
        chromium.add([oracle_page(page) for page in pages[start : start + _BATCH_SIZE]])


def read_sources(
    page: LabelledPage, sources: Sequence[Source], folder: Path
) -> dict[Source, Example] | None:
    """Return the example of *page* with each source of style; None if one is not available."""
    try:
        document = parse_document(page.html())
    except DocumentError:
        return None
    ours, rendered = example(document, page), oracle_page(page)
    examples: dict[Source, Example] = {}
    for source in sources:
        styled: Example | None = ours
        if source == "none":
            candidates = ours.candidates.without_style()
            styled = replace(ours, nodes=ours.nodes.without_style(), candidates=candidates)
        elif source == "tags":
            styled = _restyled(document, ours, tag_styles(rendered))
        elif source == "chromium":
            styled = _restyled(document, ours, ChromiumStyles(folder).of(rendered))
        if styled is None:
            return None
        examples[source] = styled
    return examples


def _restyled(document: Document, original: Example, style_of: StyleOf | None) -> Example | None:
    """Return *original* with other styles; candidates with unknown style are not changed."""
    if style_of is None:
        return None
    rows, candidates = original.nodes.rows, original.candidates
    if candidates.style_known:
        candidates = candidates.with_style(rows, style_of)
    return replace(original, nodes=TextNodes.of(document, rows, style_of), candidates=candidates)


def effect_tables(pool: Pool, groups: Groups, costs: Costs) -> Iterator[Table]:
    """Yield quality and cost by source, confidence intervals of differences, and the agreement."""
    results = find(pool)
    yield effect_table(FITTED_TO_ALL, results, groups, costs)
    if "ours" in pool.examples:
        yield difference_table(results, groups)
    if {"ours", "chromium"} <= pool.examples.keys():
        yield agreement_table(pool, groups)
    yield default_title_table(pool, NAMES, groups)
    yield effect_table(FITTED_TO_COMPLETE, find(pool.only(groups.complete)), groups, {})


def find(pool: Pool) -> dict[str, Result]:
    """Return the results with each source of style, and with different training and test sources."""
    results = {NAMES[source]: _result(pool, source, source) for source in pool.examples}
    if {"ours", "chromium"} <= pool.examples.keys():
        results[CROSSED] = _result(pool, "ours", "chromium")
    return results


def _result(pool: Pool, training: Source, test: Source) -> Result:
    examples = Examples(pool.pages, pool.examples[training], [])
    scored = pool.examples[test]
    result = Result({}, {})
    for kind in KINDS:
        found: list[ClassifiedNodes] = find_in_folds(examples, kind, scored)
        result.titles[kind] = list(title_pairs(pool.pages, scored, found))
        result.dates[kind] = list(date_pairs(pool.pages, scored, found))
    return result


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
    columns = (
        "pages", "style from", "titles", "title F1, extra-site", "title F1, intra-site",
        "title exact, extra-site", "dates", "date F1, extra-site", "date F1, intra-site",
        *(["CPU"] if costs else []),
    )  # fmt: skip
    return Table(title, columns, rows)


def _quality(result: Result, groups: Groups) -> Iterator[list[str]]:
    titles = {kind: by_group(pairs, groups) for kind, pairs in result.titles.items()}
    dates = {kind: by_group(pairs, groups) for kind, pairs in result.dates.items()}
    for group in titles["extra-site"]:
        exact = [
            pair.exact for pair in result.titles["extra-site"] if group in (ALL, groups(pair.page))
        ]
        yield [
            group,
            str(len(exact)),
            *(figure(titles[kind][group].micro.f1) for kind in KINDS),
            figure(mean(exact)),
            str(dates["extra-site"][group].pages),
            *(figure(dates[kind][group].micro.f1) for kind in KINDS),
        ]


def difference_table(results: Mapping[str, Result], groups: Groups) -> Table:
    """Return the difference of our style to other sources, on pages with all style sheets."""
    rows = []
    ours = results[NAMES["ours"]]
    for name, result in results.items():
        if result is ours:
            continue
        for label, mine, other in (
            ("title", ours.titles, result.titles),
            ("date", ours.dates, result.dates),
        ):
            pairs = zip(mine["extra-site"], other["extra-site"], strict=True)
            found = compare(
                (pair.page.site, pair.f1, theirs.f1)
                for pair, theirs in pairs
                if groups.complete(pair.page)
            )
            interval = f"{found.low:+.3f} .. {found.high:+.3f}"
            counts = (found.wins, found.losses, found.pages)
            rows.append([label, name, f"{found.difference:+.3f}", interval, *map(str, counts)])
    columns = (
        "", "ours against", "F1 over pages", "95 % interval, bootstrap over sites", "better",
        "worse", "pages",
    )  # fmt: skip
    return Table("Our style against the others, pages with all sheets, extra-site", columns, rows)


def agreement_table(pool: Pool, groups: Groups) -> Table:
    """Return the number of text nodes whose style differs between newscrawl and Chromium."""
    counts = {group: [0] * (len(TOLERANCES) + 1) for group in GROUPS}
    for page, ours, theirs in zip(
        pool.pages, pool.examples["ours"], pool.examples["chromium"], strict=True
    ):
        count = counts[groups(page)]
        for left, right in zip(ours.nodes.title_features, theirs.nodes.title_features, strict=True):
            count[0] += 1
            for column, (attribute, tolerance) in enumerate(TOLERANCES.items(), 1):
                count[column] += abs(left[attribute] - right[attribute]) > tolerance
    rows = [[group, *(f"{n:,}" for n in count)] for group, count in counts.items() if count[0]]
    names = (f"{attribute + 1} {ATTRIBUTES[attribute]}" for attribute in TOLERANCES)
    return Table("Text nodes with different style in Chromium", ("pages", "nodes", *names), rows)


def default_title_table(pool: Pool, names: Mapping[Source, str], groups: Groups) -> Table:
    """Return the quality of the default method's title on pages with all style sheets, by source."""
    rows = []
    for source in pool.examples:
        pairs = [pair for pair in find_titles(pool, source) if groups.complete(pair.page)]
        for group, scores in by_group(pairs, groups).items():
            exact = [pair.exact for pair in pairs if group in (ALL, groups(pair.page))]
            scored = (figure(scores.micro.f1), figure(scores.macro), figure(mean(exact)))
            rows.append([group, names[source], str(len(exact)), *scored])
    rows.sort(key=lambda row: (row[0] == ALL, row[0]))
    return Table(
        DEFAULT_TITLE, ("pages", "style from", "titles", "F1", "F1 over pages", "exact"), rows
    )


def find_titles(pool: Pool, source: Source) -> Iterator[Pair]:
    """Yield the out-of-fold titles of the default method."""
    examples = pool.examples[source]
    fold_of = folds(pool.pages, "extra-site")
    for fold in range(FOLDS):
        others = [i for i, other in enumerate(fold_of) if other != fold]
        model = fit_title_model([pool.pages[i] for i in others], [examples[i] for i in others])
        for page, scored, other in zip(pool.pages, examples, fold_of, strict=True):
            if other == fold and scored.title:
                yield Pair(page, title_text(scored.candidates, model), scored.title)
