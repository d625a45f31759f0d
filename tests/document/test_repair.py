"""Tests of the repairs of the tree."""

import pytest

from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import extract

SENTENCES = [
    f"The {place} was dug, watered and planted by noon, and the neighbours came to look at it."
    for place in ("north bed", "south bed", "long border", "herb corner", "orchard", "old yard")
]
HEADLINE = "How the six beds of Mill Lane were planted in a day"
STORY = "".join(
    f'<p id="mntl-sc-block_{number}-0" class="comp mntl-sc-block mntl-sc-block-html">{text}'
    " Each took two people, four tools and most of an hour, and nobody was hurt.</p>"
    for number, text in enumerate(SENTENCES)
)
# The second "<div>" of the button is meant to be "</div>".
OPEN_BUTTON = f"""<html><head><title>{HEADLINE}</title></head><body>
<header class="comp mntl-header"><a href="#main">Skip to content</a>
<div class="mntl-header__menu-button-container"><button class="mntl-header__menu-button">
<div class="mntl-header__menu-button-inner"><div></button></div>
<div class="search"><button>Search</button></div></header>
<main><article id="structuredContentTemplate_1-0"><h1>{HEADLINE}</h1>
<div class="mntl-attribution__item-date">Published on May 3, 2026</div>
<div class="comp mntl-sc-page mntl-block">{STORY}</div></article></main></body></html>"""


def test_closes_buttons():
    """Block markup of a large publisher; labels of buttons are not text."""
    article = extract(OPEN_BUTTON)
    assert article.kind == "article"
    assert all(sentence in article.body for sentence in SENTENCES)
    assert "Search" not in article.body


def test_keeps_buttons_without_nested_buttons():
    document = parse_document("<p>text</p><button><span>Press</span></button><button>me</button>")
    assert document.subtree_text(0) == "text"


@pytest.mark.parametrize(
    "head",
    [
        f"<title>{HEADLINE}</title><meta charset=utf-8><mbox><tr><td>",  # no body element follows
        f"<title id=t>{HEADLINE}</titlevalue='x'></head><body><h1>{HEADLINE}</h1>",
    ],
)
def test_moves_content_from_the_head(head: str):
    article = extract(f"<html><head>{head}<div>{STORY}</div>")
    assert article.title == HEADLINE
    assert all(sentence in article.body for sentence in SENTENCES)


def test_creates_no_body_from_metadata_or_framesets():
    assert len(parse_document("<html><head><title>A</title><meta name=a></head></html>").tag) == 5
    framed = parse_document("<head><title>A</title></head><frameset><frame src=a></frameset>")
    assert not framed.rows_of("body")


def test_places_streamed_content():
    parts = [f"<p>{sentence}</p>" for sentence in SENTENCES]
    page = (
        f"<html><body><main><h1>{HEADLINE}</h1>{parts[0]}<!--$?--><template id='B:0'></template>"
        f"<!--/$-->{parts[5]}</main>"
        f'<div hidden id="S:1">{parts[2]}{parts[3]}</div>'
        f'<div hidden id="S:0">{parts[1]}<template id="P:1"></template>{parts[4]}</div>'
        '<div hidden id="S:7">nowhere to be put</div>'
    )
    assert parse_document(page).subtree_text(0) == " ".join([HEADLINE, *SENTENCES])


def test_ignores_streamed_content_that_contains_its_placeholder():
    page = '<body>a<div hidden id="S:1"><template id="P:1"></template>b</div>'
    assert parse_document(page).subtree_text(0) == "a"


@pytest.mark.parametrize("page", [OPEN_BUTTON, f"<html><head><title>A</title><mbox>{STORY}"])
def test_elements_of_a_repaired_tree_are_those_of_the_rows(page: str):
    document = parse_document(page)
    rows = [row for row, tag in enumerate(document.tag) if tag != "#text"]
    assert [document.element(row).tag for row in rows] == [document.tag[row] for row in rows]
