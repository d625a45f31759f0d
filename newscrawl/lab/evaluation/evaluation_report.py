"""Report of ``scrapy evaluate``: figures as JSON values, and the tables that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.lab.corpora.corpus import HALVES
from newscrawl.lab.corpora.tables import Table, figure, share
from newscrawl.lab.evaluation.field_tables import (
    METADATA_NAMES,
    confidence_table,
    date_table,
    language_table,
    metadata_table,
    reliability_table,
    right_of,
    title_table,
)
from newscrawl.lab.evaluation.summary import (
    compare_methods,
    language_rows,
    page_row,
    site_rows,
    summarise,
    worst_pages,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from newscrawl.lab.corpora.corpus import Corpus
    from newscrawl.lab.corpora.map_pages import PageOutcome, T
    from newscrawl.lab.evaluation.page_scores import PageScores

TEXT_NAMES = {"relevant": "relevant content", "body": "body", "title": "title"}
FIELD_NAMES = TEXT_NAMES | METADATA_NAMES
METRIC_NAMES = {"bag": "bag of words", "node": "text nodes", "weighted": "text-weighted nodes"}
TOGETHER = "all corpora"
MEANS = ("precision", "recall", "f1", "site_precision", "site_recall", "site_f1")
MEAN_COLUMNS = ("P", "R", "F1", "site P", "site R", "site F1")


def build_report(
    method: str,
    half: str,
    corpora: Sequence[Corpus],
    outcomes: Sequence[PageOutcome[PageScores]],
    *,
    others: Sequence[PageOutcome[PageScores]] = (),
    against: str | None = None,
    worst: int = 10,
) -> dict[str, Any]:
    """Return all figures as plain JSON values.

    *outcomes* are those of *method*, *others* those of the method *against* on the same pages.
    """
    return {
        "method": method,
        "against": against,
        "half": half,
        "corpora": {
            corpus.name: {
                "unlabelled": corpus.unlabelled,
                "scores": summarise(own := _of(corpus, outcomes)),
                "by_site": site_rows(own),
                "by_language": language_rows(own),
                "comparison": compare_methods(own, _of(corpus, others)) if others else None,
            }
            for corpus in corpora
        },
        "together": summarise(outcomes),
        "worst": worst_pages(outcomes, worst),
        "failures": [
            {
                "method": name,
                "corpus": outcome.page.corpus,
                "id": outcome.page.id,
                "error": outcome.error,
            }
            for name, group in ((method, outcomes), (against, others))
            for outcome in group
            if outcome.error is not None
        ],
        "pages": [page_row(outcome) for outcome in outcomes],
    }


def _of(corpus: Corpus, outcomes: Sequence[PageOutcome[T]]) -> list[PageOutcome[T]]:
    return [outcome for outcome in outcomes if outcome.page.corpus == corpus.name]


def tables_of(
    report: Mapping[str, Any], *, by_site: bool = False, by_language: bool = False
) -> Iterator[Table]:
    """Yield the tables of *report*, from the corpora down to single pages."""
    yield _corpora_table(report)
    for name, corpus in report["corpora"].items():
        yield _score_table(name, report, corpus["scores"])
        yield from _field_tables(name, report, corpus["scores"])
    if len(report["corpora"]) > 1:
        yield from _field_tables(TOGETHER, report, report["together"])
    yield reliability_table(TOGETHER, report["together"])
    yield _comparison_table(report)
    for name, corpus in report["corpora"].items():
        if by_site:
            yield _site_table(name, corpus)
        if by_language:
            yield language_table(name, corpus["by_language"])
    yield _worst_table(report)
    yield _failure_table(report)


def _field_tables(
    name: str, report: Mapping[str, Any], scores: Mapping[str, Any]
) -> Iterator[Table]:
    groups = _groups(report)
    yield title_table(name, scores, groups)
    yield date_table(name, scores, groups)
    yield confidence_table(name, scores, groups)
    yield metadata_table(name, scores, groups)


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
    half = "both halves" if report["half"] == "all" else f"the {report['half']} half"
    return Table(f"Method {report['method']}, {half}", columns, rows)


def _groups(report: Mapping[str, Any]) -> dict[str, str]:
    """Return the groups of pages that have rows, with their names in tables."""
    halves = HALVES if report["half"] == "all" else ()
    return {"all": "all pages"} | {half: f"{half} half" for half in halves}


def _score_table(name: str, report: Mapping[str, Any], scores: Mapping[str, Any]) -> Table:
    rows = []
    for field, shown in TEXT_NAMES.items():
        groups = _groups(report)
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


def _comparison_table(report: Mapping[str, Any]) -> Table:
    rows = [
        [name, FIELD_NAMES[field], str(result["pages"]), f"{result['difference']:+.3f}",
         f"{result['low']:+.3f}", f"{result['high']:+.3f}", str(result["wins"]),
         str(result["losses"])]
        for name, corpus in report["corpora"].items()
        for field, result in (corpus["comparison"] or {}).items()
    ]  # fmt: skip
    title = (
        f"{report['method']} - {report['against']}: difference in F1, of metadata but tags in right "
        "pages, paired bootstrap over sites"
    )
    columns = ("corpus", "field", "pages", "mean", "95 % from", "to", "wins", "losses")
    return Table(title, columns, rows)


def _site_table(name: str, corpus: Mapping[str, Any]) -> Table:
    rows = [
        [row["site"], str(row["pages"]),
         *(_mean_of(row["relevant"], part) for part in ("precision", "recall", "f1")),
         *(_mean_of(row[field], "f1") for field in ("body", "title")),
         f"{row['date']['trusted']['correct']}/{row['date']['trusted']['pages']}",
         right_of(row["metadata"]["authors"])]
        for row in corpus["by_site"]
    ]  # fmt: skip
    columns = (
        "site", "pages", "P", "R", "F1 relevant", "F1 body", "F1 title", "correct dates",
        "right authors",
    )  # fmt: skip
    return Table(f"{name}: by site, bag of words", columns, rows)


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
    return Table("Failed pages", ("method", "corpus", "page", "error"), rows)


def _mean_of(means: Mapping[str, float], part: str) -> str:
    return figure(means[part]) if means["pages"] else ""
