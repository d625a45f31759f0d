from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from newscrawl import extract
from newscrawl.body.nce import nce
from newscrawl.document.document import parse_document
from newscrawl.fields.dates import decide
from newscrawl.fields.dates.calendars import VisibleDate
from newscrawl.fields.dates.decide import (
    MAX_NODE_LENGTH,
    MAX_TITLE_DISTANCE,
    DateEvidence,
    gather,
    region_of,
)
from newscrawl.fields.dates.visible_dates import read_dates
from newscrawl.fields.metadata.metadata import read_metadata
from newscrawl.fields.titles.title import choose_title
from newscrawl.lab.corpora.corpus import HALVES, Half, load_corpus
from newscrawl.lab.evaluation.day_scores import day_means
from newscrawl.lab.evaluation.page_scores import evaluate

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
URL = "https://news.example/bridge"
PROSE = (
    "The council voted late on Thursday to let cars back on the old bridge, which has been "
    "closed since a barge struck its second pier, in 2019, and the repair began in March. "
)


def page(byline: str, *, head: str = "", lang: str = "en") -> str:
    return (
        f"<html lang={lang}><head><title>Council reopens the old bridge</title>{head}</head><body>"
        "<nav><a href=/>Home</a> <a href=/s>Sport</a></nav>"
        f"<article><h1>Council reopens the old bridge</h1>{byline}"
        f"<p>{PROSE * 3}</p><p>{PROSE * 3}</p></article></body></html>"
    )


def gathered(html: str, url: str = URL) -> list[DateEvidence]:
    document = parse_document(html)
    metadata = read_metadata(document, url, NOW)
    title = choose_title(document, metadata, url)
    forest = nce(document).forest
    return gather(document, metadata, forest, title.row if title else None, url=url, fetched_at=NOW)


def test_structured_dates_precede_visible_dates():
    head = '<meta property="article:published_time" content="2024-05-30T10:00:00Z">'
    html = page("<p>By Ann Lee</p><p>May 30, 2024 at 12:00 pm</p>", head=head)
    stated, shown = gathered(html)
    assert (stated.source, stated.row) == ("meta:article:published_time", None)
    assert (shown.source, shown.raw) == ("text", "May 30, 2024 at 12:00 pm")
    assert shown.day == date(2024, 5, 30)
    assert shown.row is not None
    assert parse_document(html).text[shown.row] == shown.raw


@pytest.mark.parametrize(
    ("lang", "byline", "day"),
    [
        ("en", "<p>2 hours ago</p>", date(2024, 6, 1)),
        ("de", "<p>gestern</p>", date(2024, 5, 31)),
        ("fr", "<p>Publié le lundi 27 mai à 17h40</p>", date(2024, 5, 27)),
        ("ja", "<p>2024年5月30日 17時40分</p>", date(2024, 5, 30)),
        ("th", "<p>30 พ.ค. 2567</p>", date(2024, 5, 30)),
        ("vi", "<p>Thứ năm, 30/5/2024, 06:00 (GMT+7)</p>", date(2024, 5, 30)),
    ],
)
def test_extracts_visible_dates_in_many_languages(lang: str, byline: str, day: date):
    """Relative dates are resolved against the fetch."""
    article = extract(page(byline, lang=lang), URL, fetched_at=NOW)
    assert (article.date if type(article.date) is date else article.date.date()) == day  # type: ignore[union-attr]
    assert article.evidence["date"].source == "text"


def test_separates_published_and_modified():
    head = '<meta property="article:modified_time" content="2024-05-31T09:00:00+02:00">'
    html = page("<p>Published: May 30, 2024</p><p>Updated: May 31, 2024</p>", head=head)
    article = extract(html, URL, fetched_at=NOW)
    assert article.date == date(2024, 5, 30)
    assert isinstance(article.date_modified, datetime)
    assert article.date_modified.day == 31


