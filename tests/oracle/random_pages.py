"""Random pages from the constructs of the hard cases, the same in every run."""

from __future__ import annotations

from random import Random

from tests.oracle.pages import Page

_BLOCKS = [
    "div",
    "section",
    "article",
    "blockquote",
    "h1",
    "h2",
    "h5",
    "ul",
    "pre",
    "p",
    "address",
    "main",
    "table",
]
_PHRASES = [
    "span",
    "b",
    "em",
    "small",
    "code",
    "font",
    "strong",
    "sub",
    "cite",
    "big",
    "a",
    "tt",
    "mark",
    "q",
]
_CLASSES = ("a", "b", "B", "c-d", "e_1", "sm:f", "2g")
_IDS = ("i", "j", "Top")
_ESCAPED = {"sm:f": r"sm\:f", "2g": r"\32 g"}
_ATTRIBUTES = (
    'title="x y"', "title", 'lang="de"', 'lang="en-US"', 'dir="rtl"', "hidden", 'data-k="V w"',
    'href="#"', 'color="#369"', 'size="5"', 'face="Arial, x"', 'size="-1"',
)  # fmt: skip
_PSEUDO_CLASSES = (
    ":first-child", ":last-child", ":only-child", ":first-of-type", ":last-of-type", ":empty",
    ":nth-child(odd)", ":nth-child(2n+1 of .a)", ":nth-last-child(-n+2)", ":nth-of-type(2)",
    ":nth-last-of-type(1)", ":only-of-type", ":root", ":link", ":any-link", ":hover", ":visited",
    ":lang(de)", ":lang(en)", ":dir(rtl)", ":target", ":bogus", "::before", "::first-line",
    ":defined", ":scope", ":focus-within", ":checked", ":enabled", ":is()", ":nth-child(n+3)",
)  # fmt: skip
_ATTRIBUTE_TESTS = (
    "[title]", '[title~="y"]', "[title^=x]", "[title$='y']", '[title*=" "]', "[lang|=en]",
    '[data-k="v W" i]', "[data-k='v w']", "[class]", "[class~=a]", "[id]", "[href]", "[dir=RTL]",
    "[hidden]", "[title='']", "[foo|bar]", "[color]", "[=x]",
)  # fmt: skip
_COMBINATORS = (" ", " ", " ", ">", " > ", "+", " ~ ", "/**/ ", " >> ")
_VALUES = {
    "font-size": (
        "12px", "1.5em", "80%", "1.2rem", "14pt", "small", "x-large", "larger", "smaller", "0",
        "2vw", "calc(1em + 2px)", "clamp(10px, 2vw, 30px)", "min(1em, 20px)", "17", "-3px", "red",
        "var(--s)", "var(--none, 19px)", "var(--none)", "max(1rem, 12pt)", "5px", "50%", "MEDIUM",
    ),
    "font-weight": (
        "bold", "normal", "bolder", "lighter", "100", "650", "900", "1001", "0", "heavy",
        "var(--w)", "calc(200 + 300)",
    ),
    "font-style": ("italic", "normal", "oblique", "slanted", "oblique 10deg"),
    "font-family": (
        "Arial", "'Open Sans', serif", "monospace", "monospace, monospace", "Times New Roman",
        "x,,y", "3com", '"a\\"b"', "var(--f)", "SERIF", "inherit, x", "Courier New, monospace",
    ),
    "font": (
        "italic bold 20px/1.2 Georgia, serif", "14px Arial", "bold 14px", "serif", "larger x",
        "700 1.1em monospace", "14px", "inherit", "caption 12px", "0/0 a", "var(--font)",
    ),
    "color": (
        "red", "#0a5", "#12345678", "369", "rgb(1 2 3 / 50%)", "rgba(1, 2, 3, .5)", "currentColor",
        "hsl(120 50% 40%)", "gren", "transparent", "var(--c)", "var(--none, navy)", "oklch(60% .1 50)",
        "color-mix(in srgb, red 30%, blue)", "rgba(#123, .5)", "Canvastext", "#GGG", "hwb(90 10% 10%)",
        "light-dark(teal, red)",
    ),
    "display": ("none", "block", "inline", "flex", "contents", "bogus", "inline-block", "table"),
    "visibility": ("hidden", "visible", "collapse", "shown"),
    "all": ("initial", "unset", "revert", "inherit"),
    "--s": ("15px", "1.3em", "var(--s2)", "initial", "calc(1em + 3px)"),
    "--s2": ("22px", "var(--s)", "larger"),
    "--c": ("teal", "var(--c2, olive)", "#f0f", "", "inherit", "rgb(9,9,9)"),
    "--c2": ("purple", "var(--c)", "bogus"),
    "--w": ("800", "bolder", "var(--none)"),
    "--f": ("Verdana, x", "'q r'"),
    "--font": ("12px Tahoma", "bold", "italic 1.5em 'x y'"),
    "margin": ("0", "auto"),
    "background": ("url(a;b)", "red"),
}  # fmt: skip
_WIDE = ("inherit", "initial", "unset", "revert", "revert-layer", "INHERIT")
_CONDITIONS = (
    "@media screen", "@media print", "@media (min-width: 600px)", "@media (max-width: 50em)",
    "@media not all and (min-width: 1px)", "@media (hover: hover) and (pointer: fine)",
    "@media (400px <= width < 2000px)", "@media screen and (", "@media (bogus: 1), screen",
    "@supports (display: grid)", "@supports not (color: red)", "@layer one", "@layer two",
    "@layer two.three", "@layer", "@layer one", "@bogus x", "@container (min-width: 1px)",
)  # fmt: skip
_RUINS = ("}", "{", "@import 'x.css';", "<!--", "-->", ";", "x { color: red", "/* x */", "@media {")


