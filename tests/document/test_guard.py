"""Tests of the limit on attributes per tag."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import html

from newscrawl.document.guard import _OPEN_TAG, MAX_ATTRIBUTES, drop_surplus_attributes
from newscrawl.lab.corpora.corpus import load_corpus

VALUED = b"<p>before</p><div " + b" ".join(b"a%d=1" % n for n in range(300_000)) + b">text</div>"
BARE = b"<p>before</p><div " + b" ".join(b"a%d" % n for n in range(300_000)) + b">text</div>"
QUOTED = b"<div " + b" ".join(b'a%d="<b>"' % n for n in range(300_000)) + b">text</div>"


@pytest.mark.parametrize("page", [VALUED, BARE, QUOTED], ids=["valued", "bare", "quoted"])
def test_drops_surplus_attributes_and_keeps_the_text(page: bytes):
    guarded = drop_surplus_attributes(page)
    assert guarded is not None
    tree = html.document_fromstring(guarded)
    (div,) = tree.iter("div")
    assert len(div.attrib) == MAX_ATTRIBUTES
    assert div.attrib["a0"] in ("1", "", "<b>")
    assert div.text == "text"


def test_keeps_long_tags_with_few_attributes():
    assert (
        drop_surplus_attributes(b'<div data-state="' + b"a=b&gt; " * 100_000 + b'">x</div>') is None
    )


@pytest.mark.parametrize("quote", [b'"', b"'"])
def test_reads_a_value_without_closing_quote_to_the_end_of_the_page(quote: bytes):
    page = b"<p>text</p><base href=" + quote + b"(((@media " * 10_000
    assert drop_surplus_attributes(page) is None


@given(
    st.lists(
        st.sampled_from([b">", b'"', b"'", b"=", b" ", b"\n", b"a", b"/", b'b="', b"c='", b"d=e"]),
        max_size=30,
    ).map(b"".join)
)
@example(b'href="x"/="y>z"')
@example(b"a = b c=/d>")
def test_tags_end_where_the_parser_ends_them(rest: bytes):
    page = b"<i " + rest
    end = _OPEN_TAG.match(page).end()  # type: ignore[union-attr]  # any such bytes
    element = html.document_fromstring(b"<p>x</p>" + page).find(".//i")
    text = page[end:].decode() or None
    if element is not None:  # the tag ends before the page
        assert (element.text or element.tail) == text  # the tail after "/>"
    else:
        assert text is None


def test_ignores_tags_in_scripts_and_comments():
    code = b"if (i<n) { " + b"x = y; " * 50_000 + b"}"
    for page in (b"<script>%s</script><p>x", b"<!-- %s --><p>x", b"<style>%s</style><p>x"):
        assert drop_surplus_attributes(page % code) is None


@pytest.mark.parametrize(
    "name", ["iframe", "noembed", "noframes", "style", "textarea", "title", "xmp"]
)
def test_ignores_tags_in_raw_text(name: str):
    start, end = f"<{name.upper()} id=a>".encode(), f"</{name} >".encode()
    text = f"</{name}s>".encode() + VALUED
    assert drop_surplus_attributes(start + text + end + b"<p>x") is None
    assert drop_surplus_attributes(start + text) is None
    assert drop_surplus_attributes(start + end + text) is not None


def test_plain_text_has_no_tags():
    assert drop_surplus_attributes(b"<plaintext>" + VALUED + b"</plaintext>" + VALUED) is None


@given(
    st.lists(
        st.sampled_from([b"<", b">", b'"', b"'", b"=", b" ", b"a", b"/", b"<div ", b"<!--", b"-->",
                         b"<script>", b"</script>", b" x=1", b' y="<p>"']),
        max_size=60,
    ).map(b"".join)
)  # fmt: skip
def test_keeps_broken_markup_with_few_attributes(page: bytes):
    assert drop_surplus_attributes(page) is None


@pytest.mark.parametrize(
    "page",
    [b"<a " * 700_000, b"<a b='" * 700_000, b'<a b="<' * 700_000, b"<" * 2_000_000,
     b"<!--" * 700_000, b"<script>" * 500_000, b"<div " + b"=" * 2_000_000,
     b"<div " + b"/" * 2_000_000],
    ids=["tags", "quotes", "quoted tags", "brackets", "comments", "scripts", "equals", "slashes"],
)  # fmt: skip
@pytest.mark.timeout(20)
def test_takes_linear_time(page: bytes):
    drop_surplus_attributes(page)


@pytest.mark.corpus
def test_keeps_real_pages_unchanged(corpus_dir: Path):
    for name in ("news212", "fundus"):
        for page in load_corpus(corpus_dir / name).pages:
            assert drop_surplus_attributes(page.html()) is None, page.id
