import gzip
import io
import json
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click import NoSuchOption

from newscrawl.fields.dates.decide import CONFIDENCE
from newscrawl.lab.corpora import map_pages as run
from newscrawl.lab.corpora.corpus import (
    CorpusError,
    LabelledPage,
    half_of,
    load_corpus,
    registered_domain,
)
from newscrawl.lab.corpora.day_match import NO_DAY, DayResult
from newscrawl.lab.corpora.map_pages import map_pages
from newscrawl.lab.corpora.metrics import PERFECT, ZERO
from newscrawl.lab.corpora.tables import Table, print_tables
from newscrawl.lab.evaluation.evaluation_report import build_report, tables_of
from newscrawl.lab.evaluation.page_scores import PageScores, evaluate
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import scrapy

TITLE = "Harbour town votes to rebuild its lighthouse"
PARAGRAPHS = [
    f"Paragraph {number} says that the council of the harbour town sat until late on Thursday, "
    "heard the keeper, two engineers and a row of fishermen, and then voted to rebuild the "
    "lighthouse that a storm had taken in the spring, at a price that nobody in the hall would "
    f"repeat aloud; vote {number} was the closest in a decade, and the mayor called it fair."
    for number in range(8)
]
PAGE = """<!doctype html><html lang="en"><head><title>{title} | The Harbour Mail</title>
<meta property="article:published_time" content="{date}T08:30:00+00:00"></head><body>
<nav><a href="/news">News</a> <a href="/sport">Sport</a> <a href="/weather">Weather</a></nav>
<article><h1>{title}</h1><p class="byline">By Ada Reyes</p>{paragraphs}</article>
<aside><a href="/1">Another story</a> <a href="/2">And one more story</a></aside>
<footer>All rights reserved by the paper</footer></body></html>"""


SINGLE = CONFIDENCE["single"]


def _html(title: str = TITLE, day: str = "2026-03-05") -> bytes:
    paragraphs = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)
    return PAGE.format(title=title, date=day, paragraphs=paragraphs).encode()


def _row(page_id: str, site: str, **labels: Any) -> dict[str, Any]:
    return {"id": page_id, "url": f"https://{site}/{page_id}", "site": site, **labels}


LABELS = {"title": TITLE, "date": "2026-03-05", "body": "\n".join(PARAGRAPHS)}
ROWS = [
    _row("right", "alpha.example", **LABELS),
    _row(
        "other-title",
        "alpha.example",
        **{**LABELS, "title": "Nothing of the kind", "date": "2026-03-05 HKT 23:50"},
    ),
    _row("other-day", "www.beta.example", **{**LABELS, "date": "2026-03-04 23:50:00+00:00"}),
    _row("doubtful", "beta.example", **LABELS, date_doubtful=True, publisher="Beta"),
    _row("body-only", "gamma.example", title=None, date=None, body=LABELS["body"]),
    _row("unlabelled", "gamma.example", title=None, date=None, body=None),
]


def write_corpus(folder: Path, rows: list[dict[str, Any]]) -> Path:
    (folder / "pages").mkdir(parents=True)
    for row in rows:
        page = gzip.compress(_html())
        (folder / "pages" / f"{row['id']}.html.gz").write_bytes(page)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "truth.jsonl").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    suspects = json.dumps({"small": ["other-day"], "elsewhere": ["right"]})
    (tmp_path / "body-suspects.json").write_text(suspects)
    return write_corpus(tmp_path / "small", ROWS)


def test_load_corpus_reads_labels_sites_and_suspects(folder: Path) -> None:
    corpus = load_corpus(folder)
    assert (corpus.name, len(corpus.pages), corpus.unlabelled) == ("small", 5, 1)
    pages = {page.id: page for page in corpus.pages}
    assert pages["right"].date == date(2026, 3, 5)
    assert pages["right"].html() == _html()
    assert pages["right"].relevant_content == f"{TITLE}\n{LABELS['body']}"
    assert pages["body-only"].relevant_content is None
    assert pages["doubtful"].site == "Beta"
    assert [page.id for page in corpus.pages if page.body_suspect] == ["other-day"]
    assert [page.id for page in corpus.pages if page.day_counts] == [
        "right", "other-title", "other-day",
    ]  # fmt: skip


