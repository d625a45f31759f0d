"""The tables of V-Wrapper and NCE."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.v_wrapper import Measured, MethodScore, tables
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.metrics import Score


def measured(nce: float, visual: float, leaves: tuple[int, int, int]) -> Measured:
    scores = {
        "nce": MethodScore(Score(nce, nce, nce), (1, 2, 2), nce),
        "v-wrapper": MethodScore(Score(visual, visual, visual), leaves, visual),
    }
    return Measured(0.5, scores, 9, 1)


def test_tables_beside_the_paper():
    """Means over sites, and leaf nodes of all pages together."""
    pages = [
        LabelledPage("css-sites", str(n), Path("x"), f"https://{site}/", site, "test")
        for n, site in enumerate(("a.example", "a.example", "b.example"))
    ]
    values = [
        measured(1.0, 0.8, (1, 1, 1)),
        measured(0.8, 0.8, (2, 4, 2)),
        measured(0.5, 1.0, (3, 3, 5)),
    ]
    groups = {"css-sites": list(zip(pages, values, strict=True))}
    found = {table.title: table for table in tables(groups)}

    def row(title: str, number: int) -> dict[str, str]:
        table = found[title]
        return dict(zip(table.columns, table.rows[number], strict=True))

    content = row("Relevant content, by bag of words", 1)
    assert row("Relevant content, by bag of words", 0)["NCE site F1"] == "90.7 %"
    assert (content["NCE site F1"], content["V-W site F1"]) == ("70.0 %", "90.0 %")
    assert content["sites where V-W is better"] == "1 of 2"
    assert row("Leaf nodes, title and body against other", 0)["V-W F1"] == "85.6 %"
    assert row("Leaf nodes, title and body against other", 1)["V-W F1"] == "75.0 %"
    assert row("V-Wrapper - NCE, paired bootstrap over sites", 0)["mean difference"] == "+0.100"
    assert row("By site, as in Table 1", 1)["V-W leaf F1"] == "75.0 %"
    assert float(row("Text nodes found in Chromium's tree", 0)["share"]) == pytest.approx(0.9)
