"""The rule index and its matching on whole pages."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.css.cascade.matcher import MatchCache, Matcher
from newscrawl.css.cascade.rule_index import Match, RuleIndex
from newscrawl.css.selectors.rule_keys import SELECTOR_SEPARATOR, ancestor_name
from newscrawl.css.selectors.selector_compiler import Selector, compile_selector
from newscrawl.css.selectors.style_tree import MAX_MATCH_STEPS, StyleTree
from newscrawl.document.document import TEXT, parse_document
from tests.helpers.operations import CountingDict, CountingList, Operations

PAGE = """<!DOCTYPE html>
<html lang="en"><body class="post dark" data-theme="dark">
<header id="top"><a href="/" class="logo">Gazette</a><a name="x">anchor</a></header>
<main><article class="story lead">
<h1 class="title">Heading</h1>
<p class="dek">Summary <b>bold</b></p>
<p>One <a href="/1">link</a> and <a href="/2" class="more">another</a>.</p>
<p>Two <em>words</em>.</p><p hidden>Three.</p>
<ul><li>a</li><li>b</li><li class="on">c</li><li>d</li></ul>
</article>
<article class="story"><h2 class="title">Other</h2><p>Four.</p></article></main>
<footer><p>End <a href="/imprint">imprint</a></p></footer>
</body></html>"""

SHEET = [
    "html, body",
    "p",
    ".story p",
    ".story > p:first-of-type",
    ".lead .title, .nope",
    "h1 + p",
    "h1 ~ p",
    "article ~ article p",
    "a:link",
    "a:not([href])",
    "a.more, a:hover",
    "[hidden]",
    "[data-theme=dark] h1",
    ":root",
    "*",
    "li:nth-child(2n)",
    "li.on ~ li",
    "article:has(h2) p",
    ":is(.dek, .more) b",
    ".dark :not(p) > a",
    "p::before, b",
    "em:nope, em",
    "body > main > article > p a",
    "main p, aside p, article b",
    "[*|hidden]",
    ":is(.more, :unknown)",
    ":is(.dek, .dek)",
]


def tree_of(html: str) -> StyleTree:
    """Return the elements of *html*."""
    return StyleTree(parse_document(html))


def elements(tree: StyleTree) -> list[int]:
    """Return the rows of all elements."""
    return [row for row, tag in enumerate(tree.tag) if tag != TEXT]


def index_of(sheet: list[str], *, quirks: bool = False) -> RuleIndex[str]:
    """Return an index with the selector list of a rule as its payload."""
    lists = [SELECTOR_SEPARATOR.join(text.strip() for text in rule.split(",")) for rule in sheet]
    return RuleIndex(lists, sheet.__getitem__, quirks=quirks)


def rules(matcher: Matcher[str], row: int) -> list[str]:
    """Return the payloads of the matching rules, one for each selector that matches."""
    return sorted(match.payload for match in matcher.matches(row))


def expected(tree: StyleTree, sheet: list[str], row: int) -> list[str]:
    """Return the result of :func:`rules` by trying every selector."""
    found = []
    for rule in sheet:
        selectors = [compile_selector(text.strip()) for text in rule.split(",")]
        valid = [selector for selector in selectors if isinstance(selector, Selector)]
        if len(valid) == len(selectors):
            found += [
                rule
                for selector in valid
                if not selector.never_matches and selector.matches(row, tree)
            ]
    return sorted(found)


def test_finds_all_matching_rules():
    tree = tree_of(PAGE)
    matcher = Matcher(tree, MatchCache([index_of(SHEET)]))
    fresh = tree_of(PAGE)
    for row in elements(tree):
        assert rules(matcher, row) == expected(fresh, SHEET, row)


@given(order=st.permutations(range(20)), sheet=st.lists(st.sampled_from(SHEET), max_size=12))
def test_order_of_elements_does_not_matter(order: list[int], sheet: list[str]):
    tree, fresh = tree_of(PAGE), tree_of(PAGE)
    matcher = Matcher(tree, MatchCache([index_of(sheet[:5]), index_of(sheet[5:])]))
    rows = elements(tree)
    for index in order:
        row = rows[index]
        assert rules(matcher, row) == sorted(
            expected(fresh, sheet[:5], row) + expected(fresh, sheet[5:], row)
        )


def test_index_serves_many_pages():
    index = index_of(SHEET)
    for html in (PAGE, PAGE.replace("lead", "other"), "<!DOCTYPE html><p>x<b>y"):
        tree, fresh = tree_of(html), tree_of(html)
        matcher = Matcher(tree, MatchCache([index]))
        for row in elements(tree):
            assert rules(matcher, row) == expected(fresh, SHEET, row)


def test_returns_specificity_of_the_matching_selector():
    tree = tree_of("<!DOCTYPE html><p class=x id=y>text")
    matcher = Matcher(tree, MatchCache([index_of(["p, .x, #y, .nope"])]))
    found = matcher.matches(elements(tree)[-1])
    assert sorted(match.specificity for match in found) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    assert found[0] == Match(found[0].specificity, "p, .x, #y, .nope")


@pytest.mark.parametrize(
    ("rule", "applies"),
    [
        ("p, a:nope", False),
        ("p, input::-moz-placeholder", False),
        ("p, ::-webkit-scrollbar", True),
        ("p, a::before", True),
        ("p, a:hover", True),
        ("p, .x >", False),
        ("p, :is(:nope)", True),
        ("p, :not(:nope)", False),
    ],
)
def test_invalid_selector_drops_the_rule(rule: str, applies: bool):
    tree = tree_of("<!DOCTYPE html><p>text")
    matcher = Matcher(tree, MatchCache([index_of([rule])]))
    assert bool(matcher.matches(elements(tree)[-1])) is applies


def test_matches_class_that_looks_like_a_pseudo_class():
    tree = tree_of("<!DOCTYPE html><p class='a:hover'>text")
    matcher = Matcher(tree, MatchCache([index_of([r".a\:hover", ".a:hover"])]))
    assert rules(matcher, elements(tree)[-1]) == [r".a\:hover"]


def test_equal_elements_share_matches():
    items = "<li class=on data-id=1>a<li class=on data-id=2>b<li class=off data-id=3>c"
    tree = tree_of(f"<!DOCTYPE html><ul>{items}")
    a, b, c = elements(tree)[-3:]
    matcher = Matcher(tree, MatchCache([index_of(["li", "ul li", ".on, .off"])]))
    assert matcher.matches(a) is matcher.matches(b)
    assert matcher.matches(a) is not matcher.matches(c)
    assert tree.path(a) is tree.path(b) is not tree.path(c)
    structural = Matcher(tree, MatchCache([index_of(["li", "li:first-child", "[data-id='3']"])]))
    assert structural.matches(a) is not structural.matches(b)
    assert len(structural.matches(c)) == 2


def test_reads_only_the_path_to_the_root():
    tree = tree_of("<!DOCTYPE html><div><p>one</p></div>" + "<section><p>x</p></section>" * 50)
    matcher = Matcher(tree, MatchCache([index_of(["div p", "section p", "body > div"])]))
    row = tree.tag.index("p")
    assert rules(matcher, row) == ["div p"]
    assert set(tree.names) == {row, *tree.document.ancestors(row)}


def test_requires_matching_quirks_mode():
    tree = tree_of("<p class=Lead id=Top>text")
    row = elements(tree)[-1]
    sheet = [".LEAD", "#top.lead", "[class=lead]", ":not(.LEAD)"]
    with pytest.raises(ValueError, match="quirks mode"):
        Matcher(tree, MatchCache([index_of(sheet)]))
    matcher = Matcher(tree, MatchCache([index_of(sheet, quirks=True)]))
    assert rules(matcher, row) == ["#top.lead", ".LEAD"]


def test_reads_deep_pages_without_recursion():
    tree = tree_of("<!DOCTYPE html><body lang=pt-BR class=top>" + "<div class=d>" * 900 + "<p>x")
    row = elements(tree)[-1]
    assert tree.language(row) == "pt-BR"
    names = tree.ancestor_names(tree.path(row))
    assert names is not None
    assert {".top", ".d", "div", "body", "html", ":root", "[lang"} <= names
    assert "p" not in names


def nested(depth: int) -> str:
    """Return a page with *depth* levels, each with its own class."""
    return "<!DOCTYPE html>" + "".join(f"<div class='d c{n}'>" for n in range(depth)) + "<p>x"


ROWS = "".join(f"<p class='a b n{n}'>{n}<b>x</b></p>" for n in range(4000))

HOSTILE = {
    "10,000 compounds": (nested(900), [" ".join(["div"] * 2400), "div " * 10_000 + "p"]),
    "children everywhere": (nested(900), [f"{'.d > ' * k}.nope .d p" for k in range(1, 400)]),
    "deep :is()": (
        nested(900),
        [f"{':is(' * 14}:is(.nope, .none){' *)' * 14} p", f"{':is(.x, ' * 5000}.y{')' * 5000}"],
    ),
    "siblings of siblings": (
        f"<!DOCTYPE html><body>{ROWS}",
        [f"{'.a ~ ' * k}.nope ~ .a" for k in range(1, 60)] + [".nope + .a ~ .a ~ p b"],
    ),
    ":has() everywhere": (
        f"<!DOCTYPE html><body>{ROWS}{nested(500)[15:]}",
        [f":has(~ .n{k} .nope)" for k in range(99)] + [f":has(* .n{k} * p)" for k in range(99)],
    ),
    "nth of": (
        f"<!DOCTYPE html><body>{ROWS}",
        [f":nth-child({k}n + 1 of .a:not(.n{k}))" for k in range(400)],
    ),
    "universal": (
        f"<!DOCTYPE html><body>{ROWS}",
        [f"*:not(.x{k}):not([y{k}='1'])" for k in range(5000)],
    ),
    "one key": (f"<!DOCTYPE html><body>{ROWS}", [f".z{k} .a" for k in range(20_000)]),
    "long attributes": (
        f"<!DOCTYPE html><p title='{'a' * 1_000_000}'>x</p>" + "<p title=b>" * 99,
        [f"[title*='{'a' * 50}{k}']" for k in range(20_000)],
    ),
    "a long list": ("<!DOCTYPE html><p>x", [", ".join(f"p.c{k}:not(.z)" for k in range(50_000))]),
    "unbalanced": ("<!DOCTYPE html><p>x", [":is(" * 2000, "[" * 9000, "\\" * 9999, "('" * 4000]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_bounds_work_on_hostile_sheets(name: str):
    html, sheet = HOSTILE[name]
    tree = tree_of(html)
    rows = elements(tree)
    reads = Operations(2 * MAX_MATCH_STEPS)
    characters = 0
    attribute = tree.attribute

    def count_characters(row: int, name: str) -> str | None:
        nonlocal characters
        value = attribute(row, name)
        characters += len(value or "")
        assert characters <= 256 * MAX_MATCH_STEPS
        return value

    tree.tag = CountingList(tree.tag, reads)
    tree.parent = CountingList(tree.parent, reads)
    tree.names = CountingDict(tree._names, reads)
    tree.attribute = count_characters
    matcher = Matcher(tree, MatchCache([index_of(sheet)]))
    for row in rows:
        matcher.matches(row)
    assert reads.steps
    assert tree.steps <= 2 * MAX_MATCH_STEPS


def test_keeps_no_required_names_per_element():
    tree = tree_of(f"<!DOCTYPE html><body>{ROWS}")
    matcher = Matcher(tree, MatchCache([index_of([f".z{k} .a" for k in range(2000)])]))
    rows = elements(tree)
    tracemalloc.start()
    try:
        for row in rows:
            matcher.matches(row)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000


def test_reports_exhaustion():
    """The limit applies per page."""
    rows = "".join(f"<p class=n{n}>x" for n in range(2000))
    index = index_of([f":not(.x{k}):not([y{k}='1'] *)" for k in range(4000)] + ["p"])
    tree = tree_of(f"<!DOCTYPE html>{rows}")
    matcher = Matcher(tree, MatchCache([index]))
    for row in elements(tree):
        matcher.matches(row)
    assert matcher.exhausted
    tree = tree_of("<!DOCTYPE html><p>x")
    other = Matcher(tree, MatchCache([index]))
    assert "p" in rules(other, elements(tree)[-1])
    assert not other.exhausted


def test_selectors_of_absent_names_cost_nothing():
    """A page has few names of a large framework, whose selectors it neither compiles nor tries."""
    tags = ("p", "*", ":not([hidden])", ".seen")
    framework = [
        f".{size}\\:space-{k} > {tag} ~ {tag}"
        for size in ("sm", "md", "lg")
        for k in range(2000)
        for tag in tags
    ]
    tree = tree_of(f"<!DOCTYPE html><div>{'<p class=seen>x<b>y</b>' * 500}</div>")
    present = [".seen b", "p"]
    matcher = Matcher(tree, MatchCache([index_of([*framework, *present])]))
    found = [rules(matcher, row) for row in elements(tree)]
    assert found[-2:] == [["p"], [".seen b"]]
    # Each selector under a key of the page is read once; matching adds a few steps per element.
    assert tree.steps < 5 * len(framework)


def test_limits_ancestor_names():
    """Matches stay correct without the filter."""
    classes = " ".join(f"c{n}" for n in range(3000))
    html = "".join(f"<div class='{classes} e{n}'>" for n in range(400))
    tree = tree_of(f"<!DOCTYPE html>{html}<p>x")
    matcher = Matcher(tree, MatchCache([index_of([".e0 .e399 p", ".e399 .e0 p", ".e7 p"])]))
    row = elements(tree)[-1]
    assert tree.ancestor_names(tree.path(row)) is None
    assert rules(matcher, row) == [".e0 .e399 p", ".e7 p"]


def test_deferred_selectors_apply_to_all_pages():
    tree = tree_of(
        "<!DOCTYPE html><p class='t u'>0<div class=a><p class='t u'>1<p class='t v'>2</div>"
        "<div class=b><p class='t v'>3<p class='t u'>4</div>"
    )
    matcher = Matcher(
        tree, MatchCache([index_of([".a .t", ".b .t", ".a.b .t"]), index_of([".a > .u"])])
    )
    found = [rules(matcher, row) for row in elements(tree) if tree.tag[row] == "p"]
    assert found == [[], [".a .t", ".a > .u"], [".a .t"], [".b .t"], [".b .t"]]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (".a .b", ".a"),
        ("#x > .y:hover  p", ".y"),
        (".a + .b .c", ".b"),
        (".a .b + .c", ".a"),
        (".a > :not([x]) ~ :not([x])", ".a"),
        (".a + .b", ""),
        ("ul li", ""),
        (".only", ""),
        (r".sm\:a .b", ".sm:a"),
        (":not(.a) .b", ""),
        (".a:not(.b) .c", ".a"),
        ("[x='.a y'] .b", ""),
        (".a\u00e9 .b", ".a\u00e9"),
        (".a.b p", ".b"),
    ],
)
def test_extracts_ancestor_names(text: str, name: str):
    assert ancestor_name(text) == name
