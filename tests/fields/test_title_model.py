"""The default's title: candidates, features, choice."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.document.document import parse_document
from newscrawl.ensemble.ensemble import ModelError
from newscrawl.extraction.extract import extract
from newscrawl.extraction.methods import TRAINED_METHODS
from newscrawl.fields.cardoso import load_models
from newscrawl.fields.metadata.metadata import read_metadata
from newscrawl.fields.titles.title import Headline
from newscrawl.fields.titles.title_features import FEATURES, TitleCandidates, find_candidates
from newscrawl.fields.titles.title_model import FILE, find_headline, load_title_model
from newscrawl.items import Evidence

if TYPE_CHECKING:
    from pathlib import Path

STORY = "Council reopens the old bridge after five years"
URL = "https://www.riverpost.example/2024/06/council-reopens-old-bridge"
BODY = "<p>" + "The council opened the bridge again on Friday, and the town came to see it. " * 6
TITLE = f"<title>{STORY} | River Post</title>"
OG = f"<meta property=og:title content='{STORY}'><meta property=og:site_name content='River Post'>"
NAVIGATION = "<nav><a href=/>Home</a> <a href=/politics>Politics</a> <a href=/sport>Sport</a></nav>"


def candidates_of(page: str) -> TitleCandidates:
    document = parse_document(page)
    metadata = read_metadata(document, URL, datetime(2024, 6, 9, tzinfo=UTC))
    return find_candidates(document, metadata, URL, [])


def find(page: str, fallback: Headline | None = None) -> Headline | None:
    document = parse_document(page)
    return find_headline(document, candidates_of(page), load_title_model(), fallback)


@pytest.mark.parametrize(
    "heading",
    [
        f"<h1>{STORY}</h1>",
        f"<h1><a href=/s>{STORY}</a></h1>",
        "<h1>Council reopens <em>the old bridge</em> after five years</h1>",
        "<h1><span>Council reopens the old bridge</span> <span>after five years</span></h1>",
        f"<h1><span class=kicker>Politics</span> <span>{STORY}</span></h1>",
        f"<h1><span>Politics</span><span>Live</span><span>{STORY}</span></h1>",
        f"<h1><span>{STORY}</span><small>Thousands walk across on the first day</small></h1>",
        f"<h1>River Post</h1>{NAVIGATION}<h1>{STORY}</h1>",
        f"<h1 class=logo><a href=/><img alt=''>River Post</a></h1><h1>{STORY}</h1>",
        f"<h1>{STORY}</h1><h2>Thousands walk across on the first day</h2>",
    ],
    ids=[
        "plain", "link", "emphasis", "two spans", "kicker", "two kickers", "subtitle inside",
        "section first", "logo first", "subtitle after",
    ],
)  # fmt: skip
def test_heading(heading: str):
    """All text nodes of the headline, without what stands before and after it."""
    page = f"{TITLE}{OG}<body>{NAVIGATION}<article>{heading}{BODY}</article>"
    article = extract(page, URL)
    assert article.title == STORY
    assert article.evidence["title"].source == "h1"
    assert article.evidence["title"].confidence >= 0.75


@pytest.mark.parametrize("tag", ["h2", "h3", "p", "div"])
def test_no_h1(tag: str):
    """A headline that is marked otherwise is found by its likeness to the stated titles."""
    page = f"{TITLE}{OG}<body>{NAVIGATION}<article><{tag}>{STORY}</{tag}>{BODY}</article>"
    found = find(page)
    assert found is not None
    assert found.text == STORY
    assert found.evidence.source == (tag if tag.startswith("h") else "text")


def test_rewritten_for_search_engines():
    """What the page shows counts, not what it tells to networks."""
    seo = "Riverton bridge reopening: what you need to know about the council's decision"
    page = (
        f"<title>{seo} | River Post</title><meta property=og:title content='{seo}'>"
        f"<body>{NAVIGATION}<article><h1>{STORY}</h1>{BODY}</article>"
    )
    article = extract(page, URL)
    assert article.title == STORY


@pytest.mark.parametrize(
    ("lang", "title", "site"),
    [
        ("ja", "市議会、老朽化した橋を五年ぶりに再開すると発表", "川新聞"),
        ("zh", "市议会宣布关闭五年的老桥重新开放", "河报"),
        ("ko", "시의회, 5년 만에 오래된 다리 재개통 결정", "강신문"),
        ("ar", "المجلس البلدي يعيد فتح الجسر القديم بعد خمس سنوات من الإغلاق", "بريد النهر"),
        ("he", "המועצה פותחת מחדש את הגשר הישן אחרי חמש שנים", "דואר הנהר"),
        ("th", "สภาเมืองเปิดสะพานเก่าอีกครั้งหลังจากปิดมาห้าปี", "ข่าวแม่น้ำ"),
    ],
)
def test_scripts(lang: str, title: str, site: str):
    """No feature knows a language: without spaces, and from right to left."""
    page = (
        f"<html lang={lang}><title>{title} - {site}</title><body><h1><a href=/>{site}</a></h1>"
        f"{NAVIGATION}<article><h1>{title}</h1><p>{title * 8}</article>"
    )
    found = find(page)
    assert found is not None
    assert found.text == title


@pytest.mark.parametrize("region", ["aside", "footer"])
def test_box_as_only_heading(region: str):
    """A heading after the story that is like nothing the page states is not its title."""
    box = f"<{region}><h1>Newsletter</h1><p>Every Friday</{region}>"
    article = extract(f"{TITLE}{OG}<body>{NAVIGATION}<article>{BODY}</article>{box}", URL)
    assert (article.title, article.evidence["title"].source) == (STORY, "og:title")


def test_headline_that_is_repeated():
    """Of two the same the row is of one, and the body holds neither."""
    page = (
        f"{TITLE}<body><header><h1>{STORY}</h1></header><article><h1>{STORY}</h1>{BODY}</article>"
    )
    article = extract(page, URL)
    assert article.title == STORY
    assert STORY not in article.body


def test_stated_title_where_none_is_shown():
    """JSON-LD before OpenGraph before the ``title`` element, without the site's name."""
    page = f"{TITLE}<body>{BODY}"
    found = find(page)
    assert found is not None
    assert (found.text, found.evidence.source, found.row) == (STORY, "title", None)
    found = find(OG + page)
    assert found is not None
    assert (found.text, found.evidence.source) == (STORY, "og:title")
    data = '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Bridge opens"}'
    found = find(f"{data}</script>{OG}{page}")
    assert found is not None
    assert (found.text, found.evidence.source) == ("Bridge opens", "json-ld")


