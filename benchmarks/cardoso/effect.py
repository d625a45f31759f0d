"""The effect of style sheets: the same models with style from nowhere, from us and from Chromium."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.cardoso.default_title import default_title_table
from benchmarks.cardoso.looks import ChromiumStyles, Source, oracle_page, tag_styles
from benchmarks.cardoso.scoring import (
    ALL,
    by_group,
    date_pairs,
    figure,
    find_in_folds,
    title_pairs,
)
from newscrawl.corpora.folds import KINDS
from newscrawl.corpora.metrics import mean
from newscrawl.corpora.tables import Table
from newscrawl.document.document import DocumentError, parse_document
from newscrawl.evaluation.bootstrap import compare
from newscrawl.fields.attributes import ATTRIBUTES, TextNodes
from newscrawl.training.examples import Examples, example

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmarks.cardoso.scoring import Pair
    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.corpora.folds import Kind
    from newscrawl.document.document import Document
    from newscrawl.fields.attributes import StyleOf
    from newscrawl.fields.cardoso import ClassifiedNodes
    from newscrawl.training.example_types import Example

    #: cost of the style of a page by group and source, as text
    Costs = Mapping[tuple[str, Source], str]

GROUPS = COMPLETE, SITES, INCOMPLETE = "css-complete", "css-sites", "sheets missing"
FITTED_TO_ALL = "Effect of style sheets, models fitted to all three corpora"
FITTED_TO_COMPLETE = "Effect of style sheets, models fitted to the pages with all sheets alone"
NAMES: dict[Source, str] = {
    "none": "nowhere",
    "tags": "tags, no author's sheet",
    "ours": "our engine",
    "chromium": "Chromium",
}
CROSSED = "Chromium, models fitted with ours"
TOLERANCES = {3: 0.06, 4: 0.5, 5: 0.0, 6: 0.0}
"""Places of attributes 4 to 7 among a node's, and how far equal ones may differ: pixels, per cent."""

_AT_ONCE = 60
"""Pages handed to Chromium in one go: their bytes and sheets are all in memory."""


class Pool(NamedTuple):
    """Pages as the classifiers see them by each source of style."""

    pages: list[LabelledPage]
    examples: dict[Source, list[Example]]

    def only(self, chosen: Callable[[LabelledPage], bool]) -> Pool:
        """Return the pool of the pages *chosen*."""
        places = [place for place, page in enumerate(self.pages) if chosen(page)]
        return Pool(
            [self.pages[place] for place in places],
            {
                source: [examples[place] for place in places]
                for source, examples in self.examples.items()
            },
        )


class Result(NamedTuple):
    """What was found in folds with the style of a source."""

    titles: dict[Kind, list[Pair]]
    dates: dict[Kind, list[Pair]]


class Groups:
    """Which pages of *corpora* have all their sheets."""

    def __init__(self, corpora: Path) -> None:
        listed = json.loads((corpora / f"{COMPLETE}.json").read_bytes())
        self._inline = {(entry["corpus"], entry["id"]) for entry in listed}

    def __call__(self, page: LabelledPage) -> str:
        """Return the group of *page*."""
        if page.corpus == SITES:
            return SITES
        return COMPLETE if (page.corpus, page.id) in self._inline else INCOMPLETE

    def complete(self, page: LabelledPage) -> bool:
        """Return whether *page* has all its sheets."""
        return self(page) != INCOMPLETE


def read_pool(
    pages: Sequence[LabelledPage], sources: Sequence[Source], folder: Path, workers: int
) -> Pool:
    """Return *pages* by each of *sources*; without those that Chromium, if asked, refuses."""
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
    """Have Chromium render those of *pages* that are not in *folder*, some at a time."""
    chromium = ChromiumStyles(folder)
    for start in range(0, len(pages), _AT_ONCE):
        chromium.add([oracle_page(page) for page in pages[start : start + _AT_ONCE]])


