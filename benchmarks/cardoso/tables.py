"""Tables 1, 2 and 4 to 7 of DocEng 2011, and the loss by the restriction to relevant nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.cardoso.cross_validation import KINDS, cross_validate
from benchmarks.cardoso.readings import examples_of
from benchmarks.cardoso.scoring import (
    ALL,
    body_pairs,
    by_group,
    cell,
    classified_pairs,
    figure,
    find_in_folds,
    head_title_pairs,
    nce_pairs,
    score_of_pairs,
)
from newscrawl.fields.cardoso import classify
from newscrawl.lab.corpora.folds import site_names
from newscrawl.lab.corpora.metrics import Score
from newscrawl.lab.corpora.tables import Table
from newscrawl.lab.training.fit import fit_models

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmarks.cardoso.cross_validation import Approach, Kind, Scores
    from benchmarks.cardoso.readings import Reading
    from benchmarks.cardoso.scoring import Pair
    from benchmarks.result_page import Part
    from newscrawl.fields.cardoso import ClassifiedNodes
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.example_types import Example

    Results = Mapping[tuple[Approach, Kind], list[ClassifiedNodes]]

HEAD_TITLE = Score(0.61, 0.89, 0.72)
"""Baseline: the ``title`` element (Tables 1 and 2)."""

LEARNED: dict[tuple[Approach, Kind], Score] = {
    ("structural", "extra-site"): Score(0.72, 0.90, 0.80),
    ("structural", "intra-site"): Score(0.73, 0.91, 0.81),
    ("visual", "extra-site"): Score(0.88, 0.95, 0.91),
    ("visual", "intra-site"): Score(0.90, 0.94, 0.92),
    ("conditional", "extra-site"): Score(0.88, 0.66, 0.75),
    ("conditional", "intra-site"): Score(0.88, 0.82, 0.85),
    ("dependent", "extra-site"): Score(0.79, 0.75, 0.77),
    ("dependent", "intra-site"): Score(0.85, 0.83, 0.84),
}
"""Tables 1, 2, 4 and 5, on RCD4."""

BODY = Score(0.82, 0.92, 0.87)
"""Table 6: NCE's relevant content, before and after the pipeline."""

NEWS600: dict[tuple[str, str], Score] = {
    ("title", "title element"): Score(0.63, 0.93, 0.75),
    ("title", "our approach"): Score(0.90, 0.96, 0.93),
    ("title", "SVM of Spengler and others"): Score(0.99, 0.96, 0.97),
    ("date", "our approach"): Score(0.87, 0.85, 0.86),
    ("date", "CRF of Spengler and others"): Score(0.83, 0.92, 0.87),
    ("body", "our approach"): Score(0.82, 0.95, 0.88),
    ("body", "SVM of Spengler and others"): Score(0.90, 0.98, 0.94),
}
"""Table 7: (label, approach)."""

LOSS = 0.01
"""Maximum loss of F1 by the restriction to relevant nodes."""

APPROACHES: dict[str, Approach] = {
    "Table 1: titles by structural attributes": "structural",
    "Table 2: titles by structural and visual attributes": "visual",
    "Table 4: dates, the conditional approach with two models": "conditional",
    "Table 5: dates, the title-dependent model": "dependent",
}


def quality_parts(readings: Sequence[Reading], others: Sequence[Reading] = ()) -> Iterator[Part]:
    """Yield the tables of cross-validated results on *readings*.

    No model is fitted to *others*, which only Table 7 has.
    """
    results = {(it.approach, it.kind): it.found for it in cross_validate(examples_of(readings))}
    for title, approach in APPROACHES.items():
        yield learned_table(title, approach, readings, results)
    yield body_table(readings, results)
    yield transfer_table(readings, others)
    yield restriction_table(readings, results)


def learned_table(
    title: str, approach: Approach, readings: Sequence[Reading], results: Results
) -> Table:
    """Return the table of one approach in both kinds of folds."""
    pages, examples = _pages_and_examples(readings)
    titles = approach in ("structural", "visual")
    rows = []
    if titles:
        rows.append(_row("title element", HEAD_TITLE, head_title_pairs(readings)))
    for kind in KINDS:
        pairs = classified_pairs(
            pages, examples, results[approach, kind], "title" if titles else "date"
        )
        rows.append(_row(f"3-fold, {kind}", LEARNED[approach, kind], pairs))
    return Table(title, _columns(readings, "RCD4, paper"), rows)


