"""Compiler of selectors: validity, specificity, keys of the rule index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.css.selectors.nth import AnPlusB, parse_an_plus_b
from newscrawl.css.selectors.rule_keys import rightmost_name, rightmost_names
from newscrawl.css.selectors.selector_compiler import (
    Selector,
    SelectorError,
    compile_list,
    compile_selector,
)
from newscrawl.css.selectors.selector_tokens import VALID_SELECTOR
from tests.css.test_css_selectors import compiled


@pytest.mark.parametrize(
    "selector",
    [
        "",
        " ",
        "a b >",
        "> a",
        "a > > b",
        "a || b",
        "a,b",
        "a/**/b",
        ".",
        ".2col",
        "#1",
        "#",
        "a..b",
        "svg|a",
        "a:",
        "a:nope",
        "a:-moz-focusring",
        "a:-ms-input-placeholder",
        "input::-moz-placeholder",
        "p::nope",
        "p::before.x",
        "p::before a",
        "[a=1]",
        "[a='b]",
        "[a",
        "[=a]",
        "[a=b x]",
        "[a=b s]",
        "[svg|a]",
        ":not()",
        ":not(:nope)",
        ":not(p::before)",
        ":has()",
        ":has(a:nope)",
        ":has(:has(a))",
        ":has(::before)",
        ":nth-child()",
        ":nth-child(n + )",
        ":nth-child(2 n)",
        ":nth-child(1.5)",
        ":nth-child(2 of)",
        ":nth-child(2 of :nope)",
        ":nth-of-type(2 of p)",
        ":lang()",
        ":lang(1)",
        ":lang('en')",
        ":lang(fr, en)",
        ":is(a",
        ":is(a))",
        ":first-child()",
        ":is",
        "a{}",
        "a;b",
        "a!",
        "\0",
        "a" * 20_000,
        ":is(" * 40 + "a" + ")" * 40 + ":nope",
    ],
)
def test_rejects_invalid_selectors(selector: str):
    assert isinstance(compile_selector(selector), SelectorError)
    assert isinstance(compile_list(["p", selector]), SelectorError)


@pytest.mark.parametrize(
    "selector",
    [
        "a::before",
        "a:after",
        "p::first-line",
        "input::-webkit-anything:hover",
        "::-webkit-scrollbar-thumb:vertical:hover",
        "::part(label x):focus",
        "::slotted(p)",
        "a:hover > b",
        ":host(.x) p",
        "input:-webkit-autofill",
        ":is(:hover, :focus) a",
        "a:has(b:hover)",
        "a:target",
    ],
)
def test_accepts_selectors_that_never_match(selector: str):
    assert compiled(selector).never_matches
    assert isinstance(compile_list([selector, "p"]), tuple)


@pytest.mark.parametrize(
    ("selector", "specificity"),
    [
        ("*", (0, 0, 0)),
        ("li", (0, 0, 1)),
        ("ul ol+li", (0, 0, 3)),
        ("h1 + *[rel=up]", (0, 1, 1)),
        ("ul ol li.red", (0, 1, 3)),
        ("li.red.level", (0, 2, 1)),
        ("#x34y", (1, 0, 0)),
        ("#s12:not(foo)", (1, 0, 1)),
        (".foo :is(.bar, #baz)", (1, 1, 0)),
        (":is(em, #foo strong)", (1, 0, 1)),
        (":is(em, :hover)", (0, 1, 0)),
        (":is(em, #foo:nope)", (0, 0, 1)),
        (":not(em, strong#foo)", (1, 0, 1)),
        (":not(em, a:hover)", (0, 1, 1)),
        (":where(em, #foo#bar#baz)", (0, 0, 0)),
        (":where(#a) b", (0, 0, 1)),
        (":nth-child(even of li, .item)", (0, 2, 0)),
        (":nth-child(2n+1)", (0, 1, 0)),
        ("a:has(> img, .x #y)", (1, 1, 1)),
        ("p:lang(de):dir(ltr)", (0, 2, 1)),
        ("&.x", (0, 1, 0)),
        ("a:hover", (0, 1, 1)),
    ],
)
def test_specificity(selector: str, specificity: tuple[int, int, int]):
    """The examples of Selectors 4, section 17, and others."""
    assert compiled(selector).specificity == specificity


@pytest.mark.parametrize(
    ("selector", "key"),
    [
        ("a", "a"),
        ("DIV", "div"),
        ("a b.c#d", "#d"),
        ("a b.c.d", ".d"),
        ("#x > *", "*"),
        ("#x > :first-child", "*"),
        ("a:not(.x, b > c)", "a"),
        ("a[href='x > y'].ext", ".ext"),
        (r".a\>b", ".a>b"),
        (".a\n.b\n", ".b"),
        (":is(.a) :is(div > .b):hover", ".b"),
        (":is(.a, .b)", "*"),
        (":is(.a, .b).c", ".c"),
        (":where(:is(h1))", "h1"),
        ("a [data-x='y z']", "[data-x"),
        ("div[class*=col]", "div"),
        ("div[ class]", "div"),
        ("[*|src]", "*"),
        ("html:root", ":root"),
        (".x :root.y", ":root"),
        ("a/* .x */.y/* b */", ".y"),
    ],
)
def test_rightmost_name(selector: str, key: str):
    assert rightmost_name(selector) == key


@pytest.mark.parametrize(
    ("selector", "ancestors"),
    [
        ("a", set()),
        (".x p > a", {".x", "p"}),
        ("#x .y + a", {"#x"}),
        (".x ~ p a", {"p"}),
        (":is(.x .y) > a", {".x", ".y"}),
        (":is(.x a).y", {".x"}),
        (":not(.x) a", set()),
        (":is(.x, .y) a", set()),
    ],
)
def test_required_ancestor_names(selector: str, ancestors: set[str]):
    assert compiled(selector).ancestors == ancestors


@pytest.mark.parametrize(
    ("selector", "per_element"),
    [
        ("#a .b > c", False),
        ("a:link:not(.x, .y *)", False),
        ("a:not([href]):not([class])", False),
        ("[class*=col-] p", False),
        (":root p", False),
        ("a + b", True),
        ("a ~ b c", True),
        ("p:first-child a", True),
        ("[data-x] a", False),
        ("[data-x=y] a", True),
        (":is(a, b + c)", True),
        (":not(:empty)", True),
        ("a:has(b)", True),
        ("p:lang(de)", True),
    ],
)
def test_per_element(selector: str, per_element: bool):
    assert compiled(selector).per_element is per_element


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("2n+1", (2, 1)),
        ("ODD", (2, 1)),
        (" 2N - 1 ", (2, -1)),
        ("-n+6", (-1, 6)),
        ("+5", (0, 5)),
        ("2n +3", (2, 3)),
        ("n-3", (1, -3)),
        ("3n-0", (3, 0)),
        ("9" * 5000, (0, 2**31 - 1)),
    ],
)
def test_parses_an_plus_b(text: str, places: tuple[int, int]):
    assert parse_an_plus_b(text) == (AnPlusB(*places), None)


@given(text=st.text(alphabet=r"ab.#[]()=~|^$*>+:&,'\" " + "\\\n2n-/", max_size=30) | st.text())
def test_never_raises(text: str):
    assert isinstance(compile_selector(text), Selector | SelectorError)
    rightmost_name(text)


@given(st.from_regex(VALID_SELECTOR, fullmatch=True))
def test_valid_without_compiling(text: str) -> None:
    """Selectors that are not compiled to be checked are valid."""
    assert isinstance(compile_selector(text), Selector)


@given(
    st.lists(
        st.sampled_from(["a", "*", "*:is(.b)", "UL > LI", "p.x.y:hover", "[href]", ".é", "\6"])
    )
)
def test_batch_of_keys_matches_single_keys(texts: list[str]) -> None:
    assert rightmost_names(texts) == [rightmost_name(text) for text in texts]


@pytest.mark.parametrize("text", ["a::before>", ":before >", "::after+", "a::before~", "a>", ">"])
def test_combinator_at_the_end_is_invalid(text: str):
    """Found by the fuzzer: the position of the error was behind the text."""
    assert isinstance(compile_selector(text), SelectorError)
