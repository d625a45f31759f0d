"""Title selection: candidates, features, choice."""

import math
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.document.document import parse_document
from newscrawl.ensemble.ensemble import ModelError
from newscrawl.extraction.extract import extract
from newscrawl.fields.cardoso import load_models
from newscrawl.fields.metadata.metadata import read_metadata
from newscrawl.fields.titles.title import Headline
from newscrawl.fields.titles.title_features import (
    TITLE_CANDIDATE_FEATURES,
    TitleCandidates,
    find_candidates,
)
from newscrawl.fields.titles.title_model import TITLE_MODEL_FILE, find_headline, load_title_model
from newscrawl.items import Evidence
from newscrawl.lab.paper_methods import TRAINED_METHODS
from newscrawl.lab.training.example_types import without_style
from newscrawl.lab.training.model_writer import save_ensemble, save_models

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
def test_finds_the_headline_without_kicker_and_subtitle(heading: str):
    page = f"{TITLE}{OG}<body>{NAVIGATION}<article>{heading}{BODY}</article>"
    article = extract(page, URL)
    assert article.title == STORY
    assert article.evidence["title"].source == "h1"
    assert article.evidence["title"].confidence >= 0.75


@pytest.mark.parametrize("tag", ["h2", "h3", "p", "div"])
def test_finds_a_headline_outside_of_h1(tag: str):
    page = f"{TITLE}{OG}<body>{NAVIGATION}<article><{tag}>{STORY}</{tag}>{BODY}</article>"
    found = find(page)
    assert found.text == STORY
    assert found.evidence.source == (tag if tag.startswith("h") else "text")


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
def test_finds_headlines_in_other_scripts(lang: str, title: str, site: str):
    page = (
        f"<html lang={lang}><title>{title} - {site}</title><body><h1><a href=/>{site}</a></h1>"
        f"{NAVIGATION}<article><h1>{title}</h1><p>{title * 8}</article>"
    )
    found = find(page)
    assert found.text == title


SEO = "Riverton bridge reopening: what you need to know about the council's decision"
ANOTHER = f"{TITLE}{OG}<body><h1>Walk across the river today</h1>{BODY}"
RUBY = "<ruby>市<rp>(</rp><rt>し</rt><rp>)</rp></ruby>議会は橋を再開"
TITLES = {
    "visible and stated": (
        (f"<title>{SEO} | River Post</title><meta property=og:title content='{SEO}'>"
        f"<body>{NAVIGATION}<article><h1>{STORY}</h1>{BODY}</article>"), URL, (STORY, "h1")),
    **{
        f"dissimilar heading in {region} after the article": (
            (f"{TITLE}{OG}<body>{NAVIGATION}<article>{BODY}</article><{region}><h1>Newsletter</h1>"
            f"<p>Every Friday</{region}>"), URL, (STORY, "og:title"))
        for region in ("aside", "footer")
    },
    "invisible characters and references escaped twice": (
        (f"{TITLE}<body><article><h1>Coun\u00adcil reopens the \u200bold bridge &amp;amp; its road</h1>"
        f"{BODY}</article>"), URL, ("Council reopens the old bridge & its road", "h1")),
    "ruby": (f"<body><article><h1>{RUBY}</h1>{BODY}</article>", URL, ("市議会は橋を再開", "h1")),
    "stated title that the address names": (ANOTHER, URL, (STORY, "og:title")),
    "heading that the address names": (
        ANOTHER, "https://www.riverpost.example/2024/06/walk-across-river-today",
        ("Walk across the river today", "h1")),
    "text that the address names, and a slogan": (
        ("<title>River Post, the journal of the valley</title><body><h1>The journal of the valley</h1>"
        f"<div><b>{STORY}</b><br>By Ann Lee<br><br>{BODY}{BODY}</div>"), URL, (STORY, "text")),
    **{
        f"mark {mark}": (
            f"<html><head>{OG}</head><body><h1>{mark}{STORY}</h1>{BODY}</body></html>", URL, (STORY, "h1"))
        for mark in ("» ", "► ", "&gt; ", ": ")
    },
}  # fmt: skip


@pytest.mark.parametrize(("page", "url", "expected"), TITLES.values(), ids=TITLES)
def test_title_of_a_page(page: str, url: str, expected: tuple[str, str]):
    article = extract(page, url)
    assert (article.title, article.evidence["title"].source) == expected


@pytest.mark.parametrize("tag", ["h2", "b"])
@pytest.mark.parametrize("head", ["River Post: {}", "{} - River Post", ""])
def test_ignores_a_heading_with_the_name_of_the_site(tag: str, head: str):
    """Old pages state nothing but the ``title`` element, and their ``h1`` is the masthead."""
    page = (
        f"<title>{head.format(STORY)}</title><body><h1>River Post</h1>"
        f"<div><a href=/politics>Politics</a> <a href=/sport>Sport</a></div>"
        f"<div><{tag}>{STORY}</{tag}><br>By Ann Lee<br><br>{BODY}{BODY}</div>"
    )
    article = extract(page, "http://www.riverpost.example/article.asp?id=4")
    assert article.title == STORY


