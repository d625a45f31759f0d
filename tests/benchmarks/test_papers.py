"""Experiments of the papers on NCE, CoreEx and ECON."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.papers import coreex_paper, econ_paper
from benchmarks.papers.measured_pages import GROUP_OF, MIN_SITE_PAGES, measured_pages
from benchmarks.papers.nce_paper import GAMMAS, NcePage, best_separator_f1, summarise_nce
from benchmarks.papers.paper import PAPERS
from benchmarks.papers.xhtml import clean_xhtml
from benchmarks.result_page import Figure, result_page
from newscrawl.body.coreex import CoreExParameters, coreex
from newscrawl.document.document import parse_document
from newscrawl.lab.corpora.corpus import Corpus, half_of, load_corpus
from newscrawl.lab.corpora.metrics import bag_score
from newscrawl.lab.corpora.tables import Table
from newscrawl.text import words

if TYPE_CHECKING:
    from pathlib import Path

TITLE = "Harbour town votes to rebuild its lighthouse"
PARAGRAPHS = [
    f"Paragraph {number} says that the council of the harbour town sat until late on Thursday, "
    "heard the keeper, two engineers and a row of fishermen, and then voted to rebuild the "
    f"lighthouse that a storm had taken in the spring; vote {number} was the closest in a decade."
    for number in range(8)
]
BODY = "\n".join(PARAGRAPHS)
NAVIGATION = "".join(f"<a href=/{n}>Section {n}</a> " for n in range(30))
PAGE = f"""<!doctype html><html lang="en"><head><title>{TITLE} | The Harbour Mail</title></head><body>
<script>{"var lighthouse = 1; " * 400}</script><nav>{NAVIGATION}</nav>
<main><header><h1>{TITLE}</h1><p><a href=/ada>Ada Reyes</a></p><time>5 March 2026</time></header>
<div>{"".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)}</div></main>
<footer><a href=/about>About us</a> <a href=/terms>Terms</a></footer></body></html>""".encode()
BLOCKS = st.recursive(
    st.sampled_from(["gold", "gold text", "noise", "more noise here", "<a>linked noise</a>",
                     "<a>gold</a>", "<script>gold</script>"]),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(
        lambda parts: f"<div>{'<i>.</i>'.join(parts)}</div>"
    ),
    max_leaves=12,
)  # fmt: skip
LABELS = {"title": TITLE, "date": "2026-03-05", "body": BODY, "authors": ["Ada Reyes"]}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Return a corpus of a valid and an empty page."""
    return make_corpus(tmp_path / "small", {"right.example": PAGE, "broken.example": b""})


