"""Tables of titles, dates, the confidence of dates, and metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.lab.corpora.metadata_match import METADATA_FIELDS
from newscrawl.lab.corpora.tables import Table, figure, share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MATCH_PARTS = ("precision", "recall", "f1", "mean_f1")
LABELS = {"trusted": "without doubtful", "all": "all"}
METADATA_NAMES = {name: name.replace("_", " ") for name in METADATA_FIELDS}
GOLDS = {"label": "the label", "nodes": "the nodes that hold it"}


def title_table(name: str, scores: Mapping[str, Any], groups: Mapping[str, str]) -> Table:
    """Return micro-averaged and mean scores of titles in *groups* of pages."""
    parts = ("micro_precision", "micro_recall", "micro_f1", "f1")
    rows = [
        [against, shown, str(means["pages"]), *(figure(means[part]) for part in parts),
         share(means["exact"])]
        for gold, against in GOLDS.items()
        for group, shown in groups.items()
        if (means := scores[group]["titles"][gold])["pages"]
    ]  # fmt: skip
    columns = ("against", "of", "pages", "micro P", "micro R", "micro F1", "mean F1", "exact")
    return Table(f"{name}: title", columns, rows)


def date_table(name: str, scores: Mapping[str, Any], groups: Mapping[str, str]) -> Table:
    """Return the scores of dates in *groups* of pages."""
    rows = [
        [labels, shown, *(str(means[part]) for part in ("pages", "returned", "correct")),
         *(figure(means[part]) for part in ("precision", "recall", "f1")),
         share(means["modified"]), figure(means["right"])]
        for labels, shown, means in _day_means(scores, groups)
    ]  # fmt: skip
    columns = (
        "labels", "of", "labelled", "returned", "right", "P", "R", "F1", "modification date",
        "right with these",
    )  # fmt: skip
    return Table(f"{name}: date, exact day", columns, rows)


def reliability_table(name: str, scores: Mapping[str, Any]) -> Table:
    """Return the share of right dates by bin of confidence."""
    rows = []
    for labels, shown in LABELS.items():
        means = scores["all"]["date"][labels]
        rows += [
            [shown, f"{row['from']:.2f}-{row['to']:.2f}", str(row["pages"]),
             figure(row["confidence"]), figure(row["right"]),
             f"{row['right'] - row['confidence']:+.3f}"]
            for row in means["reliability"]
        ]  # fmt: skip
        if means["pages"]:
            error = figure(means["calibration_error"])
            rows.append([shown, "calibration error", str(means["returned"]), "", "", error])
    columns = ("labels", "confidence", "pages", "mean", "right", "difference")
    return Table(f"{name}: reliability of the date's confidence", columns, rows)


def metadata_table(name: str, scores: Mapping[str, Any], groups: Mapping[str, str]) -> Table:
    """Return the scores of authors and other metadata in *groups* of pages."""
    rows = [
        [shown_field, shown, str(means["pages"]), figure(means["right"]),
         figure(means["site_right"]), *(figure(means[part]) for part in MATCH_PARTS),
         share(means["silent"])]
        for field, shown_field in METADATA_NAMES.items()
        for group, shown in groups.items()
        if (means := scores[group]["metadata"][field])["pages"]
    ]  # fmt: skip
    columns = (
        "field", "of", "pages", "right", "site right", "micro P", "micro R", "micro F1", "mean F1",
        "silent",
    )  # fmt: skip
    return Table(f"{name}: metadata", columns, rows)


def _day_means(
    scores: Mapping[str, Any], groups: Mapping[str, str]
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield names of labels and groups with their means, if there are pages."""
    for labels, shown in LABELS.items():
        for group, of in groups.items():
            means = scores[group]["date"][labels]
            if means["pages"]:
                yield shown, of, means
