"""The compiled scanner and rule index of style sheets, compared with the Python reference."""

from __future__ import annotations

from dataclasses import asdict
from inspect import unwrap
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from newscrawl.css.selectors.plain_selectors import compile_plain
from newscrawl.css.selectors.rule_keys import (
    SELECTOR_SEPARATOR,
    SelectorTable,
    index_selectors,
    rightmost_names,
)
from newscrawl.css.selectors.style_tree import ascii_lower
from newscrawl.css.sheets import rule_scanner, scanner
from newscrawl.css.sheets.sheet import parse_sheet
from newscrawl.css.syntax import masking
from newscrawl.css.syntax.charset import decode_sheet
from newscrawl.document.document import parse_document
from tests.conftest import run_python
from tests.oracle.pages import corpus_pages

if TYPE_CHECKING:
    from pathlib import Path

NOT_BUILT = "the extensions are not built"
compiled_masking = pytest.importorskip("newscrawl.css.sheets._masking", reason=NOT_BUILT)
compiled_scanner = pytest.importorskip("newscrawl.css.sheets._rule_scanner", reason=NOT_BUILT)

PIECES = st.sampled_from(
    ["{", "}", ";", ":", "@", '"', "'", "\\", "(", ")", "[", "]", "/*", "*/", "/", "*", "<!--",
     "-->", "<!-", "-", "--", "\n", "\r", "\f", "\t", "\x0b", " ", ",", ">", "~", "+", "&", "|",
     "url(", "uRL( ", "color", "color:", "font:", "FONT-SIZE :", "font-ſize:", "dısplay:",
     "-font:", "all:", "f\\6fnt:", "--x:", "--é:", "--a\\:b:", "visibility", "@media print",
     "@media screen", "@MEDIA (min-width: 1px)", "@supports (color:red)", "@layer a", "@font-face",
     "@property --x", "@import 'a';", ".a", ".a .b", "#b", "li:not(.c)", ":root", ":root-x",
     ":hover", "::before", "*:", "a", "tag", "_", ".", "66", "!important", "é", "\u00a0", "\u2028",
     "日", "😀", "\ud800", "\0", "\1", "\5", "\6"]
)  # fmt: skip
SELECTOR_PIECES = st.sampled_from(
    [":", "::", "root", "hover", "before", ":focus-visible", ":hover", ":not(.b)", ":is(.Q p)",
     "-x", ".", "#", ".a", "a", "B", "*", "(", ")", "[x]", "[a='b c']", '"', "'", "\\", "\\2c ",
     "/", "/*", "*/", " ", ">", "+", "~", "\t", "\n", "\v", "|", "&", "\x85", "é", "日", "\6", ","]
)  # fmt: skip
CONSTRUCTS = st.sampled_from(
    ["a{color:red}", "a{b:c}", ".b,c:hover{ margin : 0 ; font : 1px a }", "d{}", "e{--x:{a:b};}",
     "f{b:c;", "g{", "@media screen{", "@media print {", "@supports (color:red){", "@layer x{",
     "@layer 1{", "@layer x,y;", "@font-face{src:url(a;{b)}", "@keyframes h{0%{color:red}}",
     "@property --x{syntax:'*';inherits:true}", "@import 'a';", "@charset 'b';", "@x y;", "}", "}",
     "}", ";", "<!--", "-->", "i{c\\6flor:red}", "j{b:'}{'}", "/*{*/", " ", "k;l{b:c}", "(", ")"]
)  # fmt: skip
SHEETS = st.lists(PIECES, max_size=40).map("".join)


def assert_same_scan(text: str) -> None:
    """Compare the masked text and the scanned rules of a sheet."""
    separated = compiled_masking.mask_and_separate(text)
    assert separated == masking.mask_and_separate(text)
    for keep_all in (False, True):
        for depth in (1, 3, rule_scanner.MAX_OPEN_BLOCKS):
            assert_same_rules(separated, depth, keep_all=keep_all)


