from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import extract
from newscrawl.fields.metadata.metadata import read_metadata
from newscrawl.fields.titles.title import Headline, choose_title, parts_of, separators
from newscrawl.items import Evidence
from newscrawl.text import word_f1

URL = "https://www.riverpost.example/story"
STORY = "Council reopens the old bridge after five years"


def choose(page: str, fallback: Headline | None = None) -> tuple[str, str] | None:
    document = parse_document(page)
    metadata = read_metadata(document, URL, datetime(2024, 6, 1, tzinfo=UTC))
    found = choose_title(document, metadata, URL, fallback)
    return None if found is None else (found.text, found.evidence.source)


def test_prefers_the_h1_similar_to_the_stated_title():
    page = f"<title>{STORY} | River Post</title><h1>Politics</h1><h1>{STORY}</h1>"
    assert choose(page) == (STORY, "h1")


def test_ignores_the_site_name_as_heading():
    page = (
        f"<meta property=og:site_name content='River Post'><meta property=og:title content='{STORY}'>"
        "<h1>River Post</h1><p>Text.</p>"
    )
    assert choose(page) == (STORY, "og:title")


def test_learns_the_site_name_from_a_link_to_the_home_page():
    page = f"<title>{STORY}：川新聞</title><h1 id=logo><a href='/'>川新聞</a></h1><h2>{STORY}</h2><p>Text."
    assert choose(page) == (STORY, "h2")
    assert choose(page.replace("h2", "div")) == (STORY, "title")


def test_keeps_a_headline_that_links_to_the_article():
    page = f"<title>{STORY} - Post</title><h1><a href='/'>Post</a></h1><h1><a href='/s'>{STORY}</a>"
    assert choose(page) == (STORY, "h1")


@pytest.mark.parametrize(
    "kicker", ["<span>Politics</span> ", "Politics | ", "<span>Politics</span><span>Live</span>"]
)
def test_removes_a_kicker_before_a_stated_title(kicker: str):
    assert choose(f"<title>{STORY}</title><h1>{kicker}<b>{STORY}</b></h1>") == (STORY, "h1")


def test_keeps_a_kicker_in_the_stated_title():
    page = f"<title>Traffic: {STORY}</title><h1><span>Traffic:</span> {STORY}</h1>"
    assert choose(page) == (f"Traffic: {STORY}", "h1")


def test_prefers_the_only_h1_to_a_different_stated_title():
    page = f"<title>Everything you need to know today</title><h1>{STORY}</h1>"
    assert choose(page) == (STORY, "h1")


@pytest.mark.parametrize(
    "title",
    [
        f"{STORY} | River Post",
        f"{STORY} - riverpost.example",
        f"{STORY} – The River Post – Politics",
        f"{STORY}|River Post",
        f"River Post | {STORY} | River Post",
    ],
)
def test_strips_the_site_name_at_both_ends(title: str):
    page = (
        "<meta property=og:site_name content='The River Post - Politics'>"
        f"<title>{title}</title><p>Text without any heading.</p>"
    )
    assert choose(page) == (STORY, "title")


@pytest.mark.parametrize("mark", [" ✦ ", "・", "－", " @ ", " ┃ "])
def test_strips_the_exact_site_name_after_any_sign(mark: str):
    head = (
        f"<meta property=og:site_name content='River Post'><title>{STORY}{mark}River Post</title>"
    )
    assert choose(f"{head}<p>Text without any heading.</p>") == (STORY, "title")


@pytest.mark.parametrize(
    "title",
    [f"Example: {STORY}", f"{STORY} ● Example", f"Example » Floods » {STORY}"],
)
def test_strips_the_name_of_the_host_and_sections(title: str):
    assert choose(f"<title>{title}</title><p>Text.</p>") == (STORY, "title")


def test_keeps_other_parts_after_a_dash():
    title = "Flood - what we know so far"
    assert choose(f"<title>{title}</title><p>Text.</p>") == (title, "title")


def test_keeps_a_place_in_the_name_of_the_host_before_a_dash():
    title = "Post - a short history of its old office"
    assert choose(f"<title>{title}</title><p>Text.</p>") == (title, "title")


def test_keeps_the_words_before_and_after_ruby_together():
    page = "<title>Post</title><h1><ruby>渡良瀬<rt>わたらせ</rt></ruby>橋の夜間運行が九月から始まる</h1>"
    assert choose(page) == ("渡良瀬橋の夜間運行が九月から始まる", "h1")


def test_ignores_hidden_headings():
    page = f"<meta property=og:title content='{STORY}'><h1 hidden>{STORY}</h1><p>Text.</p>"
    assert choose(page) == (STORY, "og:title")


def test_falls_back_to_the_method_then_to_any_h1():
    own = Headline("Found by the method", Evidence("nce", 0.6))
    assert choose("<p>Text.</p>", own) == ("Found by the method", "nce")
    assert choose("<h1>Oh</h1><h1>No</h1>") == ("Oh", "h1")
    assert choose("<p>Text.</p>") is None


def test_compares_characters_in_languages_without_spaces():
    page = (
        "<title>古い橋が五年ぶりに開通|川新聞</title><h1>速報</h1><h1>古い橋が五年ぶりに開通</h1>"
    )
    assert choose(page) == ("古い橋が五年ぶりに開通", "h1")


def test_word_f1_ignores_case_and_punctuation():
    assert word_f1("The old bridge", "the OLD, bridge!") == 1
    assert word_f1("old bridge", "new bridge") == 0.5
    assert word_f1("", "") == 0


PARAGRAPH = (
    "The council of the town voted late on Thursday to open the old bridge again, after repairs."
)


def title_of(head: str, heading: str) -> str | None:
    page = f"<head>{head}</head><h1>{heading}</h1>" + f"<p>{PARAGRAPH}</p>" * 6
    return extract(page, "https://www.kestrelbayherald.example/news/bridge").title


@pytest.mark.parametrize(
    "title",
    [
        "»Wir fahren wieder«, sagt die Vorsitzende",
        "»Wir fahren wieder« – Lindhafen feiert",
        "„Wir fahren wieder“: Lindhafen feiert",
        "Elle dit : « Je pars » et la ville attend",
        "「橋は開く」と町長",
        "»Fisktrappan räddade kvarnen»",
        "Kestrel Bay – a town and its mill",
        "Herald – the angel of Harrow is back",
        "Wheel | Water | Work: a year at the mill",
    ],
)
@pytest.mark.parametrize("end", ["", " | Kestrel Bay Herald", " - Kestrel Bay Herald"])
def test_keeps_quotations_and_parts_that_the_heading_has(title: str, end: str):
    assert title_of(f"<title>{title}{end}</title>", title) == title


@pytest.mark.parametrize("bullets", ["» ", "› › ", "» » ", "► "])
def test_removes_bullets_before_a_heading(bullets: str):
    assert title_of("", f"{bullets}Council reopens the bridge") == "Council reopens the bridge"


def test_separators_are_outside_of_quotations_and_brackets():
    for text in (
        "He said “yes | no” today",
        "Elle dit « Oui – non »",
        "「甲：乙」と丙",
        "A (b | c) d",
    ):
        assert not separators(text), text
    assert parts_of("Bridge » Town » The Post") == ["Bridge", "Town", "The Post"]
    assert parts_of('A 5" gun | The Post') == ['A 5" gun', "The Post"]  # no quotation
