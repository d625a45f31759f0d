"""The effect of style sheets: the same models with style from nowhere, from us and from Chromium."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.cardoso.looks import ChromiumStyles, Source, oracle_page, tag_styles
from benchmarks.cardoso.scoring import (
    ALL,
    by_group,
    date_pairs,
    figure,
    find_in_folds,
    title_pairs,
)
from newscrawl.document import parse_document
from newscrawl.evaluation.bootstrap import compare
from newscrawl.evaluation.corpora import load_corpus
from newscrawl.evaluation.metrics import mean
from newscrawl.evaluation.tables import Table
from newscrawl.fields.attributes import ATTRIBUTES, TextNodes
from newscrawl.training.examples import Examples, example
from newscrawl.training.folds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmarks.cardoso.scoring import Pair
    from newscrawl.evaluation.corpora import LabelledPage
    from newscrawl.fields.cardoso import Found
    from newscrawl.training.examples import Example
    from newscrawl.training.folds import Kind

    #: cost of the style of a page by group and source, as text
    Costs = Mapping[tuple[str, Source], str]

SITES, COMPLETE = "css-sites", "css-complete"
NAMES: dict[Source, str] = {
    "none": "nowhere",
    "tags": "tags, no author's sheet",
    "ours": "our engine",
    "chromium": "Chromium",
}
CROSSED = "Chromium, models fitted with ours"
VISUAL = range(3, 7)
"""Places of attributes 4 to 7 among a node's."""
TOLERANCE = 0.5
"""Most that attributes may differ and be called equal: per cent of the largest size, pixels."""


class Pool(NamedTuple):
    """Pages whose style can be known, as the classifiers see them by each source of style."""

    pages: list[LabelledPage]
    examples: dict[Source, list[Example]]


class Result(NamedTuple):
    """What was found in folds with the style of a source."""

    titles: dict[Kind, list[Pair]]
    dates: dict[Kind, list[Pair]]


def group_of(page: LabelledPage) -> str:
    """Return which pages with all sheets *page* belongs to."""
    return SITES if page.corpus == SITES else COMPLETE


def complete_pages(corpora: Path) -> list[LabelledPage]:
    """Return the pages with a title or a date of which every sheet is there."""
    listed = json.loads((corpora / f"{COMPLETE}.json").read_bytes())
    wanted = {(entry["corpus"], entry["id"]) for entry in listed}
    names = dict.fromkeys([*(entry["corpus"] for entry in listed), SITES])
    return [
        page
        for name in names
        for page in load_corpus(corpora / name).pages
        if (page.title or page.date) and (name == SITES or (page.corpus, page.id) in wanted)
    ]


def read_pool(pages: Sequence[LabelledPage], sources: Sequence[Source], folder: Path) -> Pool:
    """Return *pages* by each of *sources*; without those that Chromium, if asked, refuses."""
    chromium = ChromiumStyles(folder) if "chromium" in sources else None
    if chromium is not None:
        chromium.add([oracle_page(page) for page in pages])
    pool = Pool([], {source: [] for source in sources})
    for page in pages:
        by_source = _examples(page, sources, chromium)
        if by_source is not None:
            pool.pages.append(page)
            for source in sources:
                pool.examples[source].append(by_source[source])
    return pool


def _examples(
    page: LabelledPage, sources: Sequence[Source], chromium: ChromiumStyles | None
) -> dict[Source, Example] | None:
    document, shown = parse_document(page.html()), oracle_page(page)
    ours = example(document, page)
    found: dict[Source, Example] = {
        "none": replace(ours, nodes=ours.nodes.without_style()),
        "ours": ours,
    }
    if "tags" in sources:
        nodes = TextNodes.of(document, ours.nodes.rows, tag_styles(shown))
        found["tags"] = replace(ours, nodes=nodes)
    if chromium is not None:
        style_of = chromium.of(shown)
        if style_of is None:
            return None
        found["chromium"] = replace(ours, nodes=TextNodes.of(document, ours.nodes.rows, style_of))
    return found


