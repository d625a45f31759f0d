"""Computed styles of small pages: selectors, cascade, values, variables, limits."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from newscrawl.css import (
    INITIAL_STYLE,
    ComputedStyle,
    SheetStore,
    Stylesheets,
    parse_sheet,
    selectors,
    style,
    values,
)
from newscrawl.css.selectors import compile_selector
from newscrawl.css.sheet_links import style_blocks
from newscrawl.css.style import MAX_CACHED_STACKS
from newscrawl.document.document import Document, parse_document

URL = "http://paper.test/"
BODY = """<body id=top class="page wide"><div class=a><h1 title="x y">One</h1><p class="b c">Two
<a href=/x>link</a><b>bold</b></p><p>Three</p><ul><li>1<li>2<li class=last>3</ul></div></body>"""


def styled(css: str, body: str = BODY) -> tuple[Document, Stylesheets]:
    document = parse_document(f"<!doctype html><style>{css}</style>{body}".encode())
    return document, Stylesheets(document)


def style_of(css: str, tag: str = "p", body: str = BODY) -> ComputedStyle:
    document, styles = styled(css, body)
    return styles.style_of(document.tag.index(tag))


def matched(selector: str) -> list[str]:
    document, styles = styled(f"{selector} {{ font-weight: 123 }}")
    return [
        document.text[row]
        for row in document.text_nodes()
        if styles.style_of(row).font_weight == 123
    ]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("h1", ["One"]),
        (".b.c > a", ["link"]),
        ("#top .a a:link", ["link"]),
        ("body.wide H1", ["One"]),
        ("h1 + p > a", ["link"]),
        ("h1 ~ ul > li:nth-child(2n+1)", ["1", "3"]),
        ("li:first-child, li:last-child", ["1", "3"]),
        ("div > :first-of-type:not(h1)", ["Two", "link", "1", "2", "3"]),
        ("li:nth-last-of-type(2)", ["2"]),
        ("p:has(a)", ["Two", "link"]),
        ("div:has(> p.b) > h1", ["One"]),
        ("h1:has(+ p)", ["One"]),
        ("p:has(+ ul)", ["Three"]),
        ("li:has(~ .last)", ["1", "2"]),
        ("p:has(> li), h1:has(b), ul:has(+ p)", []),
        ("li:not(.last)", ["1", "2"]),
        ("li:not(:first-child):not(.last)", ["2"]),
        (":is(.b, ul) :where(a, li.last)", ["link", "3"]),
        ("li:nth-last-child(-n+2)", ["2", "3"]),
        ("[title] , a[href^='/x']", ["One", "link"]),
        ("[title~=y]", ["One"]),
        ("h1[title=X i]", []),
        ("[class|=last]", ["3"]),
        ("body:root a", []),
        (":root a", ["link"]),
        (r".\62  a, #\74op h1", ["One", "link"]),
        ("ul li.last:only-child", []),
        # matches nothing on a static page, or not supported
        ("a:hover, a::before, li:has(a), li:lang(de), a:unknown", []),
        ("> a", []),
        ("a >", []),
        (":is(a", []),
        ("a:hover, h1", ["One"]),
    ],
)
def test_matches_selectors(selector: str, expected: list[str]):
    assert matched(selector) == expected


@pytest.mark.parametrize(
    ("selector", "specificity"),
    [
        ("a", (0, 0, 1)),
        ("#a .b[c] d:first-child", (1, 3, 1)),
        (":is(#a, b):where(#c):not(.d)", (1, 1, 0)),
        ("*", (0, 0, 0)),
    ],
)
def test_computes_specificity(selector: str, specificity: tuple[int, int, int]):
    compiled = compile_selector(selector)
    assert compiled.specificity == specificity


@pytest.mark.parametrize(
    ("css", "color"),
    [
        ("p { color: #111 } p { color: #222 }", "#222222"),
        (".b { color: #111 } p { color: #222 }", "#111111"),
        ("#top p { color: #111 } .a .b.c { color: #222 }", "#111111"),
        ("p { color: #111 !important } .b { color: #222 }", "#111111"),
        ("body { color: #111 } p { color: 1px }", "#111111"),
        ("body { color: #111 } p { color: red; color: inherit }", "#111111"),
        ("body { color: #111 } p { color: initial }", "#000000"),
        ("div { color: #111 } p { color: currentColor }", "#111111"),
        ("p { color: rgb(17, 34 51 / 50%) }", "#11223380"),
        ("p { color: hsl(0,  0%, 20%) }", "hsl(0, 0%, 20%)"),
        ("p { color: WHITE }", "#ffffff"),
        ("p { color: rgba(1.2.3, 1, 1) } p { color: #12 }", "#000000"),
        ("p { color: oklch(60%  .1 50) }", "oklch(60% .1 50)"),
    ],
)
def test_cascades_colors(css: str, color: str):
    assert style_of(css).color == color


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("20px", 20), ("1.5em", 30), ("150%", 30), ("2rem", 32), ("12pt", 16), ("large", 18),
        ("smaller", 20 / 1.2), ("2vw", 25.6), ("calc(1em + 2px * 3)", 26), ("0", 0),
        ("calc(100% + 2px)", 22),
        ("clamp(10px, 50vw, 30px)", 30), ("min(1rem, 3em)", 16), ("max(1px, (2px + 3px) * 2)", 10),
        ("-1px", 20), ("12", 20), ("1e999px", 10_000), ("calc(1px / 0)", 20), ("calc(", 20),
        ("1foo", 20), ("", 20),
    ],
)  # fmt: skip
def test_computes_font_sizes(value: str, size: float):
    found = style_of(f"div {{ font-size: 20px }} p {{ font-size: {value} }}")
    assert found.font_size == pytest.approx(size)


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("font: bold 20px/1.2 'Open  Sans', serif", (20, 700, ("open sans", "serif"))),
        ("font: italic small-caps 650 1em a", (16, 650, ("a",))),
        ("font: 12px / calc(1em + 2px) Arial , x", (12, 400, ("arial", "x"))),
        ("font: 12px", (16, 400, INITIAL_STYLE.font_family)),
        ("font-weight: bolder", (16, 700, INITIAL_STYLE.font_family)),
        ("font-weight: 1001; font-family: a b,\"c d\"", (16, 400, ("a b", "c d"))),
    ],
)  # fmt: skip
def test_parses_fonts(declaration: str, expected: tuple[float, float, tuple[str, ...]]):
    found = style_of(f"p {{ {declaration} }}")
    assert (found.font_size, found.font_weight, found.font_family) == expected


@pytest.mark.parametrize(
    ("css", "hidden", "visible"),
    [
        (".a { display: none }", True, True),
        (".a { display: none } p { display: block }", True, True),
        ("p { display: none } p { display: var(--x) }", False, True),
        (".a { visibility: hidden }", False, False),
        (".a { visibility: hidden } p { visibility: visible }", False, True),
        ("p { display: none !important; display: block }", True, True),
        ("p { display: oops oops oops }", False, True),
    ],
)
def test_computes_visibility(css: str, hidden: bool, visible: bool):
    found = style_of(css)
    assert (found.display_none, found.visible) == (hidden, visible)


@pytest.mark.parametrize(
    ("css", "removed"),
    [
        (".b { position: absolute; left: -9999px }", True),
        (".b { left: -9999px } .b { text-indent: 0 }", True),
        (".b { text-indent: -999em }", True),
        (".b { clip: rect(0 0 0 0) }", True),
        (".b { clip: rect(1px, 1px, 1px, 1px) } .c { clip: auto }", False),
        (".b { clip-path: inset(50%) }", True),
        (".b { clip-path: inset(0 10px) }", False),
        (".b { opacity: 0; height: 0 }", True),
        (".b { opacity: 0; MAX-HEIGHT: 0px }", True),
        (".b { opacity: 0 }", False),
        (".b { height: 0 }", False),
        (".b { opacity: 0; height: 0 } .c { opacity: 1 }", False),
        (".b { left: -20px; top: -5px; text-indent: -1em }", False),
        (".a { left: -9999px } p { color: red }", True),
    ],
)
def test_finds_what_is_off_the_screen(css: str, removed: bool):
    found = style_of(css)
    assert (found.removed, found.hidden) == (removed, removed)


@pytest.mark.parametrize(
    ("css", "size"),
    [
        ("@layer a, b; @layer b { p { font-size: 1px } } @layer a { #top p { font-size: 2px } }", 1),
        ("p { font-size: 3px } @layer a { #top p { font-size: 4px } }", 3),
        ("@layer a { p { font-size: 5px !important } } p { font-size: 6px !important }", 5),
        ("@layer a { p { font-size: 7px } @layer b { #top p { font-size: 8px } } }", 7),
        ("@layer a.b { p { font-size: 9px } } @layer c { p { font-size: 10px } } @layer a { p { font-size: 11px } }", 10),
    ],
)  # fmt: skip
def test_orders_layers(css: str, size: float):
    assert style_of(css).font_size == size


@pytest.mark.parametrize(
    ("css", "size"),
    [
        (":root { --a: 20px } p { font-size: var(--a) }", 20),
        (":root { --a: var(--b); --b: 21px } p { font-size: var( --a ) }", 21),
        ("div { --a: 22px } p { --a: 23px; font-size: var(--a) }", 23),
        ("p { font-size: var(--none, 24px) }", 24),
        ("p { font-size: var(--none, var(--none, calc(20px + 5px))) }", 25),
        ("p { font-size: 30px; font-size: var(--none) }", 16),
        (":root { --a: var(--b); --b: var(--a) } p { font-size: var(--a, 26px) }", 26),
        (":root { --a: bold 27px } p { font: var(--a)/1 x }", 27),
        (":root { --a: red } p { font-size: 30px; font-size: var(--a) }", 16),
    ],
)
def test_substitutes_variables(css: str, size: float):
    assert style_of(css).font_size == size


def test_uses_default_sheet_and_style_attributes():
    heading = style_of("", "h1")
    assert (heading.font_size, heading.bold) == (32, True)
    assert style_of("", "a").color == "#0000ee"
    body = "<p style='font-size: 20px !important; color: red'>x</p>"
    found = style_of("p { font-size: 30px !important; color: blue !important }", body=body)
    assert (found.font_size, found.color) == (20, "#0000ff")
    assert style_of("", body="<p hidden>x</p>").display_none


def test_collects_sheets_in_order():
    page = b"""<base href=/css/><link rel=stylesheet href=a.css><style>@import "b.css";
    p { font-size: 3px }</style><link rel=stylesheet href=c.css media=print><p>x"""
    sheets = {
        "http://paper.test/css/a.css": "p { color: #111; font-size: 1px }",
        "http://paper.test/css/b.css": parse_sheet("@import 'b.css'; @import 'd.css'; p { font-size: 2px }"),
    }  # fmt: skip
    document = parse_document(page)
    styles = Stylesheets(document, sheets, base_url=URL, store=SheetStore())
    found = styles.style_of(document.tag.index("p"))
    assert (found.color, found.font_size) == ("#111111", 3)
    assert styles.missing == ["http://paper.test/css/d.css"]
    assert not styles.complete


def test_pages_with_the_same_sheets_share_elements():
    sheet = parse_sheet("p { color: #123 } li:last-child { color: #456 }")
    head = b"<link rel=stylesheet href=/a.css>"
    stacks = []
    for body in (BODY, BODY.replace("<li>2", ""), BODY.replace("class=a", "")):
        document = parse_document(head + body.encode())
        styles = Stylesheets(document, {f"{URL}a.css": sheet}, base_url=URL)
        colors = [styles.style_of(row).color for row in document.text_nodes()]
        assert colors[-1] == "#445566"
        stacks.append(styles._stack)
    assert len(set(map(id, stacks))) == 1


def test_stack_cache_is_bounded():
    for number in range(3 * MAX_CACHED_STACKS):
        style_of(f"p {{ color: #{number:06} }}")
    assert len(style.stacks._stacks) <= MAX_CACHED_STACKS + 1


def test_beyond_the_limit_only_the_default_sheet_applies(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(style, "MAX_STEPS", 150)
    monkeypatch.setattr(selectors, "MAX_STEPS", 150)
    body = "".join(f"<p class=c{number}>x</p>" for number in range(100)) + "<h1>y</h1>"
    document, styles = styled("p ~ p ~ .x, p { color: red } h1 { color: red }", body)
    found = [styles.style_of(row) for row in document.text_nodes()]
    assert styles.exhausted
    assert not styles.complete
    assert (found[-1].bold, found[-1].color) == (True, "#000000")
    assert not styled("p { color: red }", "<p>x")[1].exhausted


CSS = st.lists(
    st.sampled_from(
        ["p", ".a", "#top", "*", ">", "+", "~", " ", ":not(", ":is(", ")", "[title", "=", "]", ":nth-child(2n)",
         ",", "{", "}", ";", "color:", "font:", "font-size:", "--a:", "var(--a", "calc(", "1px", "*", "2em",
         "red", "\\", '"', "é", "\0", "@media ", "!important", "hsl(", "1 2 3", "bolder", "/"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@given(CSS)
@example("p{font-size:calc(1px*1e999)}")
@example("p{color:hsl(1e5 2 3)}")
def test_no_sheet_raises_an_error(css: str):
    document, styles = styled(css)
    for row in document.text_nodes():
        assert 0 <= styles.style_of(row).font_size <= values.MAX_FONT_SIZE


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        (r".text-\[\#ff2d20\]", "text-[#ff2d20]"),
        (r".w-\[10px\]:not(.b)", "w-[10px]"),
        (r".a-\(b\)", "a-(b)"),
        (r".md\:w-1\/2[class]", "md:w-1/2"),
    ],
)
def test_escaped_brackets_in_class_names(selector: str, name: str):
    """As of Tailwind's arbitrary values."""
    style = style_of(f"{selector} {{ color: red }}", body=f'<p class="{name}">x</p>')
    assert style.color == "#ff0000"