def test_both_dates_are_in_the_zone_of_the_country():
    head = "".join(
        f'<meta property="article:{name}_time" content="2024-05-30T{hour}:00:00Z">'
        for name, hour in (("published", 16), ("modified", 17))
    )
    article = extract(page("", head=head), "https://news.example.jp/bridge", fetched_at=NOW)
    assert article.date.isoformat() == "2024-05-31T01:00:00+09:00"
    assert article.date_modified.isoformat() == "2024-05-31T02:00:00+09:00"


def test_resolves_the_order_of_day_and_month():
    """By a stated day, else by the country of the URL."""
    head = '<meta property="article:modified_time" content="2024-04-03">'
    (shown,) = gathered(page("<p>3/4/2024</p>", head=head))
    assert (shown.day, shown.certain) == (date(2024, 4, 3), True)
    (shown,) = gathered(page("<p>3/4/2024</p>"))
    assert (shown.day, shown.certain) == (date(2024, 3, 4), False)
    (shown,) = gathered(page("<p>3/4/2024</p>"), "https://news.example.co.uk/bridge")
    assert (shown.day, shown.certain) == (date(2024, 4, 3), True)


def test_takes_a_missing_year_from_stated_dates():
    head = '<meta property="article:modified_time" content="2019-12-17">'
    (shown,) = gathered(page("<p>Dec 17</p>", head=head))
    assert (shown.day, shown.certain) == (date(2019, 12, 17), True)


def test_reads_nodes_far_from_the_title_only_if_nothing_else_gives_a_date():
    """They must be mostly a date."""
    words = "<p>word</p>" * (MAX_TITLE_DISTANCE + 1)
    far = words + "<p>May 30, 2024</p>"
    assert [shown.day for shown in gathered(page(far))] == [date(2024, 5, 30)]
    assert [shown.day for shown in gathered(page("<p>May 2, 2024</p>" + far))] == [date(2024, 5, 2)]
    assert gathered(page(words + "<p>The bridge will open again on May 30, 2024</p>")) == []


def test_weight_grows_with_the_share_of_the_date():
    byline = "<p>Bridge on a postcard, May 1, 2024, photo by Ann Lee</p><p>May 30, 2024</p>"
    caption, own = gathered(page(byline))
    assert caption.weight < own.weight


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("https://www.bbc.co.uk/news", "GB"),
        ("https://orf.at/stories/1", "AT"),
        ("https://news.example/", None),
        ("https://start.io/", None),
        (None, None),
    ],
)
def test_region_of_url(url: str | None, region: str | None):
    """Country domains, except those in generic use."""
    assert region_of(url) == region


def test_reads_a_bounded_number_of_nodes(monkeypatch: pytest.MonkeyPatch):
    html = "<body>" + "<p>1 May 2024</p>" * 100_000
    document = parse_document(html)
    metadata = read_metadata(document, URL, NOW)
    read: list[str] = []

    def read_and_note(text: str, **options: Any) -> list[VisibleDate]:
        read.append(text)
        return read_dates(text, **options)

    monkeypatch.setattr(decide, "read_dates", read_and_note)
    found = gather(document, metadata, [0], None, url=URL, fetched_at=NOW)
    assert len(read) == len(found) == 200
    assert max(map(len, read)) <= MAX_NODE_LENGTH


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("half", HALVES)
def test_accuracy_on_the_corpora(corpus_dir: Path, half: Half):
    """A modification date counts as right, as some labels are doubtful."""
    corpora = [load_corpus(corpus_dir / name) for name in ("news212", "fundus")]
    pages = [page for corpus in corpora for page in corpus.pages if page.half == half]
    means = day_means(evaluate(pages, "nce", workers=2))
    assert means["trusted"]["right"] >= 0.96
    assert means["all"]["right"] >= 0.945
    for labels in ("trusted", "all"):
        sure = [row for row in means[labels]["reliability"] if row["from"] >= 0.9]
        found = sum(row["pages"] for row in sure)
        assert found >= 0.85 * means[labels]["pages"]
        assert sum(row["right"] * row["pages"] for row in sure) >= 0.97 * found
