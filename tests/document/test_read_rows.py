"""The pass over the bytes of a page against the pass over libxml2's tree."""

from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from newscrawl.compiled import is_compiled
from newscrawl.document import document as document_module
from newscrawl.document.document import (
    TEXT,
    DocumentError,
    parse_document,
    read_rows,
    with_newlines,
)
from newscrawl.document.flatten import flatten
from newscrawl.document.guard import MAX_ATTRIBUTES
from newscrawl.document.html_tables import BOOLEAN, CLOSED_BY, PRIORITIES, RAWTEXT, RCDATA, VOID
from tests.conftest import corpus_pages, run_python
from tests.helpers.compiled import assert_equal_in_python

if not is_compiled(read_rows):
    pytest.skip("the compiled pass is not built", allow_module_level=True)


@given(st.text("a\r\né").map(str.encode))
def test_ends_of_lines(data: bytes) -> None:
    assert_equal_in_python(with_newlines, data)


def columns(page: str | bytes, *, scripts: bool) -> dict[str, Any]:
    """Return the fields of the document of *page*; empty if there is none."""
    try:
        document = parse_document(page, scripts=scripts)
        elements = [row for row, tag in enumerate(document.tag) if tag != TEXT]
        places = {row: document.attributes_of(row) for row in elements}
        return vars(document) | {"places": places}
    except DocumentError:
        return {}


def assert_same_rows(page: str | bytes, *, is_read: bool | None = True) -> None:
    """Assert that a page has equal rows with and without its tree; *is_read*: without in fact."""
    for scripts in (False, True):
        found = columns(page, scripts=scripts)
        with patch.object(document_module, "read_rows", return_value=None):
            expected = columns(page, scripts=scripts)
        if found and is_read is not None:
            assert (found["_root"] is None) is is_read
        for fields in (found, expected):
            for name in ("_root", "_elements", "_is_of_tree"):
                fields.pop(name, None)
        assert found == expected
        assert {type(chars) for chars in found.get("chars_before", [0.0])} == {float}


def test_agree_on_wide_characters_and_digits() -> None:
    bounds = (
        0x3500, 0x4DBF, 0x4E00, 0x9FFF, 0xA000, 0xA960, 0xA97F, 0xAC00, 0xD7FE, 0xF900, 0xFAFF,
        0xFF10, 0xFF66, 0xFFDC, 0xFFFC, 0x10000, 0x1D7CE, 0x20000, 0x3FFFE, 0x40000,
    )  # fmt: skip
    codes = [*range(0x3500), *(bound + step for bound in bounds for step in (-1, 0, 1))]
    text = "".join(f"<i>{chr(code)}</i>" for code in codes if chr(code) not in "<&")
    assert_same_rows(text.encode())


NAMES = sorted(
    {
        *CLOSED_BY,
        *PRIORITIES,
        *VOID,
        *RCDATA,
        *RAWTEXT,
        *(n for names in CLOSED_BY.values() for n in names),
    }
)
OTHERS = [
    "a", "article", "button", "dialog", "embed", "figure", "frameset", "math", "noscript", "object", "script",
    "section", "select", "source", "svg", "svg:text", "template", "time", "track", "wbr", "x-made-up", "émoji",
]  # fmt: skip


@pytest.mark.parametrize("tag", [*NAMES, *OTHERS])
def test_agree_on_all_pairs_of_tags(tag: str) -> None:
    """In the body, the head and alone; with end tags in the wrong order."""
    for other in (*NAMES, *OTHERS):
        pair = f"<{tag} id=1>a<{other} id=2>b</{tag}>c</{other}>d"
        for page in (
            pair,
            f"<body><div>{pair}</div>e",
            f"<head>{pair}</head>f",
            f"<{tag}/><{other}/>g",
        ):
            assert_same_rows(page, is_read=None)