def test_labelled_page_round_trip(folder: Path) -> None:
    for page in load_corpus(folder).pages:
        plain = json.loads(json.dumps(page.to_plain()))
        assert LabelledPage.from_plain(plain) == page


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{broken", r"line 2: not JSON"),
        ("[1]", r"line 2: not a JSON object"),
        ('{"id": "right"}', r"line 2: no 'site'"),
        ('{"id": "right", "url": "u", "site": "s", "date": "5 March"}', r"line 2: .*isoformat"),
        (
            '{"id": "right", "url": "u", "site": "s", "title": 7}',
            r"line 2: 'title' is not a string",
        ),
        ('{"id": "gone", "url": "u", "site": "s"}', r"line 2: no page at .*gone\.html\.gz"),
    ],
)
def test_load_corpus_names_invalid_line(folder: Path, line: str, message: str) -> None:
    truth = folder / "truth.jsonl"
    truth.write_text(f"{json.dumps(ROWS[0])}\n{line}\n")
    with pytest.raises(CorpusError, match=message):
        load_corpus(folder)


def test_load_corpus_names_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no corpus at .*nowhere"):
        load_corpus(tmp_path / "nowhere")


def test_half_depends_on_registered_domain() -> None:
    assert registered_domain("news.bbc.co.uk") == "bbc.co.uk"
    assert registered_domain("localhost") == "localhost"
    assert half_of("www.example.com") == half_of("example.com") == "tune"
    assert half_of("example.org") == "test"


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "tune", "test"),
    [("news212", (209, 106), (212, 104)), ("fundus", (125, 90), (133, 90))],
)
def test_halves_of_the_corpora_are_stable(
    corpus_dir: Path, name: str, tune: tuple[int, int], test: tuple[int, int]
) -> None:
    pages = load_corpus(corpus_dir / name).pages
    for half, counts in (("tune", tune), ("test", test)):
        rows = json_rows(corpus_dir / name, {page.id for page in pages if page.half == half})
        assert (len(rows), len({registered_domain(row["site"]) for row in rows})) == counts


def json_rows(folder: Path, ids: set[str]) -> list[dict[str, Any]]:
    lines = (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["id"] in ids]


def test_scores_labelled_fields(folder: Path) -> None:
    outcomes = evaluate(load_corpus(folder).pages, "nce", workers=0)
    values = {outcome.page.id: outcome.value for outcome in outcomes}
    assert all(outcome.error is None for outcome in outcomes)
    for metric in ("bag", "node", "weighted"):
        assert values["right"].score("title", metric) == PERFECT
        body = values["right"].score("body", metric)
        assert body is not None
        assert body.recall == 1
    assert values["other-title"].score("title", "bag") == ZERO
    assert values["other-title"].score("title", "node") is None
    assert set(values["body-only"].scores) == {"body"}
    assert values["right"].day == DayResult(returned=True, correct=True, confidence=SINGLE)
    assert values["other-day"].day == DayResult(returned=True, correct=False, confidence=SINGLE)
    assert values["doubtful"].day == values["right"].day
    assert values["body-only"].day is None
    assert values["right"].language == "en"


def test_workers_give_equal_scores(folder: Path) -> None:
    pages = load_corpus(folder).pages
    assert evaluate(pages, "nce", workers=2) == evaluate(pages, "nce", workers=0)


def test_failed_page_scores_zero_and_is_reported(folder: Path) -> None:
    (folder / "pages" / "right.html.gz").write_bytes(gzip.compress(b""))
    (folder / "pages" / "other-day.html.gz").write_bytes(b"not gzip")
    pages = load_corpus(folder).pages
    outcomes = evaluate(pages, "nce", workers=0)
    failed = {outcome.page.id: outcome for outcome in outcomes if outcome.error}
    assert set(failed) == {"right", "other-day"}
    assert failed["right"].value == PageScores.failed(failed["right"].page)
    assert failed["right"].value.score("body", "bag") == ZERO
    assert failed["right"].value.day == NO_DAY
    report = build_report("nce", [load_corpus(folder)], outcomes)
    assert [failure["id"] for failure in report["failures"]] == ["right", "other-day"]
    scores = report["corpora"]["small"]["scores"]["all"]
    assert scores["failed"] == 2
    assert scores["body"]["bag"]["below_0.5"] == 2 / 5


def test_map_pages_survives_crash_and_timeout(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "DEADLINE", 4.0)
    advanced: list[None] = []
    outcomes = map_pages(
        "tests.helpers.crashing_task:crash_or_hang",
        load_corpus(folder).pages,
        lambda plain: plain["length"],
        lambda _: 0,
        workers=2,
        advance=lambda: advanced.append(None),
    )
    assert [outcome.value > 0 for outcome in outcomes] == [False, True, True, False, True]
    assert len(advanced) == 5
    assert "no answer in 4 s" in (outcomes[3].error or "")


