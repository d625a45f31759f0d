"""Headlines of pages without headings and stated titles."""

import pytest

import newscrawl

HEADLINE = "Harbour bridge to close for eleven weeks"
STORY = "".join(
    f"<p>The {number}th inspection found cracks in the bearings of the bridge, which the county said had"
    " grown by a third since the winter, and more of them are expected to be found in spring.</p>"
    for number in range(11, 17)
)
CSS = ".big{font-size:44px}.mid{font-size:30px}.small{font-size:12px}.off{display:none}"


def title_of(before: str, *, head: str = "", sheets: dict[str, str] | None = None) -> str | None:
    html = f"""<!DOCTYPE html><html><head><title>The Harbour Post</title>{head}<style>{CSS}</style></head>
    <body><div><a class=big href="/">The Harbour Post</a></div><div class=page>{before}{STORY}
    <p class=mid>Not through another frost, he said</p></div></body></html>"""
    return newscrawl.extract(html, "https://www.harbourpost.example/x1", stylesheets=sheets).title


@pytest.mark.parametrize(
    "before",
    [
        f"<h2 class=small>Tonight: the choir of the coast live</h2><span class=big>{HEADLINE}</span>",
        f"<div><strong>Tonight, live: the final of the cup</strong></div><b class=big>{HEADLINE}</b>",
        f"<h1 class=off>All the news of the county</h1><p class=big>{HEADLINE}</p><p>By Ann Other</p>",
        "<div class=big>Harbour bridge to close for <em>eleven weeks</em></div><p class=mid>Its cracks have spread</p>",
    ],
)  # fmt: skip
def test_the_largest_text_is_the_headline(before: str):
    assert title_of(before) == HEADLINE


def test_a_shown_heading_is_better():
    assert (
        title_of(f"<p class=big>Summer sale on now</p><h1 class=small>{HEADLINE}</h1>") == HEADLINE
    )


def test_a_missing_sheet_switches_style_off():
    before = f"<h2>Tonight: the choir of the coast live</h2><span class=big>{HEADLINE}</span>"
    link = "<link rel=stylesheet href=/a.css>"
    assert title_of(before, head=link) != HEADLINE
    assert (
        title_of(before, head=link, sheets={"https://www.harbourpost.example/a.css": ""})
        == HEADLINE
    )
