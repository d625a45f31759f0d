"""Kinds of page: live blogs, galleries, stubs behind a paywall, and what is no article."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.document import parse_document
from newscrawl.extraction import extract
from newscrawl.fields import paywall
from newscrawl.fields.kind import calibrated, page_kind
from newscrawl.fields.paywall import shows_paywall
from newscrawl.fields.series import series_kind
from newscrawl.samples.commented import commented_pages
from newscrawl.samples.kindpages import KindPage, kind_pages
from newscrawl.settings.defaults import DEFAULTS

if TYPE_CHECKING:
    from pathlib import Path

SENTENCE = "The council met on Tuesday and voted, after some hours, to do nothing at all. "
STUB = f"<h1>Council does nothing at all</h1><article><p>{SENTENCE * 3}</p><p>{SENTENCE * 2}</p>"


@pytest.mark.parametrize("page", kind_pages(), ids=lambda page: page.page)
def test_kind_is_told(page: KindPage):
    """what is no article is dropped, all else has its name; stubs are flagged"""
    article = extract(page.html)
    if page.kind in DEFAULTS["NEWSCRAWL_KEEP"]:
        assert article.kind == page.kind
    else:
        assert article.kind not in DEFAULTS["NEWSCRAWL_KEEP"]
    assert bool(article.paywalled) == page.paywalled
    assert 0.5 <= article.evidence["kind"].confidence <= 1


def test_pages_with_comments_are_articles():
    """records of readers are no entries of a live blog"""
    assert {extract(page.html).kind for page in commented_pages()} == {"article"}


def entries(form: str, number: int) -> str:
    return "".join(form.format(time=f"{18 - i}:{i}5", text=SENTENCE * 2) for i in range(number))


@pytest.mark.parametrize(
    ("form", "number", "kind"),
    [
        ("<div><b>{time}</b><p>{text}</p></div>", 6, "live"),
        ("<tr><td>{time} Uhr</td><td>{text}</td></tr>", 6, "live"),
        ("<div><b>{time}</b><p>{text}</p></div>", 3, None),
        # teasers: what follows the time is a link
        ("<div><b>{time}</b><h3><a href=/s>A headline</a></h3><p>{text}</p></div>", 6, None),
        # comments: a name comes first
        ("<div><b>Ann</b> <i>{time}</i><p>{text}</p></div>", 6, None),
    ],
)
def test_live_blog_begins_with_times(form: str, number: int, kind: str | None):
    """five and more elements side by side"""
    assert series_kind(parse_document(f"<table>{entries(form, number)}</table>")) == kind


def test_article_with_a_ticker_is_none():
    """what is said elsewhere on the page counts"""
    ticker = entries("<li><b>{time}</b><p>{text}</p></li>", 5)
    assert series_kind(parse_document(f"<ul>{ticker}</ul>{f'<p>{SENTENCE * 4}</p>' * 5}")) is None


@pytest.mark.parametrize(
    "slide",
    [
        "<figure><img src=1.jpg><figcaption>{text}</figcaption></figure>",
        "<li><i>{number} / 7</i><img src=1.jpg><p>{text}</p></li>",
        "<div><span>{number} of 7</span><div>{text}</div></div>",
    ],
)
def test_gallery_is_most_of_a_page(slide: str):
    """captions and counted slides; beside an article they are its pictures"""
    slides = "".join(slide.format(number=number, text=SENTENCE) for number in range(1, 8))
    assert (
        series_kind(parse_document(f"<main><p>{SENTENCE}</p><div>{slides}</div></main>"))
        == "gallery"
    )
    story = f"<p>{SENTENCE * 3}</p>" * 6
    assert series_kind(parse_document(f"<main>{story}<div>{slides}</div></main>")) is None


@pytest.mark.parametrize(
    "box",
    [
        "Subscribe now to continue reading",
        "This content is reserved for subscribers",
        "Weiterlesen mit Plus",
        "La suite est réservée aux abonnés",
        "この記事は会員限定です。",
        "Для чтения: доступно только подписчикам",
    ],
)
def test_paywall_is_seen(box: str):
    """a short story, and right after it a box that asks"""
    assert extract(f"{STUB}<div><p>{box}</p></div></article>").paywalled is True
    evidence = extract(f"{STUB}<div><p>{box}</p></div></article>").evidence["paywalled"]
    assert evidence.source == "shown"
    whole = f"<article>{f'<p>{SENTENCE * 4}</p>' * 10}<div><p>{box}</p></div></article>"
    assert extract(whole).paywalled is None


@given(st.from_regex(paywall._WORDS, fullmatch=True))
def test_parts_of_words_of_paywalls(text: str):
    """whatever the pattern finds holds one of the parts that are looked for before"""
    assert any(part in text for part in paywall._PARTS)


def test_structured_data_decides_about_paywalls():
    """a page that says that it is free is not overruled by a box"""
    data = '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":true}</script>'
    article = extract(f"{data}{STUB}<p>Subscribe to continue reading</p></article>")
    assert article.paywalled is False


def test_menu_is_no_paywall():
    """offers before the story and far behind it"""
    offer = "<p>Subscribe to continue reading</p>"
    far = "".join(f"<p>Teaser {number}</p>" for number in range(20))
    assert extract(f"{offer}{STUB}</article>{far}{offer}").paywalled is None
    assert not shows_paywall(parse_document(STUB), [])


@given(st.floats(0.5, 1), st.floats(0.5, 1))
def test_confidence_grows_with_probability(one: float, other: float):
    """and stays what it says"""
    low, high = sorted((one, other))
    assert 0.5 <= calibrated(low) <= calibrated(high) <= 1


@given(st.text(alphabet="0123456789:/ abc年時", max_size=200))
def test_any_text(text: str):
    """no page raises"""
    page_kind(parse_document("<p>" + text.replace(" ", "<li>") + "x"))


@pytest.mark.corpus
@pytest.mark.slow
def test_real_pages(corpus_dir: Path, repository: Path):
    """articles are articles on 98 % of the corpora's pages, the live blogs among them are live"""
    sys.path.insert(0, str(repository / "benchmarks"))
    try:
        import kinds
    finally:
        sys.path.pop(0)
    pages = list(kinds.corpus_pages(corpus_dir))
    assert sum(page.right for page in pages) >= 0.98 * len(pages)
    assert all(page.right for page in pages if "live" in page.labels)
    assert sum("paywalled" in page.found - page.labels for page in pages) <= 2
