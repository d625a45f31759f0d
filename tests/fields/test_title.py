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


LOGO = f"<title>{STORY}：川新聞</title><h1 id=logo><a href='/'>川新聞</a></h1>"
NAMED = "<meta property=og:site_name content='River Post'>"
CASES = {
    "the h1 similar to the stated title": (
        f"<title>{STORY} | River Post</title><h1>Politics</h1><h1>{STORY}</h1>", (STORY, "h1")),
    "no heading with the site name": (
        f"{NAMED}<meta property=og:title content='{STORY}'><h1>River Post</h1><p>Text.</p>",
        (STORY, "og:title")),
    "site name of a link to the home page": (
        f"{LOGO}<h2>{STORY}</h2><p>Text.", (STORY, "h2")),
    "no headline below the link to the home page": (
        f"{LOGO}<div>{STORY}</div><p>Text.", (STORY, "title")),
    "headline that links to the article": (
        f"<title>{STORY} - Post</title><h1><a href='/'>Post</a></h1><h1><a href='/s'>{STORY}</a>",
        (STORY, "h1")),
    "kicker in an element": (
        f"<title>{STORY}</title><h1><span>Politics</span> <b>{STORY}</b></h1>", (STORY, "h1")),
    "kicker before a bar": (f"<title>{STORY}</title><h1>Politics | <b>{STORY}</b></h1>", (STORY, "h1")),
    "two kickers": (
        f"<title>{STORY}</title><h1><span>Politics</span><span>Live</span><b>{STORY}</b></h1>",
        (STORY, "h1")),
    "kicker in the stated title": (
        f"<title>Traffic: {STORY}</title><h1><span>Traffic:</span> {STORY}</h1>",
        (f"Traffic: {STORY}", "h1")),
    "only h1, unlike the stated title": (
        f"<title>Everything you need to know today</title><h1>{STORY}</h1>", (STORY, "h1")),
    "part after a dash": (
        "<title>Flood - what we know so far</title><p>Text.</p>",
        ("Flood - what we know so far", "title")),
    "place in the name of the host before a dash": (
        "<title>Post - a short history of its old office</title><p>Text.</p>",
        ("Post - a short history of its old office", "title")),
    "ruby": (
        "<title>Post</title><h1><ruby>渡良瀬<rt>わたらせ</rt></ruby>橋の夜間運行が九月から始まる</h1>",
        ("渡良瀬橋の夜間運行が九月から始まる", "h1")),
    "hidden heading": (
        f"<meta property=og:title content='{STORY}'><h1 hidden>{STORY}</h1><p>Text.</p>",
        (STORY, "og:title")),
    "characters in languages without spaces": (
        "<title>古い橋が五年ぶりに開通|川新聞</title><h1>速報</h1><h1>古い橋が五年ぶりに開通</h1>",
        ("古い橋が五年ぶりに開通", "h1")),
    "first of two short headings": ("<h1>Oh</h1><h1>No</h1>", ("Oh", "h1")),
    "nothing": ("<p>Text.</p>", None),
    **{
        f"site name after {mark}": (
            f"{NAMED}<title>{STORY}{mark}River Post</title><p>Text without any heading.</p>",
            (STORY, "title"))
        for mark in (" ✦ ", "・", "－", " @ ", " ┃ ")
    },
    **{
        f"name of the host and sections: {title}": (f"<title>{title}</title><p>Text.</p>", (STORY, "title"))
        for title in (f"Example: {STORY}", f"{STORY} ● Example", f"Example » Floods » {STORY}")
    },
}  # fmt: skip


@pytest.mark.parametrize(("page", "expected"), CASES.values(), ids=CASES)
def test_chooses_the_title(page: str, expected: tuple[str, str] | None):
    assert choose(page) == expected


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


def test_prefers_the_title_of_the_method_to_none():
    own = Headline("Found by the method", Evidence("nce", 0.6))
    assert choose("<p>Text.</p>", own) == ("Found by the method", "nce")


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
        "»Wir fahren wieder«, sagt die Vorsitzende", "»Wir fahren wieder« – Lindhafen feiert",
        "„Wir fahren wieder“: Lindhafen feiert", "Elle dit : « Je pars » et la ville attend",
        "「橋は開く」と町長", "»Fisktrappan räddade kvarnen»", "Kestrel Bay – a town and its mill",
        "Herald – the angel of Harrow is back", "Wheel | Water | Work: a year at the mill",
    ],
)  # fmt: skip
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