@pytest.mark.parametrize(
    ("css", "hides"),
    [
        (".b { display : none }", True),
        ("h1, .a > p.b { color: red; left: -9999px }", True),
        ("a { font-size: 0; }", True),
        ("div { p { visibility: hidden } }", True),
        ("@media screen { .b { opacity: 0; height: 0 } }", True),
        ("@media print { .b { display: none } }", False),
        ("/* .b { display: none } */ p { color: red }", False),
        ("ul > .b, .c .d { display: none }", False),
        (".b[class] { display: none }", False),
        (".b { display: block; outline: 0; text-decoration: none }", False),
    ],
)
def test_finds_rules_that_may_hide_an_element(css: str, hides: bool):
    document, styles = styled(css)
    assert styles.may_hide(range(document.tag.index("h1"), document.tag.index("b"))) == hides


def test_parses_only_sheets_that_may_hide(monkeypatch: pytest.MonkeyPatch):
    parsed: list[str] = []
    monkeypatch.setattr(
        SheetStore, "parsed", lambda _, text: parsed.append(text) or parse_sheet(text)
    )
    document = parse_document(
        b"<style>.x { display: none }</style><style>p { left: -999px }</style><p>x"
    )
    assert Stylesheets(document).may_hide([document.tag.index("p")])
    assert parsed == ["p { left: -999px }"]


def test_reads_the_same_sheets_of_rows_and_of_a_tree():
    page = b"""<style media="(width > 10px)">p { left: 1px }</style><template><style>no</style></template>
    <STYLE>a</STYLE><style media=print>no</style><noscript><style>b</style></noscript><button><button>"""
    assert style_blocks(parse_document(page)) == ["p { left: 1px }", "a", "b"]
    assert style_blocks(parse_document(page.replace(b"<button>", b""))) == [
        "p { left: 1px }",
        "a",
        "b",
    ]


def test_reads_sheets_of_long_tags():
    """Some frameworks list all classes of a sheet in an attribute of its element."""
    page = f'<style data-emotion="css {"1f39n02-Name " * 1000}">p {{ left: 1px }}</style><p>x'
    assert style_blocks(parse_document(page)) == ["p { left: 1px }"]