TAGS = st.sampled_from([*NAMES, *OTHERS, "head", "html", "body"])
ATTRIBUTES = st.sampled_from(
    ["", " hidden", " HIDDEN=until-found", " aria-hidden=true", " aria-hidden=TRUE",
     " aria-hidden='true '", " style='display:none'", " style='DİSPLAY : NONE'",
     " style='color:red; Diſplay\u3000:\u00a0none'", " style='display:&#110;one'", " style",
     " itemprop", " class=a itemprop='x y'", " x:itemprop=1", " type=APPLICATION/LD+JSON",
     " type='a' rel='a Canonical'", " rel=next", " rel=alternate", " REL='canon&#105;cal'", " datetime", " href=x",
     " xlink:hidden=1", " style=''", " hiddens=1", " class=a style='x:y' hidden=''",
     " class='é &amp; b' id", " ID=x role=Banner", " itemtype='//schema.org/Comment' itemscope",
     " rel='Author me'", " rel='category TAG'", " classes=a ids=b roles=c x:class=d",
     " href='?a=1&copy=2&amp;b&lt;'", " class=1 CLASS=2", " a/b", " =", " ==", " =a=b", " x='", ' y="', " z=>",
     " q = 'r'", " disabled", "/", " / ", "\n", " a=1/", " content='a\r\nb'", "<", " style='' style=display:none"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=12),
    st.text(" \t\n\f\r\x0b\x1c\x1f\x85\u00a0\u2003\u200b\u3000\ufeffx", max_size=6),
    st.text("日本語ひカ한글ᄀ𠀀é’a ", max_size=8),
    st.sampled_from(
        ["&nbsp;", "&#xD800;", "&#0;", "&unknown;", "&#x3000;日", "<![CDATA[in]]>", "\0", "\ud800",
         "<!-- c -->", "<?pi target?>", "<!DOCTYPE x [<!ENTITY e 'v'>]>", "&e;", "<", "</", "</>", "</ x>",
     "<!-->", "<!--->", "<!--a--!>", "<!--", "-->", "<![CDATA[", "<script", "</script", "<!--<script>",
     "&", "&#", "&#x;", "&;", "&notit;", "&copy", "&GT", "&gt=", "&#x80;", "&#99999999999;", "&#32;",
     "&NewLine;", "&Tab;x", "&nGt;", "\r\n", "\r", "'", '"', "-", "=", ">", "/>"]
    ),
)  # fmt: skip
OPEN = st.builds(
    "<{}{}{}".format, TAGS, st.lists(ATTRIBUTES, max_size=3).map("".join), st.sampled_from(">>>>/ ")
)
CLOSE = st.builds("</{}{}".format, TAGS, st.sampled_from([">", ">", " >", "/>", " a='>'>", ""]))
MARKUP = st.lists(st.one_of(OPEN, OPEN, CLOSE, TEXTS), max_size=40).map("".join)


@given(MARKUP)
@example("<p>a<br>\u00a0<br> b</p></html> after <html><p>late</html> \u3000")
@example("<noscript>one<p>two</p>three</noscript>four")
@example("<a href=x>one<b>two<a href=y>three</a>four</b></a>five")
@example("<p><body><head><html></p>a</body>b</html>c")
@example("<title>a</head><body><p>b")
def test_agree_on_any_markup(page: str) -> None:
    assert_same_rows(page, is_read=None)


@given(st.binary(max_size=200))
def test_agree_on_invalid_bytes(page: bytes) -> None:
    assert_same_rows(b"<p>" + b"text " * 40 + page, is_read=None)


@pytest.mark.parametrize(
    ("page", "is_read"),
    [
        (b"<p>" + b"<div>" * 1990 + b"bottom", True),
        (b"<p>" + b"<div>" * 2100 + b"bottom", False),
        (b"<p>" + "word 日本 ".encode() * 1_000_000, True),
        (b"<p>" + b"<b>x</b> " * 59_000, True),
        (b"<p>" + b"<b>x</b> " * 100_000, True),
        (b"".join(b"<x%d a%d=1>" % (n, n) for n in range(1900)), True),
        (b"".join(b"<x%d a%d=1 />" % (n, n) for n in range(50_000)), True),
        (b"<p>" + b"&#x110000;&#xFFFE;&#1;" * 1000, True),
        (b"<p>" + b"a</x>" * 50_000, True),
        (b"<p" + b" a" * MAX_ATTRIBUTES + b">x", True),
        (b"<p" + b" a" * (MAX_ATTRIBUTES + 1) + b">x", False),
        (b"<p " + b"a" * 99 + b">x<" + b"b" * 99 + b">y", True),
        (b"<p " + b"a" * 101 + b">x", False),
        (b"<p>x<" + b"b" * 101 + b">y", False),
        (b"\xef\xbb\xbf\xef\xbb\xbf<p>two marks", True),
    ],
    ids=[
        "nested", "too deep", "long text", "many siblings", "too many texts", "many names", "more names",
        "no characters", "pieces of a text", "attributes", "too many attributes", "long names",
        "too long a name of an attribute", "too long a name", "byte order marks",
    ],
)  # fmt: skip
def test_agree_at_limits(page: bytes, is_read: bool) -> None:
    assert_same_rows(page, is_read=is_read)
    document = parse_document(page)
    assert (read_rows(document.source) is not None) is is_read


@pytest.mark.parametrize("name", [*sorted(BOOLEAN), "hidden"])
def test_agree_on_attributes_without_values(name: str) -> None:
    assert_same_rows(f"<meta {name} {name.upper()} name=a {name}=b><meta {name}=''><p>text")


def test_flattens_trees_with_comments_instructions_and_entities() -> None:
    xml = """<!DOCTYPE r [<!ENTITY e "value">]><r xmlns:s="urn:x">one<!-- c -->two<?pi x?>
        <s:script>three</s:script><![CDATA[four]]> five<b s:hidden="1">six</b></r>"""
    root = etree.fromstring(xml, etree.XMLParser(remove_comments=True, remove_pis=True))
    found = flatten(root)
    assert found.tag == ["r", "#text", "{urn:x}script", "#text", "#text", "b", "#text"]
    assert [text for text in found.text if text] == ["onetwo", "three", "four five", "six"]
    assert not any(found.hidden)


