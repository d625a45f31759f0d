"""Parsing of style sheets and declarations."""

from __future__ import annotations

import pytest

from newscrawl.css import parse_sheet, parser
from newscrawl.css.parser import Declaration, parse_declarations
from tests.helpers.operations import growth


def rules(css: str) -> list[tuple[str, str]]:
    """Return selectors and declarations, without white space around them."""
    return [(selectors, block.strip()) for selectors, block in parse_sheet(css).rules]


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("h1 { color: red }", [("h1", "color: red")]),
        ("a { margin: 0 } b{COLOR:red}", [("b", "COLOR:red")]),
        ("a, b > c { float: left; font: 1px a; }", [("a, b > c", "float: left; font: 1px a;")]),
        (":root { --x: 1px }", [(":root", "--x: 1px")]),
        ("/* { */ a /* x */ { color: /* ; */ red }", [("a", "color:  red")]),
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
        ("a { color: red; &:hover { color: blue } display: none }", [("a", "color: red; display: none")]),
        ("a { b { color: red } } c { color: red }", [("c", "color: red")]),
    ],
)  # fmt: skip
def test_keeps_rules_that_affect_text(css: str, expected: list[tuple[str, str]]):
    found = [(s, b) for s, b in rules(css) if parse_declarations(b)]
    assert [(s, b.replace("  ", " ")) for s, b in found] == [
        (s, b.replace("  ", " ")) for s, b in expected
    ]


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


@pytest.mark.parametrize(
    "unit",
    ["{", "}", "a{", "a{color:red;", "@media x{", "/*", "\"'", "url(", "\\", "@import 'a';", "a,", ".a",
     "a{b{color:red}}", "a{color:red}", "@font-face{", "--x:{"],
)  # fmt: skip
def test_reads_hostile_sheets_in_linear_time(unit: str):
    def read(size: int) -> None:
        for _, block in parse_sheet(unit * (size // len(unit))).rules:
            parse_declarations(block)

    assert growth(read, 3000, parser) < 2.3