def read_sources(
    page: LabelledPage, sources: Sequence[Source], folder: Path
) -> dict[Source, Example] | None:
    """Return what is learned from *page* by each of *sources*; None where it is no page."""
    try:
        document = parse_document(page.html())
    except DocumentError:
        return None
    ours, shown = example(document, page), oracle_page(page)
    found: dict[Source, Example] = {}
    for source in sources:
        one: Example | None = ours
        if source == "none":
            candidates = ours.candidates.without_style()
            one = replace(ours, nodes=ours.nodes.without_style(), candidates=candidates)
        elif source == "tags":
            one = _restyled(document, ours, tag_styles(shown))
        elif source == "chromium":
            one = _restyled(document, ours, ChromiumStyles(folder).of(shown))
        if one is None:
            return None
        found[source] = one
    return found


def _restyled(document: Document, one: Example, style_of: StyleOf | None) -> Example | None:
    """Return *one* with other styles; candidates whose style is unknown stay as they are."""
    if style_of is None:
        return None
    rows, candidates = one.nodes.rows, one.candidates
    if candidates.style_known:
        candidates = candidates.with_style(rows, style_of)
    return replace(one, nodes=TextNodes.of(document, rows, style_of), candidates=candidates)


def effect_tables(pool: Pool, groups: Groups, costs: Costs) -> Iterator[Table]:
    """Yield quality and cost by source, what of the differences is chance, and the agreement."""
    results = find(pool)
    yield effect_table(FITTED_TO_ALL, results, groups, costs)
    if "ours" in pool.examples:
        yield difference_table(results, groups)
    if {"ours", "chromium"} <= pool.examples.keys():
        yield agreement_table(pool, groups)
    yield default_title_table(pool, NAMES, groups)
    yield effect_table(FITTED_TO_COMPLETE, find(pool.only(groups.complete)), groups, {})


def find(pool: Pool) -> dict[str, Result]:
    """Return what is found with the style of each source, and across two of them."""
    results = {NAMES[source]: _result(pool, source, source) for source in pool.examples}
    if {"ours", "chromium"} <= pool.examples.keys():
        results[CROSSED] = _result(pool, "ours", "chromium")
    return results


def _result(pool: Pool, fitted: Source, shown: Source) -> Result:
    examples = Examples(pool.pages, pool.examples[fitted], [])
    seen = pool.examples[shown]
    result = Result({}, {})
    for kind in KINDS:
        found: list[ClassifiedNodes] = find_in_folds(examples, kind, seen)
        result.titles[kind] = list(title_pairs(pool.pages, seen, found))
        result.dates[kind] = list(date_pairs(pool.pages, seen, found))
    return result


def effect_table(title: str, results: Mapping[str, Result], groups: Groups, costs: Costs) -> Table:
    """Return quality and cost of each source, of each group of pages and of all."""
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
    """Return how much better the pages with all sheets are with our styles than with others."""
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
                (one.page.site, one.f1, its.f1) for one, its in pairs if groups.complete(one.page)
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
    """Return of how many nodes we and Chromium do not say the same."""
    counts = {group: [0] * (len(TOLERANCES) + 1) for group in GROUPS}
    for page, mine, its in zip(
        pool.pages, pool.examples["ours"], pool.examples["chromium"], strict=True
    ):
        count = counts[groups(page)]
        for left, right in zip(mine.nodes.title_features, its.nodes.title_features, strict=True):
            count[0] += 1
            for place, (attribute, most) in enumerate(TOLERANCES.items(), 1):
                count[place] += abs(left[attribute] - right[attribute]) > most
    rows = [[group, *(f"{one:,}" for one in count)] for group, count in counts.items() if count[0]]
    names = (f"{place + 1} {ATTRIBUTES[place]}" for place in TOLERANCES)
    return Table(
        "Text nodes of which we and Chromium do not say the same", ("pages", "nodes", *names), rows
    )