def test_lists_elements_with_metadata_in_head_and_body() -> None:
    page = """<html lang=en><head><meta charset=utf-8><link rel=stylesheet href=a><link rel="x Canonical" href=b>
        <script>1</script><script type="application/LD+json">{}</script><base target=x></head>
        <p itemprop=a><time>now</time><time datetime=2024></time><noscript><meta name=b></noscript>
        <img src=c><figure><div><img src=d></div></figure><img src=e><a rel=TAG>f</a><a rel=x>g</a>"""
    document = parse_document(page)
    for statements in (document.statements, flatten(document.root).statements):
        assert [(s.tag, *s.attributes.values(), s.script) for s in statements] == [
            ("html", "en", ""), ("meta", "utf-8", ""), ("link", "x Canonical", "b", ""),
            ("script", "application/LD+json", "{}"), ("p", "a", ""), ("time", "2024", ""),
            ("meta", "b", ""), ("img", "d", ""), ("a", "TAG", ""),
        ]  # fmt: skip


def test_shows_elements_that_attributes_hide() -> None:
    page = """<p hidden>one<i aria-hidden=true>two</i></p><p style="display:none">three</p>
        <dialog hidden>four</dialog><nav hidden>five</nav>"""
    document = parse_document(page)
    (nav,) = document.rows_of("nav")
    shown = {row for row in range(nav) if document.tag[row] != "i"}
    found = document.with_shown(shown)
    assert [found.text[row] for row in found.shown_rows] == ["one", "three"]
    assert found.root is not None  # the next ones are of the tree
    again = found.with_shown(shown)
    assert (again.hidden, again.chars_before) == (found.hidden, found.chars_before)


def test_rejects_objects_that_are_not_bytes() -> None:
    for other in (None, "html", bytearray(b"<p>")):
        with pytest.raises(TypeError):
            read_rows(other)


def test_elements_are_those_of_the_rows() -> None:
    document = parse_document("<title>a</title><p>one<table><td>two<p>three</html><p>four")
    rows = [row for row, tag in enumerate(document.tag) if tag != "#text"]
    assert [document.element(row).tag for row in rows] == [document.tag[row] for row in rows]


@pytest.mark.parametrize(
    ("before", "environment"),
    [
        ("", {"NEWSCRAWL_NO_EXTENSIONS": "1"}),
        ("import sys; sys.modules['newscrawl.document._read_rows'] = None", {}),
    ],
    ids=["disabled", "not built"],
)
def test_falls_back_to_python(before: str, environment: dict[str, str]) -> None:
    code = f"""if True:
        {before}
        from newscrawl.document.document import COMPILED, parse_document
        print(COMPILED, parse_document("<p>text").subtree_text(0))"""
    assert run_python(code, **environment).split() == ["False", "text"]


@pytest.mark.parametrize(
    "page",
    [
        "<title>a</title><p class=x id=y>one<table><td>two<p>three</html><p>four",
        "<meta name=a content=b><img src=c alt='\x01'><p/<>odd<a:b c:d=e>five</a:b><p\x02>six",
        "<script type='application/ld+json'>{}</script>text",
    ],
)
def test_tree_of_another_parser_has_the_rows(page: str) -> None:
    other = etree.fromstring("<html><body><div>another tree</div></body></html>")
    with (
        patch.object(document_module, "_HAS_SAME_RULES", False),
        patch.object(document_module, "_parse", return_value=other),
    ):
        document = parse_document(page)
        assert document.root is not other
    elements = [row for row, tag in enumerate(document.tag) if tag != "#text"]
    tags = {document.element(row).tag for row in elements}
    assert tags - {"span"} <= {document.tag[row] for row in elements}
    for name, values in document.attributes.items():
        assert {row: document.element(row).get(name) for row in values} == values
    shown = " ".join("".join(document.root.itertext()).split())
    assert shown == " ".join(" ".join(document.text).split())


def test_warns_once_without_compiled_modules() -> None:
    code = """if True:
        import sys
        for name in ("document._read_rows", "ensemble._ensemble"):
            sys.modules["newscrawl." + name] = None
        import logging
        logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s")
        import newscrawl.document.document, newscrawl.ensemble.ensemble"""
    (line,) = run_python(code).splitlines()
    assert line.startswith("WARNING Could not load compiled modules, extraction is slower (")


def test_rejects_a_module_built_for_other_columns() -> None:
    code = """if True:
        from dataclasses import make_dataclass
        from newscrawl.document import rows
        rows.Rows = make_dataclass("Rows", ["tag", "another"])
        try:
            import newscrawl.document._read_rows
        except ImportError as error:
            print(error)"""
    printed = run_python(code, NEWSCRAWL_NO_EXTENSIONS="1")
    assert printed.startswith("built for other columns")


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize(
    "corpus",
    ["news212", "fundus", "css-sites", "near-duplicates", "wcxb", "l3sgn1", "daniel", "dragnet"],
)
def test_agree_on_the_corpora(corpus_dir: Path, corpus: str) -> None:
    for page in islice(corpus_pages(corpus_dir / corpus), 0, None, 4):
        assert_same_rows(page, is_read=None)