def body_table(readings: Sequence[Reading], results: Results) -> Table:
    """Return Table 6: NCE's relevant content, before and after the pipeline."""
    rows = [_row("NCE", BODY, nce_pairs(readings))]
    for kind in KINDS:
        pairs = body_pairs(readings, results["dependent", kind])
        rows.append(_row(f"after the pipeline, {kind}", BODY, pairs))
    pairs = body_pairs(readings, results["dependent", "extra-site"], gap=True)
    rows.append(_row("with the nodes between title and body, extra-site", None, pairs))
    return Table("Table 6: bodies", _columns(readings, "RCD4, paper"), rows)


def transfer_table(readings: Sequence[Reading], others: Sequence[Reading]) -> Table:
    """Return Table 7: each corpus with models fitted to other sites of the other *readings*."""
    scores: dict[str, dict[tuple[str, str], Scores]] = {}
    names = list(dict.fromkeys(reading.page.corpus for reading in [*readings, *others]))
    for name in names:
        scored = [reading for reading in [*readings, *others] if reading.page.corpus == name]
        training = [reading for reading in readings if reading.page.corpus != name]
        scores[name] = transfer_scores(scored, training)
    rows = []
    for (label, approach), published in NEWS600.items():
        found = [scores[name].get((label, approach)) for name in names]
        today = [cell(it.micro) if it and it.pages else "" for it in found]
        rows.append([label, approach, cell(published, 2), *today])
    columns = ("label", "approach", "NEWS600, paper", *names)
    return Table("Table 7: another corpus", columns, rows)


def transfer_scores(
    scored: Sequence[Reading], training: Sequence[Reading]
) -> dict[tuple[str, str], Scores]:
    """Return the scores on *scored* of models fitted to *training*, by (label, approach)."""
    sites = {name for reading in scored for name in site_names(reading.page)}
    others = [it.relevant for it in training if sites.isdisjoint(site_names(it.page))]
    models = fit_models(others)._replace(independent_date=None)
    pages, examples = _pages_and_examples(scored)
    found = [classify(example.nodes, models) for example in examples]
    pairs: dict[tuple[str, str], Iterable[Pair]] = {
        ("title", "title element"): head_title_pairs(scored),
        ("title", "our approach"): classified_pairs(pages, examples, found, "title"),
        ("date", "our approach"): classified_pairs(pages, examples, found, "date"),
        ("body", "our approach"): body_pairs(scored, found),
    }
    return {key: score_of_pairs(group) for key, group in pairs.items()}


def restriction_table(readings: Sequence[Reading], results: Results) -> Table:
    """Return the F1 with relevant nodes and with all text nodes."""
    pages, relevant = _pages_and_examples(readings)
    whole = [reading.whole for reading in readings]
    rows = []
    for kind in KINDS:
        whole_results = find_in_folds(examples_of(readings, whole=True), kind)
        for label in ("title", "date"):
            found = results["dependent", kind]
            restricted = score_of_pairs(classified_pairs(pages, relevant, found, label))
            full = score_of_pairs(classified_pairs(pages, whole, whole_results, label))
            f1s = restricted.micro.f1, full.micro.f1
            loss = f1s[1] - f1s[0]
            rows.append([label, kind, *map(figure, f1s), f"{loss:+.3f}", f"<= {LOSS}"])
    counts = (sum(len(example.nodes) for example in group) for group in (relevant, whole))
    rows.append(["classified text nodes", "", *(f"{count:,}" for count in counts), "", ""])
    columns = ("", "folds", "relevant nodes", "whole tree", "loss", "loss, paper")
    return Table("Restriction to relevant nodes: F1", columns, rows)


def _pages_and_examples(readings: Sequence[Reading]) -> tuple[list[LabelledPage], list[Example]]:
    return [reading.page for reading in readings], [reading.relevant for reading in readings]


def _columns(readings: Sequence[Reading], published: str) -> tuple[str, ...]:
    names = dict.fromkeys(reading.page.corpus for reading in readings)
    return ("", published, "pages", "today, all", "F1 over pages", *names)


def _row(name: str, published: Score | None, pairs: Iterable[Pair]) -> list[str]:
    scores = by_group(pairs, lambda page: page.corpus)
    total = scores.pop(ALL)
    today = (str(total.pages), cell(total.micro), figure(total.macro))
    return [
        name,
        cell(published, 2) if published else "",
        *today,
        *(cell(it.micro) for it in scores.values()),
    ]
