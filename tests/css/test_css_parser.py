"""Parsing of style sheets and declarations."""

import pytest

from newscrawl.css import parse_sheet, parser
from newscrawl.css.parser import Declaration, parse_declarations


def rules(css: str) -> list[tuple[str, str]]:
    """Return selectors and declarations, without white space around them."""
    return [(selectors, block.strip()) for selectors, block, _ in parse_sheet(css).rules]


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("h1 { color: red }", [("h1", "color: red")]),
        ("a { margin: 0 } b{COLOR:red}", [("b", "COLOR:red")]),
        ("a, b > c { float: left; font: 1px a; }", [("a, b > c", "float: left; font: 1px a;")]),
        (":root { --x: 1px }", [(":root", "--x: 1px")]),
        ("/* { */ a /* x */ { color: /* ; */ red }", [("a", "color: red")]),
        ("a { color: red", [("a", "color: red")]),
        ("<!-- a { color: red } -->", [("a", "color: red")]),
        ("a; b { color: red } c { color: red }", [("c", "color: red")]),
        ("} a { color: red }", [("a", "color: red")]),
        ("@font-face { font-family: x } a { color: red }", [("a", "color: red")]),
        ("@keyframes x { from { color: red } } a { color: red }", [("a", "color: red")]),
        ("@media print { a { color: red } } b { color: red }", [("b", "color: red")]),
        ("@media screen { a { color: red } b { margin: 0 } }", [("a", "color: red")]),
        ("@supports (display: grid) { @layer x { a { color: red } } }", [("a", "color: red")]),
        ("@container (width > 1px) { a { color: red } }", []),
        ("@supports not (display: grid) { a { color: red } } b { color: red }", [("b", "color: red")]),
        ("@supports (-moz-x: y) or ((a: b) and (not (c: d))) { a { color: red } }", []),
        ("@scope (.x) { a { color: red } }", [(":where(.x) a", "color: red")]),
        ("a { color: red; &.b { color: blue } display: none }",
         [("a", "color: red; display: none"), ("a.b", "color: blue")]),
        ("a { b { color: red } } c { color: red }", [("a b", "color: red"), ("c", "color: red")]),
        ("a, b { > c, d & { color: red } }", [(":is(a, b) > c,d :is(a, b)", "color: red")]),
        ("a { @media print { color: red } @media screen { color: blue; b { color: red } } }",
         [("a", "color: blue;"), ("a b", "color: red")]),
    ],
)  # fmt: skip
def test_keeps_rules_that_affect_text(css: str, expected: list[tuple[str, str]]):
    found = [(s, b) for s, b in rules(css) if parse_declarations(b)]
    assert [(s, " ".join(b.split())) for s, b in found] == expected


@pytest.mark.parametrize(
    "literal",
    ['content: "}"', "content: '\\'}'", "background: url(a;b}c)", 'quotes: "/*"', "w: \\}"],
)
def test_literals_do_not_end_a_block(literal: str):
    (rule,) = rules(f"a {{ {literal}; color: red }}")
    assert parse_declarations(rule[1]) == (Declaration("color", "red"),)


@pytest.mark.parametrize(
    ("css", "urls"),
    [
        ("@import 'a.css'; @import url(b.css) screen;", ["a.css", "b.css"]),
        ('@charset "utf-8"; @import "a.css"', ["a.css"]),
        ("@import url('a.css') layer(x) supports(display: grid) (min-width: 1px);", ["a.css"]),
        ("@import 'a.css' print;", []),
        ("p { color: red } @import 'a.css';", []),
        ("@import;@import x y z;", []),
    ],
)
def test_finds_imports(css: str, urls: list[str]):
    assert parse_sheet(css).imports == urls


def test_limits_imports():
    sheet = "".join(f"@import '{number}.css';" for number in range(1000))
    assert len(parse_sheet(sheet).imports) == parser.MAX_IMPORTS
    assert parse_sheet(f"@import '{'x' * 5000}'; @import 'a.css';").imports == ["a.css"]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("color: red; color : blue !important", [("color", "red"), ("color", "blue", True)]),
        ("margin: 0; font-size: 1em", [("font-size", "1em")]),
        ("--Ab: x y; --e:", [("--Ab", "x y"), ("--e", "")]),
        ("color: red !import; color", []),
        ("colors: red; *color: red; color:", []),
    ],
)
def test_parses_declarations(block: str, expected: list[tuple[str, ...]]):
    assert parse_declarations(block) == tuple(Declaration(*parts) for parts in expected)


def test_records_layers():
    sheet = parse_sheet(
        "@layer x, y.z; a{color:red} @layer y { b{color:red} @layer z { c{color:red} } d{color:red} }"
        "@layer { e{color:red} } f{color:red}"
    )
    assert sheet.layers == ["x", "y.z", "y", "(3)"]
    layers = {selectors.strip(): layer for selectors, _, layer in sheet.rules}
    assert layers == {"a": "", "b": "y", "c": "y.z", "d": "y", "e": "(3)", "f": ""}


def test_bounds_what_nested_rules_repeat():
    sheet = parse_sheet(f".{'x' * 2000} {{ {'b { color: red } ' * 5000} }}")
    assert 0 < sheet.size < 2 * parser.MAX_EXPANDED
