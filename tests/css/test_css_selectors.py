"""Matching of selectors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.css.selectors.nth import parse_an_plus_b
from newscrawl.css.selectors.rule_keys import rightmost_name
from newscrawl.css.selectors.selector_compiler import (
    Selector,
    compile_selector,
)
from newscrawl.css.selectors.style_tree import StyleTree
from newscrawl.document.document import TEXT, parse_document

PAGE = """<!DOCTYPE html>
<html lang="de-AT">
<body class="post">
<header id="top"><nav><a href="/" class="logo">Blatt</a><a name="old">Anker</a></nav></header>
<main class="content wide">
<article class="story lead" data-kind="Report" dir="rtl">
<h1 class="title">Heading <em>set</em></h1>
<p class="byline" lang="en-GB-oed">By <a href="/a" rel="Author">A. Writer</a></p>
<p>First.</p><p></p><p> </p>
<figure><img src="x.png"><figcaption>Caption</figcaption></figure>
<p class="md:text-lg w-1/2 2col">Second.</p>
<ul><li>one</li><li class="on">two</li><li>three</li><li class="on">four</li><li>five</li></ul>
</article>
<aside><p class="byline">Aside.</p><my-widget>w</my-widget></aside>
</main>
<form><fieldset disabled><legend><input id="spared"></legend><input id="off"></fieldset>
<input type="TEXT" id="name" required placeholder="Name"><input type="checkbox" id="box" checked>
<select id="select"><option selected id="chosen">1</option><option id="other">2</option></select>
</form>
</body></html>"""


def page(html: str) -> StyleTree:
    """Return the elements of *html*."""
    return StyleTree(parse_document(html))


def elements(tree: StyleTree) -> list[int]:
    """Return the rows of all elements."""
    return [row for row, tag in enumerate(tree.tag) if tag != TEXT]


def compiled(text: str, *, quirks: bool = False) -> Selector:
    """Return the compiled selector, which must be valid."""
    selector = compile_selector(text, quirks=quirks)
    assert isinstance(selector, Selector), selector
    return selector


def select(tree: StyleTree, text: str) -> list[int]:
    """Return the rows that match *text*."""
    selector = compiled(text, quirks=tree.quirks)
    return [
        row for row in elements(tree) if not selector.never_matches and selector.matches(row, tree)
    ]


def described(tree: StyleTree, text: str) -> list[str]:
    """Return the id, else the first class, else the tag of the elements that match *text*."""
    return [
        tree.attribute(row, "id")
        or (tree.attribute(row, "class") or "").split(" ")[0]
        or tree.tag[row]
        for row in select(tree, text)
    ]


@pytest.fixture(scope="module")
def tree() -> StyleTree:
    """Return the elements of the page above."""
    return page(PAGE)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("h1", ["title"]),
        ("H1.title", ["title"]),
        (".TITLE", []),
        ("article h1 em", ["em"]),
        ("main em", ["em"]),
        ("main > em", []),
        ("body > main>article> h1", ["title"]),
        ("h1 + p", ["byline"]),
        ("h1 ~ p.byline", ["byline"]),
        ("figure + p", ["md:text-lg"]),
        ("header ~ main aside p", ["byline"]),
        ("header + main > article ~ aside > p", ["byline"]),
        ("*|h1", ["title"]),
        ("|h1", []),
        ("aside *", ["byline", "my-widget"]),
        ("#top", ["top"]),
        ("nav/* the\n menu */ > a", ["logo", "a"]),
        ("/* > */main > aside/* + p */", ["aside"]),
    ],
)
def test_matches_combinators(tree: StyleTree, selector: str, expected: list[str]):
    assert described(tree, selector) == expected


def test_backtracks():
    """Matching retries with another ancestor or preceding sibling."""
    tree = page(
        "<!doctype html><div id=a><p><div id=b><i id=c></i><b></b><i id=d></i><u></u>"
        "<section><div><em>x</em></div></section></div></div>"
    )
    assert described(tree, "body > div em") == ["em"]
    assert described(tree, "div > div em") == ["em"]
    assert described(tree, "div > div > div em") == []
    assert described(tree, "i + b ~ section em") == ["em"]
    assert described(tree, "i:first-child ~ u + section em") == ["em"]
    assert described(tree, "#c + b ~ i + u ~ section > div > em") == ["em"]
    assert described(tree, "#d + b ~ section em") == []


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("[data-kind]", ["story"]),
        ("[DATA-KIND=Report]", ["story"]),
        ("[data-kind=report]", []),
        ("[data-kind=report i]", ["story"]),
        ("[data-kind='report'I]", ["story"]),
        ("[ data-kind ^= 'Rep' ]", ["story"]),
        ('[data-kind$="ort"]', ["story"]),
        ("[data-kind*=epo]", ["story"]),
        ("[data-kind*='']", []),
        ("[class~=lead]", ["story"]),
        ("[class~='story lead']", []),
        ("[class^=story]", ["story"]),
        ("[lang|=en]", ["byline"]),
        ("[lang|=e]", []),
        ("[rel=author]", ["a"]),
        ("[type=text]", ["name"]),
        ("[*|src]", ["img"]),
        ("[|src]", ["img"]),
        (r"[class='md:text-lg w-1/2 2col']", ["md:text-lg"]),
    ],
)
def test_matches_attributes(tree: StyleTree, selector: str, expected: list[str]):
    """Names, and the values of some HTML attributes, are case-insensitive."""
    assert described(tree, selector) == expected


@pytest.mark.parametrize(
    "selector",
    [
        r".md\:text-lg",
        r".w-1\/2",
        r".\32 col",
        r".\000032col",
        r".md\3a text-lg.\32\63 ol",
        r"article > .md\:text-lg.w-1\/2",
    ],
)
def test_matches_escaped_names(tree: StyleTree, selector: str):
    """Escapes as build tools write them."""
    assert described(tree, selector) == ["md:text-lg"]
    assert rightmost_name(selector)[1:] in {"md:text-lg", "w-1/2", "2col"}


def test_matches_non_ascii_names():
    """Letters outside of ASCII are case-sensitive."""
    tree = page("<!doctype html><p class='Ünïcode 本文 \N{KELVIN SIGN}'>text")
    assert described(tree, ".Ünïcode.本文") == ["Ünïcode"]
    assert described(tree, ".ünïcode") == []
    assert described(tree, r".\672c文") == ["Ünïcode"]
    assert described(tree, ".K") == []


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (":root", ["html"]),
        (":scope > body", ["post"]),
        ("& > body", ["post"]),
        ("p:empty", ["p"]),
        ("li:first-child", ["li"]),
        ("li:last-child:not(.on)", ["li"]),
        ("li:nth-child(even)", ["on", "on"]),
        ("li:nth-child( -N + 2 )", ["li", "on"]),
        ("li:nth-last-child(2)", ["on"]),
        ("li:nth-child(2 of .on)", ["on"]),
        ("li:nth-last-child(1 of li, p)", ["li"]),
        ("article > p:nth-of-type(1)", ["byline"]),
        ("article > p:last-of-type", ["md:text-lg"]),
        ("em:only-child", ["em"]),
        ("article > :only-of-type", ["title", "figure", "ul"]),
        ("a:link", ["logo", "a"]),
        ("a:any-link:not(.logo)", ["a"]),
        ("a:visited", []),
        ("a:not(:link)", ["a"]),
        ("a:not(:hover, :focus-within, .logo)", ["a", "a"]),
        (":is(h1, h2):not(.nope)", ["title"]),
        (":is(h1, :unknown, h2::before)", ["title"]),
        (":where(h1, svg|x)", ["title"]),
        (":is()", []),
        (":is(aside, nav) > :is(p, a:hover)", ["byline"]),
        (":is(main article) em", ["em"]),
        (":is(:hover)", []),
        ("p:lang(en)", ["byline"]),
        ("h1:lang(de)", ["title"]),
        ("h1:lang(d)", []),
        ("p:lang(EN-gb)", ["byline"]),
        ("h1:dir(rtl)", ["title"]),
        ("aside:dir(ltr)", ["aside"]),
        ("aside:dir(up)", []),
        (":not(:defined)", ["my-widget"]),
        ("input:disabled", ["off"]),
        ("input:enabled", ["spared", "name", "box"]),
        (":checked", ["box", "chosen"]),
    ],
)
def test_matches_pseudo_classes(tree: StyleTree, selector: str, expected: list[str]):
    assert described(tree, selector) == expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("article:has(img)", ["story"]),
        ("article:has(> img)", []),
        ("article:has(> figure > img)", ["story"]),
        ("h1:has(+ p)", ["title"]),
        ("h1:has(+ figure)", []),
        ("h1:has(~ figure)", ["title"]),
        ("h1:has(~ figure img)", ["title"]),
        ("h1:has(~ figure + p, .nope)", ["title"]),
        ("aside:has(em)", []),
        ("main > :has(h1) .byline a", ["a"]),
        ("main:not(:has(table))", ["content"]),
        ("main:has(h1):has(aside p)", ["content"]),
        ("main > :has(:is(aside em, h1 em))", ["story"]),
        ("aside:has(:scope > p)", []),
        ("aside:has(main p)", []),
        ("html:has(.title)", ["html"]),
        ("html:has(:hover)", []),
        ("html:has(:scope > body)", []),
    ],
)
def test_matches_has(tree: StyleTree, selector: str, expected: list[str]):
    """Relative selectors match descendants, later siblings and their descendants."""
    assert described(tree, selector) == expected


def test_matches_direction_of_text():
    """``dir=auto`` uses the first strong character."""
    tree = page(
        "<!doctype html><p id=a dir=auto>1. שלום<p id=b dir=auto>a שלום<bdi id=c>مرحبا</bdi>"
    )
    assert described(tree, "body :dir(rtl)") == ["a", "c"]


QUIRKS = "<p class='Lead' id=First data-x=Y>text"


def test_ignores_case_in_quirks_mode():
    tree = page(QUIRKS)
    assert tree.quirks
    assert described(tree, ".LEAD#first") == ["First"]
    assert described(tree, "[class=lead]") == []
    assert described(page(f"<!DOCTYPE html>{QUIRKS}"), ".LEAD") == []


@pytest.mark.parametrize(
    ("doctype", "quirks"),
    [
        ("", True),
        ("<!DOCTYPE html>", False),
        ('<!DOCTYPE html SYSTEM "about:legacy-compat">', False),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">', True),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">', True),
        (
            '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">',
            False,
        ),
        (
            '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">',
            False,
        ),
    ],
)
def test_doctype_decides_quirks_mode(doctype: str, quirks: bool):
    assert page(f"{doctype}<p>text").quirks is quirks


NTH = st.builds(
    lambda step, offset: f"{step}n{offset:+d}", st.integers(-5, 5), st.integers(-9, 9)
) | st.sampled_from(("odd", "even", "n", "-n+3", "+n", "3", "-2", "0", "2n - 1", "99999999999n"))


@given(text=NTH, count=st.integers(1, 12))
def test_nth_child_matches_enumeration(text: str, count: int):
    parsed = parse_an_plus_b(text)
    assert parsed is not None
    (step, offset), _ = parsed
    counted = {step * n + offset for n in range(200)}
    tree = page("<!doctype html>" + "<p>x</p>" * count)
    paragraphs = select(tree, "p")
    chosen = [row for place, row in enumerate(paragraphs, 1) if place in counted]
    assert select(tree, f"p:nth-child({text})") == chosen
    assert select(tree, f"p:nth-of-type({text})") == chosen
    from_end = [row for place, row in enumerate(reversed(paragraphs), 1) if place in counted]
    assert select(tree, f"p:nth-last-child({text})") == from_end[::-1]


SIMPLE = st.sampled_from(
    ["p", "li", "*", ".on", ".byline", "#top", "a", "[class]", "[href]", ":first-child",
     ":nth-child(2n)", ":empty", ":link", ":not(.on)", ":has(a)", ":lang(en)", "article", "main"]
)  # fmt: skip
COMPOUND = st.one_of(
    SIMPLE,
    SIMPLE.map(lambda simple: f":is({simple}, :unknown)"),
    st.tuples(SIMPLE, SIMPLE).map(lambda pair: f":where({pair[0]}):is({pair[1]})"),
)
COMPLEX = st.lists(
    st.tuples(COMPOUND, st.sampled_from((" ", ">", "+", "~", " > "))), min_size=1, max_size=4
).map(lambda parts: "".join(f"{link}{part}" for part, link in parts).lstrip(" >+~"))

_TREE = page(PAGE)
_ALL = set(elements(_TREE))


@given(first=COMPLEX, second=COMPLEX)
def test_functions_are_set_operations(first: str, second: str):
    """``:is()`` is a union, ``:not()`` a complement, two ``:is()`` an intersection."""
    a, b = set(select(_TREE, first)), set(select(_TREE, second))
    assert set(select(_TREE, f":is({first}, {second})")) == a | b
    assert set(select(_TREE, f":where({first})")) == a
    assert set(select(_TREE, f":not({first}, {second})")) == _ALL - a - b
    assert set(select(_TREE, f":is({first}):is({second})")) == a & b


@given(first=COMPLEX, second=COMPLEX)
def test_combinators_relate_sets(first: str, second: str):
    left, right = set(select(_TREE, f":is({first})")), set(select(_TREE, second))
    above = {row: set(_TREE.document.ancestors(row)) for row in right}
    assert set(select(_TREE, f":is({first}) :is({second})")) == {
        r for r in right if above[r] & left
    }
    parents = {row for row in right if _TREE.parent[row] in left}
    assert set(select(_TREE, f":is({first}) > :is({second})")) == parents
    after = {row for row in right if _TREE.previous(row) in left}
    assert set(select(_TREE, f":is({first}) + :is({second})")) == after
    later = {r for r in right if left & {s for s in _TREE.siblings(r) if s < r}}
    assert set(select(_TREE, f":is({first}) ~ :is({second})")) == later


@given(anchor=SIMPLE, inner=COMPLEX)
def test_has_matches_descendants(anchor: str, inner: str):
    """``:has(S)`` matches if a descendant matches S within the anchor."""
    found = set(select(_TREE, f":is({anchor}):has(:is({inner}))")) if ":has" not in inner else set()
    if ":has" in inner:
        return
    below = set(select(_TREE, inner))
    end = _TREE.document.end
    expected = {r for r in select(_TREE, anchor) if any(r < row < end[r] for row in below)}
    assert found == expected


@given(text=COMPLEX)
def test_index_keys_are_required_names(text: str):
    """Every matched element has the key, and its ancestors have the required names."""
    selector = compiled(text)
    name = rightmost_name(text)
    for row in select(_TREE, text):
        assert name == "*" or name in _TREE.names[row]
        above = _TREE.ancestor_names(_TREE.path(row))
        assert above is not None
        assert selector.ancestors <= above


FORM = """<!DOCTYPE html><form id=form><input id=text required><input id=filled required value=x>
<input id=read readonly placeholder=y><input id=hint placeholder=z><textarea id=area>t</textarea>
<input id=box type=checkbox required><input id=off disabled><input id=submit type=submit required>
<select id=choice></select><button id=button></button><progress id=progress></progress>
<p id=editable contenteditable><b id=inside>x</b></p></form><form id=empty></form>"""


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (":required", "text filled box"),
        ("form > :optional", "read hint area off submit choice button"),
        (":placeholder-shown", "read hint"),
        ("form > :read-write", "text filled hint area editable"),
        ("b:read-write", "inside"),
        ("input:read-only", "read box off submit"),
        (":invalid", "form text box"),
        (":valid", "filled hint area submit choice button empty"),
        (":indeterminate", "progress"),
        (":in-range, :out-of-range", ""),
    ],
)
def test_matches_states_of_fields(selector: str, expected: str):
    tree = page(FORM)
    found = {name for text in selector.split(", ") for name in described(tree, text)}
    assert found == set(expected.split())