@pytest.mark.parametrize(
    "names", ["class=rdheadline", "class=article_title", "id=storyTitle", "class='news titel'"]
)
@pytest.mark.parametrize("tag", ["span", "div", "p"])
def test_a_class_or_id_names_the_headline(names: str, tag: str):
    """Old pages have neither headings nor a headline in the ``title`` element."""
    page = (
        f"<title>River Post Online - Arts</title><body>{NAVIGATION}"
        "<table><tr><td><b>River Post</b><td><a href=/feeds>Get all arts feeds</a></table>"
        f"<table><tr><td><{tag} {names}>{STORY}</{tag}><br>By Ann Lee<br>June 7, 2024<br>{BODY}{BODY}</table>"
    )
    assert extract(page, "http://www.riverpost.example/article/2024/AE/9268").title == STORY


@pytest.mark.parametrize("line", ["It rained", "Then came the mayor with a pair of scissors"])
def test_a_short_text_after_the_first_paragraph_is_no_title(line: str):
    """Nor does it cut what is before it from the body."""
    page = f"<title>River Post</title><body>{BODY}<br><br>{line}<br><br>{BODY}{BODY}"
    article = extract(page, "http://www.riverpost.example/article.asp?id=4")
    assert article.title != line
    assert article.body.startswith("The council opened")


def test_bylines_and_title_elements_in_the_body_are_no_candidates():
    page = (
        f"<title>River Post</title><body><title>Bridge: all news</title><p>{STORY}</p>"
        f"<p>By ANN LEE, River Press Writer 14 minutes ago</p><p>By the river</p>{BODY}"
    )
    assert [span.text for span in candidates_of(page).spans] == [STORY, "By the river"]


@pytest.mark.parametrize("separator", [" \u00bb ", " | ", " - "])
def test_headings_are_split_at_separators(separator: str):
    name = "Patient education and information of the River Post hospital for children"
    page = f"<title>{STORY}</title><body><h1>{STORY}{separator}{name}</h1>{BODY}"
    assert STORY in [span.text for span in candidates_of(page).spans]


@pytest.mark.parametrize("name", ["Sports Plus", "Lifestyle &amp; Leisure", "Evening Digest"])
@pytest.mark.parametrize("tag", ["h3", "b", "div"])
def test_a_section_that_the_title_element_names_is_no_title(tag: str, name: str):
    """Old pages show it before the headline."""
    page = (
        f"<html><head><title>{name}</title></head><body>{NAVIGATION}<b>{name.upper()}</b>"
        f"<{tag}>{STORY}</{tag}>{BODY}{BODY}{BODY}</body></html>"
    )
    assert extract(page, URL).title == STORY


def test_removes_a_repeated_headline_from_the_body():
    page = (
        f"{TITLE}<body><header><h1>{STORY}</h1></header><article><h1>{STORY}</h1>{BODY}</article>"
    )
    article = extract(page, URL)
    assert article.title == STORY
    assert STORY not in article.body


def test_falls_back_to_the_stated_title():
    """JSON-LD, OpenGraph, ``title`` element; without the site's name."""
    page = f"{TITLE}<body>{BODY}"
    found = find(page)
    assert (found.text, found.evidence.source, found.row) == (STORY, "title", None)
    found = find(OG + page)
    assert (found.text, found.evidence.source) == (STORY, "og:title")
    data = '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Bridge opens"}'
    found = find(f"{data}</script>{OG}{page}")
    assert (found.text, found.evidence.source) == ("Bridge opens", "json-ld")


def test_falls_back_to_the_title_of_another_method():
    own = Headline("Found by the method", Evidence("nce", 0.6))
    assert find("<body><p>x", own) == own
    assert find("<body><p>x") is None


def test_ignores_a_heading_with_the_site_name():
    logo = "<header><h1><a href=/>River Post</a></h1></header>"
    page = f"{TITLE}{OG}<body>{logo}{NAVIGATION}{BODY}"
    assert candidates_of(page).spans == []
    found = find(page)
    assert (found.text, found.evidence.source) == (STORY, "og:title")


def test_h1_that_equals_a_stated_title_ends_the_search():
    page = f"{TITLE}<body><h1><b>Live</b> {STORY}</h1><p>{STORY}</p><p>{STORY} and more</p>{BODY}"
    texts = [span.text for span in candidates_of(page).spans]
    assert texts == [f"Live {STORY}", STORY]
    texts = [span.text for span in candidates_of(page.replace("h1", "h4")).spans]
    assert sorted(texts) == sorted([f"Live {STORY}", STORY, STORY, f"{STORY} and more"])


