"""Pages of CSS frameworks, whose sheets are downloaded from the npm registry.

The elements of a page are made from selectors of the sheet, chosen by a fixed seed, so that rules
of every kind apply. Downloads are kept in the temporary folder of the machine.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from functools import cache
from html import escape
from io import BytesIO
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

from newscrawl.css.selectors.compiled_selectors import CHILD, DESCENDANT, Attribute, SelectorError
from newscrawl.css.selectors.selector_compiler import compile_selector
from newscrawl.css.sheets.sheet import parse_sheet
from newscrawl.css.syntax.charset import decode_sheet
from tests.oracle.pages import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from newscrawl.css.selectors.compiled_selectors import Compound

#: package, version and path of a style sheet in the package
FRAMEWORKS = (
    ("98.css", "0.1.21", "dist/98.css"),
    ("@blaze/css", "12.2.0", "dist/blaze/blaze.css"),
    ("@coreui/coreui", "5.9.0", "dist/css/coreui.css"),
    ("@picocss/pico", "2.1.1", "css/pico.conditional.amber.css"),
    ("@primer/css", "22.3.2", "dist/primer.css"),
    ("@tabler/core", "1.6.1", "dist/css/tabler.css"),
    ("animate.css", "4.1.1", "animate.css"),
    ("beercss", "5.0.3", "dist/cdn/beer.css"),
    ("bootstrap", "3.4.1", "dist/css/bootstrap.css"),
    ("bootstrap", "4.6.2", "dist/css/bootstrap.css"),
    ("bootstrap", "5.3.3", "dist/css/bootstrap.css"),
    ("bulma", "1.0.4", "css/bulma.css"),
    ("chota", "0.9.2", "dist/chota.css"),
    ("cirrus-ui", "0.8.0", "dist/cirrus.css"),
    ("daisyui", "4.12.24", "dist/full.css"),
    ("daisyui", "5.8.1", "daisyui.css"),
    ("fomantic-ui-css", "2.9.4", "semantic.css"),
    ("github-markdown-css", "5.9.0", "github-markdown.css"),
    ("govuk-frontend", "6.6.0", "dist/govuk/govuk-frontend.min.css"),
    ("halfmoon", "2.0.2", "css/halfmoon.css"),
    ("materialize-css", "1.0.0", "dist/css/materialize.css"),
    ("milligram", "1.4.1", "dist/milligram.css"),
    ("mini.css", "3.0.1", "dist/mini-nord.css"),
    ("mvp.css", "1.18.0", "mvp.css"),
    ("nes.css", "2.3.0", "css/nes.css"),
    ("papercss", "1.9.2", "dist/paper.css"),
    ("picnic", "7.1.0", "picnic.css"),
    ("purecss", "3.1.0", "build/pure.css"),
    ("quasar", "2.17.4", "dist/quasar.css"),
    ("simpledotcss", "2.3.7", "simple.css"),
    ("spectre.css", "0.5.9", "dist/spectre.css"),
    ("tachyons", "4.12.0", "css/tachyons.css"),
    ("tailwindcss", "1.9.6", "dist/tailwind.css"),
    ("tailwindcss", "2.2.19", "dist/tailwind.css"),
    ("tailwindcss", "4.3.5", "index.css"),
    ("water.css", "2.1.1", "out/water.css"),
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
        _package("mvp.css", "1.18.0")
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
    texts = sorted({text for rule in rules for text in rule.selectors})
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
        if isinstance(selector, SelectorError) or len(selector.compounds) > 6:
            continue
        html = _fragment(selector.compounds, rng)
        if html is not None:
            yield f"<div>{html}</div>"


def _fragment(compounds: tuple[Compound, ...], rng: Random) -> str | None:
    """Return elements that match *compounds*, except for most pseudo-classes; None if unsafe."""
    html = f"text <em>em</em> {rng.choice(('', '<strong>strong</strong> '))}text"
    inner = ""
    for position, compound in enumerate(compounds):
        tag = next((name for name in compound.names if name[0] not in "#.[:*"), "")
        if not tag:
            tag = "div" if position else rng.choice(("div", "p", "span", "a"))
        if tag in {"html", "body"}:
            return html
        if tag not in _SAFE_BLOCKS and (tag not in _LEAVES or (inner and inner in _SAFE_BLOCKS)):
            return None
        if tag in _LEAVES and inner:
            return None
        combinator = compounds[position].combinator
        element = f"<{tag}{_attributes(compound)}>"
        html = (
            f"{element}{html}</{tag}>"
            if not _beside(compounds, position)
            else (f"{element}text</{tag}>{html}")
        )
        inner = "" if combinator not in {DESCENDANT, CHILD, ""} else tag
    return html


def _beside(compounds: tuple[Compound, ...], position: int) -> bool:
    """Return whether a compound is a sibling of the one to its right."""
    return bool(position) and compounds[position].combinator in {"+", "~"}


def _attributes(compound: Compound) -> str:
    attributes = {name[1:]: "" for name in compound.names if name[0] == "["}
    for test in compound.tests:
        if isinstance(test, Attribute):
            attributes[test.name] = test.expected
    classes = [name[1:] for name in sorted(compound.names) if name[0] == "."]
    if classes:
        attributes["class"] = " ".join([*attributes.get("class", "").split(), *classes])
    ids = [name[1:] for name in compound.names if name[0] == "#"]
    if ids:
        attributes["id"] = ids[0]
    return "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