def test_page_without_any_title():
    """What another method found, else nothing."""
    own = Headline("Found by the method", Evidence("nce", 0.6))
    assert find("<body><p>x", own) == own
    assert find("<body><p>x") is None


def test_logo_as_only_heading():
    """The site's name is no candidate: what the page states is the title."""
    logo = "<header><h1><a href=/>River Post</a></h1></header>"
    page = f"{TITLE}{OG}<body>{logo}{NAVIGATION}{BODY}"
    assert candidates_of(page).spans == []
    found = find(page)
    assert found is not None
    assert (found.text, found.evidence.source) == (STORY, "og:title")


def test_candidates_are_few():
    """A heading that is a stated title ends the search; its parts are candidates, too."""
    page = f"{TITLE}<body><h1><b>Live</b> {STORY}</h1><p>{STORY}</p><p>{STORY} and more</p>{BODY}"
    texts = [span.text for span in candidates_of(page).spans]
    assert texts == [f"Live {STORY}", STORY]
    texts = [span.text for span in candidates_of(page.replace("h1", "h4")).spans]
    assert sorted(texts) == sorted([f"Live {STORY}", STORY, STORY, f"{STORY} and more"])


def test_hostile_page():
    """Thousands of headings cost no more than some."""
    page = TITLE + "<h1>" + "<b>part</b> " * 5000 + "</h1>" + f"<h1><i>{STORY}</i></h1>" * 5000
    assert len(candidates_of(page).spans) <= 60


TEXTS = st.sampled_from(
    ["", " ", "\u200b", "River Post", STORY, "Politics", "橋が再開", "12.5.2024", "|", "a" * 700]
)
TAGS = st.sampled_from(["h1", "h2", "p", "a href=/", "span", "header", "li", "title", "div hidden"])


@given(st.lists(st.tuples(TAGS, TEXTS), max_size=12), st.sampled_from([URL, "", "//[", "a:b"]))
def test_any_page(elements: list[tuple[str, str]], url: str):
    """Candidates are runs of shown text nodes; every feature is a finite number."""
    page = "".join(f"<{tag}>{text}" for tag, text in elements) + "<p>end"
    document = parse_document(page)
    metadata = read_metadata(document, None, datetime(2024, 6, 9, tzinfo=UTC))
    candidates = find_candidates(document, metadata, url, [])
    shown = set(document.text_nodes())
    for span, row in zip(candidates.spans, candidates.features, strict=True):
        assert shown.issuperset(span.rows)
        assert len(row) == len(FEATURES)
        assert all(map(math.isfinite, row))
    found = find_headline(document, candidates, load_title_model())
    assert found is None or 0 <= found.evidence.confidence <= 1


class Large:
    """A style: all text is bold and large."""

    font_size, bold, font_family, color = 32.0, True, ("serif",), (0, 0, 0)


def test_style():
    """Attributes 4 to 7 and that they are known; both are forgotten together."""
    page = f"{TITLE}<body><h1>{STORY}</h1>{BODY}"
    plain = candidates_of(page)
    styled = plain.with_style([], lambda _row: Large())
    assert not plain.style_known
    assert styled.features[0][-5:] == (32.0, 100.0, 1.0, 1, 1.0)
    assert styled.style_known
    assert styled.without_style() == plain


def test_style_of_a_page_in_extraction():
    """Sheets that are complete are used; one that is missing makes the style unknown."""
    page = f"{TITLE}<link rel=stylesheet href=/a.css><body><h1>{STORY}</h1>{BODY}"
    for sheets in ({}, {"https://www.riverpost.example/a.css": "h1 {font-size: 40px}"}):
        article = extract(page, URL, stylesheets=sheets)
        assert article.title == STORY
        assert article.style_complete == bool(sheets)


def test_shipped_model():
    """It is small, knows its sites, is calibrated and is read once."""
    model = load_title_model()
    assert len(model.sites) > 300
    assert load_title_model() is model
    assert TRAINED_METHODS["newscrawl"](None).title.sites == model.sites
    confidences = [model.ensemble.calibrated(step / 10) for step in range(11)]
    assert confidences == sorted(confidences)
    assert confidences[-1] > 0.95


def test_wrong_model(tmp_path: Path):
    """One for other features, a damaged one and none are errors that name the file."""
    load_models().title.save(tmp_path / FILE)
    with pytest.raises(ModelError, match=r"title\.npz .* other features"):
        load_title_model(tmp_path)
    (other := tmp_path / "damaged").mkdir()
    load_title_model().save(other)
    data = (other / FILE).read_bytes()
    (other / FILE).write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelError, match=r"title\.npz is not a model file, or damaged"):
        load_title_model(other)
    (none := tmp_path / "none").mkdir()
    with pytest.raises(FileNotFoundError):
        load_title_model(none)
