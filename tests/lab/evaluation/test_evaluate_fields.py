import gzip
import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.document.document import parse_document
from newscrawl.items import Article, Day, Evidence
from newscrawl.lab.corpora.calibration import calibration_error, confidence_bins
from newscrawl.lab.corpora.corpus import LabelledPage, load_corpus
from newscrawl.lab.corpora.day_match import NO_DAY, DayResult, day_result
from newscrawl.lab.corpora.map_pages import PageOutcome
from newscrawl.lab.corpora.title_match import TitleMatch, title_matches
from newscrawl.lab.evaluation.day_scores import day_means
from newscrawl.lab.evaluation.evaluation_report import build_report, tables_of
from newscrawl.lab.evaluation.field_tables import date_table, reliability_table
from newscrawl.lab.evaluation.page_scores import PageScores, evaluate
from newscrawl.lab.evaluation.summary import summarise

DAY = date(2026, 3, 5)
TITLE = "Harbour town votes to rebuild its lighthouse"
PROSE = "The council of the harbour town sat until late on Thursday and heard the keeper speak. "


def labelled(
    number: int = 0, *, day: Day | None = DAY, doubtful: bool = False, title: str | None = None
) -> LabelledPage:
    return LabelledPage(
        "small", str(number), Path(), "https://paper.example/1", "paper.example", "test",
        title=title, date=day, date_doubtful=doubtful,
    )  # fmt: skip


def article(published: Day | None = None, modified: Day | None = None) -> Article:
    evidence = {"date": Evidence("json-ld", 0.92)} if published else {}
    return Article(url=None, date=published, date_modified=modified, evidence=evidence)


@pytest.mark.parametrize(
    ("extracted", "result"),
    [
        (article(DAY), DayResult(returned=True, correct=True, confidence=0.92)),
        (article(DAY, DAY), DayResult(returned=True, correct=True, confidence=0.92)),
        (
            article(date(2026, 3, 1), DAY),
            DayResult(returned=True, correct=False, modified=True, confidence=0.92),
        ),
        (article(date(2026, 3, 1)), DayResult(returned=True, correct=False, confidence=0.92)),
        (article(None, DAY), DayResult(returned=False, correct=False, modified=True)),
        (article(), NO_DAY),
    ],
)
def test_day_result_distinguishes_publication_and_modification(
    extracted: Article, result: DayResult
):
    assert day_result(labelled(), extracted) == result


def test_day_result_is_none_without_label():
    assert day_result(labelled(day=None), article(DAY)) is None


def outcome(number: int, day: DayResult, *, doubtful: bool = False) -> PageOutcome[PageScores]:
    return PageOutcome(labelled(number, doubtful=doubtful), PageScores(day=day))


SURE = DayResult(returned=True, correct=True, confidence=0.98)
WRONG = DayResult(returned=True, correct=False, confidence=0.92)
UPDATED = DayResult(returned=True, correct=False, modified=True, confidence=0.6)


def days() -> list[PageOutcome[PageScores]]:
    return [
        outcome(1, SURE),
        outcome(2, WRONG),
        outcome(3, UPDATED),
        outcome(4, NO_DAY),
        outcome(5, WRONG, doubtful=True),
    ]


def test_day_means_with_and_without_doubtful_labels():
    means = day_means(days())
    trusted, raw = means["trusted"], means["all"]
    assert (trusted["pages"], raw["pages"]) == (4, 5)
    assert (trusted["returned"], trusted["correct"]) == (3, 1)
    assert (trusted["modified"], trusted["right"]) == (0.25, 0.5)
    assert (raw["modified"], raw["right"]) == (0.2, 0.4)


def test_tables_of_dates():
    """A row for each group of pages and labels."""
    scores = summarise(days())
    groups = {"all": "all pages", "tune": "tune half"}
    table = date_table("small", scores, groups)
    assert [row[:5] for row in table.rows] == [
        ["without doubtful", "all pages", "4", "3", "1"],
        ["all", "all pages", "5", "4", "1"],
    ]
    assert table.rows[0][-2:] == ["25.0 %", "0.500"]
    reliable = reliability_table("small", scores)
    assert [row[1] for row in reliable.rows[:4]] == [
        "0.50-0.70", "0.90-0.95", "0.95-1.00", "calibration error",
    ]  # fmt: skip
    assert reliable.rows[0][2:] == ["1", "0.600", "1.000", "+0.400"]


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans())))
def test_confidence_bins_contain_each_case_once(cases: list[tuple[float, bool]]):
    bins = confidence_bins(cases)
    assert sum(len(it.results) for it in bins) == len(cases)
    assert all(it.low - 1e-9 <= it.confidence <= it.high + 1e-9 for it in bins)
    largest = max((abs(it.result - it.confidence) for it in bins), default=0)
    assert 0 <= calibration_error(bins) <= largest + 1e-9


