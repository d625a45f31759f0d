"""Tables 1, 2 and 4 to 7 of DocEng 2011, and what the restriction to relevant nodes loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.cardoso.published import BODY, HEAD_TITLE, LEARNED, LOSS, NEWS600
from benchmarks.cardoso.readings import examples_of
from benchmarks.cardoso.scoring import (
    ALL,
    body_pairs,
    by_group,
    cell,
    date_pairs,
    figure,
    find_in_folds,
    head_title_pairs,
    nce_pairs,
    score_of_pairs,
    title_pairs,
)
from newscrawl.corpora.folds import KINDS, site_names
from newscrawl.corpora.tables import Table
from newscrawl.fields.cardoso import classify
from newscrawl.training.fit import fit_models
from newscrawl.training.training_report import cross_validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmarks.cardoso.readings import Reading
    from benchmarks.cardoso.scoring import Pair
    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.corpora.folds import Kind
    from newscrawl.corpora.metrics import Score
    from newscrawl.fields.cardoso import ClassifiedNodes
    from newscrawl.training.cross_validation import Scores
    from newscrawl.training.example_types import Example
    from newscrawl.training.training_report import Approach

    Results = Mapping[tuple[Approach, Kind], list[ClassifiedNodes]]

APPROACHES: dict[str, Approach] = {
    "Table 1: titles by structural attributes": "structural",
    "Table 2: titles by structural and visual attributes": "visual",
    "Table 4: dates, the conditional approach with two models": "conditional",
    "Table 5: dates, the title-dependent model": "dependent",
}


def quality_tables(readings: Sequence[Reading]) -> Iterator[Table]:
    """Yield the tables of what is found on *readings*, cross-validated."""
    names = list(dict.fromkeys(one.page.corpus for one in readings))
    results = {(one.approach, one.kind): one.found for one in cross_validate(examples_of(readings))}
    for title, approach in APPROACHES.items():
        yield learned_table(title, approach, readings, results)
    yield body_table(readings, results)
    yield strangers_table(readings, names)
    yield restriction_table(readings, results)


def learned_table(
    title: str, approach: Approach, readings: Sequence[Reading], results: Results
) -> Table:
    """Return the table of an approach, in both kinds of folds."""
    pages, examples = _sides(readings)
    titles = approach in ("structural", "visual")
    pairs_of = title_pairs if titles else date_pairs
    rows = []
    if titles:
        rows.append(_row("title element", HEAD_TITLE, head_title_pairs(readings)))
    for kind in KINDS:
        pairs = pairs_of(pages, examples, results[approach, kind])
        rows.append(_row(f"3-fold, {kind}", LEARNED[approach, kind], pairs))
    return Table(title, _columns(readings, "RCD4, paper"), rows)


def body_table(readings: Sequence[Reading], results: Results) -> Table:
    """Return Table 6: NCE's relevant content, and what the pipeline leaves of it."""
    rows = [_row("NCE", BODY, nce_pairs(readings))]
    for kind in KINDS:
        pairs = body_pairs(readings, results["dependent", kind])
        rows.append(_row(f"after the pipeline, {kind}", BODY, pairs))
    return Table("Table 6: bodies", _columns(readings, "RCD4, paper"), rows)


def strangers_table(readings: Sequence[Reading], names: Sequence[str]) -> Table:
    """Return Table 7: each corpus by models that were fitted to the others, no site in both."""
    scores: dict[str, dict[tuple[str, str], Scores]] = {}
    for name in names:
        held = [one for one in readings if one.page.corpus == name]
        others = [one for one in readings if one.page.corpus != name]
        scores[name] = strangers_scores(held, others)
    rows = []
    for label, approach in NEWS600:
        found = [scores[name].get((label, approach)) for name in names]
        today = [cell(one.micro) if one else "" for one in found]
        rows.append([label, approach, cell(NEWS600[label, approach], 2), *today])
    columns = ("label", "approach", "NEWS600, paper", *names)
    return Table("Table 7: another corpus", columns, rows)


def strangers_scores(
    held: Sequence[Reading], others: Sequence[Reading]
) -> dict[tuple[str, str], Scores]:
    """Return what models fitted to *others* score on *held*, by (label, approach) of Table 7."""
    sites = {name for one in held for name in site_names(one.page)}
    fitted = [one.relevant for one in others if sites.isdisjoint(site_names(one.page))]
    models = fit_models(fitted)._replace(independent_date=None)
    pages, examples = _sides(held)
    found = [classify(one.nodes, models) for one in examples]
    pairs: dict[tuple[str, str], Iterable[Pair]] = {
        ("title", "title element"): head_title_pairs(held),
        ("title", "our approach"): title_pairs(pages, examples, found),
        ("date", "our approach"): date_pairs(pages, examples, found),
        ("body", "our approach"): body_pairs(held, found),
    }
    return {which: score_of_pairs(one) for which, one in pairs.items()}


def restriction_table(readings: Sequence[Reading], results: Results) -> Table:
    """Return what the restriction to relevant nodes loses, beside the whole tree."""
    pages, relevant = _sides(readings)
    whole = [one.whole for one in readings]
    rows = []
    for kind in KINDS:
        everywhere = find_in_folds(examples_of(readings, whole=True), kind)
        for label, pairs_of in (("title", title_pairs), ("date", date_pairs)):
            restricted = score_of_pairs(pairs_of(pages, relevant, results["dependent", kind]))
            full = score_of_pairs(pairs_of(pages, whole, everywhere))
            f1s = restricted.micro.f1, full.micro.f1
            loss = f1s[1] - f1s[0]
            rows.append([label, kind, *map(figure, f1s), f"{loss:+.3f}", f"<= {LOSS}"])
    counts = (sum(len(one.nodes) for one in side) for side in (relevant, whole))
    rows.append(["text nodes evaluated", "", *(f"{count:,}" for count in counts), "", ""])
    columns = ("", "folds", "relevant nodes", "whole tree", "loss", "loss, paper")
    return Table("Restriction to relevant nodes: F1", columns, rows)


def _sides(readings: Sequence[Reading]) -> tuple[list[LabelledPage], list[Example]]:
    return [one.page for one in readings], [one.relevant for one in readings]


def _columns(readings: Sequence[Reading], published: str) -> tuple[str, ...]:
    names = dict.fromkeys(one.page.corpus for one in readings)
    return ("", published, "pages", "today, all", "F1 over pages", *names)


def _row(name: str, published: Score, pairs: Iterable[Pair]) -> list[str]:
    found = by_group(pairs, lambda page: page.corpus)
    every = found.pop(ALL)
    today = (str(every.pages), cell(every.micro), figure(every.macro))
    return [name, cell(published, 2), *today, *(cell(one.micro) for one in found.values())]
