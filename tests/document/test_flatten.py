"""The compiled pass over the tree against the Python pass."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from newscrawl.compiled import is_compiled
from newscrawl.document.document import DocumentError, parse_document
from newscrawl.document.flatten import flatten
from tests.conftest import corpus_pages, run_python

if TYPE_CHECKING:
    from pathlib import Path

if not is_compiled(flatten):
    pytest.skip("the compiled pass is not built", allow_module_level=True)
flatten_in_python = inspect.unwrap(flatten)


def assert_same_rows(root: etree._Element) -> None:
    for scripts in (False, True):
        rows = flatten(root, scripts=scripts)
        assert rows == flatten_in_python(root, scripts=scripts)
        assert [type(chars) for chars in rows.chars_before] == [float] * (len(rows.tag) + 1)


def test_agree_on_wide_characters_and_digits() -> None:
    bounds = (
        0x3500, 0x4DBF, 0x4E00, 0x9FFF, 0xA000, 0xA960, 0xA97F, 0xAC00, 0xD7FE, 0xF900, 0xFAFF,
        0xFF10, 0xFF66, 0xFFDC, 0xFFFC, 0x10000, 0x1D7CE, 0x20000, 0x3FFFE, 0x40000,
    )  # fmt: skip
    codes = [*range(0x3500), *(bound + step for bound in bounds for step in (-1, 0, 1))]
    text = "".join(f"<i>{chr(code)}</i>" for code in codes if chr(code) not in "<&")
    assert_same_rows(parse_document(text.encode()).root)


TAGS = st.sampled_from(
    ["div", "p", "a", "b", "table", "td", "script", "style", "noscript", "template", "svg",
     "svg:text", "math", "title", "select", "option", "textarea", "button", "iframe", "object",
     "dialog", "br", "li", "pre", "head", "html", "body", "frameset", "x-made-up", "émoji",
     "meta", "link", "time", "base", "figure", "img"]
)  # fmt: skip
ATTRIBUTES = st.sampled_from(
    ["", " hidden", " HIDDEN=until-found", " aria-hidden=true", " aria-hidden=TRUE",
     " aria-hidden='true '", " style='display:none'", " style='DİSPLAY : NONE'",
     " style='color:red; Diſplay\u3000:\u00a0none'", " style='display:&#110;one'", " style",
     " itemprop", " class=a itemprop='x y'", " x:itemprop=1", " type=APPLICATION/LD+JSON",
     " type='a' rel='a Canonical'", " rel=next", " REL='canon&#105;cal'", " datetime", " href=x",
     " xlink:hidden=1", " style=''", " hiddens=1", " class=a style='x:y' hidden=''",
     " class='é &amp; b' id", " ID=x role=Banner", " itemtype='//schema.org/Comment' itemscope",
     " rel='Author me'", " rel='category TAG'", " classes=a ids=b roles=c x:class=d"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=12),
    st.text(" \t\n\f\r\x0b\x1c\x1f\x85\u00a0\u2003\u200b\u3000\ufeffx", max_size=6),
    st.text("日本語ひカ한글ᄀ𠀀é’a ", max_size=8),
    st.sampled_from(
        ["&nbsp;", "&#xD800;", "&#0;", "&unknown;", "&#x3000;日", "<![CDATA[in]]>", "\0", "\ud800",
         "<!-- c -->", "<?pi target?>", "<!DOCTYPE x [<!ENTITY e 'v'>]>", "&e;", "<", "</"]
    ),
)  # fmt: skip
OPEN = st.builds("<{}{}>".format, TAGS, ATTRIBUTES)
MARKUP = st.lists(st.one_of(OPEN, OPEN, TAGS.map("</{}>".format), TEXTS), max_size=40).map("".join)


@given(MARKUP)
@example("<p>a<br>\u00a0<br> b</p></html> after <html><p>late</html> \u3000")
@example("<noscript>one<p>two</p>three</noscript>four")
@example("<a href=x>one<b>two<a href=y>three</a>four</b></a>five")
def test_agree_on_any_markup(page: str) -> None:
    try:
        document = parse_document(page)
    except DocumentError:
        return
    assert_same_rows(document.root)
    for element in document.root.iter():
        assert_same_rows(element)  # the tail of the root is not in its tree


@given(st.binary(max_size=200))
def test_agree_on_invalid_bytes(page: bytes) -> None:
    assert_same_rows(parse_document(b"<p>" + b"text " * 40 + page).root)


@pytest.mark.parametrize(
    "page",
    [
        b"<p>" + b"<div>" * 100_000 + b"bottom",
        b"<p>" + "word 日本 ".encode() * 1_000_000,
        b"<p>" + b"<b>x</b> " * 100_000,
        b"".join(b"<x%d a%d=1>" % (n, n) for n in range(5000)),
        b"<p>" + b"&#x110000;&#xFFFE;&#1;" * 1000,
    ],
    ids=["deep", "long text", "many siblings", "many names", "no characters"],
)
def test_agree_on_huge_pages(page: bytes) -> None:
    assert_same_rows(parse_document(page).root)


def test_does_not_recurse() -> None:
    root = last = etree.Element("html")
    for _ in range(20_000):  # quadratic time
        last = etree.SubElement(last, "div")
    last.text = "bottom"
    assert_same_rows(root)


def test_skips_comments_instructions_and_entities() -> None:
    xml = """<!DOCTYPE r [<!ENTITY e "value">]><r xmlns:s="urn:x">one<!-- c -->two<?pi x?>
        <s:script>three</s:script>&e;<![CDATA[four]]> five<b s:hidden="1">six</b></r>"""
    root = etree.fromstring(xml, etree.XMLParser(resolve_entities=False, strip_cdata=False))
    found = flatten(root)
    assert found.tag == [
        "r", "#text", "#text", "{urn:x}script", "#text", "#text", "b", "#text",
    ]  # fmt: skip
    assert [text for text in found.text if text] == ["one", "two", "three", "four five", "six"]
    assert not any(found.hidden)
    etree.strip_tags(root, etree.Comment, etree.PI, etree.Entity)
    assert_same_rows(root)


def test_lists_elements_with_metadata_in_head_and_body() -> None:
    page = """<html lang=en><head><meta charset=utf-8><link rel=stylesheet href=a><link rel="x Canonical" href=b>
        <script>1</script><script type="application/LD+json">{}</script><base target=x></head>
        <p itemprop=a><time>now</time><time datetime=2024></time><noscript><meta name=b></noscript>
        <img src=c><figure><div><img src=d></div></figure><img src=e><a rel=TAG>f</a><a rel=x>g</a>"""
    for function in (flatten, flatten_in_python):
        statements = function(parse_document(page).root).statements
        assert [(s.tag, *s.attributes.values(), s.script) for s in statements] == [
            ("html", "en", ""), ("meta", "utf-8", ""), ("link", "x Canonical", "b", ""),
            ("script", "application/LD+json", "{}"), ("p", "a", ""), ("time", "2024", ""),
            ("meta", "b", ""), ("img", "d", ""), ("a", "TAG", ""),
        ]  # fmt: skip


def test_rejects_objects_that_are_not_elements() -> None:
    for other in (None, "html", etree.ElementTree(etree.Element("html"))):
        with pytest.raises(TypeError):
            flatten(other)


@pytest.mark.parametrize(
    ("before", "environment"),
    [
        ("", {"NEWSCRAWL_NO_EXTENSIONS": "1"}),
        ("from lxml import etree; etree.LIBXML_VERSION = (2, 9, 14)", {}),
        ("import sys; sys.modules['newscrawl.document._flatten'] = None", {}),
    ],
    ids=["disabled", "other libxml2", "not built"],
)
def test_falls_back_to_python(before: str, environment: dict[str, str]) -> None:
    code = f"""if True:
        {before}
        from newscrawl.document.document import COMPILED, parse_document
        print(COMPILED, parse_document("<p>text").subtree_text(0))"""
    assert run_python(code, **environment).split() == ["False", "text"]


def test_rejects_a_module_built_for_other_columns() -> None:
    code = """if True:
        from dataclasses import make_dataclass
        from newscrawl.document import rows
        rows.Rows = make_dataclass("Rows", ["tag", "another"])
        try:
            import newscrawl.document._flatten
        except ImportError as error:
            print(error)"""
    printed = run_python(code, NEWSCRAWL_NO_EXTENSIONS="1")
    assert printed.startswith("built for other columns")


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["news212", "fundus", "css-sites", "near-duplicates"])
def test_agree_on_the_corpora(corpus_dir: Path, corpus: str) -> None:
    for page in corpus_pages(corpus_dir / corpus):
        assert_same_rows(parse_document(page).root)