def make_corpus(folder: Path, pages: dict[str, bytes]) -> Corpus:
    """Return a corpus with one page of each site."""
    (folder / "pages").mkdir(parents=True)
    rows = [
        {"id": site.partition(".")[0], "url": f"https://{site}/", "site": site, **LABELS}
        for site in pages
    ]
    (folder / "truth.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for row, html in zip(rows, pages.values(), strict=True):
        (folder / "pages" / f"{row['id']}.html.gz").write_bytes(gzip.compress(html))
    return load_corpus(folder)


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    """Return a folder with the corpora of the papers; a site of news212 is also in wcxb."""
    sites = {name: {f"{name}.example": PAGE} for name in GROUP_OF}
    tuned = next(f"s{n}.example" for n in range(99) if half_of(f"s{n}.example") == "tune")
    scored = next(f"s{n}.example" for n in range(99) if half_of(f"s{n}.example") == "test")
    sites["news212"] = {tuned: PAGE, scored: PAGE}
    sites["fundus"] = {}
    sites["wcxb"] = {tuned: PAGE, "wcxb.example": PAGE}
    for name, pages in sites.items():
        make_corpus(tmp_path / name, pages)
    return tmp_path


def test_measured_pages_leave_out_sites_of_fitted_constants(corpora: Path) -> None:
    pages = measured_pages(corpora)
    assert {page.corpus for page in pages} == {*GROUP_OF} - {"fundus"}
    assert [page.half for page in pages if page.corpus == "news212"] == ["test"]
    assert [page.site for page in pages if page.corpus == "wcxb"] == ["wcxb.example"]
    daniel = next(page for page in pages if page.corpus == "daniel")
    assert daniel.half == half_of("daniel.example")
    assert measured_pages(corpora, 0) == []


class TestNce:
    """Relevant content, separators and titles."""

    def test_measures_relevant_content_and_titles(self, corpus: Corpus) -> None:
        right, broken = PAPERS["nce"].measure(corpus.pages, workers=0)
        document = parse_document(PAGE)
        page_words = words(document.subtree_text(0))
        gold = words(f"{TITLE}\n{BODY}")
        assert right.value.whole_page.precision == pytest.approx(len(gold) / len(page_words))
        assert right.value.whole_page.recall == 1
        assert right.value.separator_f1 > 0.97
        assert right.value.with_phase_2 == right.value.without_phase_2
        assert right.value.title_retrieved
        assert broken.error
        assert broken.value == NcePage()
        figures = summarise_nce([right, broken])
        assert figures["separator_exists"] == figures["titles_retrieved"] == 0.5
        assert figures["phase_2_better"] == figures["phase_2_worse"] == 0
        assert figures["bodies_lost"] == 0.5
        assert figures["sites"] == []

    def test_table_1_has_sites_with_enough_pages(self, corpus: Corpus) -> None:
        outcome = PAPERS["nce"].measure(corpus.pages[:1], workers=0)[0]
        summary = summarise_nce([outcome] * MIN_SITE_PAGES)
        assert [row["site"] for row in summary["sites"]] == ["right.example"]
        _, table, chart = PAPERS["nce"].tables({"all": summary})
        assert isinstance(table, Table)
        assert table.rows[0][:3] == ["right.example", "small", str(MIN_SITE_PAGES)]
        assert table.rows[1][3:] == table.rows[0][3:]  # the mean of one site
        assert isinstance(chart, Figure)
        assert "right.example" in chart.svg

    @given(
        BLOCKS, st.lists(st.sampled_from(["gold", "text", "here", "lost"]), min_size=1, max_size=6)
    )
    def test_best_separator_is_the_best_of_all_forests(self, blocks: str, gold: list[str]) -> None:
        document = parse_document(f"<html><body>{blocks}</body></html>")
        scores = [
            bag_score(words(" ".join(document.subtree_text(child) for child in forest)), gold).f1
            for row in range(len(document))
            for gamma in GAMMAS
            if (
                forest := [
                    child
                    for child in document.children(row)
                    if document.link_density(child) <= gamma
                ]
            )
        ]
        assert best_separator_f1(document, gold) == pytest.approx(max(scores, default=0))


class TestCoreEx:
    """Table 1 and Figure 9."""

    def test_core_content_is_title_date_byline_and_body(self, corpus: Corpus) -> None:
        right, broken = PAPERS["coreex"].measure(corpus.pages, workers=0)
        assert list(right.value.variants) == [
            "R1", "R2", "R3", "R4", "R5", "R6", "R1'", "R2'", "R3'", "today"
        ]  # fmt: skip
        today = right.value.variants["today"]
        assert set(today.parts) == {"title", "date", "byline", "body"}
        assert today.parts["body"]
        assert today.title_found
        assert today.weighted.recall > 0.9
        assert today.weighted.precision == 1
        assert broken.error
        assert set(broken.value.variants) == set(right.value.variants)
        assert broken.value.variants["R5"].weighted.f1 == 0

    def test_scripts_lower_precision_of_variants_that_keep_them(self, corpus: Corpus) -> None:
        found = PAPERS["coreex"].measure(corpus.pages[:1], workers=0)[0].value.variants
        assert found["R4"].weighted.precision < 0.5
        assert found["R6"].weighted.f1 == pytest.approx(found["R5"].weighted.f1)
        assert found["R3'"].weighted.precision > 0.9

    def test_figure_10_has_sources_with_enough_pages(self, corpus: Corpus) -> None:
        outcome = PAPERS["coreex"].measure(corpus.pages[:1], workers=0)[0]
        summary = PAPERS["coreex"].summarise([outcome] * MIN_SITE_PAGES)
        (row,) = summary["by_site"]
        assert (row["site"], row["pages"]) == ("right.example", MIN_SITE_PAGES)
        assert row["scores"]["today"] == pytest.approx(
            outcome.value.variants["today"].weighted._asdict()
        )
        titles = [
            part.title
            for part in PAPERS["coreex"].tables({"all": summary})
            if isinstance(part, Table)
        ]
        assert titles[-1].startswith("Figure 10")

    def test_core_content_includes_text_of_links(self) -> None:
        page = parse_document(f"<p>{BODY}</p><p>{BODY} <a href=/>and a <b>link</b></a></p>")
        rows = coreex_paper.core_content(page, coreex(page), CoreExParameters.TODAY)
        assert [page.text[row] for row in sorted(rows)] == [BODY, BODY, "and a", "link"]

    def test_recovers_the_closest_heading_next_to_the_parent(self) -> None:
        for header, expected in (("<h2>Far</h2><h3>Near</h3>", "Near"), ("", None)):
            page = parse_document(f"<main>{header}<p>By Ada</p><section><p>{BODY}</section></main>")
            (section,) = page.rows_of("section")
            row = coreex_paper.recover_title(page, list(page.children(section)))
            assert (None if row is None else page.subtree_text(row)) == expected

    def test_clean_xhtml_keeps_text_and_removes_scripts(self) -> None:
        html = b"<p>One<p>two<table><b>three</table><SCRIPT>if (a < b) {}</script >&copy;\1"
        clean = clean_xhtml(html)
        assert "script" not in clean
        assert clean.count("</p>") == 2
        text = parse_document(clean).subtree_text(0)
        assert "One two three" in text
        assert "©" in text


class TestEcon:
    """Tables II to V."""

    @pytest.mark.parametrize(
        ("output", "verdict"),
        [
            (BODY, "correctly"),
            (f"{TITLE}\n{BODY}", "correctly"),
            (BODY + " Subscribe to our letter" * 20, "wrongly"),
            (BODY[: len(BODY) // 2], "missed"),
            ("", "missed"),
        ],
    )
    def test_judge_by_precision_and_recall(self, output: str, verdict: str) -> None:
        assert econ_paper.judge(output, TITLE, BODY) == verdict

    def test_judges_output_of_each_algorithm(self, corpus: Corpus) -> None:
        right, broken = PAPERS["econ"].measure(corpus.pages, workers=0)
        assert right.value.verdicts == {
            "econ:literal": "correctly", "econ": "correctly", "coreex:R5": "correctly",
            "coreex": "correctly",
        }  # fmt: skip
        assert set(broken.value.verdicts.values()) == {"missed"}
        assert (right.value.short, right.value.pieces, right.value.language) == (False, False, "en")

    def test_counts_nodes_from_snippet_to_summary(self, tmp_path: Path) -> None:
        page = f"<div><div><p>{BODY}</p></div><p>{BODY[:200]}</p></div><p>no mark"
        pages = {"nested.example": page.encode(), "unmarked.example": b"<p>no mark"}
        nested, unmarked = PAPERS["econ"].measure(make_corpus(tmp_path, pages).pages, workers=0)
        # to the letter, a father without more punctuation ends it
        assert nested.value.steps == {"econ:literal": 0, "econ": 2}
        assert unmarked.value.steps == {}

    def test_few_pages_of_a_language_are_marked(self, corpus: Corpus) -> None:
        summary = PAPERS["econ"].summarise(PAPERS["econ"].measure(corpus.pages[:1], workers=0))
        tables = {
            part.title: part
            for part in PAPERS["econ"].tables({"all": summary})
            if isinstance(part, Table)
        }
        languages = next(
            table for title, table in tables.items() if title.startswith("Experiment 4")
        )
        shown = {row[0]: row[1] for row in languages.rows}
        assert shown["English (few pages)"] == "1"
        assert shown["Portuguese (no pages)"] == "0"

    def test_pieces_page_is_split_by_links_and_fonts(self) -> None:
        piece = "The mayor of <a href=/>the town that we</a> know said <b>a word or two</b> more "
        broken = parse_document(f"<p>{piece * 8}</p>")
        whole = parse_document("".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS * 5))
        assert econ_paper.is_pieces_page(broken, broken.subtree_text(0))
        assert not econ_paper.is_pieces_page(whole, whole.subtree_text(0))


@pytest.mark.parametrize("name", PAPERS)
def test_tables_have_a_cell_for_each_column(corpus: Corpus, name: str) -> None:
    paper = PAPERS[name]
    summary = paper.summarise(paper.measure(corpus.pages, workers=0))
    parts = list(paper.tables({"small": json.loads(json.dumps(summary)), "all": summary}))
    tables = [part for part in parts if isinstance(part, Table)]
    assert tables
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_result_page_names_its_command() -> None:
    parts = [Table("Sites", ("site", "F1"), [["alpha", "0.9"]]), Figure("sites", "By site", "")]
    page = result_page("make it", "# ECON\n\n    make it", parts, {"Sites": "A note."})
    assert page.startswith("<!-- Written by `make it`: do not edit. -->\n\n# ECON\n\n    make it\n")
    table = "## Sites\n\nA note.\n\n| site | F1 |\n| --- | --- |\n| alpha | 0.9 |\n"
    assert page.endswith(f"{table}\n![By site](sites.svg)\n")


def run_command(repository: Path, *arguments: str | int | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.papers", *map(str, arguments)]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)


def test_command_writes_page_and_json(corpora: Path, tmp_path: Path, repository: Path) -> None:
    (corpora / "daniel" / "pages" / "daniel.html.gz").write_bytes(gzip.compress(b""))
    figures = tmp_path / "figures.json"
    options = ("--method", "nce", "--corpora", corpora, "--workers", 0, "--json", figures)
    done = run_command(repository, "--out", tmp_path, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "a separator with F1 >= .9 exists" in done.stdout
    assert "Failed pages" in done.stdout
    page = (tmp_path / "nce.md").read_text(encoding="utf-8")
    assert "Measured on 7 pages of 7 sites" in page
    assert "{" not in page.replace("{doc}`", "")
    report = json.loads(figures.read_text())["nce"]
    assert report["groups"]["all"]["pages"] == 7
    assert [corpus for corpus, _, _ in report["failures"]] == ["daniel"]


def test_command_rejects_missing_corpus(tmp_path: Path, repository: Path) -> None:
    done = run_command(repository, "--out", tmp_path, "--corpora", tmp_path / "nowhere")
    assert done.returncode == 2
    assert "no corpus at" in done.stderr