def test_report_counts_and_means(folder: Path) -> None:
    corpus = load_corpus(folder)
    outcomes = evaluate(corpus.pages, "nce", workers=0)
    report = build_report("nce", [corpus], outcomes)
    small = report["corpora"]["small"]
    every = small["scores"]["all"]
    assert (every["pages"], every["sites"], every["body_suspects"]) == (5, 4, 1)
    assert small["unlabelled"] == every["dates_doubtful"] == 1
    assert small["scores"]["without_suspects"]["pages"] == 4
    assert every["title"]["bag"]["f1"] == pytest.approx(3 / 4)
    # alpha.example has a right title and a wrong one, the other two sites a right one each.
    assert every["title"]["bag"]["site_f1"] == pytest.approx((0.5 + 1 + 1) / 3)
    days = every["date"]["trusted"]
    assert (days["pages"], days["returned"], days["correct"]) == (3, 3, 2)
    assert days["precision"] == days["recall"] == days["f1"] == days["right"] == 2 / 3
    assert (every["date"]["all"]["pages"], every["date"]["all"]["correct"]) == (4, 3)
    by_half = small["scores"]["tune"]["pages"] + small["scores"]["test"]["pages"]
    assert by_half == 5
    assert len(report["worst"]) == 5
    assert json.loads(json.dumps(report))["pages"][0]["id"] == "right"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


TABLE = Table("Sites", ("site", "F1"), [["alpha.example", "0.900"], ["b", "12.000"]])


def test_print_tables_aligns_plain_text() -> None:
    stream = io.StringIO()
    print_tables([TABLE, Table("empty", ("none",), [])], stream)
    assert stream.getvalue() == (
        "Sites\n  site               F1\n  alpha.example   0.900\n  b              12.000\n\n"
    )


def test_print_tables_uses_rich_on_terminals() -> None:
    stream = Terminal()
    print_tables([TABLE], stream)
    assert "alpha.example" in stream.getvalue()
    assert "┃" in stream.getvalue()


def _evaluate(*arguments: object) -> subprocess.CompletedProcess[str]:
    return scrapy(REPOSITORY, "evaluate", *arguments)


def test_command_prints_tables_and_writes_json(folder: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ("--jobs", 1, "--json", figures)
    done = _evaluate(folder, "--method", "nce", *options)
    assert (done.returncode, done.stderr) == (0, "")
    for text in (
        "relevant content", "text-weighted nodes", "without suspects", "date, exact day",
        "the nodes that hold it", "calibration error",
        "Worst pages",
    ):  # fmt: skip
        assert text in done.stdout
    assert "Failed pages" not in done.stdout
    assert json.loads(figures.read_text())["method"] == "nce"


def test_command_prints_only_json(folder: Path) -> None:
    done = _evaluate(folder, "--method", "nce", "--jobs", 0, "--limit", 1, "--json", "-")
    report = json.loads(done.stdout)
    assert len(report["pages"]) == 1


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (1, ["nowhere"], "no corpus at nowhere"),
        (2, [], "'CORPUS...'"),
        (2, ["nowhere", "--method", "magic"], "unknown method 'magic'; expected one of: "),
        (2, ["nowhere", "--metod", "nce"], NoSuchOption("--metod").message.rstrip(".")),
        (2, ["nowhere", "--jobs", "-1"], "'--jobs': -1 is not in the range"),
        (2, ["{folder}", "{folder}"], "two corpora have the same name"),
        (1, ["{folder}", "--limit", "0"], "no labelled page to score"),
        (2, ["{folder}", "--page", "page.md"], "--page requires --task near-duplicates"),
        (1, ["{folder}", "--limit", "2", "--jobs", "0"], "too few labelled pages to train "),
        (
            1,
            ["{folder}", "--method", "nce", "--jobs", "0", "--json", "{folder}"],
            "cannot write",
        ),
    ],
)
def test_command_reports_errors(
    folder: Path, code: int, arguments: list[str], message: str
) -> None:
    done = _evaluate(*(argument.format(folder=folder) for argument in arguments))
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_tables_have_a_cell_for_each_column(folder: Path) -> None:
    corpus = load_corpus(folder)
    outcomes = evaluate(corpus.pages, "nce", workers=0)
    report = build_report("nce", [corpus], outcomes)
    for table in tables_of(report):
        assert {len(row) for row in table.rows} <= {len(table.columns)}
