"""Pages of CSS frameworks, whose sheets are downloaded from the npm registry.

The elements of a page are made from selectors of the sheet, chosen by a fixed seed, so that rules
of every kind apply. Downloads are kept in the temporary folder of the machine.
"""

import os
import tarfile
import tempfile
from collections.abc import Iterator
from functools import cache
from html import escape
from io import BytesIO
from pathlib import Path
from random import Random
from urllib.error import URLError
from urllib.request import urlopen

from newscrawl.css import decode_sheet, parse_sheet
from newscrawl.css.parser import split_list
from newscrawl.css.selectors import Compound, compile_selector
from tests.oracle.pages import Page

#: package, version and path of a style sheet in the package
FRAMEWORKS = (
    ("bootstrap", "5.3.3", "dist/css/bootstrap.css"),
    ("flowbite", "2.5.2", "dist/flowbite.css"),  # a build of Tailwind 3
    ("tailwindcss", "2.2.19", "dist/tailwind.css"),
)
REGISTRY = os.environ.get("NPM_CONFIG_REGISTRY", "https://registry.npmjs.org/").rstrip("/")
CACHE = Path(tempfile.gettempdir()) / "newscrawl-npm"

_SELECTORS = 300
_SAFE_BLOCKS = frozenset(
    ("div", "section", "article", "aside", "nav", "header", "footer", "main", "blockquote",
     "figure", "address", "fieldset", "details", "form", "ul", "ol", "li", "dl", "body", "html")
)  # fmt: skip
_LEAVES = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "span", "b", "strong", "em", "i", "small", "code",
     "kbd", "samp", "mark", "cite", "sub", "sup", "label", "a", "button", "pre", "summary",
     "figcaption", "legend", "q", "abbr", "del", "ins", "dt", "dd")
)  # fmt: skip
_ARTICLE = """<article><h1>Harbour <small>news</small></h1><p class="lead">A <b>bold</b> <em>lead</em>
with <a href="#">a link</a>.<h2>Second</h2><p>Text <code>code</code> <strong>strong</strong>
<mark>marked</mark></p><blockquote><p>Quoted</p></blockquote><pre>pre</pre><ul><li>one</li></ul>
<table><tbody><tr><th>head</th><td>cell</td></tr></tbody></table></article>"""


@cache
def missing_registry() -> str | None:
    """Return the reason why no package can be downloaded, None if one can."""
    try:
        _package(*FRAMEWORKS[0][:2])
    except (URLError, OSError) as error:
        return f"no npm registry at {REGISTRY}: {error}"
    return None


def framework_pages(pages_each: int = 3) -> list[Page]:
    """Return pages of all frameworks; raises OSError without a registry."""
    return [
        _page(name, version, sheet, seed)
        for name, version, path in FRAMEWORKS
        for sheet in [_sheet(name, version, path)]
        for seed in range(pages_each)
    ]


def _package(name: str, version: str) -> bytes:
    file = CACHE / f"{name.replace('/', '+')}-{version}.tgz"
    if not file.exists():
        url = f"{REGISTRY}/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
        with urlopen(url, timeout=60) as answer:
            content = answer.read()
        CACHE.mkdir(exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}")
        partial.write_bytes(content)
        partial.replace(file)
    return file.read_bytes()


def _sheet(name: str, version: str, path: str) -> bytes:
    with tarfile.open(fileobj=BytesIO(_package(name, version))) as package:
        member = package.extractfile(f"package/{path}")
        assert member is not None
        return member.read()


def _page(name: str, version: str, sheet: bytes, seed: int) -> Page:
    base = "http://frameworks.test/"
    rng = Random(f"{name} {version} {seed}")
    rules = parse_sheet(decode_sheet(sheet)).rules
    texts = sorted({text for selectors, *_ in rules for text in split_list(selectors)})
    body = "\n".join(_elements(rng.sample(texts, min(len(texts), _SELECTORS)), rng))
    html = (
        f'<!doctype html><html><head><title>{name}</title><link rel="stylesheet" href="all.css">'
        f"</head><body>{_ARTICLE}{body}</body></html>"
    )
    page = f"{name}@{version}/{seed}"
    return Page("frameworks", page, base, html.encode(), {f"{base}all.css": sheet})


def _elements(selectors: list[str], rng: Random) -> Iterator[str]:
    for text in selectors:
        selector = compile_selector(text)
        if selector is not None and len(selector.compounds) <= 6:
            html = _fragment(selector.compounds, rng)
            if html is not None:
                yield f"<div>{html}</div>"


def _fragment(compounds: tuple[Compound, ...], rng: Random) -> str | None:
    """Return elements that match *compounds*, except for pseudo-classes; None if unsafe."""
    html = f"text <em>em</em> {rng.choice(('', '<strong>strong</strong> '))}text"
    inner = ""
    for position, compound in enumerate(compounds):
        tag = next((name for name in compound.names if name[0] not in "#.[:*"), "")
        if not tag:
            tag = "div" if position else rng.choice(("div", "p", "span", "a"))
        if tag in {"html", "body"}:
            return html
        if tag not in _SAFE_BLOCKS and (tag not in _LEAVES or inner):
            return None
        element = f"<{tag}{_attributes(compound)}>"
        if compound.combinator in {"+", "~"}:
            html = f"{element}text</{tag}>{html}"
            inner = ""
        else:
            html = f"{element}{html}</{tag}>"
            inner = tag
    return html


def _attributes(compound: Compound) -> str:
    attributes = {name[1:]: "" for name in compound.names if name[0] == "["}
    classes = [name[1:] for name in sorted(compound.names) if name[0] == "."]
    if classes:
        attributes["class"] = " ".join(classes)
    ids = [name[1:] for name in compound.names if name[0] == "#"]
    if ids:
        attributes["id"] = ids[0]
    return "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
