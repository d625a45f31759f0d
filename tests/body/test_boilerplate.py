"""Tests of the boilerplate rules: captions, boxes, bylines, dates and link blocks."""

import pytest

from newscrawl.body.boilerplate import boilerplate
from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import ExtractOptions, extract

SENTENCE = "The council met on Tuesday and voted, after some hours, to do nothing at all. "
BODY = "".join(f"<p>{SENTENCE * 3}No. {number}.</p>" for number in range(10))
TEXT = "\n\n".join(f"{SENTENCE * 3}No. {number}." for number in range(10))
HEADLINE = "<h1>Council does nothing at all</h1>"


def body_of(inside: str, **options: bool) -> str:
    page = f"<title>Council does nothing at all</title><div>{inside}</div>"
    return extract(page, method="nce", options=ExtractOptions(**options)).body


@pytest.mark.parametrize(
    "piece",
    [
        "<figure><img src=a.png><figcaption>The councillors, resting.</figcaption></figure>",
        "<aside><p>Our newsletter tells you every morning what was not done.</p></aside>",
        "<div role=dialog>We and our partners store cookies, as others do.</div>",
        "<div><div>See <a href=/1>an older story about the council and its chairs</a></div></div>",
        "<footer>All rights reserved.</footer>",
    ],
)
def test_removes_captions_boxes_and_links(piece: str):
    assert body_of(HEADLINE + BODY + piece) == TEXT
    assert body_of(HEADLINE + piece + BODY) == TEXT


@pytest.mark.parametrize(
    "head",
    [
        f"<div>Politics</div>{HEADLINE}",
        f"{HEADLINE}<p>By A. Clerk<br>17 November 2026, 8 a.m.</p>",
        f"{HEADLINE}<div>By A. Clerk</div><div><time datetime=2026-11-17>Tuesday</time> 8:00</div>",
    ],
)
def test_removes_kicker_byline_and_date_line(head: str):
    assert body_of(head + BODY) == TEXT


def test_keeps_code_in_figures():
    code = "<figure><pre>vote --none\nrest</pre><figcaption>The session</figcaption></figure>"
    assert body_of(HEADLINE + BODY + code) == f"{TEXT}\n\nvote --none\nrest"


def test_keeps_lists_of_links_among_selected_blocks():
    document = parse_document(f"<div>{BODY}<ul><li><a href=/1>Chairs, half price</a></ul></div>")
    [row] = document.rows_of("ul")
    assert row in boilerplate(document, [0], None)
    assert boilerplate(document, [0], None, selected=True) == frozenset()


@pytest.mark.parametrize(
    "first",
    [
        "The council, which was elected in 2021, met in the old mill.",
        "12月15日，2011年港口风云人物提名奖揭晓仪式在北京举行。",
        "The four things that readers wanted from the council in 2012 were:",
    ],
)
def test_keeps_first_sentences_with_a_year(first: str):
    assert body_of(f"{HEADLINE}<p>{first}</p>{BODY}") == f"{first}\n\n{TEXT}"


def test_keeps_text_before_a_title_in_a_teaser():
    page = f"<title>Council does nothing at all</title><div>{BODY}<h3>Council does nothing at all</h3></div>"
    assert TEXT in extract(page, method="nce").body
    document = parse_document(page)
    [heading] = document.rows_of("h3")
    assert boilerplate(document, [0], heading) == frozenset()
    [first, *_] = document.rows_of("p")
    assert boilerplate(document, [0], first + 2)


def test_keeps_sentences_with_links_and_dates():
    standfirst = "It was the fourth time this year that the council has met for this."
    sentence = (
        "<p>On <time datetime=2026-11-01>1 November</time> the mayor had called it "
        "<a href=/2>urgent</a>, which in Port Kerrin means that it is done within the year.</p>"
    )
    body = body_of(f"{HEADLINE}<p>{standfirst}</p><p>17 November 2026</p>{BODY}{sentence}")
    assert body.startswith(standfirst)
    assert "On 1 November the mayor had called it urgent" in body


def test_keeps_boilerplate_if_the_option_is_off():
    assert "resting" in body_of(
        f"{HEADLINE}<figcaption>The councillors, resting.</figcaption>{BODY}",
        remove_boilerplate=False,
    )
