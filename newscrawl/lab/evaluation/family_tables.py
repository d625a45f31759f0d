"""Tables of the families of corpora."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from newscrawl.lab.corpora.calibration import BINS
from newscrawl.lab.corpora.tables import Table, figure, share
from newscrawl.lab.evaluation.families import ALL, FAILED, FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def family_tables(report: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables of *report*."""
    groups = report["groups"]
    yield _score_table(report["method"], groups)
    if report["peer"]:
        yield _peer_table(report, groups)
    whole = {name: groups[name] for name in (*_names(), ALL) if name in groups}
    yield _loss_table(whole)
    yield _calibration_table(whole)
    yield _change_table(report)
    yield Table("Failed pages (score 0)", ("page",), [[name] for name in report["failures"]])


def _names() -> Iterator[str]:
    return (family.name for family in FAMILIES)


def _score_table(method: str, groups: Mapping[str, Any]) -> Table:
    rows = [
        [name, str(of["pages"]), str(of["sites"]),
         *(figure(of[part]) for part in ("f1", "precision", "recall")), share(of["below"]),
         str(of["empty"]),
         *((figure(of["title_f1"]), share(of["title_exact"])) if of["titles"] else ("", "")),
         *((str(of["days"]), share(of["day_right"])) if of["days"] else ("", "")),
         *(
             (str(of["authors"]), share(of["authors_right"]), share(of["authors_silent"]))
             if of["authors"] else ("", "", "")
         )]
        for name, of in groups.items()
    ]  # fmt: skip
    columns = (
        "family", "pages", "sites", "body F1", "P", "R", f"F1<{FAILED}", "no body", "title F1",
        "exact", "days", "right", "authors", "right", "silent",
    )  # fmt: skip
    return Table(f"Method {method} by family of corpora, out of fold", columns, rows)


def _peer_table(report: Mapping[str, Any], groups: Mapping[str, Any]) -> Table:
    rows = [
        [name, figure(of["f1"]), figure(peer["f1"]), peer["best"], f"{peer['difference']:+.3f}",
         f"{peer['low']:+.3f}", f"{peer['high']:+.3f}", share(of["below"]),
         share(peer["below"])]
        for name, of in groups.items()
        if (peer := of["peer"])
    ]  # fmt: skip
    columns = (
        "family", "body F1", "trafilatura", "mode", "difference", "95 % from", "to",
        f"F1<{FAILED}", f"trafilatura F1<{FAILED}",
    )  # fmt: skip
    title = f"Compared with trafilatura {report['peer']}: paired bootstrap over sites"
    return Table(title, columns, rows)


def _loss_table(groups: Mapping[str, Any]) -> Table:
    bins = [(0.0, 0.0), *pairwise(BINS)]
    rows = []
    for name, of in groups.items():
        by_bounds = {(row["from"], row["to"]): row for row in of["bins"]}
        cells = [
            f"{100 * row['share']:.0f} / {100 * row['loss']:.0f}"
            if (row := by_bounds.get(bounds)) else ""
            for bounds in bins
        ]  # fmt: skip
        rows.append([name, figure(1 - of["f1"]), *cells])
    columns = ("family", "mean loss", *(_bounds(low, high) for low, high in bins))
    return Table(
        "Loss (1 - F1 of the body) by confidence: % of the pages / % of the loss", columns, rows
    )


def _calibration_table(groups: Mapping[str, Any]) -> Table:
    rows = []
    for name, of in groups.items():
        rows += [
            [name, _bounds(row["from"], row["to"]), str(row["pages"]), figure(row["confidence"]),
             figure(row["f1"]), f"{row['f1'] - row['confidence']:+.3f}"]
            for row in of["bins"]
            if row["to"]
        ]  # fmt: skip
        rows.append([name, "calibration error", "", "", "", figure(of["calibration_error"])])
    columns = ("family", "confidence", "pages", "mean", "mean F1", "difference")
    return Table("Calibration of the body's confidence", columns, rows)


def _bounds(low: float, high: float) -> str:
    return f"{low:.2f}-{high:.2f}" if high else "no body"


def _change_table(report: Mapping[str, Any]) -> Table:
    rows = [
        [row["group"], row["field"], str(row["pages"]), figure(row["before"]),
         *(f"{row[part]:+.4f}" for part in ("difference", "low", "high")), str(row["wins"]),
         str(row["losses"]), row["verdict"]]
        for row in report["changes"]
    ]  # fmt: skip
    columns = (
        "family", "field", "pages", "before", "change", "95 % from", "to", "wins", "losses", "",
    )  # fmt: skip
    return Table("Change since the baseline, paired bootstrap over sites", columns, rows)
