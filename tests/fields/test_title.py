from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newscrawl.document.document import parse_document
from newscrawl.fields.metadata.metadata import read_metadata
from newscrawl.fields.titles.title import Headline, choose_title, word_f1
from newscrawl.items import Evidence

URL = "https://www.riverpost.example/story"
STORY = "Council reopens the old bridge after five years"


def choose(page: str, fallback: Headline | None = None) -> tuple[str, str] | None:
    document = parse_document(page)
    metadata = read_metadata(document, URL, datetime(2024, 6, 1, tzinfo=UTC))
    found = choose_title(document, metadata, URL, fallback)
    return None if found is None else (found.text, found.evidence.source)


def test_section_heading_before_the_headline():
    """The h1 that is like the stated title wins over the first."""
    page = f"<title>{STORY} | River Post</title><h1>Politics</h1><h1>{STORY}</h1>"
    assert choose(page) == (STORY, "h1")


def test_site_name_as_heading():
    """A logo is no headline."""
    page = (
        f"<meta property=og:site_name content='River Post'><meta property=og:title content='{STORY}'>"
        "<h1>River Post</h1><p>Text.</p>"
    )
    assert choose(page) == (STORY, "og:title")


def test_logo_as_only_heading():
    """The site's name is learned from its link; the headline may be an h2."""
    page = f"<title>{STORY}：川新聞</title><h1 id=logo><a href='/'>川新聞</a></h1><h2>{STORY}</h2><p>Text."
    assert choose(page) == (STORY, "h2")
    assert choose(page.replace("h2", "div")) == (STORY, "title")


def test_headline_that_links_to_the_story():
    """A link does not make a logo."""
    page = f"<title>{STORY} - Post</title><h1><a href='/'>Post</a></h1><h1><a href='/s'>{STORY}</a>"
    assert choose(page) == (STORY, "h1")


@pytest.mark.parametrize(
    "kicker", ["<span>Politics</span> ", "Politics | ", "<span>Politics</span><span>Live</span>"]
)
def test_kicker_in_the_heading(kicker: str):
    """The section's name glued before a headline goes where the rest is a stated title."""
    assert choose(f"<title>{STORY}</title><h1>{kicker}<b>{STORY}</b></h1>") == (STORY, "h1")


def test_kicker_of_the_headline_itself_stays():
    """Words before the headline that the stated title has as well."""
    page = f"<title>Traffic: {STORY}</title><h1><span>Traffic:</span> {STORY}</h1>"
    assert choose(page) == (f"Traffic: {STORY}", "h1")


def test_rewritten_for_search_engines():
    """The only h1 is the headline, whatever the title says."""
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
def test_site_name_in_the_title(title: str):
    """Stripped at both ends, under any of its spellings."""
    page = (
        "<meta property=og:site_name content='The River Post - Politics'>"
        f"<title>{title}</title><p>Text without any heading.</p>"
    )
    assert choose(page) == (STORY, "title")


def test_dash_of_the_headline_stays():
    """A part that is not the site's name is not cut."""
    title = "Flood - what we know so far"
    assert choose(f"<title>{title}</title><p>Text.</p>") == (title, "title")


def test_hidden_heading_is_not_shown():
    """A headline that nobody sees is none."""
    page = f"<meta property=og:title content='{STORY}'><h1 hidden>{STORY}</h1><p>Text.</p>"
    assert choose(page) == (STORY, "og:title")


def test_fallbacks():
    """A method's own find, then any heading, then nothing."""
    own = Headline("Found by the method", Evidence("nce", 0.6))
    assert choose("<p>Text.</p>", own) == ("Found by the method", "nce")
    assert choose("<h1>Oh</h1><h1>No</h1>") == ("Oh", "h1")
    assert choose("<p>Text.</p>") is None


def test_languages_without_spaces():
    """Likeness by character."""
    page = (
        "<title>古い橋が五年ぶりに開通|川新聞</title><h1>速報</h1><h1>古い橋が五年ぶりに開通</h1>"
    )
    assert choose(page) == ("古い橋が五年ぶりに開通", "h1")


def test_likeness_is_f1_of_words():
    """Case and punctuation do not count."""
    assert word_f1("The old bridge", "the OLD, bridge!") == 1
    assert word_f1("old bridge", "new bridge") == 0.5
    assert word_f1("", "") == 0
