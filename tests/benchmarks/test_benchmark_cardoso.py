"""The tables of DocEng 2011 and the effect of style sheets: what goes into them."""

from __future__ import annotations

import dataclasses
import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.cardoso import pages
from benchmarks.cardoso.effect import (
    Result,
    difference_chart,
    difference_table,
    find_differences,
)
from benchmarks.cardoso.looks import SOURCES, ChromiumStyles, Source, oracle_page, tag_styles
from benchmarks.cardoso.readings import Reading, labelled_pages, read_page, spread
from benchmarks.cardoso.scoring import (
    ALL,
    Pair,
    body_pairs,
    by_group,
    cell,
    date_pairs,
    nce_pairs,
    title_pairs,
)
from benchmarks.cardoso.style_pool import Groups, key_of, read_sources
from benchmarks.cardoso.times import (
    BOTH,
    CACHED,
    NEW,
    PARSE,
    STRUCTURAL,
    STYLES,
    VISUAL,
    WHOLE_BOTH,
    WHOLE_VISUAL,
    Timed,
    named,
    saving_table,
    style_costs,
    table_3,
)
from newscrawl.document.document import parse_document
from newscrawl.fields.cardoso import ClassifiedNodes
from newscrawl.lab.corpora.chromium import missing
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.metrics import Score

if TYPE_CHECKING:
    from pathlib import Path

TITLE = "Harbour bridge reopens after repairs"
PARAGRAPH = "The bridge over the harbour was closed for a year while its piers were repaired, and "
SHEET = ".head { font-size: 40px } .when { color: #777; font-weight: bold }"
HTML = f"""<!doctype html><html lang="en"><head><title>{TITLE} - The Mail</title>
<link rel="stylesheet" href="/news.css"><style>p {{ font-size: 18px }}</style></head><body>
<nav><a href="/">Home</a><a href="/news">News</a></nav>
<main><h2 class="head">{TITLE}</h2><p class="when">3 May 2024</p>
<p>{PARAGRAPH * 3}</p><p style="font-size: 20px">{PARAGRAPH * 2}</p></main>
<footer><a href="/about">About the paper</a></footer></body></html>"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of two sites, one page each, with a style sheet."""
    folder = tmp_path / "css-sites"
    (folder / "pages").mkdir(parents=True)
    (folder / "css").mkdir()
    rows = []
    for name in ("a", "b"):
        (folder / "pages" / f"{name}.html.gz").write_bytes(gzip.compress(HTML.encode()))
        rows.append(
            {
                "id": name,
                "url": f"https://{name}.example/1",
                "site": f"{name}.example",
                "title": TITLE,
                "date": "2024-05-03",
                "body": PARAGRAPH * 5,
            }
        )
    lines = "\n".join(map(json.dumps, rows))
    (folder / "truth.jsonl").write_text(lines + "\n", encoding="utf-8")
    (folder / "css" / "1.gz").write_bytes(gzip.compress(SHEET.encode()))
    sheets = {f"https://{name}.example/news.css": "1.gz" for name in ("a", "b")}
    (folder / "stylesheets.json").write_text(json.dumps(sheets), encoding="utf-8")
    (tmp_path / "css-complete.json").write_text("[]", encoding="utf-8")
    return folder


@pytest.fixture
def reading(corpus: Path) -> Reading:
    """The first page, read."""
    found = read_page(labelled_pages([corpus])[0])
    assert found is not None
    return found


def found_on(reading: Reading, title: str | None, day: str) -> ClassifiedNodes:
    """Return the nodes with those texts."""
    texts = reading.relevant.nodes.texts
    place = None if title is None else texts.index(title)
    return ClassifiedNodes(place, 1.0, [texts.index(day)], 1.0)


def test_spread_is_evenly_spaced():
    assert spread(range(10), 5) == [0, 2, 4, 6, 8]
    assert spread(range(3), 5) == [0, 1, 2]
    assert spread(range(3), None) == [0, 1, 2]


def test_reading_has_relevant_and_all_nodes(reading: Reading):
    assert "About the paper" not in reading.relevant.nodes.texts
    assert "About the paper" in reading.whole.nodes.texts
    assert reading.relevant.title == reading.whole.title == TITLE


def test_read_page_returns_none_for_empty_page(corpus: Path):
    file = corpus / "pages" / "a.html.gz"
    file.write_bytes(gzip.compress(b""))
    assert read_page(labelled_pages([corpus])[0]) is None