def assert_same_rules(separated: str, depth: int, *, keep_all: bool) -> None:
    found = []
    for scan_rules in (compiled_scanner.scan_rules, rule_scanner.scan_rules):
        rules = rule_scanner.RuleColumns([], [], [])
        blocks = [rule_scanner.OpenBlock(f"{number}") for number in range(depth)]
        found.append((scan_rules(separated, 0, rules, blocks, keep_all=keep_all), rules, blocks))
    assert found[0] == found[1]


def assert_same_index(rules: list[str]) -> None:
    """Compare the keys and the required ancestors of selectors."""
    texts = [text for rule in rules for text in rule.split(SELECTOR_SEPARATOR)]
    for quirks in (False, True):
        mine, expected = index_selectors(rules, quirks=quirks), SelectorTable(rules, quirks=quirks)
        names = {ascii_lower(name) if quirks else name for name in rightmost_names(texts)}
        for name in (*names, "", "a", "*", ":root", ".b"):
            assert (name in mine) == (name in expected)
            assert mine.by_ancestor(name) == expected.by_ancestor(name)
        for index, text in enumerate(texts):
            assert mine.text(index) == text == expected.text(index)
            assert mine.rule(index) == expected.rule(index)


@given(SHEETS)
@example("@media screen{a{color:red}.b{margin:0}}@media print{a{color:red}}c{color:red")
@example("a{color:red}\\")
@example('a{b:"x\\\r\n;y}"}c{font:url(a;\\)b);color:url(a b)')
def test_matches_the_reference(text: str) -> None:
    """The compiled and the Python scanner agree on any text."""
    assert_same_scan(text)


def assert_same_sheet(text: str) -> None:
    """Compare the parsed sheets."""
    with pytest.MonkeyPatch.context() as patched:
        mine = parse_sheet(text).to_plain()
        patched.setattr(scanner, "mask_relevant", masking.mask_and_separate)
        patched.setattr(scanner, "scan_rules", rule_scanner.scan_rules)
        assert parse_sheet(text).to_plain() == mine


@given(SHEETS)
@example("a{b:c}@import 'a';d{color:red}")
@example("@font-face{}@import 'a';d{color:red}")
@example("d{}@media screen{a{b:c}}}e{b:c}f{color:red}")
@example("d{}a{b:c{color:red}}e;f{b:c}@layer{g{b:c}}@property --x{syntax:a{b:c};inherits:d}")
@example("d{}@font-face{a{color:red}b{}}<!--a{b:c}-->@x;@media screen{-->a{b:c}}f{color:red")
def test_parses_as_the_reference(text: str) -> None:
    """Sheets are the same without the rules that the compiled masking drops."""
    assert_same_sheet(text)
    assert_same_sheet(f"a{{}}{text}")


@given(st.lists(CONSTRUCTS, max_size=20).map("".join))
def test_parses_constructs_as_the_reference(text: str) -> None:
    """The same for text that mostly consists of whole rules."""
    assert_same_sheet(text)


@given(SHEETS)
def test_matches_the_reference_on_unmasked_text(text: str) -> None:
    """The scanners agree on text that was not masked."""
    assert_same_rules(masking.separate_braces(text), 1, keep_all=False)


@given(st.lists(st.lists(SELECTOR_PIECES, max_size=8).map("".join), max_size=3))
@example([".a .B:hover", "A.b:is(c), #d\\6e > F", "é.x y", "", ".a#>", "a:hover-x", "p.a.b#c#d.e"])
@example([".a.b", "[x][y]", "[x][CLASS]", "B[class]", ":is(a .b)", "html :where(c, d)", "a:root"])
@example(["*:not(.a b)", "[a=') .b']", ".a:not([b='(']) > I", ".a\n.b", ".a > + .b c", "a::before"])
def test_index_matches_the_reference(rules: list[str]) -> None:
    """The compiled and the Python index agree on any selectors."""
    assert_same_index(rules)


