"""Link classifier and page classifier."""

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import extract
from newscrawl.fields.kind.kind_features import kind_features
from newscrawl.fields.kind.link_classifier import date_in_url, link_kind, url_points
from newscrawl.fields.kind.page_kind import PAGE_KIND_THRESHOLD, page_kind
from newscrawl.lab.corpora.corpus import load_corpus

ARABIC = "https://a.example/news/" + quote("المجلس-يقرر-بناء-جسر-جديد")
TEASER = (
    "<li><h3><a href='/s/{0}'>A headline of some length, number {0}</a></h3><p>A teaser.</p></li>"
)
PARAGRAPH = (
    "<p>The council met for the {0}th time to decide about the bridge, and did not decide. "
    "It will meet again in week {0}, said its chair, who hopes for an answer by then.</p>"
)
CJK_PARAGRAPH = "<p>市議会は{0}回目に橋について話し合ったが、結論は出なかった。次の会議は{0}週間後に開かれる予定だ。</p>"
DATED = "<p>May 17, 2026</p>"
STORY = f"<h1>Council does not decide about the bridge</h1>{DATED}" + "".join(
    PARAGRAPH.format(number) for number in range(4, 12)
)


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://a.example/2026/11/20/council-decides", ""),
        ("https://a.example/politics/council-decides-about-the-old-bridge-after-all", ""),
        ("https://a.example/news/world-europe-67834291", ""),
        ("https://a.example/article12345678.html", ""),
        ("https://a.example/?p=48213", "Council decides about the bridge at last"),
        ("https://a.example/index.php?option=com&news_id=48213", "Rat entscheidet über die Brücke"),
        ("https://a.example/?newsid=48213", "Council decides about the bridge at last"),
        ("https://a.example/news?article=7", "Council decides about the old bridge, after years"),
        ("https://a.example/doc/7715044", "Совет решил судьбу старого моста через реку"),
        (ARABIC, "المجلس يقرر بناء جسر جديد في المدينة القديمة"),
        ("https://a.example/news/5512", "市議会、橋の架け替えを来年度に延期することを決定"),
    ],
)
def test_article_links(url: str, text: str):
    assert link_kind(url, text) == "article"


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/politics/",
        "https://a.example/world/europe",
        "https://a.example/wirtschaft.html",
        "https://a.example/%E3%82%B9%E3%83%9D%E3%83%BC%E3%83%84/",
    ],
)
def test_section_links(url: str):
    assert link_kind(url, "News") == "section"


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/", "https://a.example/login", "https://a.example/tag/bridge",
        "https://a.example/2026/11/20/", "https://a.example/archive/2026-11-20",
        "https://a.example/search?q=bridge",
        "https://a.example/2026/11/20/council-decides-about-the-bridge.pdf",
        "https://a.example/media/2026/11/bridge-at-night-seen-from-the-bank.jpg",
        "https://a.example/feed.xml",
    ],
)  # fmt: skip
def test_other_links(url: str):
    assert link_kind(url) != "article"


@pytest.mark.parametrize(
    ("path", "date"),
    [
        ("/2026/11/20/story", "2026-11-20"),
        ("/2026/1/5/story", "2026-01-05"),
        ("/news/2026-11-20-story.html", "2026-11-20"),
        ("/20261120/story", "2026-11-20"),
        ("/2026/11/story", "2026-11"),
        ("/sitemap-2026-11.xml", "2026-11"),
        ("/story-20261350", None),
        ("/2026/story", None),
        ("/id/120261120999", None),
        ("/2026/13/story", None),
    ],
)
def test_date_in_url(path: str, date: str | None):
    assert date_in_url(f"https://a.example{path}") == date


@given(st.text(), st.text())
def test_accepts_any_url(path: str, text: str):
    assert link_kind(f"https://a.example/{path}", text) in {"article", "section", "other"}
    assert isinstance(url_points(f"https://a.example/?{path}"), int)


def page(body: str, head: str = "") -> str:
    return f"<html><head><title>t</title>{head}</head><body>{body}</body></html>"


def classify(html: str) -> str:
    """Return the kind of a page, as before extraction."""
    document = parse_document(html)
    return page_kind(document, kind_features(document), threshold=PAGE_KIND_THRESHOLD)[0]


@pytest.mark.parametrize("paragraph", [PARAGRAPH, CJK_PARAGRAPH])
def test_article_with_teasers_is_an_article(paragraph: str):
    teasers = "".join(map(TEASER.format, range(12)))
    story = "".join(paragraph.format(number) for number in range(4, 12))
    html = page(
        f"<main><h1>No decision about the bridge</h1>{DATED}{story}</main><ul>{teasers}</ul>"
    )
    assert classify(html) == extract(html).kind == "article"


def test_text_with_line_breaks_is_an_article():
    lines = [f"The council met for the {number}th time and did not decide." for number in range(15)]
    html = page(f"<h1>Council does not decide</h1>{DATED}<div>{'<br><br>'.join(lines)}</div>")
    assert classify(html) == extract(html).kind == "article"


def test_headlines_with_teasers_are_an_index():
    html = page(f"<ul>{''.join(map(TEASER.format, range(40)))}</ul>")
    assert classify(html) == extract(html).kind == "index"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ('{"@type": "NewsArticle"}', "article"),
        ('{"@type": ["LiveBlogPosting"]}', "live"),
        ('{"@type":"ImageGallery"}', "gallery"),
    ],
)
def test_structured_data_names_the_kind(data: str, kind: str):
    """On an index page it does not suffice."""
    head = f'<script type="application/ld+json">{data}</script>'
    assert extract(page(STORY, head)).kind == kind
    teasers = "".join(map(TEASER.format, range(40)))
    assert extract(page(f"<ul>{teasers}</ul>", head)).kind == "index"


def test_empty_page_is_not_an_article():
    article = extract(page(""))
    assert article.kind not in {"article", "live", "gallery"}


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("name", ["news212", "fundus"])
def test_accepts_96_percent_of_real_articles(corpus_dir: Path, name: str):
    """Of the sites that no classifier was fitted on."""
    pages = [page for page in load_corpus(corpus_dir / name).pages if page.half == "test"]
    by_url = sum(link_kind(page.url, page.title or "") == "article" for page in pages)
    by_shape = sum(classify(page.html().decode(errors="replace")) != "index" for page in pages)
    assert by_url >= 0.96 * len(pages)
    assert by_shape >= 0.96 * len(pages)