def effect_tables(pool: Pool, costs: Costs) -> Iterator[Table]:
    """Yield quality and cost by source, what of the differences is chance, and the agreement."""
    results = {NAMES[source]: _result(pool, source, source) for source in pool.examples}
    if {"ours", "chromium"} <= pool.examples.keys():
        results[CROSSED] = _result(pool, "ours", "chromium")
    yield effect_table(pool, results, costs)
    if "ours" in pool.examples:
        yield difference_table(results)
    if {"ours", "chromium"} <= pool.examples.keys():
        yield agreement_table(pool)


def _result(pool: Pool, fitted: Source, shown: Source) -> Result:
    examples = Examples(pool.pages, pool.examples[fitted], [])
    seen = pool.examples[shown]
    result = Result({}, {})
    for kind in KINDS:
        found: list[Found] = find_in_folds(examples, kind, seen)
        result.titles[kind] = list(title_pairs(pool.pages, seen, found))
        result.dates[kind] = list(date_pairs(pool.pages, seen, found))
    return result


def effect_table(pool: Pool, results: Mapping[str, Result], costs: Costs) -> Table:
    """Return quality and cost of each source, of all pages and of each group."""
    sources = {name: source for source, name in NAMES.items()}
    groups = list(dict.fromkeys(map(group_of, pool.pages)))
    rows = []
    for group in (ALL, *groups):
        for name, result in results.items():
            extra = [
                one for one in result.titles["extra-site"] if group in (ALL, group_of(one.page))
            ]
            cells = [
                figure(by_group(pairs[kind], group_of)[group].micro.f1)
                for pairs in (result.titles, result.dates)
                for kind in KINDS
            ]
            exact = figure(mean([one.exact for one in extra]))
            source = sources.get(name)
            cost = "" if source is None else costs.get((group, source), "")
            rows.append([group, name, str(len(extra)), *cells[:2], exact, *cells[2:], cost])
    columns = (
        "pages", "style from", "titles", "title F1, extra-site", "intra-site", "exact, extra-site",
        "date F1, extra-site", "intra-site", "CPU, lxml.html parses",
    )  # fmt: skip
    return Table("Effect of style sheets: quality and cost", columns, rows)


def difference_table(results: Mapping[str, Result]) -> Table:
    """Return how much better the pages are with our styles than with others, extra-site."""
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
            found = compare((one.page.site, one.f1, its.f1) for one, its in pairs)
            interval = f"{found.low:+.3f} .. {found.high:+.3f}"
            counts = (found.wins, found.losses, found.pages)
            rows.append([label, name, f"{found.difference:+.3f}", interval, *map(str, counts)])
    columns = (
        "", "ours against", "F1 over pages", "95 % interval, bootstrap over sites", "better",
        "worse", "pages",
    )  # fmt: skip
    return Table("Our styles against the others, extra-site", columns, rows)


def agreement_table(pool: Pool) -> Table:
    """Return the share of nodes of which we and Chromium say the same."""
    groups: dict[str, list[int]] = {}
    for page, mine, its in zip(
        pool.pages, pool.examples["ours"], pool.examples["chromium"], strict=True
    ):
        counts = groups.setdefault(group_of(page), [0] * (len(VISUAL) + 1))
        for left, right in zip(mine.nodes.title_features, its.nodes.title_features, strict=True):
            counts[0] += 1
            for place, attribute in enumerate(VISUAL, 1):
                counts[place] += abs(left[attribute] - right[attribute]) <= TOLERANCE
    rows = [
        [group, f"{nodes:,}", *(f"{100 * count / max(nodes, 1):.2f}" for count in equal)]
        for group, (nodes, *equal) in groups.items()
    ]
    names = (f"{place + 1} {ATTRIBUTES[place]}" for place in VISUAL)
    return Table(
        "Text nodes with the same attribute by us and by Chromium, per cent",
        ("pages", "nodes", *names),
        rows,
    )
