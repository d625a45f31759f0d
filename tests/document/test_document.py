"""Tests of the document: rows, columns, hidden text and limits."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import html

from newscrawl.document.document import (
    HEAD,
    INVISIBLE,
    MAX_PAGE_BYTES,
    MAX_TAGS,
    MAX_TEXTS,
    SCRIPT,
    TEXT,
    WIDGET,
    Document,
    DocumentError,
    parse_document,
)
from newscrawl.document.guard import _OPEN_TAG, MAX_ATTRIBUTES, drop_surplus_attributes
from newscrawl.lab.corpora.corpus import load_corpus

PAGE = """<!DOCTYPE html><html lang=en><head><title>Ferry &amp; tide</title>
<script>var text = "counted by nobody";</script></head>
<body><nav><a href=/>Home</a> <a href=/news>News</a></nav>
<!-- a comment --><main><h1>The ferry</h1><p>It sailed <b>at noon</b> again.</p>
<p>日本語</p></main></body></html>"""


def rows_of(document: Document, tag: str) -> list[int]:
    return [row for row in range(len(document)) if document.tag[row] == tag]


def test_rows_are_in_document_order_without_comments():
    document = parse_document(PAGE)
    (paragraph, _) = rows_of(document, "p")
    rows = range(paragraph, document.end[paragraph])
    assert [(document.tag[row], document.text[row]) for row in rows] == [
        ("p", ""), (TEXT, "It sailed"), ("b", ""), (TEXT, "at noon"), (TEXT, "again."),
    ]  # fmt: skip
    assert [document.tag[row] for row in document.children(paragraph)] == [TEXT, "b", TEXT]
    assert document.subtree_text(paragraph) == "It sailed at noon again."
    assert [document.tag[row] for row in document.ancestors(paragraph)] == ["main", "body", "html"]
    assert document.element(paragraph).tag == "p"
    assert document.element(paragraph + 1) is document.element(paragraph)
    assert document.depth[paragraph] == 3


def test_counts_weighted_characters_and_link_characters():
    document = parse_document(PAGE)
    (nav,), (h1,) = rows_of(document, "nav"), rows_of(document, "h1")
    assert document.chars(h1) == len("The ferry")
    assert document.chars(nav) == document.link_chars(nav) == len("HomeNews")
    assert document.link_density(nav) == 1
    assert document.link_density(h1) == 0
    assert document.chars(rows_of(document, "p")[1]) == 3 * 2.5


def test_title_is_the_first_outside_of_images():
    assert parse_document(PAGE).title == "Ferry & tide"
    assert parse_document("<svg><title>icon</title></svg><title> A \n B </title>").title == "A B"
    assert parse_document("<p>no title").title == ""


@pytest.mark.parametrize(
    ("markup", "why"),
    [
        ("<template>{}</template>", SCRIPT),
        ("<svg><text>{}</text></svg>", SCRIPT),
        ("<noscript><p>{}</p></noscript>", SCRIPT),
        ("<select><option>{}</option></select>", WIDGET),
        ("<button><b>{}</b></button>", WIDGET),
        ("<textarea>{}</textarea>", WIDGET),
        ("<p hidden>{}</p>", INVISIBLE),
        ("<p aria-hidden=true><b>{}</b></p>", INVISIBLE),
        ('<p style="color: red; DISPLAY : none">{}</p>', INVISIBLE),
    ],
)
def test_marks_hidden_text_with_the_reason(markup: str, why: int):
    page = f"<body><div>{markup.format('unseen')}</div><p>seen</p></body>"
    document = parse_document(page, scripts=True)
    row = document.text.index("unseen")
    assert document.hidden[row] == why
    assert document.chars(0) == len("seen")
    assert document.subtree_text(0) == "seen"
    assert list(document.text_nodes()) == [document.text.index("seen")]


def test_scripts_have_rows_only_on_request():
    assert "var text" not in " ".join(parse_document(PAGE).text)
    document = parse_document(PAGE, scripts=True)
    (script,) = rows_of(document, "script")
    assert document.text[script + 1].startswith("var text")
    assert document.hidden[script] == document.hidden[script + 1] == SCRIPT
    assert document.hidden[document.text.index("Ferry & tide")] == HEAD


def test_aria_hidden_false_is_shown():
    page = "<p aria-hidden=false>one</p><p style='display:block'>two</p>"
    assert parse_document(page).subtree_text(0) == "one two"


@pytest.mark.parametrize(
    "page",
    [b"", b"   \n", "", b"<!-- nothing -->", b"%PDF-1.7 \x00\x01", b"\x89PNG\r\n\x1a\n" + b"\0" * 99,
     bytes(range(1, 256)) * 40, b"\x1f\x8b\x08\x00" + b"x" * 99, b"x" * (MAX_PAGE_BYTES + 1)],
    ids=["empty", "blank", "empty str", "comment", "pdf", "png", "binary", "gzip", "large"],
)  # fmt: skip
def test_rejects_input_that_is_not_a_page(page: bytes | str):
    with pytest.raises(DocumentError, match=r"empty|not an HTML page|exceeds the limit"):
        parse_document(page)


@pytest.mark.parametrize("levels", [300, 3000, 100_000])
def test_keeps_the_text_of_deep_trees(levels: int):
    """Trees above the limit of libxml2 are flagged."""
    page = "<p>before</p>" + "<div>" * levels + "bottom" + "</div>" * levels + "<p>after</p>"
    document = parse_document(page)
    assert document.subtree_text(0) == "before bottom after"
    assert ("depth_exceeded" in document.flags) == (levels > 2000)
    assert max(document.depth) < 2100


def test_parses_five_megabytes_of_unclosed_tags():
    document = parse_document(b"<p>start" + b"<div>" * 1_000_000 + b"end")
    assert document.subtree_text(0) == "start"
    assert document.flags == ["truncated", "depth_exceeded"]


@pytest.mark.parametrize(
    ("piece", "limit"),
    [("<li>item", MAX_TEXTS), ("<b></b>", MAX_TAGS // 2), ("<li>an</li> ", MAX_TEXTS // 2)],
)
def test_truncates_pages_of_very_many_tags(piece: str, limit: int):
    """The memory of a page is bounded, whatever its tags."""
    name = piece[1:].partition(">")[0]
    for surplus in (-10, 100_000):
        page = f"<html><body><p>start</p>{piece * (limit + surplus)}</body></html>"
        document = parse_document(page)
        found = sum(1 for _ in document.root.iter(name))
        assert abs(found - limit) < 20
        assert ("truncated" in document.flags) == (surplus > 0)


def test_drops_surplus_attributes():
    attributes = " ".join(f"a{n}=1" for n in range(300_000))
    document = parse_document(f"<p>before</p><div {attributes}>inside</div><p>after")
    assert document.subtree_text(0) == "before inside after"
    assert document.flags == ["attributes_dropped"]


def test_drops_nul_bytes():
    assert parse_document(b"<p>one\0 two\0</p>\0<p>three").subtree_text(0) == "one two three"


def test_keeps_text_nodes_above_ten_megabytes():
    document = parse_document(b"<p>" + b"word " * 2_200_000)
    assert document.chars(0) == 5 * 2_200_000 - 1


MARKUP = st.lists(
    st.sampled_from(
        ["<div>", "</div>", "<p>", "</p>", "<a href=x>", "</a>", "<b>", "</b>", "<table><tr><td>",
         "</table>", "<script>", "</script>", "<li>", "text ", "日本", " ", "<br>", "<p hidden>",
         "<svg>", "</svg>", "<title>", "</title>", "<select>", "</select>", "&amp;", "<!-- c -->"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@given(MARKUP)
def test_columns_are_consistent(page: str):
    try:
        document = parse_document("<body>" + page)
    except DocumentError:
        return
    for row in range(len(document)):
        assert row < document.end[row] <= len(document)
        parent = document.parent[row]
        assert parent < row
        if parent >= 0:
            assert document.end[row] <= document.end[parent]
        children = list(document.children(row))
        assert all(document.parent[child] == row for child in children)
        if document.tag[row] != TEXT:
            assert document.chars(row) == sum(document.chars(child) for child in children)
            assert document.link_chars(row) <= document.chars(row)
    shown = "".join(document.text[row] for row in document.text_nodes())
    assert document.chars(0) == len(shown) + 1.5 * sum(shown.count(c) for c in "日本")
    tags = [document.tag[row] for row in range(len(document)) if document.tag[row] != TEXT]
    assert tags == [element.tag for element in document.root.iter()]


def test_columns_replace_elements():
    document = parse_document(
        "<div class='a b' role=main hidden> <p id=x>one <b>2</b> three</p>\n</div><p>four</p>"
    )
    div, (first, last) = document.tag.index("div"), document.rows_of("p")
    assert document.attributes["class"] == {div: "a b"}
    assert document.attributes["id"] == {first: "x"}
    assert document.attributes["role"] == {div: "main"}
    assert document.rows_of("table") == ()
    text = [document.text.index(word) for word in ("one", "2", "three", "four")]
    assert [document.space[row] for row in (div, first, *text)] == [1, 2, 2, 0, 1, 0]
    assert document.text_rows == text
    assert document.shown_rows == document.text_nodes() == [last + 1]
    assert document.number_rows == [text[1]]


def test_with_hidden_returns_a_reduced_copy():
    document = parse_document("<p>one</p><p><a href=x>two</a></p><p>three</p>")
    _, second, _ = document.rows_of("p")
    shorn = document.with_hidden([range(second, document.end[second])])
    assert [shorn.text[row] for row in shorn.text_nodes()] == ["one", "three"]
    assert (shorn.chars(0), shorn.link_chars(0)) == (8, 0)
    assert (document.chars(0), document.link_chars(0)) == (11, 3)
    assert len(document.shown_rows) == 3


def test_parses_the_tree_on_demand():
    document = parse_document("<p>one<pre> two\n</pre>".encode("utf-16"))
    pre = document.element(document.tag.index("pre"))
    assert (pre.text, pre.getroottree().getroot()) == (" two\n", document.root)
    assert document.subtree_text(0) == "one two"


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<p>one <a name=x>two</a></p>", "one two"),
        ("<p><ruby>駅<rp>(</rp><rt>えき</rt><rp>)</rp></ruby>前</p>", "駅 前"),
        ("<p>one</p><p hidden=until-found>two</p><p hidden>three</p>", "one two"),
        ("<p>one</p><p style='Visibility: hidden'>two</p>", "one"),
        ("<h3><button>Why now?</button></h3><p><button>Share</button></p>", "Why now?"),
        ("<x-y><template shadowrootmode=open><p>one</p></template></x-y><template>two</template>", "one"),
        ("<div><noscript><div><img src=x></noscript><p>one</p></div><p>two</p>", "one two"),
        ("<div><p>one</p><noscript></div></noscript><p>two</p></div>", "one two"),
    ],
)  # fmt: skip
def test_shows_what_browsers_show(html: str, shown: str):
    document = parse_document(f"<title>x</title><body>{html}")
    assert document.subtree_text(0) == shown
    assert document.link_chars(0) == 0


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
