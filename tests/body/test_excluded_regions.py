"""Regions, lists and repeated texts that are no candidates for the body."""

import pytest

from newscrawl.body.blocks import find_blocks
from newscrawl.body.classifier import body_candidates
from newscrawl.body.coreex import coreex
from newscrawl.body.econ import extract_news
from newscrawl.body.excluded_regions import (
    end_of_article,
    heading_row,
    outside_excluded_regions,
    reveal_hidden_article,
)
from newscrawl.body.nce import find_region
from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import extract
from tests.body.test_block_classifier import NOISE, PROSE, STORY, page, texts


def kept(html: str) -> list[str]:
    """Return the text of the blocks outside of excluded regions."""
    document = parse_document(html)
    blocks = find_blocks(document)
    places = outside_excluded_regions(document, blocks, range(len(blocks)), heading_row(document))
    return [texts(document)[place] for place in places]


@pytest.mark.parametrize(
    "noise",
    [
        "<div class='cookie-banner'><p>{}</p></div>",
        "<aside><p>{}</p></aside>",
        "<figure><img><figcaption>{}</figcaption></figure>",
        "<div id=newsletter-signup><p>{}</p></div>",
        "<section class='cli support-us'><p>{}</p></section>",
        "<div class=gallery-item__caption><p>{}</p></div>",
        "<div class='c-Disclaimer small'>{}</div>",
        "<div><h3>Every morning</h3><p>{}</p><form><input type=email></form></div>",
        "<form><p>{}</p><label><input type=radio> Yes</label><label><input type=radio> No</label></form>",
    ],
)
def test_excludes_regions_by_markup(noise: str):
    html = page(inside=noise.format(PROSE[0]))
    assert PROSE[0] not in kept(html)
    assert set(STORY) <= set(kept(html))


def test_excludes_other_articles_but_not_nested_ones():
    beside = (
        "<article><h2>The next story</h2>"
        + "".join(f"<p>{one}</p>" for one in PROSE)
        + "</article>"
    )
    assert not set(PROSE) & set(kept(page(after=beside, story=STORY * 2)))
    assert set(PROSE) <= set(kept(page(inside=beside, story=STORY * 2)))


OFFERS = "".join(
    f"<div class=offer><h2><a href=/shop/{n}>Storm lantern {n}</a></h2><div class=text>"
    f"<h3>Why we like it</h3><p>{n} of them are on board. {PROSE[0]} {PROSE[1]}</p>"
    f"<p>{PROSE[1]} It is number {n}, which we lit in the rain. {PROSE[0]}</p></div>"
    f"<h3>Buying options</h3><a href=/shop/{n}>See details</a></div>"
    for n in range(1, 12)
)


@pytest.mark.parametrize("above", [False, True])
def test_ends_at_the_article_element(*, above: bool):
    html = page(after=f"<section>{OFFERS}</section>", story=STORY * 2)
    if above:
        heading = html[html.index("<h1>") : html.index("</h1>") + len("</h1>")]
        html = html.replace(heading, "").replace(
            "<article>", f"<header>{heading}</header><article>"
        )
    body = extract(html).body
    assert all(text in body for text in STORY)
    assert not any(text in body for text in PROSE)
    document = parse_document(html)
    end = end_of_article(document, heading_row(document))
    assert document.tag[end] == "section"


def test_ignores_the_end_of_short_or_numerous_article_elements():
    heading = "<body><h1>Harbour bridge, live</h1>"
    story = "".join(f"<p>{one}" for one in STORY * 2)
    entries = [
        f"<article><h3>9:0{n}</h3><p>{text}</article>" for n, text in enumerate(STORY + PROSE)
    ]
    for html in (
        f"{heading}<article><p>{STORY[0]}</article><div>{story}</div>",
        f"{heading}<article>{story}</article>{''.join(entries * 2)}",
        f"<article>{story}</article><p>{PROSE[0]}",
    ):
        document = parse_document(html)
        assert end_of_article(document, heading_row(document)) == len(document)


@pytest.mark.parametrize("tag", ["aside", "div class=newsletter", "section id=subscribe"])
def test_keeps_regions_with_most_of_the_page(tag: str):
    html = page().replace("<main>", f"<{tag}>")
    assert set(STORY) <= set(kept(html.replace("<h1>", "<h2>").replace("</h1>", "</h2>")))


@pytest.mark.parametrize("hiding", ["style='display:none'", "hidden", "aria-hidden=true"])
def test_reveals_a_hidden_article_but_not_menus_and_short_texts(hiding: str):
    story = "".join(f"<p>{one}</p>" for one in STORY * 2)
    html = f"<body><h1>Bridge</h1><p>Subscribe to read on.</p><div {hiding}>{story}</div>"
    assert extract(html).body.count("brass band") == 2
    short = f"<body><p>{STORY[0]}</p><div {hiding}><p>{PROSE[0]}</p></div>"
    document = parse_document(short)
    assert reveal_hidden_article(document) is document
    menu = f"<body><p>{STORY[0]}</p><nav {hiding}>{story}</nav>"
    document = parse_document(menu)
    assert reveal_hidden_article(document) is document


@pytest.mark.parametrize("cause", NOISE)
def test_removes_noise_and_keeps_all_paragraphs(cause: str):
    article = extract(page(after=NOISE[cause], story=STORY * 2))
    assert not [text for text in PROSE if text[:40] in article.body]
    assert all(text in article.body for text in STORY)
    assert "Gazette" not in article.body


def test_standfirst_below_the_heading_is_a_candidate():
    standfirst = (
        "Divers and engineers took seven months and eleven million to open it again for lorries"
    )
    links = "".join(f"<li><a href=/{n}>Another story of the day, number {n}</a>" for n in range(30))
    html = (
        f"<body><div><ul>{links}</ul><header><h1>Harbour bridge</h1><p>{standfirst}<p>Print</header>"
        f"</div><main><article>{''.join(f'<p>{one}' for one in STORY)}</article></main>"
    )
    document = parse_document(html)
    region = find_region(document).forest
    for roots in (region, coreex(document), extract_news(document)):
        assert standfirst not in "".join(map(document.subtree_text, roots))
    found = [texts(document)[place] for place in body_candidates(document, region).places]
    assert [one for one in found if one != "Print"] == [standfirst, *STORY]


def test_keeps_a_paragraph_that_the_story_repeats():
    refrain = f"{PROSE[0]} Posts are shown once you have agreed to it, here and on all other pages."
    story = "".join(f"<p>{one}</p><p>{refrain}</p>" for one in STORY)
    body = extract(f"<body><main><article><h1>Harbour bridge</h1>{story}</article></main>").body
    assert body.count(refrain) == len(STORY)
