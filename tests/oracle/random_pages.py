"""Pages made by chance of everything that the hard cases hold, the same in every run."""

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
    """Return *number* pages, those with the seeds from *start* on."""
    return [_page(seed) for seed in range(start, start + number)]


def _page(seed: int) -> Page:
    chance = Random(seed)
    doctype = "" if chance.random() < 0.25 else "<!doctype html>"
    sheets = "".join(f"<style>\n{_sheet(chance)}</style>\n" for _ in range(chance.randint(1, 3)))
    body = "".join(_element(chance, _BLOCKS, 4) for _ in range(8))
    html = f"{doctype}<html><head><title>{seed}</title>\n{sheets}</head><body>{body}</body></html>"
    return Page("random", str(seed), f"http://random.test/{seed}", html.encode())


def _element(chance: Random, names: list[str], depth: int) -> str:
    name = chance.choice(names)
    attributes = _attributes(chance)
    if name == "ul":
        items = "".join(_element(chance, ["li"], depth - 1) for _ in range(chance.randint(1, 4)))
        return f"<ul{attributes}>{items}</ul>\n"
    if name == "table":
        cells = "".join(_element(chance, ["td", "th"], depth - 1) for _ in range(3))
        return f"<table{attributes}><tbody><tr>{cells}</tr></tbody></table>\n"
    # Phrases hold phrases, and a link no link: both parsers build this tree.
    inner = [phrase for phrase in _PHRASES if phrase != name]
    if name in _PHRASES:
        inner = [phrase for phrase in names if phrase not in {name, "a"}]
    elif depth > 1 and name in {"div", "section", "article", "blockquote", "main", "li", "td"}:
        inner = [block for block in _BLOCKS if block != "main"] if chance.random() < 0.6 else inner
    children = (_element(chance, inner, depth - 1) for _ in range(chance.randint(0, 3)))
    content = " text ".join(["text", *children]) if depth > 0 else "text"
    return f"<{name}{attributes}>{content}</{name}>"


def _attributes(chance: Random) -> str:
    parts = []
    if chance.random() < 0.6:
        names = chance.sample(_CLASSES, chance.randint(1, 3))
        parts.append(f'class="{" ".join(names)}"')
    if chance.random() < 0.1:
        parts.append(f'id="{chance.choice(_IDS)}"')
    if chance.random() < 0.3:
        parts.append(chance.choice(_ATTRIBUTES))
    if chance.random() < 0.15:
        declarations = _declarations(chance).replace('"', "&quot;")
        parts.append(f'style="{declarations}"')
    return "".join(f" {part}" for part in parts)


def _sheet(chance: Random) -> str:
    return "".join(_rule(chance, 2) for _ in range(chance.randint(5, 30)))


def _rule(chance: Random, depth: int) -> str:
    if chance.random() < 0.02:
        return f"{chance.choice(_RUINS)}\n"
    if depth and chance.random() < 0.15:
        rules = "".join(_rule(chance, depth - 1) for _ in range(chance.randint(1, 3)))
        return f"{chance.choice(_CONDITIONS)} {{\n{rules}}}\n"
    selectors = ", ".join(_selector(chance) for _ in range(chance.choice((1, 1, 1, 2, 3))))
    nested = ""
    if depth and chance.random() < 0.15:
        nested = f"{chance.choice(('&', '& ', '> ', '', '+ ', '.a &'))}{_rule(chance, 0)}"
    after = _declarations(chance) if nested and chance.random() < 0.3 else ""
    return f"{selectors} {{ {_declarations(chance)}; {nested}{after} }}\n"


def _selector(chance: Random) -> str:
    parts = [_compound(chance)]
    while chance.random() < 0.4:
        parts += [chance.choice(_COMBINATORS), _compound(chance)]
    return "".join(parts)


def _compound(chance: Random, depth: int = 1) -> str:
    parts = [chance.choice(("", "", "*", *_BLOCKS, *_PHRASES, "li", "td", "P"))]
    for _ in range(chance.choice((0, 1, 1, 2))):
        kind = chance.random()
        if kind < 0.5:
            name = chance.choice(_CLASSES)
            parts.append(f".{_ESCAPED.get(name, name)}")
        elif kind < 0.6:
            parts.append(f"#{chance.choice(_IDS)}")
        elif kind < 0.75:
            parts.append(chance.choice(_ATTRIBUTE_TESTS))
        elif kind < 0.9 or not depth:
            parts.append(chance.choice(_PSEUDO_CLASSES))
        else:
            parts.append(_functional(chance))
    return "".join(parts) or "*"


def _functional(chance: Random) -> str:
    name = chance.choice((":is", ":where", ":not", ":has", ":not", ":-webkit-any"))
    start = chance.choice(("", "", "> ", "+ ", "~ ")) if name == ":has" else ""
    listed = [_compound(chance, 0) for _ in range(chance.choice((1, 1, 2)))]
    return f"{name}({start}{', '.join(listed)})"


def _declarations(chance: Random) -> str:
    return "; ".join(_declaration(chance) for _ in range(chance.randint(1, 4)))


def _declaration(chance: Random) -> str:
    # "all" seldom: it would hide everything else
    name = chance.choice([n for n in _VALUES if n != "all" or chance.random() < 0.2])
    value = chance.choice(_WIDE) if chance.random() < 0.08 else chance.choice(_VALUES[name])
    important = (
        chance.choice((" !important", "! IMPORTANT", " !imp")) if chance.random() < 0.08 else ""
    )
    return f"{name}: {value}{important}"
