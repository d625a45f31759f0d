"""Tests of ``extract()``: fields, options, methods and unusual input."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.utils.misc import load_object

import newscrawl
from newscrawl import Article, DocumentError, Evidence, clock, extract
from newscrawl.body.nce import NceParameters
from newscrawl.crawling.discovery.page_links import read_page
from newscrawl.extraction.extract import METHODS, ExtractOptions, UnknownMethodError
from newscrawl.extraction.method import Method, MethodResult
from newscrawl.workers.tasks import extract_page
from tests.conftest import run_python

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
URL = "https://news.example/politics/bridge"
TITLE = "Council reopens the old bridge after five years"
PARAGRAPHS = """\
The council of Riverton voted late on Thursday, by a wide margin, to let cars back on the \
old bridge, which has been closed since a barge struck its second pier five years ago.
“We should have finished earlier,” said the mayor, Joan Little, after the meeting. Delays \
had cost eleven million, she added, more than the whole of the new school on Harbour Street.
For neighbours little changes at first. Buses keep to the northern road until autumn; \
cyclists, however, may cross from next week, provided that they dismount beside the \
scaffolding.
Critics called the contract timid and dear. Peter Vance, who leads the smaller party, warned \
that taxpayers would carry risks which any sensible builder ought to insure by himself.
The builder declined an interview. In a letter read out before the ballot it promised to \
examine every possibility, yet would not rule out higher fees for lorries from other \
counties.
Inspectors are due in September. If their report finds cracks in the southern arch, as two \
engineers expect, a further winter of repairs could follow before traffic flows freely.
The ferry, meanwhile, makes its last trip on Sunday. Its captain, aged seventy, intends to \
paint the boat green, moor it under the willows and serve tea to anybody who asks politely.
""".splitlines()
PAGE = f"""<!doctype html>
<html lang="en"><head>
<title>{TITLE} | River Post</title>
<meta property="og:site_name" content="River Post">
<link rel="canonical" href="/politics/bridge">
<script type="application/ld+json">{{
  "@type": "NewsArticle", "headline": "{TITLE}", "datePublished": "2024-05-04T10:00:00+02:00",
  "dateModified": "2024-05-05T10:00:00+02:00", "author": {{"name": "Ada Meyer"}},
  "isAccessibleForFree": true
}}</script></head>
<body><nav><a href="/">Home</a> <a href="/politics">Politics</a></nav>
<article><h1>{TITLE}</h1>{"".join(f"<p>{text}</p>" for text in PARAGRAPHS)}</article>
<footer><a href="/imprint">Imprint</a></footer></body></html>"""


@pytest.fixture
def fixed_clock() -> Iterator[datetime]:
    clock.set_clock(lambda: NOW)
    yield NOW
    clock.set_clock()


def test_fills_all_fields_with_evidence():
    article = extract(PAGE, URL, fetched_at=NOW)
    assert article.title == TITLE
    assert article.body.split("\n\n") == PARAGRAPHS
    assert article.date == datetime(2024, 5, 4, 8, tzinfo=UTC)
    assert article.date_raw == "2024-05-04T10:00:00+02:00"
    assert article.date_modified == datetime(2024, 5, 5, 8, tzinfo=UTC)
    assert (article.url, article.canonical_url, article.language) == (URL, URL, "en")
    assert (article.authors, article.kind, article.paywalled) == (["Ada Meyer"], "article", False)
    assert (article.fetched_at, article.style_complete, article.flags) == (NOW, None, [])
    assert {name: evidence.source for name, evidence in article.evidence.items()} == {
        "title": "h1",
        "body": "blocks",
        "date": "json-ld",
        "date_modified": "json-ld",
        "authors": "json-ld",
        "canonical_url": "link:canonical",
        "language": "html:lang",
        "paywalled": "json-ld",
        "site_name": "meta:og:site_name",
        "kind": "page",
    }
    assert all(0 <= evidence.confidence <= 1 for evidence in article.evidence.values())


def test_accepts_bytes_and_text():
    text = PAGE.replace("old bridge", "alte Brücke „Süd“")
    article = extract(text, URL, fetched_at=NOW)
    for encoding in ("utf-8", "cp1252"):
        assert extract(text.encode(encoding), URL, encoding=encoding, fetched_at=NOW) == article


def test_url_and_time_are_optional(fixed_clock: datetime):
    article = extract(PAGE)
    assert (article.url, article.canonical_url, article.title) == (None, None, TITLE)
    assert article.fetched_at == fixed_clock


def test_keeps_an_invalid_url():
    url = "https://[news.example/story"
    article = extract(PAGE, url)
    assert (article.url, article.title) == (url, TITLE)


def test_ignores_dates_after_the_fetch():
    """A naive time of the fetch is UTC."""
    early = extract(PAGE, URL, fetched_at=datetime(2023, 1, 1))  # noqa: DTZ001  # the case
    assert early.fetched_at == datetime(2023, 1, 1, tzinfo=UTC)
    assert (early.date, early.date_raw, early.date_modified) == (None, None, None)


@pytest.mark.parametrize("page", ["", b"", "   \n", "<!-- only this -->", b"%PDF-1.7 \x00\x01"])
def test_rejects_input_that_is_not_a_page(page: bytes | str):
    with pytest.raises(DocumentError, match=r".+"):
        extract(page)


_SOUP = st.lists(
    st.sampled_from(
        [
            "<p>",
            "</p>",
            "<div>",
            "<h1>",
            "</h1>",
            "<h2>",
            "<a>",
            "<a/href=/>",
            "<a/rel=author>",
            "</a>",
            "<br>",
            "<td>",
            "<table>",
            "<pre>",
            "<li>",
            "<script>",
            "<script/type=application/ld+json>",
            "</script>",
            "<title>",
            "<svg>",
            "<base/href=//[>",
            "<time/datetime=20240504>",
            "<meta/name=date>",
            "<link/rel=canonical/href=http://[>",
            "<html>",
            "<head>",
            "<i/itemprop=author>",
            "<i/itemprop=datePublished>",
            "<body/hidden>",
            "<frameset>",
            "{}",
            "[]",
            ",",
            ":",
            "\x00",
        ]
    )
    | st.text(max_size=30),
    max_size=40,
)


@given(st.binary() | _SOUP.map(" ".join))
def test_returns_json_or_raises_document_error(page: bytes | str):
    try:
        article = extract(page, URL, fetched_at=NOW)
    except DocumentError:
        return
    assert Article.from_dict(json.loads(json.dumps(article.to_dict()))).body == article.body
    json.dumps(article.to_dict(), ensure_ascii=False).encode()


def _json_ld(size: int) -> str:
    """Return a JSON-LD script with long lists and texts."""
    values = {
        "@type": "Article",
        "datePublished": ["Jan 5 x"] * size,
        "author": ["b c"] * size,
        "headline": f"b{' ' * size}c | ",
        "articleBody": "<br> " * size,
    }
    return f"<script type=application/ld+json>{json.dumps(values)}</script><p>x"


def test_page_without_text_has_no_fields():
    article = extract("<html><body><div></div></body></html>", fetched_at=NOW)
    assert (article.title, article.body, article.date) == (None, "", None)
    assert set(article.evidence) == {"kind"}


def test_confidence_is_low_without_a_separator_node():
    short = extract("<title>A note</title><p>One line only.</p>", fetched_at=NOW)
    assert short.body == "One line only."
    assert short.evidence["body"].confidence < extract(PAGE).evidence["body"].confidence


def test_options_change_thresholds_and_comment_removal():
    assert extract(PAGE, options=ExtractOptions(min_body_chars=100_000)).body == ""
    never = ExtractOptions(nce=NceParameters(beta2=1e9, beta3=1e9))
    assert extract(PAGE, method="nce", options=never).evidence["body"].confidence < 0.5
    comment = (
        "<div class=comment><b>anna_{0}, 20 November</b><p>Reader {0} says the very same words again and again about this bridge, "
        "that it should have been finished long ago, that nobody asked the readers, and that the "
        "ferry was better in the old days when we were young and had no bridge at all.</p></div>"
    )
    page = PAGE.replace("</article>", "".join(map(comment.format, range(5))) + "</article>")
    assert "Reader 3" not in extract(page).body
    kept = extract(page, options=ExtractOptions(remove_comments=False))
    assert "Reader 3" in kept.body


def test_uses_registered_methods():
    with pytest.raises(UnknownMethodError, match=r"'magic'.*nce"):
        extract(PAGE, method="magic")
    METHODS["first-paragraph"] = Method(
        "first-paragraph",
        lambda page, _: MethodResult(
            [page.document.tag.index("p")], Evidence("first-paragraph", 0.1)
        ),
    )
    try:
        article = extract(PAGE, method="first-paragraph")
    finally:
        del METHODS["first-paragraph"]
    assert article.body == PARAGRAPHS[0]
    assert article.evidence["body"] == Evidence("first-paragraph", 0.1)


def test_removes_the_title_from_the_body_but_not_from_paragraphs():
    page = PAGE.replace(
        "<p>The council", f"<h2>{TITLE}</h2><p>{TITLE}, said all.</p><p>The council", 1
    )
    assert extract(page).body.split("\n\n") == [f"{TITLE}, said all.", *PARAGRAPHS]


def test_worker_task_returns_the_article_as_json():
    plain = extract_page(
        PAGE.encode(),
        url=URL,
        encoding=None,
        fetched_at=NOW.isoformat(),
        method="newscrawl",
        hints={},
    )
    article = Article.from_dict(json.loads(json.dumps(plain)))
    assert article.to_dict() == extract(PAGE, URL, fetched_at=NOW).to_dict() == plain


def test_a_day_next_to_the_link_is_evidence_of_lower_trust():
    listing = b"<html><body>" + b"".join(
        b"<div><a href=/news/2026-story-of-the-harbour-%d>Story %d of the harbour and its crane</a>"
        b"<time datetime=2024-05-0%d>day</time></div>" % (n, n, n)
        for n in range(1, 9)
    )
    found = read_page(listing, url="https://town.example/news/", domains=["town.example"])
    hints = found.articles[2].hints
    assert hints["shown_day"] == "2024-05-03"
    bare = extract_page(b"<p>Text only.</p>", fetched_at=NOW.isoformat(), hints=hints)
    assert bare["date"] == "2024-05-03"
    assert bare["evidence"]["date"] == {"source": "hint:listing", "confidence": 0.5}
    dated = extract_page(PAGE.encode(), fetched_at=NOW.isoformat(), hints=hints)
    assert dated["date"][:10] != bare["date"]


def test_hints_fill_missing_fields():
    hints = {"title": "From the feed", "date": "2024-05-03", "language": "fr"}
    known = extract_page(PAGE.encode(), fetched_at=NOW.isoformat(), hints=hints)
    assert (known["title"], known["language"]) == (TITLE, "en")
    bare = extract_page(b"<p>Text only.</p>", fetched_at=NOW.isoformat(), hints=hints)
    assert (bare["title"], bare["date"]) == ("From the feed", "2024-05-03")
    assert (bare["date_raw"], bare["language"]) == ("2024-05-03", "fr")
    assert bare["evidence"]["title"] == {"source": "hint", "confidence": 0.6}
    late = {"date": (NOW.date() + timedelta(days=9)).isoformat()}
    assert extract_page(b"<p>Text.</p>", fetched_at=NOW.isoformat(), hints=late)["date"] is None


def test_imports_scrapy_only_for_the_addon():
    program = "import sys, newscrawl; print({'scrapy', 'twisted', 'asyncio'} & set(sys.modules))"
    assert run_python(program).strip() == "set()"
    assert all(hasattr(newscrawl, name) for name in newscrawl.__all__)
    assert load_object("newscrawl.Addon") is newscrawl.Addon
    with pytest.raises(AttributeError, match="Addons"):
        _ = newscrawl.Addons


@pytest.mark.corpus
def test_titles_and_days_of_real_pages(corpus_dir: Path):
    """Every eighth page of news212, against the labels."""
    titles, days = [], []
    for line in (corpus_dir / "news212" / "truth.jsonl").read_text().splitlines()[::8]:
        truth = json.loads(line)
        page = gzip.decompress(
            (corpus_dir / "news212" / "pages" / f"{truth['id']}.html.gz").read_bytes()
        )
        article = extract(page, truth["url"])
        titles.append(
            newscrawl.text.words(article.title or "") == newscrawl.text.words(truth["title"])
        )
        if truth.get("date") and not truth.get("date_doubtful"):
            day = article.date.date() if isinstance(article.date, datetime) else article.date
            days.append(day == date.fromisoformat(truth["date"][:10]))
    assert sum(titles) / len(titles) > 0.9
    assert sum(days) / len(days) > 0.8


def test_metadata_only():
    """All fields but the body, as with the body."""
    options = ExtractOptions(extra_fields={"body_markdown", "word_count"})
    whole = extract(PAGE, "https://site.example/1", options=options)
    assert whole.body
    without = extract(PAGE, "https://site.example/1", options=replace(options, metadata_only=True))
    assert (without.body, without.body_markdown, without.evidence.get("body")) == ("", None, None)
    whole.remove_body()
    assert without.to_dict() | {"fetched_at": None} == whole.to_dict() | {"fetched_at": None}
    assert (without.title, without.word_count) == (whole.title, whole.word_count)
