"""Table 1 and Figures 8 to 10 of the CoreEx paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.dots import Dot, dot_chart
from benchmarks.papers.coreex_paper import (
    CONFIGURATIONS,
    PUBLISHED,
    PUBLISHED_NODES,
    SECOND_LADDER,
    TODAY,
)
from benchmarks.result_page import Figure
from newscrawl.lab.corpora.metrics import Score
from newscrawl.lab.corpora.tables import Table, figure, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.dots import Rows
    from benchmarks.result_page import Part


def coreex_tables(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[Part]:
    """Yield Table 1 and the figures; *columns* are summaries by group of corpora."""
    yield _table_1(columns)
    yield _second_ladder(columns)
    yield Table(
        "Table 1, node-based precision / recall / F1",
        ("", "paper", *columns),
        [
            [name, _cell(PUBLISHED_NODES if name == "R5" else None), *cells]
            for name, cells in _by_variant(columns, lambda row: _cell(Score(**row["node"])))
        ],
    )
    yield Table(
        "Figure 8: CPU time of a page in parses of it by lxml, median",
        ("", *columns),
        [[name, *cells] for name, cells in _by_variant(columns, lambda row: f"{row['cost']:.2f}")],
    )
    everything = list(columns.values())[-1]
    yield Figure("coreex-times", "CoreEx: CPU time of each variant", _time_chart(everything))
    yield _parts_table(columns)
    yield Figure("coreex-parts", "CoreEx: recall by part of the article", _part_chart(everything))
    if sites := sorted(everything["by_site"], key=lambda row: -row["scores"][TODAY]["f1"]):
        yield _site_table(sites)
        yield Figure("coreex-sites", "CoreEx: precision and recall by source", _site_chart(sites))


def _table_1(columns: Mapping[str, Mapping[str, Any]]) -> Table:
    cells = dict(_by_variant(columns, lambda row: _cell(Score(**row["weighted"]))))
    return Table(
        "Table 1: text-based precision / recall / F1 of core content",
        ("", "configuration", "paper", *columns),
        [
            [name, CONFIGURATIONS[name], _cell(PUBLISHED.get(name)), *cells[name]]
            for name in cells
            if name not in SECOND_LADDER
        ],
    )


def _second_ladder(columns: Mapping[str, Mapping[str, Any]]) -> Table:
    cells = dict(_by_variant(columns, lambda row: _cell(Score(**row["weighted"]))))
    cells["R4'"] = cells["R5"]
    return Table(
        "Table 1 without scripts: text-based precision / recall / F1 of core content",
        ("", "configuration", "with scripts, paper", *columns),
        [
            [name, CONFIGURATIONS[name], _cell(PUBLISHED[name.rstrip("'")]), *cells[name]]
            for name in (*SECOND_LADDER, "R4'")
        ],
    )


def _site_table(sites: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        [row["site"], row["corpora"], str(row["pages"]),
         *(_cell(Score(**row["scores"][name])) for name in ("R5", TODAY))]
        for row in sites
    ]  # fmt: skip
    title = "Figure 10: text-based precision / recall / F1 by source"
    return Table(title, ("source", "corpus", "pages", "R5", TODAY), rows)


def _site_chart(sites: Sequence[Mapping[str, Any]]) -> str:
    rows: Rows = {
        row["site"]: {
            "precision, today": Dot(row["scores"][TODAY]["precision"]),
            "recall, today": Dot(row["scores"][TODAY]["recall"]),
            "recall, R5": Dot(row["scores"]["R5"]["recall"]),
        }
        for row in sites
    }
    return dot_chart(
        "Figure 10: CoreEx by source, in order of F1", "text-based, mean of pages", rows
    )


def _time_chart(summary: Mapping[str, Any]) -> str:
    rows: Rows = {
        f"{name}: {CONFIGURATIONS[name]}": {"CPU time": Dot(variant["cost"])}
        for name, variant in summary["variants"].items()
    }
    axis = "parses of the page by lxml, median, logarithmic"
    return dot_chart("Figure 8: processing time by variant", axis, rows, log=True)


def _part_chart(summary: Mapping[str, Any]) -> str:
    rows: Rows = {}
    for key, published, label in _PART_ROWS:
        rows[label] = {
            name: Dot((variant["parts"].get(key) or variant[key])["share"])
            for name in ("R5", TODAY)
            if (variant := summary["variants"][name])
        }
        if published:
            rows[label]["R5, paper"] = Dot(float(published.split()[-2]) / 100)
    return dot_chart("Figure 9: recall by part of the article", "share of pages", rows)


def _by_variant(
    columns: Mapping[str, Mapping[str, Any]], cell: Callable[[Mapping[str, Any]], str]
) -> Iterator[tuple[str, list[str]]]:
    names = dict.fromkeys(name for column in columns.values() for name in column["variants"])
    for name in names:
        yield name, [cell(column["variants"][name]) for column in columns.values()]


def _cell(score: Score | None) -> str:
    return " / ".join(map(figure, score)) if score else ""


_PART_ROWS = (
    ("title", "80 %", "title"),
    ("title_recovered", "92 %", "title, with the header of section 6.1"),
    ("title_found", "", "title, with today's header"),
    ("date", "", "date"),
    ("byline", "", "byline"),
    ("body", "over 99 %", "body"),
)


def _parts_table(columns: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the table of Figure 9; the paper gives only some of its figures in the text."""
    rows = [
        [name, label, published if name == "R5" else "", *(_part(column, name, key) for column in columns.values())]
        for name in ("R5", TODAY)
        for key, published, label in _PART_ROWS
    ]  # fmt: skip
    return Table(
        "Figure 9: parts of the article recalled, on pages where text nodes hold them",
        ("", "part", "paper", *columns),
        rows,
    )


def _part(column: Mapping[str, Any], name: str, key: str) -> str:
    variant = column["variants"][name]
    part = variant["parts"].get(key) or variant[key]
    return f"{share(part['share'])} of {part['pages']}" if part["pages"] else ""