def random_pages(number: int, start: int = 0) -> list[Page]:
    """Return *number* pages, with the seeds from *start* on."""
    return [_page(seed) for seed in range(start, start + number)]


def _page(seed: int) -> Page:
    rng = Random(seed)
    doctype = "" if rng.random() < 0.25 else "<!doctype html>"
    sheets = "".join(f"<style>\n{_sheet(rng)}</style>\n" for _ in range(rng.randint(1, 3)))
    body = "".join(_element(rng, _BLOCKS, 4) for _ in range(8))
    html = f"{doctype}<html><head><title>{seed}</title>\n{sheets}</head><body>{body}</body></html>"
    return Page("random", str(seed), f"http://random.test/{seed}", html.encode())


def _element(rng: Random, names: list[str], depth: int) -> str:
    name = rng.choice(names)
    attributes = _attributes(rng)
    if name == "ul":
        items = "".join(_element(rng, ["li"], depth - 1) for _ in range(rng.randint(1, 4)))
        return f"<ul{attributes}>{items}</ul>\n"
    if name == "table":
        cells = "".join(_element(rng, ["td", "th"], depth - 1) for _ in range(3))
        return f"<table{attributes}><tbody><tr>{cells}</tr></tbody></table>\n"
    # Phrases hold phrases, and a link no link: both parsers build this tree.
    inner = [phrase for phrase in _PHRASES if phrase != name]
    if name in _PHRASES:
        inner = [phrase for phrase in names if phrase not in {name, "a"}]
    elif depth > 1 and name in {"div", "section", "article", "blockquote", "main", "li", "td"}:
        inner = [block for block in _BLOCKS if block != "main"] if rng.random() < 0.6 else inner
    children = (_element(rng, inner, depth - 1) for _ in range(rng.randint(0, 3)))
    content = " text ".join(["text", *children]) if depth > 0 else "text"
    return f"<{name}{attributes}>{content}</{name}>"


def _attributes(rng: Random) -> str:
    parts = []
    if rng.random() < 0.6:
        names = rng.sample(_CLASSES, rng.randint(1, 3))
        parts.append(f'class="{" ".join(names)}"')
    if rng.random() < 0.1:
        parts.append(f'id="{rng.choice(_IDS)}"')
    if rng.random() < 0.3:
        parts.append(rng.choice(_ATTRIBUTES))
    if rng.random() < 0.15:
        declarations = _declarations(rng).replace('"', "&quot;")
        parts.append(f'style="{declarations}"')
    return "".join(f" {part}" for part in parts)


def _sheet(rng: Random) -> str:
    return "".join(_rule(rng, 2) for _ in range(rng.randint(5, 30)))


def _rule(rng: Random, depth: int) -> str:
    if rng.random() < 0.02:
        return f"{rng.choice(_RUINS)}\n"
    if depth and rng.random() < 0.15:
        rules = "".join(_rule(rng, depth - 1) for _ in range(rng.randint(1, 3)))
        return f"{rng.choice(_CONDITIONS)} {{\n{rules}}}\n"
    selectors = ", ".join(_selector(rng) for _ in range(rng.choice((1, 1, 1, 2, 3))))
    nested = ""
    if depth and rng.random() < 0.15:
        nested = f"{rng.choice(('&', '& ', '> ', '', '+ ', '.a &'))}{_rule(rng, 0)}"
    after = _declarations(rng) if nested and rng.random() < 0.3 else ""
    return f"{selectors} {{ {_declarations(rng)}; {nested}{after} }}\n"


def _selector(rng: Random) -> str:
    parts = [_compound(rng)]
    while rng.random() < 0.4:
        parts += [rng.choice(_COMBINATORS), _compound(rng)]
    return "".join(parts)


def _compound(rng: Random, depth: int = 1) -> str:
    parts = [rng.choice(("", "", "*", *_BLOCKS, *_PHRASES, "li", "td", "P"))]
    for _ in range(rng.choice((0, 1, 1, 2))):
        kind = rng.random()
        if kind < 0.5:
            name = rng.choice(_CLASSES)
            parts.append(f".{_ESCAPED.get(name, name)}")
        elif kind < 0.6:
            parts.append(f"#{rng.choice(_IDS)}")
        elif kind < 0.75:
            parts.append(rng.choice(_ATTRIBUTE_TESTS))
        elif kind < 0.9 or not depth:
            parts.append(rng.choice(_PSEUDO_CLASSES))
        else:
            parts.append(_functional(rng))
    return "".join(parts) or "*"


def _functional(rng: Random) -> str:
    name = rng.choice((":is", ":where", ":not", ":has", ":not", ":-webkit-any"))
    start = rng.choice(("", "", "> ", "+ ", "~ ")) if name == ":has" else ""
    listed = [_compound(rng, 0) for _ in range(rng.choice((1, 1, 2)))]
    return f"{name}({start}{', '.join(listed)})"


def _declarations(rng: Random) -> str:
    return "; ".join(_declaration(rng) for _ in range(rng.randint(1, 4)))


def _declaration(rng: Random) -> str:
    # "all" seldom: it would hide everything else
    name = rng.choice([n for n in _VALUES if n != "all" or rng.random() < 0.2])
    value = rng.choice(_WIDE) if rng.random() < 0.08 else rng.choice(_VALUES[name])
    important = rng.choice((" !important", "! IMPORTANT", " !imp")) if rng.random() < 0.08 else ""
    return f"{name}: {value}{important}"