@pytest.mark.parametrize(
    ("body", "agreed"),
    [
        (f"<h1>{STORY.upper()}</h1>", True),
        (f"<h1>{STORY}</h1><h1>{STORY}</h1>", False),
        (f"<h1>{STORY} <span>Live</span></h1>", False),
        ("<h1>Another story, which the page does not state</h1>", False),
    ],
)
def test_a_title_that_the_page_agrees_on_needs_no_features(body: str, agreed: bool):
    document = parse_document(f"{OG}{TITLE}{body}{BODY}")
    metadata = read_metadata(document, URL, datetime(2024, 6, 9, tzinfo=UTC))
    found, every = (
        find_candidates(document, metadata, URL, [], needed=needed) for needed in (True, False)
    )
    assert bool(found.features) is not agreed
    assert found.spans == every.spans
    titles = [find_headline(document, it, load_title_model()) for it in (found, every)]
    assert titles[0] == titles[1]


def test_limits_the_number_of_candidates():
    page = TITLE + "<h1>" + "<b>part</b> " * 5000 + "</h1>" + f"<h1><i>{STORY}</i></h1>" * 5000
    assert len(candidates_of(page).spans) <= 60


TEXTS = st.sampled_from(
    ["", " ", "\u200b", "River Post", STORY, "Politics", "橋が再開", "12.5.2024", "|", "a" * 700]
)
TAGS = st.sampled_from(["h1", "h2", "p", "a href=/", "span", "header", "li", "title", "div hidden"])


@given(st.lists(st.tuples(TAGS, TEXTS), max_size=12), st.sampled_from([URL, "", "//[", "a:b"]))
def test_candidates_of_any_page(elements: list[tuple[str, str]], url: str):
    """Runs of visible text nodes with finite features."""
    page = "".join(f"<{tag}>{text}" for tag, text in elements) + "<p>end"
    document = parse_document(page)
    metadata = read_metadata(document, None, datetime(2024, 6, 9, tzinfo=UTC))
    candidates = find_candidates(document, metadata, url, [])
    shown = set(document.text_nodes())
    assert all(shown.issuperset(span.rows) for span in candidates.spans)
    assert candidates.features.keys() == set(TITLE_CANDIDATE_FEATURES)
    for column in candidates.features.values():
        assert len(column) == len(candidates.spans)
        assert all(map(math.isfinite, column))
    found = find_headline(document, candidates, load_title_model())
    assert found is None or 0 <= found.evidence.confidence <= 1


class Large:
    """Style of bold, large text."""

    font_size, bold, font_family, color = 32.0, True, ("serif",), (0, 0, 0)


def test_adds_and_removes_style_features():
    page = f"{TITLE}<body><h1>{STORY}</h1>{BODY}"
    plain = candidates_of(page)
    styled = plain.with_style([], lambda _row: Large())
    assert plain.features["style_known"] == [0.0]
    style = {"font_size": 32, "relative_font_size": 100, "bold": 1, "similar_nodes": 1}
    assert {name: styled.features[name][0] for name in style} == style
    assert styled.features["style_known"] == [1.0]
    assert without_style(styled) == plain


def test_uses_complete_style_sheets_only():
    page = f"{TITLE}<link rel=stylesheet href=/a.css><body><h1>{STORY}</h1>{BODY}"
    for sheets in ({}, {"https://www.riverpost.example/a.css": "h1 {font-size: 40px}"}):
        article = extract(page, URL, stylesheets=sheets)
        assert article.title == STORY
        assert article.style_complete == bool(sheets)


def test_packaged_model_is_calibrated_and_cached():
    model = load_title_model()
    assert len(model.sites) > 300
    assert load_title_model() is model
    assert TRAINED_METHODS["newscrawl"](None).title.sites == model.sites
    confidences = [model.ensemble.calibrated(step / 10) for step in range(11)]
    assert confidences == sorted(confidences)
    assert confidences[-1] > 0.95


def test_rejects_foreign_damaged_and_missing_models(tmp_path: Path):
    save_ensemble(load_models().title, tmp_path / TITLE_MODEL_FILE)
    with pytest.raises(ModelError, match=r"title\.npz .* other features"):
        load_title_model(tmp_path)
    (other := tmp_path / "damaged").mkdir()
    save_models(load_title_model(), other)
    data = (other / TITLE_MODEL_FILE).read_bytes()
    (other / TITLE_MODEL_FILE).write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelError, match=r"title\.npz is not a model file, or damaged"):
        load_title_model(other)
    (none := tmp_path / "none").mkdir()
    with pytest.raises(FileNotFoundError):
        load_title_model(none)
