"""The guard before the parser."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from newscrawl.corpora.corpus import load_corpus
from newscrawl.document.guard import MAX_ATTRIBUTES, drop_surplus_attributes

VALUED = b"<p>before</p><div " + b" ".join(b"a%d=1" % n for n in range(300_000)) + b">text</div>"
BARE = b"<p>before</p><div " + b" ".join(b"a%d" % n for n in range(300_000)) + b">text</div>"
QUOTED = b"<div " + b" ".join(b'a%d="<b>"' % n for n in range(300_000)) + b">text</div>"


@pytest.mark.parametrize("page", [VALUED, BARE, QUOTED], ids=["valued", "bare", "quoted"])
def test_surplus_attributes_are_dropped(page: bytes) -> None:
    """A tag keeps its first attributes, and the page its text."""
    guarded = drop_surplus_attributes(page)
    assert guarded is not None
    tree = html.document_fromstring(guarded)
    (div,) = tree.iter("div")
    assert len(div.attrib) == MAX_ATTRIBUTES
    assert div.attrib["a0"] in ("1", "", "<b>")
    assert div.text == "text"


def test_long_tags_of_few_attributes_stay() -> None:
    """A tag with a large value is nothing unusual."""
    assert (
        drop_surplus_attributes(b'<div data-state="' + b"a=b&gt; " * 100_000 + b'">x</div>') is None
    )


def test_scripts_and_comments_hold_no_tags() -> None:
    """What looks like a tag of many attributes in a script or a comment is none."""
    code = b"if (i<n) { " + b"x = y; " * 50_000 + b"}"
    for page in (b"<script>%s</script><p>x", b"<!-- %s --><p>x", b"<style>%s</style><p>x"):
        assert drop_surplus_attributes(page % code) is None


@given(
    st.lists(
        st.sampled_from([b"<", b">", b'"', b"'", b"=", b" ", b"a", b"/", b"<div ", b"<!--", b"-->",
                         b"<script>", b"</script>", b" x=1", b' y="<p>"']),
        max_size=60,
    ).map(b"".join)
)  # fmt: skip
def test_ordinary_markup_is_left_alone(page: bytes) -> None:
    """However broken, markup without thousands of attributes passes untouched."""
    assert drop_surplus_attributes(page) is None


@pytest.mark.parametrize(
    "page",
    [b"<a " * 700_000, b"<a b='" * 700_000, b'<a b="<' * 700_000, b"<" * 2_000_000,
     b"<!--" * 700_000, b"<script>" * 500_000, b"<div " + b"=" * 2_000_000,
     b"<div " + b"/" * 2_000_000],
    ids=["tags", "quotes", "quoted tags", "brackets", "comments", "scripts", "equals", "slashes"],
)  # fmt: skip
@pytest.mark.timeout(20)
def test_no_markup_makes_it_slow(page: bytes) -> None:
    """Bait for a backtracking pattern is read in linear time (quadratic would be hours)."""
    drop_surplus_attributes(page)


@pytest.mark.corpus
def test_real_pages_are_left_alone(corpus_dir: Path) -> None:
    """No real page has a tag of so many attributes."""
    for name in ("news212", "fundus"):
        for page in load_corpus(corpus_dir / name).pages:
            assert drop_surplus_attributes(page.html()) is None, page.id
