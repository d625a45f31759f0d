"""The scan of style sheets: the compiled loops against those in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from newscrawl.css.selectors import rule_keys as keys
from newscrawl.css.sheets import scan, scanner
from newscrawl.css.sheets.sheet import parse_sheet
from newscrawl.css.syntax import tokens
from newscrawl.css.syntax.charset import decode_sheet
from newscrawl.document.document import parse_document
from tests.conftest import run_python
from tests.oracle.pages import corpus_pages

if TYPE_CHECKING:
    from pathlib import Path

compiled = pytest.importorskip(
    "newscrawl.css.sheets._scan", reason="the compiled scan is not built"
)

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
SHEETS = st.lists(PIECES, max_size=40).map("".join)
LISTS = st.lists(st.lists(PIECES, max_size=8).map("".join), max_size=6)


def assert_same_scan(text: str) -> None:
    """Compare mask, rules and names of a sheet."""
    separated = compiled.separated(text)
    assert separated == tokens.separated(text)
    for keep_all in (False, True):
        for depth in (1, 3, scan.DEEPEST):
            found = []
            for take_rules in (compiled.take_rules, scan.take_rules):
                rules, frames = scan.Rules([], [], []), [scan.Frame(f"{n}") for n in range(depth)]
                taken = take_rules(separated, 0, rules, frames, keep_all=keep_all)
                found.append((taken, rules, frames))
            assert found[0] == found[1]
            assert_same_names(found[0][1].selectors)


def assert_same_names(rules: list[str]) -> None:
    for quirks in (False, True):
        mine, reference = (
            file_rules(rules, quirks=quirks)
            for file_rules in (compiled.file_rules, keys.file_rules)
        )
        assert mine == reference


@given(SHEETS)
@example("@media screen{a{color:red}.b{margin:0}}@media print{a{color:red}}c{color:red")
@example("a{color:red}\\")
@example('a{b:"x\\\r\n;y}"}c{font:url(a;\\)b);color:url(a b)')
def test_compiled_scan_is_that_of_the_reference(text: str) -> None:
    """Whatever stands in a sheet, its mask, rules and names are the same."""
    assert_same_scan(text)


@given(SHEETS)
def test_text_that_was_not_masked(text: str) -> None:
    """What no mask has seen is taken alike, too."""
    separated = tokens.separate(text)
    found = []
    for take_rules in (compiled.take_rules, scan.take_rules):
        rules, frames = scan.Rules([], [], []), [scan.Frame()]
        found.append((take_rules(separated, 0, rules, frames, keep_all=False), rules, frames))
    assert found[0] == found[1]


@given(LISTS)
@example(["a:hover", ".A.b:not(.c)", "#d e", "f:root", "*", "*.g", "*:hover", "é.h", "日 .i"])
@example(["a\6.b c\6d:hover", ""])
def test_names_of_selectors(rules: list[str]) -> None:
    """What is no selector is filed alike, too."""
    assert_same_names(rules)


@pytest.mark.parametrize("around", ["{}", "a{{color:red}}{}", "日{}a{{color:red}}"])
@pytest.mark.parametrize(
    "unit",
    ["{", "}", "/*", '"', "'", "(", "[", "url(", "\\", "a{", "a{--x:{", "@media screen{", "<!--",
     "\ud800{", "\0{", '"\\', ":is(", "a b ", "@layer a{", "{}", "a{;}", "a{color:red", ";", "&"],
)  # fmt: skip
def test_hostile_sheets(unit: str, around: str) -> None:
    """A sheet of one thing alone is scanned alike, in linear time."""
    assert_same_scan(around.format(unit * 20_000))


@pytest.mark.parametrize("unit", ["{", "/*", '"', "(", "a{", "@media screen{", "a{color:red}"])
def test_large_sheets(unit: str) -> None:
    """Of 10 MB each character is looked at a few times."""
    text = unit * (10_000_000 // len(unit))
    frames, rules = [scan.Frame()], scan.Rules([], [], [])
    taken = compiled.take_rules(tokens.separate(text), 0, rules, frames, keep_all=False)
    assert taken.position > 0 or not rules.selectors
    assert compiled.separated(text) == tokens.separated(text)


def test_arguments_that_are_refused() -> None:
    """A place before the text and what is no text raise."""
    rules, frames = scan.Rules([], [], []), [scan.Frame()]
    with pytest.raises(ValueError, match="negative"):
        compiled.take_rules("a{}", -1, rules, frames, keep_all=False)
    with pytest.raises(TypeError):
        compiled.separated(None)
    assert compiled.take_rules("a", 9, rules, frames, keep_all=False).position >= 1


@pytest.mark.parametrize(
    ("before", "environment"),
    [
        ("", {"NEWSCRAWL_NO_EXTENSIONS": "1"}),
        ("import sys; sys.modules['newscrawl.css.sheets._scan'] = None", {}),
    ],
    ids=["turned off", "not built"],
)
def test_python_where_there_is_nothing_compiled(before: str, environment: dict[str, str]) -> None:
    """Without the compiled loops sheets are parsed in Python."""
    code = f"""if True:
        {before}
        from newscrawl.css.sheets.scanner import COMPILED
        from newscrawl.css.sheets.sheet import parse_sheet
        print(COMPILED, parse_sheet("a{{color:red}}").selectors)"""
    assert run_python(code, **environment).split() == ["False", "['a']"]


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["css-sites", "css-complete"])
def test_sheets_of_the_corpora(
    corpus_dir: Path, corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every sheet of the corpora is parsed to the same."""
    texts: set[str] = set()
    for page in corpus_pages(corpus_dir, corpus):
        texts.update(decode_sheet(data) for data in page.sheets.values())
        blocks = parse_document(page.html).root.iter("style")
        texts.update(block.text for block in blocks if block.text)
    assert len(texts) > 100
    for text in texts:
        mine = parse_sheet(text)
        with monkeypatch.context() as patched:
            patched.setattr(scanner, "separated", tokens.separated)
            patched.setattr(scanner, "take_rules", scan.take_rules)
            assert parse_sheet(text).to_plain() == mine.to_plain()
        assert_same_names(mine.selectors)
