"""The comparison with other tools: its scoring, and a run of it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.peers import score, tables
from benchmarks.peers.document import document
from benchmarks.peers.run import Answer, answers
from benchmarks.peers.score import Result
from benchmarks.peers.tool_types import CORE_FIELDS, Output
from benchmarks.peers.tools import OURS, TOOLS
from newscrawl.lab.corpora.corpus import LabelledPage, load_corpus
from newscrawl.lab.corpora.metadata_match import METADATA_FIELDS
from newscrawl.lab.corpora.metrics import PERFECT
from newscrawl.lab.evaluation.families import ALL
from newscrawl.samples import expected_pages
from tests.conftest import skip_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = LabelledPage(
    corpus="news212",
    id="harbour",
    path=Path("harbour.html.gz"),
    url="https://alpha.example/harbour",
    site="alpha.example",
    half="test",
    title="Harbour votes: live",
    date=datetime(2026, 3, 5, 23, 30, tzinfo=UTC),
    body="The council sat until late. It voted.",
)
RIGHT = Output(
    "Harbour votes", "2026-03-06T00:30:00+01:00", body="The council sat until late. It voted."
)


def result(output: Output, page: LabelledPage = PAGE, *, error: str | None = None) -> Result:
    """Return what a tool said."""
    return Result(page, "Harbour votes", Answer(output, error))


def test_a_right_answer_is_right_by_every_measure():
    """the title by the nodes of the page, an instant in the zone of the label"""
    one = result(RIGHT)
    assert (score.title_f1(one), score.title_exact(one)) == (1, 1)
    assert (score.day(one), score.day_or_modified(one)) == (1, 1)
    assert one.body == PERFECT


def test_titles_are_scored_against_nodes_and_against_labels():
    """micro F1: the words of all pages together"""
    found = [result(RIGHT), result(Output())]
    in_nodes = score.titles(found, score.in_nodes)
    assert in_nodes == score.Titles(2, f1=pytest.approx(2 / 3), exact=0.5, given=0.5)
    assert score.titles(found, score.as_labelled).exact == 0


def test_the_day_of_modification_is_no_day_of_publication():
    """but it is told how often it is the label"""
    found = [result(Output(date="2026-03-01", modified="2026-03-05")), result(Output())]
    days = score.days(found, doubtful=True)
    assert (days.right, days.right_or_modified, days.given, days.precision) == (0, 0.5, 0.5, 0)


@pytest.mark.parametrize("text", ["yesterday", "", "2026-13-41"])
def test_what_is_no_date_is_no_answer(text: str):
    assert result(Output(date=text)).day is None


def test_doubtful_days_are_left_out():
    faulty = replace(PAGE, date=date(2020, 1, 1), date_doubtful=True)
    found = [result(RIGHT), result(RIGHT, faulty)]
    assert (score.days(found, doubtful=False).right, score.days(found, doubtful=True).right) == (
        1,
        0.5,
    )


def test_failures_are_counted_by_kind_and_worth_nothing():
    found = [
        result(RIGHT),
        result(Output(), error="no answer in 60 s (exit code -9)"),
        result(Output(), error="ValueError: no page"),
    ]
    assert score.failures(found) == {"deadline": 1, "ValueError": 1}
    assert score.bodies(found).score.f1 == pytest.approx(1 / 3)


def test_tables_compare_all_tools_with_ours():
    """bodies, titles and days of each family; tools that lack a field are not in its table"""
    worse = Output("Votes", "2026-03-01", body="The council")
    other = replace(PAGE, corpus="daniel", id="port")
    suspect = replace(PAGE, id="pier", body_suspect=True)
    results = {
        name: [result(one, page) for page in (PAGE, suspect, other)]
        for name, one in {OURS: RIGHT, "trafilatura": worse, "justext": worse}.items()
    }
    overview, news, daniel, whole, title, *others, failures = tables.tables(results, CORE_FIELDS)
    assert [table.title.partition(":")[0] for table in (title, *others)] == [
        f"{field}, {corpus}"
        for field in ("Title", "Day of publication")
        for corpus in ("news212", "daniel")
    ]
    assert overview.columns == ("tool", "news", "news, without suspects", "daniel", ALL)
    for table in (overview, news, daniel, whole, title, *others, failures):
        assert {len(row) for row in table.rows} == {len(table.columns)}
    assert [row[0] for row in title.rows] == [OURS, "trafilatura"]
    assert title.rows[1][-1] == "+1.000 [+1.000, +1.000]"
    assert title.rows[0][-1] == ""
    for table in (news, daniel, whole, failures):
        assert [row[0] for row in table.rows] == [OURS, "trafilatura", "justext"]
    assert [table.title for table in (news, daniel)] == [
        "Body, news: 2 pages",
        "Body, daniel: 1 pages",
    ]
    page = document(results, [title])
    assert f"| **{OURS}** | 1.000 |" in page


def test_tables_of_metadata():
    """A table for each labelled field and corpus; tools that lack the field are not in it."""
    blog = replace(PAGE, corpus="postlight", id="blog", site="beta.example", authors=("Ada Reyes",))
    news = replace(blog, corpus="news212", id="news", site="alpha.example", description="It voted.")
    ours = Output(authors=["ADA REYES"], description="It voted", tags=["Harbour"])
    results = {
        name: [result(one, page) for page in (PAGE, news, blog)]
        for name, one in {
            OURS: ours,
            "trafilatura": Output(authors=["Ada Reyes", "Admin"]),
            "readability-lxml": Output(),
            "justext": Output(),
        }.items()
    }
    found = {table.title: table for table in tables.tables(results, METADATA_FIELDS)}
    titles = [title for title in found if not title.startswith("Failures")]
    assert titles == [
        "Authors right, by corpus",
        "Authors, news212: 1 pages",
        "Authors, postlight: 1 pages",
        "Authors, all corpora: 2 pages",
        "Description, news212: 1 pages",
        "Metadata given, right or wrong: 2 pages",
    ]
    assert found[titles[0]].rows[:2] == [
        [OURS, "1.000", "1.000", "1.000"],
        ["trafilatura", "0.000", "0.000", "0.000"],
    ]
    whole = {row[0]: row for row in found[titles[3]].rows}
    assert whole["trafilatura"][3:5] == ["0.500", "1.000"]
    assert whole["readability-lxml"][-2:] == ["100.0 %", "+1.000 [+1.000, +1.000]"]
    assert [row[0] for row in found[titles[4]].rows] == [OURS, "trafilatura"]
    given = {row[0]: row[1:] for row in found[titles[5]].rows}
    assert given[OURS] == ["100.0 %", "100.0 %", "0.0 %", "0.0 %", "100.0 %", "0.0 %"]
    assert given["readability-lxml"] == ["0.0 %", "", "", "", "", ""]
    assert "justext" not in given
    head = document(results, [])
    assert "No corpus has labels of site name, section, tags, image." in head


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a corpus of news: the newest article of each sample site."""
    folder = tmp_path / "news212"
    (folder / "pages").mkdir(parents=True)
    newest = {page.site: page for page in reversed(expected_pages()) if page.is_article}
    rows = []
    for site, page in newest.items():
        (folder / "pages" / f"{site}.html.gz").write_bytes(gzip.compress(page.file.read_bytes()))
        labels = {
            "title": page.title,
            "date": page.date and page.date.isoformat(),
            "body": page.body,
        }
        rows.append(
            {"id": site, "site": site, "url": f"https://{site}.example{page.path}", **labels}
        )
    (folder / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def compare(python: Path | str, corpus: Path, *options: str) -> str:
    """Return what the benchmark prints of *corpus*."""
    command = [str(python), "-m", "benchmarks.peers", "--corpora", str(corpus.parent), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_run_over_sample_pages(corpus: Path):
    """without any other tool: ours, and what the markup says"""
    printed = compare(sys.executable, corpus, "--tools", "nce,markup", "--fields", "title,body")
    assert "Title, news212: 3 pages" in printed
    assert "Body, news: 3 pages" in printed
    assert "Day of publication" not in printed


@pytest.mark.slow
def test_every_tool_answers_on_sample_pages(corpus: Path, repository: Path):
    """and what it said is kept: the second run reads nothing again"""
    python = repository / ".venv-peers" / "bin" / "python"
    if not python.exists():
        skip_missing("the other tools have an environment of their own: run `make peers`")
    peers = [name for name, tool in TOOLS.items() if tool.package]
    cache, page = corpus.parent / "cache", corpus / "peers.md"
    asked = ",".join(["nce", *peers])
    compare(python, corpus, "--tools", asked, "--cache", str(cache), "--out", str(page))
    kept = {path.name: path.read_text() for path in cache.iterdir()}
    assert len(kept) == len(peers)
    for lines in kept.values():
        assert [one.error for one in _answers(lines)] == [None, None, None]
    for name in ("newspaper4k", "extruct"):
        lines = next(text for file, text in kept.items() if file.startswith(f"{name}-"))
        assert any(one.output.authors for one in _answers(lines))
    assert "## Failures, all families: 3 pages" in page.read_text()
    compare(python, corpus, "--tools", "justext", "--cache", str(cache))
    assert kept == {path.name: path.read_text() for path in cache.iterdir()}


def _answers(lines: str) -> Sequence[Answer]:
    return [Answer.from_plain(json.loads(line)["value"]) for line in lines.splitlines()]


def test_a_page_that_a_tool_cannot_read_fails_alone(corpus: Path):
    (corpus / "pages" / "minato.html.gz").write_bytes(gzip.compress(b""))
    pages = load_corpus(corpus).pages
    found = {
        page.id: one for page, one in zip(pages, answers("markup", pages, workers=1), strict=True)
    }
    assert [name for name, one in found.items() if one.error] == ["minato"]
    assert found["minato"].output == Output()
    assert found["tageblick"].output.title
