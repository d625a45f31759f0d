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
from benchmarks.papers.nce_paper import GAMMAS, NcePage, best_separator_f1, summarise_nce
from benchmarks.papers.paper import PAPERS, results_page
from benchmarks.papers.xhtml import clean_xhtml
from newscrawl.body.coreex import CoreExParameters, coreex
from newscrawl.corpora.corpus import Corpus, load_corpus
from newscrawl.corpora.metrics import bag_score
from newscrawl.corpora.tables import Table, markdown
from newscrawl.document.document import parse_document
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
    folder = tmp_path / "small"
    (folder / "pages").mkdir(parents=True)
    rows = [
        {"id": name, "url": f"https://{name}.example/", "site": f"{name}.example", **LABELS}
        for name in ("right", "broken")
    ]
    (folder / "truth.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "pages" / "right.html.gz").write_bytes(gzip.compress(PAGE))
    (folder / "pages" / "broken.html.gz").write_bytes(gzip.compress(b""))
    return load_corpus(folder)


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
        assert list(right.value.variants) == ["R1", "R2", "R3", "R4", "R5", "R6", "today"]
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

    def test_core_content_includes_text_of_links(self) -> None:
        page = parse_document(f"<p>{BODY}</p><p>{BODY} <a href=/>and a <b>link</b></a></p>")
        rows = coreex_paper.core_content(page, coreex(page), CoreExParameters.TODAY)
        assert [page.text[row] for row in sorted(rows)] == [BODY, BODY, "and a", "link"]

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
    tables = list(paper.tables({"small": json.loads(json.dumps(summary)), "all corpora": summary}))
    assert tables
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_results_page_names_its_command() -> None:
    table = Table("Sites", ("site", "F1"), [["alpha", "0.9"]])
    page = results_page(PAPERS["econ"], "python -m benchmarks.papers corpus", [table])
    assert page.startswith(
        "<!-- Written by `python -m benchmarks.papers corpus`: do not edit. -->\n\n# ECON"
    )
    assert page.endswith("## Sites\n\n| site | F1 |\n| --- | --- |\n| alpha | 0.9 |\n")
    assert markdown(table, level=3).startswith("### Sites")


def run_command(repository: Path, *arguments: str | int | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.papers", *map(str, arguments)]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)


def test_command_writes_page_and_json(corpus: Corpus, tmp_path: Path, repository: Path) -> None:
    page, figures = tmp_path / "nce.md", tmp_path / "nce.json"
    folder = corpus.pages[0].path.parent.parent
    options = ("--method", "nce", "--workers", 1, "--page", page, "--json", figures)
    done = run_command(repository, folder, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "a separator with F1 >= .9 exists" in done.stdout
    assert "Failed pages" in done.stdout
    assert "titles retrieved" in page.read_text()
    report = json.loads(figures.read_text())
    assert report["corpora"]["small"]["pages"] == 2
    assert [page for _, page, _ in report["failures"]] == ["broken"]


def test_command_rejects_missing_corpus(tmp_path: Path, repository: Path) -> None:
    done = run_command(repository, tmp_path / "nowhere", "--method", "nce")
    assert done.returncode == 2
    assert "no corpus at" in done.stderr