def test_calibration_error_is_zero_for_calibrated_confidences():
    cases = [(0.75, number > 0) for number in range(4)]
    assert calibration_error(confidence_bins(cases)) == 0
    assert calibration_error([]) == 0


@pytest.mark.parametrize(
    ("output", "gold", "exact"),
    [
        (TITLE, TITLE.upper() + "!", True),
        (TITLE, TITLE.replace("rebuild", "re-build"), True),
        (f"{TITLE} | The Harbour Mail", TITLE, False),
        ("港町、灯台再建へ", "港町、灯台再建へ", True),
        ("", TITLE, False),
    ],
)
def test_title_match_ignores_case_punctuation_and_typos(output: str, gold: str, exact: bool):
    assert TitleMatch.of(output, gold).exact is exact


def test_title_is_compared_with_label_and_nodes():
    """The nodes may have more words than the label."""
    html = f"<html><body><h1>{TITLE} again</h1><p>{PROSE * 3}</p></body></html>"
    page = labelled(title=TITLE)
    found = title_matches(page, Article(url=None, title=f"{TITLE} again"), parse_document(html))
    words = len(TITLE.split())
    assert found["label"] == TitleMatch(exact=False, common=words, output=words + 1, gold=words)
    assert found["nodes"] == TitleMatch(True, words + 1, words + 1, words + 1)
    assert title_matches(labelled(), Article(url=None), parse_document(html)) == {}
    means = summarise([PageOutcome(page, PageScores(titles=found))])["all"]["titles"]
    assert means["label"]["micro_precision"] == pytest.approx(words / (words + 1))
    assert (means["label"]["exact"], means["nodes"]["exact"]) == (0, 1)
    assert means["nodes"]["f1"] == 1


def test_title_without_nodes_is_compared_with_label():
    document = parse_document(f"<html><body><p>{PROSE * 3}</p></body></html>")
    assert set(title_matches(labelled(title=TITLE), Article(url=None), document)) == {"label"}


ROWS = [
    ("de", {"crawled": "2026-03-06 09:30:00.123456"}, "gestern, 9.30 Uhr"),
    ("de-AT", {}, "5. März 2026"),
    ("fr", {}, "5 mars 2026"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus of pages in several languages that show their day and state nothing."""
    pages = tmp_path / "tongues" / "pages"
    pages.mkdir(parents=True)
    lines = []
    for number, (language, extra, shown) in enumerate(ROWS):
        html = (
            f"<html lang={language}><head><title>{TITLE}</title></head><body><article>"
            f"<h1>{TITLE}</h1><p>{shown}</p><p>{PROSE * 4}</p><p>{PROSE * 4}</p>"
            "</article></body></html>"
        )
        (pages / f"{number}.html.gz").write_bytes(gzip.compress(html.encode()))
        url = f"https://paper.example/{number}"
        row = {"id": str(number), "url": url, "site": "paper.example", "title": TITLE}
        lines.append(json.dumps(row | {"date": "2026-03-05"} | extra) + "\n")
    (pages.parent / "truth.jsonl").write_text("".join(lines), encoding="utf-8")
    return pages.parent


def test_relative_dates_use_time_of_download(folder: Path):
    """Without a zone it is UTC."""
    pages = load_corpus(folder).pages
    assert pages[0].fetched_at == datetime(2026, 3, 6, 9, 30, 0, 123456, UTC)
    assert pages[1].fetched_at is None
    assert LabelledPage.from_plain(json.loads(json.dumps(pages[0].to_plain()))) == pages[0]
    outcomes = evaluate(pages, "nce", workers=0)
    assert [one.value.day is not None and one.value.day.correct for one in outcomes] == [True] * 3


def test_report_has_tables_of_all_corpora(folder: Path, tmp_path: Path):
    other = tmp_path / "other"
    other.symlink_to(folder, target_is_directory=True)
    first = load_corpus(folder)
    report = build_report("nce", [first], evaluate(first.pages, "nce", workers=0))
    alone = [table.title for table in tables_of(report)]
    assert "all corpora: date, exact day" not in alone
    report["corpora"]["other"] = report["corpora"]["tongues"]
    titles = [table.title for table in tables_of(report)]
    assert "all corpora: date, exact day" in titles
    assert "all corpora: title" in titles
