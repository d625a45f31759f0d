"""Parsing of style sheets, with error recovery as in browsers."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.css.selectors import compiled_selectors as compounds
from newscrawl.css.selectors import rule_keys as keys
from newscrawl.css.selectors import selector_compiler as selectors
from newscrawl.css.selectors import selector_tokens as lexical
from newscrawl.css.sheets import import_rules as imports
from newscrawl.css.sheets import nesting, rule_scanner, scanner, supports
from newscrawl.css.sheets import sheet as sheet_module
from newscrawl.css.sheets.import_rules import Import
from newscrawl.css.sheets.sheet import FORMAT, Sheet, parse_sheet
from newscrawl.css.syntax import conditions, declarations, masking
from newscrawl.css.syntax import media_queries as media
from newscrawl.css.syntax.declarations import Declaration, parse_declarations
from newscrawl.css.syntax.masking import mask, unescape
from newscrawl.css.syntax.variables import RegisteredProperty
from tests.helpers.operations import growth

if TYPE_CHECKING:
    from pathlib import Path

#: fragments of invalid sheets, one per line
FRAGMENTS = r"""
a
b{
}
{
;
:
,
(
)
[
]
"
'
\
\}
\"
&
@
!
>
/*
*/
/* x */
<!--
-->
é
url(x)
url(
url(a;b)
"s;"
'}'
color:red
color:red;
COLOR:Red
display:none;
font-size:1px}
--x:1;
--X:{a;b}
top:1px;
!important
!ie
@media screen{
@media print{
@layer x{
@layer{
@layer a,b;
@import "x";
@supports (a:b){
@font-face{
@property --x{
&:hover{
:is(a,b){
a{color:blue}
x{top:1px}
""".splitlines()
SOUP = st.lists(st.sampled_from([*FRAGMENTS, " ", "\n"]), max_size=30).map("".join)


def rules(css: str) -> list[tuple[str, str]]:
    """Return the rules of a sheet as (selectors, declarations)."""
    return [
        (", ".join(rule.selectors), text_of(rule.declarations)) for rule in parse_sheet(css).rules
    ]


def text_of(declarations: tuple[Declaration, ...]) -> str:
    return "; ".join(
        f"{name}: {value}{' !' if important else ''}" for name, value, important in declarations
    )


def test_keeps_relevant_declarations():
    css = """
    body { margin: 0; font: 16px/1.5 "Open Sans", serif; background: #fff }
    .clear { clear: both; float: left }
    h1, .title > a { padding: 0; COLOR: Red; Font-Size: 2EM; font-variant: small-caps }
    nav { display: none; visibility: hidden; border-color: red; font-weight:700;font-style:italic }
    :root { --Brand: #c00; color-scheme: light dark; all: revert }
    """
    assert rules(css) == [
        ("body", 'font: 16px/1.5 "Open Sans", serif'),
        ("h1, .title > a", "color: Red; font-size: 2EM"),
        ("nav", "display: none; visibility: hidden; font-weight: 700; font-style: italic"),
        (":root", "--Brand: #c00; color-scheme: light dark; all: revert"),
    ]
    assert sum(len(rule.declarations) for rule in parse_sheet(css).rules) == 10


def test_keeps_all_declarations_on_request():
    sheet = parse_sheet("a{top:1px;*zoom:1;color:red}b{left:0}", keep_all=True)
    assert [text_of(rule.declarations) for rule in sheet.rules] == [
        "top: 1px; color: red",
        "left: 0",
    ]


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        # strings, URLs, escapes and comments hide their content
        ('a{content:"}";color:red}', [("a", "color: red")]),
        ("a{content:';color:blue';color:red}", [("a", "color: red")]),
        ("a{background:url(data:image/svg+xml;color:blue;}{);color:red}", [("a", "color: red")]),
        ("a{background:url(//x.test/*.png);color:red}/**/", [("a", "color: red")]),
        ("a{/* } */color/**/:/* ; */red}", [("a", "color: red")]),
        ("div/* */.a,x/**/y{color:red}", [("div.a, x y", "color: red")]),
        (r".content-\[\'\'\],.a\{b\;{color:red}", [(r".content-\[\'\'\], .a\{b\;", "color: red")]),
        (r'a[title="a,b}"]{color:red}', [('a[title="a,b}"]', "color: red")]),
        (r'a::after{content:"\"";color:red}', [("a::after", "color: red")]),
        (r'a{font-family:"a\";b"}', [("a", r'font-family: "a\";b"')]),
        (r"a{c\olor:red;displa\79 :none}", [("a", "color: red; display: none")]),
        # a bad string or URL invalidates only its declaration
        ('a{color:"red\n;font-size:1px}', [("a", "font-size: 1px")]),
        ("a{color:url(x y);font-size:1px}", [("a", "font-size: 1px")]),
        # parentheses and brackets hide their content, unclosed ones the rest
        (
            "a{color:f(;font-size:1px);display:none}",
            [("a", "color: f(;font-size:1px); display: none")],
        ),
        ("a{color:f(}b{color:red}", [("a", "color: f(}b{color:red})")]),
        ("a{color:red);font-size:1px}", [("a", "font-size: 1px")]),
        # the end of the sheet closes everything
        ("a{color:rgb(1,2,3", [("a", "color: rgb(1,2,3)")]),
        ('a{font-family:"x', [("a", 'font-family: "x"')]),
        ("a{color:red/*", [("a", "color: red")]),
        # hacks are not declarations
        ("a{*color:red;_display:none;color=blue;font-size:1px}", [("a", "font-size: 1px")]),
        ("a{//color:red;\ncolor:blue}", [("a", "color: blue")]),
        ("a{color:;display: ;--x:;--y: }", [("a", "--x: ; --y: ")]),
        ("a{colors:red;xcolor:red;color-x:red;--x y:1;-->color:red}", [("a", "")]),
        # an invalid rule is dropped alone
        ("a,,b{color:red}c{color:blue}", [("c", "color: blue")]),
        ("}a{color:red}b{color:blue}", [("b", "color: blue")]),
        ("} @media screen{a{color:red}} b{color:blue}", [("b", "color: blue")]),
        ("a{color:red}};b{color:blue}c{color:blue}", [("a", "color: red"), ("c", "color: blue")]),
        ("<!-- a{color:red} --> b{color:blue}", [("a", "color: red"), ("b", "color: blue")]),
        ("\ufeffa{color:red}", [("a", "color: red")]),
        ("a{color:red}\xa0b{color:blue}", [("a", "color: red"), ("\xa0b", "color: blue")]),
        ("{color:red}", []),
        ("a", []),
        ("", []),
    ],
)
def test_recovers_from_errors(css: str, expected: list[tuple[str, str]]):
    """Tokens and errors as in CSS Syntax 3."""
    assert rules(css) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("red!important", "color: red !"),
        ("red ! IMPORTANT ", "color: red !"),
        ("red!/**/important", "color: red !"),
        ("red!ie", ""),
        ("red!important!important", ""),
        ("important", "color: important"),
    ],
)
def test_parses_importance(value: str, expected: str):
    assert text_of(parse_declarations(f"color:{value}")) == expected


def test_parses_style_attributes():
    """Braces are part of a value."""
    declarations = parse_declarations("color:red; font:{display:none}; } display:block; --x:{a;b}")
    assert text_of(declarations) == "color: red; font: {display:none}; --x: {a;b}"


def test_keeps_custom_properties_as_written():
    """Without comments, but with case and braces."""
    css = "a{--Foo: a  B;--x:{color:red;top:1px} y;color:var(--Foo)} b{--y:{}}"
    assert rules(css) == [
        ("a", "--Foo: a  B"),
        ("a", "--x: {color:red;top:1px} y"),
        ("a", "color: var(--Foo)"),
        ("b", "--y: {}"),
    ]


def test_keeps_rules_whose_conditions_are_true():
    css = """
    @media print { a { color: red } @media screen { b { color: red } } }
    @media screen and (min-width: 700px) {
      c { color: red }
      @supports (display: grid) { d { color: red } @supports not (display: grid) { e { color: red } } }
      .dull { top: 0 }
    }
    @container (width > 1px) { f { color: red } }
    @font-face { font-family: x; src: url(x) }
    @keyframes k { from { color: red } }
    @-moz-document url-prefix() { g { color: red } }
    @page { color: red }
    h { color: red }
    """
    assert [selector for selector, _ in rules(css)] == ["c", "d", "h"]


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("a{color:red;&:hover{color:blue}}", ["a", ":is(a):hover"]),
        ("a,b{.c{color:red}}", [":is(a, b) .c"]),
        ("a{> .c,+ d &{color:red}}", [":is(a) > .c, :is(a) + d :is(a)"]),
        ("a{.b &,[x='&']{color:red}}", [".b :is(a), :is(a) [x='&']"]),
        ("a{b{c{color:red}}}", [":is(:is(a) b) c"]),
        ("a{@media screen{color:red;b{color:red}}@media print{color:red}}", ["a", ":is(a) b"]),
        ("a{b{color:red}color:blue;c{top:0}display:none}", [":is(a) b", "a", "a"]),
        ("&{color:red}", [":where(:root)"]),
        ("a{,b{color:red}c{color:red}}", [":is(a) c"]),
        ("a{--x:b{color:red};color:red}", ["a", "a"]),
        ("a{top:0;b{left:0}}", []),
    ],
)
def test_resolves_nested_selectors(css: str, expected: list[str]):
    assert [selector for selector, _ in rules(css)] == expected


def test_names_layers_in_full():
    sheet = parse_sheet("""
    @layer base, theme.dark;
    @layer theme { a { color: red } @layer light { b { color: red } } }
    @layer { c { color: red } @layer base { d { color: red } } }
    @layer { e { color: red } }
    @media print { @layer never { f { color: red } } }
    @layer wrong, list { g { color: red } }
    h { color: red }
    """)
    assert [(rule.selectors[0], rule.layer) for rule in sheet.rules] == [
        ("a", "theme"),
        ("b", "theme.light"),
        ("c", "(1)"),
        ("d", "(1).base"),
        ("e", "(2)"),
        ("h", None),
    ]
    assert sheet.layers == [
        *("base", "theme.dark", "theme", "theme.light", "(1)", "(1).base", "(2)"),
    ]


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ('@import "a.css"', [Import("a.css")]),
        ("@charset 'x';/* child theme */\n@import url( ../b.css );", [Import("../b.css")]),
        (r'@import url("a;b\"c.css") screen', [Import('a;b"c.css')]),
        ('@import "a" print;@import "b" (min-width:1px);', [Import("b")]),
        ("@import 'a' layer;@import 'b' layer(x.y) screen", [
            Import("a", "(1)", 0), Import("b", "x.y", 1)]),
        ("@layer x;@import 'a' layer(y);@layer z", [Import("a", "y", 1)]),
        ("@import 'a' supports(display: grid) screen;@import 'b' supports(not (color:red))", [
            Import("a")]),
        ("@import 'a';@layer x;@import 'b';", [Import("a")]),
        ("a{color:red}@import 'a';", []),
        ("@media screen{@import 'a';}", []),
        ("@import;@import url();@import '';", []),
    ],
)  # fmt: skip
def test_keeps_imports_before_rules(css: str, expected: list[Import]):
    assert parse_sheet(css).imports == expected


def test_keeps_registered_properties():
    css = """@property --a { syntax: "<length>"; inherits: false; initial-value: 1px }
    @property --b { syntax: "*"; inherits: true } @property --c { inherits: true }"""
    assert parse_sheet(css).properties == [
        RegisteredProperty("--a", "1px", False, "<length>"),
        RegisteredProperty("--b", None, True),
    ]


def test_drops_invalid_rules():
    assert rules("a,{color:red}}b{color:red}c{color:red}@layer a,b{}") == [("c", "color: red")]


@given(SOUP | st.text())
def test_parses_any_text(css: str):
    """The result survives serialisation."""
    sheet = parse_sheet(css)
    assert Sheet.from_plain(json.loads(json.dumps(sheet.to_plain()))) == sheet
    for rule in sheet.rules:
        assert all(rule.selectors)
        assert rule.declarations == tuple(Declaration(*each) for each in rule.declarations)


@given(SOUP)
def test_kept_rules_are_in_the_unfiltered_sheet(css: str):
    everything = {
        (tuple(rule.selectors), rule.layer, declaration)
        for rule in parse_sheet(css, keep_all=True).rules
        for declaration in rule.declarations
    }
    kept = {
        (tuple(rule.selectors), rule.layer, declaration)
        for rule in parse_sheet(css).rules
        for declaration in rule.declarations
    }
    assert kept <= everything


@given(SOUP | st.text())
def test_masking_is_idempotent(css: str):
    assert mask(mask(css)) == mask(css).translate(dict.fromkeys(range(1, 6), "\ufffd"))


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (r"sm\:w-1\/2", "sm:w-1/2"),
        (r"\31 0", "10"),
        (r"\e9", "é"),
        (r"\0", "\ufffd"),
        (r"\d800x", "\ufffdx"),
    ],
)
def test_resolves_escapes(written: str, name: str):
    assert unescape(written) == name


def test_rejects_other_formats():
    plain = parse_sheet("a{color:red}").to_plain()
    with pytest.raises(ValueError, match="format"):
        Sheet.from_plain([FORMAT + 1, *plain[1:]])


SIZE = 100_000
MODULES = (
    compounds, conditions, declarations, imports, keys, lexical, media, nesting, rule_scanner, selectors,
    sheet_module, supports, masking,
)  # fmt: skip
HOSTILE = {
    "open braces": "a{",
    "open at-rules": "@media screen{",
    "skipped at-rules": "@media print{",
    "nested parents": "& &,& &{",
    "closing braces": "}",
    "parentheses": "(",
    "mixed brackets": "[({",
    "urls": "url(",
    "quotes": "\"'",
    "bad strings": '"\n',
    "backslashes": "\\",
    "open comments": "/*",
    "comments": "/**/",
    "conditions": "@media (not (",
    "layers": "@layer a{",
    "layer statements": "@layer a.b,c;",
    "imports": '@import "x" layer((',
    "semicolons": ";",
    "custom properties": "--x:{}",
    "names": "--",
    "exclamation marks": "a{color:! ! !",
    "white space": "a{color:                    ",
    "commas": "a,",
    "ampersands": "&",
    "nested rules": "a,b{&,c &{color:red}d{",
    "stray braces": "}a{color:red}",
    "supports": "@supports not (a:b) and ",
    "letters": "a",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("start", ["", "a{", "a{color:", "@media ", "a,b,c{", "a{color:("])
def test_bounds_memory_on_hostile_sheets(start: str, unit: str):
    sheet = parse_sheet(start + unit * (SIZE // len(unit)))
    assert len(json.dumps(sheet.to_plain())) < 40 * SIZE


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("start", ["", "a{", "a{color:", "@media ", "a,b,c{", "a{color:("])
def test_parses_hostile_sheets_in_linear_time(
    start: str, unit: str, monkeypatch: pytest.MonkeyPatch
):
    """Applies to the Python scanner."""
    monkeypatch.setattr(scanner, "mask_relevant", masking.mask_and_separate)
    monkeypatch.setattr(scanner, "scan_rules", rule_scanner.scan_rules)

    def parse(size: int) -> None:
        parse_sheet(start + unit * (size // len(unit)))

    assert growth(parse, 600, *MODULES) < 2.3


def test_bounds_expanded_nested_selectors():
    sheet = parse_sheet("a" * 50_000 + "{" + "&,&{color:red}" * 50_000 + "}")
    assert sum(len(selector) for rule in sheet.rules for selector in rule.selectors) < 10_000_000


@pytest.mark.corpus
def test_drops_most_rules_of_real_sheets(corpus_dir: Path):
    """About 70 % of the rules and 80 % of the declarations (thesis, 3.1)."""
    kept, everything = [0, 0], [0, 0]
    for file in sorted((corpus_dir / "css-sites" / "css").glob("*.css.gz")):
        css = gzip.decompress(file.read_bytes()).decode("utf-8", "replace")
        for counts, sheet in (
            (kept, parse_sheet(css)),
            (everything, parse_sheet(css, keep_all=True)),
        ):
            counts[0] += len(sheet.rules)
            counts[1] += sum(len(rule.declarations) for rule in sheet.rules)
    assert 0.65 < 1 - kept[0] / everything[0] < 0.85
    assert 0.75 < 1 - kept[1] / everything[1] < 0.9
