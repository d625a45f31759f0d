"""What the papers print of their methods, measured on labelled pages."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from newscrawl.body.coreex import CoreExParameters, coreex
from newscrawl.corpora.corpus import Corpus, load_corpus
from newscrawl.corpora.tables import Table, markdown
from newscrawl.document.document import parse_document
from newscrawl.evaluation import coreex_paper, econ_paper
from newscrawl.evaluation.page_scores import evaluate
from newscrawl.evaluation.papers import PAPERS, document, paper_of
from newscrawl.evaluation.xhtml import clean_xhtml
from tests.evaluation.test_evaluate import _evaluate as run_command

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
LABELS = {"title": TITLE, "date": "2026-03-05", "body": BODY, "authors": ["Ada Reyes"]}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Return a page, and one that is broken."""
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


class TestCoreEx:
    """Table 1 and Figure 9."""

    def test_core_content_is_title_date_byline_and_body(self, corpus: Corpus) -> None:
        right, broken = coreex_paper.measure(corpus.pages, workers=0)
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

    def test_scripts_drown_the_variants_that_keep_them(self, corpus: Corpus) -> None:
        found = coreex_paper.measure(corpus.pages[:1], workers=0)[0].value.variants
        assert found["R4"].weighted.precision < 0.5
        assert found["R6"].weighted.f1 == pytest.approx(found["R5"].weighted.f1)

    def test_the_core_content_holds_the_words_of_links(self) -> None:
        page = parse_document(f"<p>{BODY}</p><p>{BODY} <a href=/>and a <b>link</b></a></p>")
        rows = coreex_paper.core_content(page, coreex(page), CoreExParameters.TODAY)
        assert [page.text[row] for row in sorted(rows)] == [BODY, BODY, "and a", "link"]

    def test_a_page_made_clean_has_the_same_text_and_no_scripts(self) -> None:
        html = b"<p>One<p>two<table><b>three</table><SCRIPT>if (a < b) {}</script >&copy;\1"
        clean = clean_xhtml(html)
        assert "script" not in clean
        assert clean.count("</p>") == 2
        text = parse_document(clean).subtree_text(0)
        assert "One two three" in text
        assert "©" in text

    def test_r6_is_scored_on_the_page_made_clean(self, corpus: Corpus) -> None:
        scores = {
            method: evaluate(corpus.pages[:1], method, workers=0)[0].value.score("body", "bag")
            for method in ("coreex:R5", "coreex:R6")
        }
        assert scores["coreex:R6"] is not None
        assert scores["coreex:R6"] == scores["coreex:R5"]


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
    def test_verdicts_follow_from_precision_and_recall(self, output: str, verdict: str) -> None:
        assert econ_paper.judge(output, TITLE, BODY) == verdict

    def test_pages_are_judged_by_each_reading(self, corpus: Corpus) -> None:
        right, broken = econ_paper.measure(corpus.pages, workers=0)
        assert right.value.verdicts == {
            "econ:literal": "correctly", "econ": "correctly", "coreex:R5": "correctly",
            "coreex": "correctly",
        }  # fmt: skip
        assert set(broken.value.verdicts.values()) == {"missed"}
        assert (right.value.short, right.value.pieces, right.value.language) == (False, False, "en")

    def test_a_pieces_page_is_broken_by_links_and_fonts(self) -> None:
        piece = "The mayor of <a href=/>the town that we</a> know said <b>a word or two</b> more "
        broken = parse_document(f"<p>{piece * 8}</p>")
        whole = parse_document("".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS * 5))
        assert econ_paper.is_pieces_page(broken, broken.subtree_text(0))
        assert not econ_paper.is_pieces_page(whole, whole.subtree_text(0))


@pytest.mark.parametrize("name", PAPERS)
def test_every_table_has_a_cell_for_each_column(corpus: Corpus, name: str) -> None:
    paper = PAPERS[name]
    summary = paper.summarise(paper.measure(corpus.pages, workers=0))
    tables = list(paper.tables({"small": json.loads(json.dumps(summary)), "all corpora": summary}))
    assert tables
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_a_method_has_the_paper_of_its_first_part() -> None:
    assert paper_of("coreex:R3") is PAPERS["coreex"]
    assert paper_of("newscrawl") is None


def test_a_page_of_the_manual_names_its_command() -> None:
    table = Table("Sites", ("site", "F1"), [["alpha", "0.9"]])
    page = document(PAPERS["econ"], "scrapy evaluate corpus", [table])
    assert page.startswith("<!-- Written by `scrapy evaluate corpus`: do not edit. -->\n\n# ECON")
    assert page.endswith("## Sites\n\n| site | F1 |\n| --- | --- |\n| alpha | 0.9 |\n")
    assert markdown(table, level=3).startswith("### Sites")


def test_the_command_writes_the_page(corpus: Corpus, tmp_path: Path) -> None:
    page = tmp_path / "coreex.md"
    folder = corpus.pages[0].path.parent.parent
    done = run_command(folder, "--method", "coreex:R6", "--workers", 0, "--page", page)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Table 1: text-based" in done.stdout
    assert "Figure 9" in page.read_text()


def test_a_page_of_a_method_without_paper_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    folder = corpus.pages[0].path.parent.parent
    done = run_command(folder, "--method", "metadata", "--page", tmp_path / "page.md")
    assert done.returncode == 2
    assert "no paper prints figures of method metadata" in done.stderr