def test_body_pairs_start_after_title(reading: Reading):
    labelled = [reading.page]
    (nce,) = nce_pairs([reading])
    assert TITLE in nce.found
    found = found_on(reading, TITLE, "3 May 2024")
    (body,) = body_pairs([reading], [found])
    assert TITLE not in body.found
    assert "3 May 2024" not in body.found
    assert body.exact
    (wide,) = body_pairs([reading], [found], gap=True)
    assert wide.exact
    later = dataclasses.replace(reading, start=reading.relevant.nodes.rows[-1])
    (short,) = body_pairs([later], [found])
    (wide,) = body_pairs([later], [found], gap=True)
    assert (short.exact, wide.exact) == (False, True)
    (title,) = title_pairs(labelled, [reading.relevant], [found])
    (day,) = date_pairs(labelled, [reading.relevant], [found])
    assert (title.found, title.f1, day.found, day.exact) == (TITLE, 1.0, "3 May 2024", True)


def test_falls_back_to_title_element(reading: Reading):
    found = found_on(reading, None, "3 May 2024")
    (title,) = title_pairs([reading.page], [reading.relevant], [found])
    assert title.found == f"{TITLE} - The Mail"
    assert not title.exact
    (body,) = body_pairs([reading], [found])
    assert TITLE in body.found


def test_by_group_scores_words_of_a_group(reading: Reading):
    other = LabelledPage("b", "1", reading.page.path, "https://c.example/", "c.example", "tune")
    pairs = [Pair(reading.page, "one two", "one two"), Pair(other, "one four", "one two")]
    scores = by_group(pairs, lambda page: page.corpus)
    assert scores[ALL].micro == (0.75, 0.75, 0.75)
    assert scores["css-sites"].micro.f1 == 1
    assert scores["b"].micro.f1 == 0.5
    assert cell(Score(1.0, 0.5, 2 / 3)) == "1.000 / .500 / .667"


def test_read_sources_with_style_of_each_source(corpus: Path, tmp_path: Path):
    labelled = labelled_pages([corpus])[0]
    sources: tuple[Source, ...] = ("none", "tags", "ours", "chromium")
    found = read_sources(labelled, sources=sources, folder=tmp_path, rendered=frozenset())
    assert found is not None
    assert found.pop("chromium").nodes == found["ours"].nodes  # not rendered
    sizes = {
        source: dict(zip(one.nodes.texts, one.nodes.features["font_size"], strict=True))
        for source, one in found.items()
    }
    assert {source: by_text[TITLE] for source, by_text in sizes.items()} == {
        "none": 16.0, "tags": 24.0, "ours": 40.0
    }  # fmt: skip
    assert sizes["tags"]["3 May 2024"] == 16.0
    assert sizes["ours"]["3 May 2024"] == 18.0


def test_tag_styles_ignore_author_styles(corpus: Path):
    shown = oracle_page(labelled_pages([corpus])[0])
    document = parse_document(shown.html)
    style_of = tag_styles(shown)
    sizes = {document.text[row][:9]: style_of(row).font_size for row in document.text_nodes()}
    assert sizes["The bridg"] == 16
    assert set(sizes.values()) == {16, 24}


def test_groups_by_available_sheets(corpus: Path):
    corpora = corpus.parent
    (corpora / "css-complete.json").write_text('[{"corpus": "news", "id": "1"}]', encoding="utf-8")
    groups = Groups(corpora)
    style = "<style>p { color: red }</style>"
    linked = "<link rel=stylesheet href=/a.css>"
    contents = {
        ("css-sites", "9"): linked, ("news", "1"): linked, ("news", "2"): "", ("blogs", "3"): style,
        ("blogs", "4"): style * 200, ("blogs", "5"): style * 200 + linked,
    }  # fmt: skip
    made = []
    for (name, number), content in contents.items():
        path = corpora / f"{number}.html.gz"
        path.write_bytes(gzip.compress(f"<p>{content}text".encode()))
        made.append(LabelledPage(name, number, path, "https://a.example/", "a.example", "tune"))
    assert [groups(one) for one in made] == [
        "css-sites", "css-complete", "sheets missing", "sheets missing", "css-complete",
        "sheets missing",
    ]  # fmt: skip
    assert [groups.complete(one) for one in made] == [True, True, False, False, True, False]
    assert groups.table(made).rows == [
        ["css-sites", "1", "1", "0", "0"],
        ["news", "2", "1", "0", "1"],
        ["blogs", "3", "1", "2", "0"],
    ]


