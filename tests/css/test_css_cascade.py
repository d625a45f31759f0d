"""The cascade: origins, importance, layers, specificity, order and keywords."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.css import ComputedStyle, Stylesheets
from newscrawl.css.cascade.cascaded_values import (
    AUTHOR,
    IMPORTANT_AUTHOR,
    STYLE,
    UA,
    CascadeKey,
    LayerOrder,
    cascade,
)
from newscrawl.css.values.declared_values import WideKeyword
from newscrawl.document.document import parse_document

GREEN = (0, 128, 0, 1.0)


def style(css: str, body: str = "<p id=it class=c>it</p>", doctype: str = "<!doctype html>"):
    """Return the style of the last text node of *body* with the sheet *css*."""
    document = parse_document(f"{doctype}<style>{css}</style><body>{body}")
    styles = Stylesheets(document, base_url="http://paper.test/")
    return styles.style_of(list(document.text_nodes())[-1])


def is_green(found: ComputedStyle) -> bool:
    """Return whether the expected rule has won."""
    return found.color == GREEN


@pytest.mark.parametrize(
    "css",
    [
        "#it { color: green } p.c { color: red } p { color: red }",
        ".c { color: red } .c { color: green }",
        "p { color: green !important } #it { color: red }",
        "p { color: green; color: nonsense }",
        "p { color: red; color: green }",
        "p { color: green !important; color: red }",
        ":where(#it) { color: red } p { color: green }",
        "p, #it { color: green } .c { color: red }",
        "p { color: red } p:is(#other, .c) { color: green } #it.c:not(p) { color: red }",
    ],
)
def test_specificity_order_and_importance(css: str):
    assert is_green(style(css))


@pytest.mark.parametrize(
    "css",
    [
        "@layer a { #it { color: red } } p { color: green }",
        "@layer a, b; @layer b { p { color: green } } @layer a { #it { color: red } }",
        "@layer a { p { color: green !important } } @layer b { p { color: red !important } }",
        "@layer a { p { color: green !important } } #it { color: red !important }",
        "@layer a { @layer b { #it { color: red } } p { color: green } }",
        "@layer a.b { p { color: red } } @layer a { p { color: green } }",
        "@layer { #it { color: red } } @layer { p { color: green } }",
        "@layer b, a; @layer a { p { color: green } } @layer b.z { #it { color: red } }",
    ],
)
def test_layer_order(css: str):
    """Later layers win over earlier ones and unlayered rules over both; important ones inversely."""
    assert is_green(style(css))


@pytest.mark.parametrize(
    ("css", "body"),
    [
        ("#it { color: red }", "<p id=it style='color: green'>x"),
        ("p { color: green !important }", "<p style='color: red'>x"),
        ("p { color: red !important }", "<p style='color: green !important'>x"),
        ("@layer a { p { color: red !important } }", "<p style='color: green !important'>x"),
        ("p { color: green }", "<p><font color=green>x"),
        ("* { color: green }", "<font color=red>x"),
        ("", "<font color=green>x"),
    ],
)
def test_attributes_and_sheets(css: str, body: str):
    """The style attribute takes precedence over sheets, and sheets over other attributes."""
    assert is_green(style(css, body))


@pytest.mark.parametrize(
    ("css", "color"),
    [
        ("body { color: green } p { color: red } #it { color: inherit }", "green"),
        ("body { color: green } p { color: red } #it { color: unset }", "green"),
        ("body { color: red } p { color: initial }", "black"),
        ("body { color: green } p { color: red } #it { color: revert }", "green"),
        ("body { color: green } p { color: red } #it { all: revert }", "green"),
        ("@layer a { p { color: green } } @layer b { p { color: revert-layer } }", "green"),
        ("@layer a { p { color: green } } p { color: red } p { color: revert-layer }", "green"),
        ("p { color: green } p { color: var(--none) }", "black"),
        ("body { color: green } p { color: red; color: var(--none) }", "green"),
        ("p { --c: red } #it { --c: green } .c { color: var(--c) }", "green"),
        ("body { --c: green } p { --c: inherit; color: var(--c) }", "green"),
        ("body { --c: red } p { --c: initial; color: var(--c, green) }", "green"),
        ("body { --c: green; --k: inherit; color: red } p { color: var(--c) }", "green"),
        ("body { --k: inherit; color: green } p { color: red } #it { color: var(--k) }", "green"),
        ("p { color: green; all: unset; color: green }", "green"),
        ("p { color: green !important; all: initial }", "green"),
    ],
)
def test_css_wide_keywords(css: str, color: str):
    expected = {"green": GREEN, "black": (0, 0, 0, 1.0)}[color]
    assert style(css).color == expected


def test_reverts_to_the_default_sheet():
    css = "* { font-weight: 300; font-style: normal } em { font-style: revert; all: revert-layer }"
    assert style(css, "<em>x</em>").font_style == "italic"
    assert style("b { font-weight: 300 } b { font-weight: revert }", "<b>x</b>").bold
    assert style("* { font: 12px a } b { all: revert }", "<b>x</b>").font_weight == 700


def test_revert_without_lower_origin_is_unset():
    found = cascade([(CascadeKey(UA, 0), (("color", WideKeyword.REVERT),))])
    assert found.values == {"color": WideKeyword.UNSET}


@given(
    st.lists(
        st.tuples(
            st.sampled_from([UA, AUTHOR, STYLE, IMPORTANT_AUTHOR]),
            st.integers(-2, 2),
            st.sampled_from([*WideKeyword, "a", "b"]),
        )
    )
)
def test_resolves_all_reverts(declared: list[tuple[int, int, object]]):
    found = cascade([(CascadeKey(origin, layer), (("color", v),)) for origin, layer, v in declared])
    assert set(found.values) == ({"color"} if declared else set())
    assert not {WideKeyword.REVERT, WideKeyword.REVERT_LAYER} & set(found.values.values())


def test_inner_layers_precede_outer_ones():
    layers = LayerOrder()
    for path in (("b", "y"), ("a",), ("b", "x"), ("b", "y", "z")):
        layers.add(path)
    order = sorted([("a",), ("b",), ("b", "x"), ("b", "y"), ("b", "y", "z"), ()], key=layers.rank)
    assert order == [("b", "y", "z"), ("b", "y"), ("b", "x"), ("b",), ("a",), ()]
