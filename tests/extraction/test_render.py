"""Tests of the rendering to text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.document.document import parse_document
from newscrawl.extraction.render import render
from newscrawl.text import words


def render_body(html: str) -> list[str]:
    document = parse_document(f"<body>{html}</body>")
    return render(document, [0]).split("\n\n")


@pytest.mark.parametrize(
    ("html", "paragraphs"),
    [
        ("<p>One</p><p>two</p>", ["One", "two"]),
        ("One<p>two</p>three", ["One", "two", "three"]),
        ("<div>One<div>two</div></div>three", ["One", "two", "three"]),
        ("H<sub>2</sub>O and <b>bo</b>ld", ["H2O and bold"]),
        ("<b>one</b> <i>two</i>\n<a href=x>three</a>,four", ["one two three,four"]),
        ("  one \n\t two&nbsp; three ", ["one two three"]),
        ("one<br>two", ["one\ntwo"]),
        ("one<br><br>two<br>\n <br/>three", ["one", "two", "three"]),
        ("one<br><b><br></b>two", ["one", "two"]),
        ("<table><tr><td>a<td>b<tr><th>c<td>d</table>", ["a b", "c d"]),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", ["a", "b", "c"]),
        ("<pre>one\n  two\n\nthree</pre>", ["one\ntwo", "three"]),
        ("a<script>x()</script>b <span hidden>no</span>c", ["ab c"]),
        ("a<div style='display:none'>no</div>b", ["a", "b"]),
        ("exam&shy;ple\u200b\ufeff", ["example"]),
        ("<blockquote><p>one<cite>two</cite></blockquote>", ["onetwo"]),
        ("", [""]),
    ],
)
def test_separates_blocks_and_joins_inline_elements(html: str, paragraphs: list[str]):
    assert render_body(html) == paragraphs


def test_joins_adjacent_inline_roots():
    document = parse_document("<div>Rain <b>and</b> <i>wind</i>, then<p>sun</p>again</div>")
    parent = document.tag.index("div")
    assert (
        render(document, list(document.children(parent))) == "Rain and wind, then\n\nsun\n\nagain"
    )


def test_separates_roots_that_are_not_adjacent():
    document = parse_document("<div><b>one</b><i>not this</i><b>two</b></div>")
    first, _, second = document.children(document.tag.index("div"))
    assert render(document, [first, second]) == "one\n\ntwo"


def test_skipped_rows_leave_their_white_space():
    document = parse_document("<div><h1>Title</h1><p>one <b>two</b> three</p></div>")
    rows = {document.tag.index("h1"), document.tag.index("b")}
    assert render(document, [0], rows) == "one three"


@pytest.mark.timeout(60)
def test_takes_linear_time_on_deep_and_wide_pages():
    deep = parse_document("<div>x" * 900 + "</div>" * 900)
    assert len(render(deep, [0]).split("\n\n")) == 900
    wide = parse_document("<p>word <b>word</b> word<br>" * 15_000)
    assert render(wide, [0]).split("\n\n") == ["word word word"] * 15_000


_INLINE = st.sampled_from(["b", "i", "span", "a", "em"])
_BLOCK = st.sampled_from(["p", "div", "section", "li", "h2", "td"])
_WORD = st.sampled_from(["rain", "wind", "sun", " ", "\n", "  snow "])


@given(st.lists(st.tuples(_INLINE | _BLOCK, _WORD, _WORD), max_size=12))
def test_keeps_all_words_and_collapses_white_space(parts: list[tuple[str, str, str]]):
    html = "".join(f"<{tag}> {text} </{tag}>{tail} " for tag, text, tail in parts)
    text = render(parse_document(f"<body><div>x {html}"), [0])
    assert words(text) == ["x", *words(" ".join(word for part in parts for word in part[1:]))]
    assert "  " not in text
    assert "\n\n\n" not in text
    assert text == text.strip()