@given(st.lists(SELECTOR_PIECES, max_size=8).map("".join), st.booleans())
@example("*.a > B.-c#d ~ e", True)
@example(" a + *\v.b", False)
def test_plain_selectors_match_the_reference(text: str, quirks: bool) -> None:
    """The compiled and the Python compiler of plain selectors agree."""
    found = compile_plain(text, quirks=quirks)
    expected = unwrap(compile_plain)(text, quirks=quirks)
    assert (found and asdict(found)) == (expected and asdict(expected))


@pytest.mark.parametrize("around", ["{}", "a{{color:red}}{}", "日{}a{{color:red}}"])
@pytest.mark.parametrize(
    "unit",
    ["{", "}", "/*", '"', "'", "(", "[", "url(", "\\", "a{", "a{--x:{", "@media screen{", "<!--",
     "\ud800{", "\0{", '"\\', ":is(", "a b ", "@layer a{", "{}", "a{;}", "a{color:red", ";", "&"],
)  # fmt: skip
def test_matches_the_reference_on_hostile_sheets(unit: str, around: str) -> None:
    """The scanners agree on one repeated construct, in linear time."""
    assert_same_scan(around.format(unit * 20_000))
    assert_same_sheet(around.format(unit * 200))


@pytest.mark.parametrize("unit", ["{", "/*", '"', "(", "a{", "@media screen{", "a{color:red}"])
def test_scans_large_sheets(unit: str) -> None:
    """A sheet of 10 MB is scanned in linear time."""
    text = unit * (10_000_000 // len(unit))
    blocks, rules = [rule_scanner.OpenBlock()], rule_scanner.RuleColumns([], [], [])
    position = compiled_scanner.scan_rules(
        masking.separate_braces(text), 0, rules, blocks, keep_all=False
    )
    assert position > 0 or not rules.selectors
    assert compiled_masking.mask_and_separate(text) == masking.mask_and_separate(text)
    assert len(compiled_masking.mask_relevant(text)) <= len(masking.mask_and_separate(text))


def test_rejects_invalid_arguments() -> None:
    rules, blocks = rule_scanner.RuleColumns([], [], []), [rule_scanner.OpenBlock()]
    with pytest.raises(ValueError, match="negative"):
        compiled_scanner.scan_rules("a{}", -1, rules, blocks, keep_all=False)
    with pytest.raises(TypeError):
        compiled_masking.mask_and_separate(None)
    assert compiled_scanner.scan_rules("a", 9, rules, blocks, keep_all=False) >= 1


@pytest.mark.parametrize(
    ("before", "environment"),
    [
        ("", {"NEWSCRAWL_NO_EXTENSIONS": "1"}),
        ("import sys; sys.modules['newscrawl.css.sheets._masking'] = None", {}),
        ("import sys; sys.modules['newscrawl.css.sheets._rule_scanner'] = None", {}),
    ],
    ids=["turned off", "masking not built", "scanner not built"],
)
def test_falls_back_to_python(before: str, environment: dict[str, str]) -> None:
    """Sheets are parsed without the extension."""
    code = f"""if True:
        {before}
        from newscrawl.css.sheets.scanner import COMPILED
        from newscrawl.css.sheets.sheet import parse_sheet
        print(COMPILED, parse_sheet("a{{color:red}}").selectors)"""
    assert run_python(code, **environment).split() == ["False", "['a']"]


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["css-sites", "css-complete"])
def test_sheets_of_the_corpora(corpus_dir: Path, corpus: str) -> None:
    """Both scanners parse every sheet of the corpora to the same rules."""
    texts: set[str] = set()
    for page in corpus_pages(corpus_dir, corpus):
        texts.update(decode_sheet(data) for data in page.sheets.values())
        blocks = parse_document(page.html).root.iter("style")
        texts.update(block.text for block in blocks if block.text)
    assert len(texts) > 100
    for text in texts:
        assert_same_sheet(text)
        assert_same_index(parse_sheet(text).selectors)