def test_differences_of_sources(corpus: Path):
    labelled = labelled_pages([corpus])[0]
    other = dataclasses.replace(labelled, corpus="blogs", site="b.example")
    good, bad = (
        [Pair(one, found, "one two") for one in (labelled, other)] for found in ("one two", "one")
    )
    results = {"our engine": Result(good, good), "tags, no author style": Result(bad, good)}
    found = list(find_differences(results, Groups(corpus.parent)))
    assert [(it.field, it.sources) for it in found] == [
        ("title", "our engine - tags"),
        ("date", "our engine - tags"),
    ]
    assert found[0].found["css-sites"].difference == pytest.approx(1 / 3)
    table = difference_table(found)
    assert table.rows[0][2:4] == ["1 / 1", "+0.333 (+0.333 .. +0.333)"]
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert "title: our engine - tags" in difference_chart(found)


@pytest.mark.slow
@pytest.mark.skipif(missing() is not None, reason=f"no oracle: {missing()}")
def test_chromium_styles_are_cached(corpus: Path, tmp_path: Path):
    labelled = labelled_pages([corpus])[0]
    folder = tmp_path / "cache"
    chromium = ChromiumStyles(folder)
    chromium.add([oracle_page(labelled)])
    (file,) = folder.iterdir()
    written = file.stat().st_mtime_ns
    chromium.add([oracle_page(labelled)])
    assert file.stat().st_mtime_ns == written
    rendered = frozenset({key_of(labelled)})
    found = read_sources(labelled, sources=SOURCES, folder=folder, rendered=rendered)
    assert found is not None
    assert found["chromium"].nodes == found["ours"].nodes


def test_times_are_relative_to_structural_approach(corpus: Path):
    subject = Timed(labelled_pages([corpus])[0], "css-sites")
    subject.measure()
    steps = (VISUAL, WHOLE_VISUAL, BOTH, WHOLE_BOTH, STYLES)
    wanted = {PARSE, STRUCTURAL, *(named(step, state) for step in steps for state in (CACHED, NEW))}
    assert wanted <= subject.times.keys()
    subject.times |= dict.fromkeys(subject.times, 2.0)
    subject.times |= {STRUCTURAL: 4.0, named(VISUAL, CACHED): 6.0, named(WHOLE_VISUAL, CACHED): 8.0}
    rows = {row[0]: list(row[1:]) for row in table_3([subject]).rows}
    assert rows[named(VISUAL, CACHED)] == ["1.77", "1.50", "3.00"]
    assert rows[PARSE] == ["", "0.50", "1.00"]
    assert saving_table([subject]).rows[0][2] == "25 %"
    assert style_costs([subject])["css-sites", "ours"] == "1.0 (1.0); new process 1.0 (1.0)"


def test_introductions_and_notes_have_no_open_braces():
    values = dict.fromkeys(
        ("pages", "sites", "corpora", "command", "timed", "browser", "machine"), 1
    )
    texts = [text.format(**values) for text in (pages.TABLES, pages.THESIS, pages.STYLES)]
    for text in (*texts, *pages.NOTES.values()):
        assert "{" not in text.replace("{doc}`", "")


@pytest.mark.slow
@pytest.mark.corpus
def test_command_writes_pages(corpus_dir: Path, tmp_path: Path):
    command = [sys.executable, "-m", "benchmarks.cardoso", "--out", str(tmp_path)]
    small = ["--limit", "12", "--timed-pages", "1", "--browser-pages", "0"]
    style = ["--style", "none", "ours", "--workers", "1"]
    subprocess.run([*command, *small, *style], check=True, capture_output=True, timeout=280)
    text = "".join(
        (tmp_path / name).read_text("utf-8") for name in ("cardoso.md", "thesis.md", "styles.md")
    )
    assert all(f"## Table {number}:" in text for number in range(1, 8))
    assert "## Effect of style sheets" in text
    assert "| 9 title_edit_distance |" in text
    assert {file.name for file in tmp_path.glob("*.svg")} == {
        "cardoso-pipeline.svg", "styles.svg", "thesis-attributes.svg"
    }  # fmt: skip
