"""Report of ``scrapy evaluate``: figures as JSON values, and the tables that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.lab.corpora.corpus import HALVES
from newscrawl.lab.corpora.tables import Table, figure, share
from newscrawl.lab.evaluation.field_tables import (
    date_table,
    metadata_table,
    reliability_table,
    title_table,
)
from newscrawl.lab.evaluation.summary import (
    page_row,
    summarise,
    worst_pages,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from newscrawl.lab.corpora.corpus import Corpus
    from newscrawl.lab.corpora.map_pages import PageOutcome
    from newscrawl.lab.evaluation.page_scores import PageScores

TEXT_NAMES = {"relevant": "relevant content", "body": "body", "title": "title"}
METRIC_NAMES = {"bag": "bag of words", "node": "text nodes", "weighted": "text-weighted nodes"}
TOGETHER = "all corpora"
# groups of pages that have rows
_GROUPS = {"all": "all pages"} | {half: f"{half} half" for half in HALVES}
_WORST = 10
MEANS = ("precision", "recall", "f1", "site_precision", "site_recall", "site_f1")
MEAN_COLUMNS = ("P", "R", "F1", "site P", "site R", "site F1")


def build_report(
    method: str,
    corpora: Sequence[Corpus],
    outcomes: Sequence[PageOutcome[PageScores]],
) -> dict[str, Any]:
    """Return all figures of the *outcomes* of *method* as plain JSON values."""
    return {
        "method": method,
        "corpora": {
            corpus.name: {
                "unlabelled": corpus.unlabelled,
                "scores": summarise([it for it in outcomes if it.page.corpus == corpus.name]),
            }
            for corpus in corpora
        },
        "together": summarise(outcomes),
        "worst": worst_pages(outcomes, _WORST),
        "failures": [
            {"corpus": it.page.corpus, "id": it.page.id, "error": it.error}
            for it in outcomes
            if it.error is not None
        ],
        "pages": [page_row(outcome) for outcome in outcomes],
    }


def tables_of(report: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables of *report*, from the corpora down to single pages."""
    yield _corpora_table(report)
    for name, corpus in report["corpora"].items():
        yield _score_table(name, corpus["scores"])
        yield from _field_tables(name, corpus["scores"])
    if len(report["corpora"]) > 1:
        yield from _field_tables(TOGETHER, report["together"])
    yield reliability_table(TOGETHER, report["together"])
    yield _worst_table(report)
    yield _failure_table(report)


def _field_tables(name: str, scores: Mapping[str, Any]) -> Iterator[Table]:
    yield title_table(name, scores, _GROUPS)
    yield date_table(name, scores, _GROUPS)
    yield metadata_table(name, scores, _GROUPS)


def _corpora_table(report: Mapping[str, Any]) -> Table:
    sizes = ("pages", "sites", "failed", "body_suspects", "dates_doubtful")
    rows = [
        [name, *(str(corpus["scores"]["all"][size]) for size in sizes), str(corpus["unlabelled"])]
        for name, corpus in report["corpora"].items()
    ]
    columns = (
        "corpus", "pages", "sites", "failed (count 0)", "body suspects",
        "doubtful dates (scored separately)", "unlabelled (skipped)",
    )  # fmt: skip
    return Table(f"Method {report['method']}", columns, rows)


def _score_table(name: str, scores: Mapping[str, Any]) -> Table:
    rows = []
    for field, shown in TEXT_NAMES.items():
        groups = dict(_GROUPS)
        if scores["all"]["body_suspects"] and field != "title":
            groups["without_suspects"] = "without suspects"
        cells = [("bag", group) for group in groups]
        cells += [(metric, "all") for metric in METRIC_NAMES if metric != "bag"]
        rows += [
            _score_row((shown, METRIC_NAMES[metric], groups[group]), means)
            for metric, group in cells
            if (means := scores[group][field][metric])["pages"]
        ]
    columns = ("field", "metric", "of", "pages", *MEAN_COLUMNS, "F1<.5", "F1>=.95")
    return Table(f"{name}: means over pages, and over sites", columns, rows)


def _score_row(labels: tuple[str, ...], means: Mapping[str, float]) -> list[str]:
    shares = (share(means["below_0.5"]), share(means["from_0.95"]))
    return [*labels, str(means["pages"]), *(figure(means[part]) for part in MEANS), *shares]


def _worst_table(report: Mapping[str, Any]) -> Table:
    rows = [
        [row["corpus"], row["id"], row["site"], row["half"],
         *(figure(row["body"]["bag"][part]) for part in ("precision", "recall", "f1")),
         "failed" if row["error"] else "suspect label" if row["body_suspect"] else ""]
        for row in report["worst"]
    ]  # fmt: skip
    columns = ("corpus", "page", "site", "half", "P", "R", "F1", "")
    return Table("Worst pages, by F1 of the body", columns, rows)


def _failure_table(report: Mapping[str, Any]) -> Table:
    rows = [[str(cell) for cell in failure.values()] for failure in report["failures"]]
    return Table("Failed pages", ("corpus", "page", "error"), rows)
