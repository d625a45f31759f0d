"""Our computed styles beside Chromium's, text parent by text parent."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

from newscrawl.css import Stylesheets
from newscrawl.css.syntax.charset import decode_sheet
from newscrawl.document.document import HEAD, SCRIPT, TEXT, Document, parse_document
from tests.oracle.chromium import NUMBER, Rendered, Request, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tests.oracle.pages import Page

_LONGEST_COMPOUND = 60
_UNSEEN = frozenset((SCRIPT, HEAD))
SIZE_TOLERANCE = 0.06
"""Pixels: Chromium rounds to 64ths in places."""

# What may stand before a doctype: white space, comments, processing instructions.
_DOCTYPE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<!--.*?-->|<\?[^>]*>)*(<!doctype[^>]*>)", re.IGNORECASE | re.DOTALL
)
_NUMBERS = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?|none")
_FAMILY = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|([^,"]+))\s*(?:,|$)""")
_ESCAPE = re.compile(r"\\(.)")


class Style(NamedTuple):
    """What is compared, of one element."""

    font_size: float
    font_weight: float
    bold: bool
    #: red, green, blue in 0..255, alpha in 0..1
    color: tuple[float, float, float, float]
    #: in lower case: browsers do not tell case in names of families
    font_family: tuple[str, ...]
    font_style: str
    #: ``display: none``, of the element or of an ancestor
    display_none: bool
    visible: bool

    def differences(self, other: Style) -> list[str]:
        """Return the names of the properties that differ from *other*."""
        return [
            name
            for name, mine, its in zip(self._fields, self, other, strict=True)
            if not _agree(name, mine, its)
        ]


def _agree(name: str, mine: Any, its: Any) -> bool:
    if name == "font_weight":  # ours are whole numbers
        return abs(mine - its) < 1
    if name == "font_size":
        return abs(mine - its) <= SIZE_TOLERANCE
    if name == "color":  # one step of 8 bits, and alpha is written with three digits
        return all(abs(a - b) <= 1 for a, b in zip(mine[:3], its[:3], strict=True)) and (
            abs(mine[3] - its[3]) <= 0.006
        )
    return bool(mine == its)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One property of one element on which we differ."""

    page: str
    #: selectors of the innermost ancestors and of the element
    path: str
    #: how its text begins
    text: str
    name: str
    ours: Any
    theirs: Any
    #: the two parsers built different trees around the element: no question of style
    other_tree: bool

    def __str__(self) -> str:
        tree = " [other tree]" if self.other_tree else ""
        return (
            f"{self.page}: {self.path}: {self.name} {self.ours!r}, Chromium {self.theirs!r}{tree}"
        )


@dataclass(slots=True)
class Comparison:
    """A page compared."""

    page: Page
    compared: int = 0
    #: elements that Chromium's parser dropped, or to which it gives no style
    dropped: int = 0
    disagreements: list[Disagreement] = field(default_factory=list)
    #: why nothing was compared
    error: str | None = None


class Agreement:
    """Agreement by property over many pages."""

    def __init__(self, comparisons: Iterable[Comparison]) -> None:
        self.comparisons = list(comparisons)
        self.compared = sum(c.compared for c in self.comparisons)
        self.disagreements = [d for c in self.comparisons for d in c.disagreements]
        self._differ = Counter(d.name for d in self.disagreements)

    def __getitem__(self, name: str) -> float:
        return 1 - self._differ[name] / max(self.compared, 1)

    def __str__(self) -> str:
        pages = sum(not c.error for c in self.comparisons)
        lines = [f"{self.compared} text parents of {pages} pages"]
        for name in Style._fields:
            other_tree = sum(d.other_tree for d in self.disagreements if d.name == name)
            tail = f" ({other_tree} in other trees)" if other_tree else ""
            lines.append(f"  {name:14}{self[name]:.5f}  {self._differ[name]} differ{tail}")
        dropped = sum(c.dropped for c in self.comparisons)
        lines.append(f"  {dropped} more elements have no style in Chromium")
        lines += [f"  {c.page}: {c.error}" for c in self.comparisons if c.error]
        return "\n".join(lines)

    def worst(self, most: int = 10) -> list[Comparison]:
        """Return the pages with most disagreements, worst first."""
        ordered = sorted(self.comparisons, key=lambda c: -len(c.disagreements))
        return [c for c in ordered[:most] if c.disagreements]


def compare(pages: Sequence[Page]) -> list[Comparison]:
    """Compare every text parent of *pages*; needs Chromium."""
    comparisons = [Comparison(page) for page in pages]
    subjects: dict[int, _Subject] = {}

    def requests() -> Iterator[Request]:
        for place, page in enumerate(pages):
            subjects[place] = _Subject(page)
            yield subjects[place].request()

    def done(place: int, rendered: Rendered | Exception) -> None:
        subject = subjects.pop(place)  # a document is large
        if isinstance(rendered, Rendered):
            subject.compare(rendered, comparisons[place])
        else:
            comparisons[place].error = str(rendered)

    render(requests(), done)
    return comparisons


def request_of(page: Page, document: Document, rows: list[int]) -> Request:
    """Return the page as Chromium shall have it: our tree, with the rows in it, from now on."""
    for row, tag in enumerate(document.tag):
        if tag != TEXT:
            document.element(row).set(NUMBER, str(row))
    doctype = _DOCTYPE.match(page.html)
    html = etree.tostring(document.root, method="html", encoding="utf-8", with_tail=False)
    head = doctype[1] if doctype else b""
    return Request(page.url, head + html, page.sheets, rows)


class _Subject:
    """A page of ours on its way through Chromium."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.document = parse_document(page.html)
        self.rows = text_parents(self.document)
        self.ours = _our_styles(page, self.document, self.rows)

    def request(self) -> Request:
        """Return what Chromium is asked."""
        return request_of(self.page, self.document, self.rows)

    def compare(self, rendered: Rendered, comparison: Comparison) -> None:
        """Fill *comparison*."""
        trees = _Trees(self.document, rendered)
        for row, mine, values in zip(self.rows, self.ours, rendered.styles, strict=True):
            if values is None:
                comparison.dropped += 1
                continue
            comparison.compared += 1
            theirs = their_style(values, rendered.srgb)
            for name in mine.differences(theirs):
                comparison.disagreements.append(
                    Disagreement(
                        str(self.page), _path(self.document, row),
                        self.document.subtree_text(row)[:30], name,
                        getattr(mine, name), getattr(theirs, name), trees.differ(row),
                    )
                )  # fmt: skip


class _Trees:
    """Where Chromium's tree differs from ours."""

    def __init__(self, document: Document, rendered: Rendered) -> None:
        self._document = document
        self._around = rendered.around
        self._before: dict[int, int] = {}
        latest: dict[int, int] = {}
        for row, (tag, parent) in enumerate(zip(document.tag, document.parent, strict=True)):
            if tag != TEXT:
                self._before[row] = latest.get(parent, -1)
                latest[parent] = row

    def differ(self, row: int) -> bool:
        """Return whether the element or an ancestor has another parent or previous sibling."""
        return any(
            self._around.get(u) != (self._document.parent[u], self._before[u])
            for u in (row, *self._document.ancestors(row))
        )


def text_parents(document: Document) -> list[int]:
    """Return the rows of the parents of text nodes in the body (no scripts, styles, images)."""
    body = next((row for row, tag in enumerate(document.tag) if tag == "body"), 0)
    rows = range(body, document.end[body])
    texts = (
        row for row in rows if document.tag[row] == TEXT and document.hidden[row] not in _UNSEEN
    )
    return sorted({document.parent[row] for row in texts})


def _our_styles(page: Page, document: Document, rows: Iterable[int]) -> list[Style]:
    sheets = {url: decode_sheet(content) for url, content in page.sheets.items()}
    stylesheets = Stylesheets(document, sheets, base_url=page.url)
    return [
        Style(
            font_size=style.font_size,
            font_weight=style.font_weight,
            bold=style.bold,
            color=style.color,
            font_family=style.font_family,
            font_style=style.font_style,
            display_none=style.display_none,
            visible=style.visible,
        )
        for style in map(stylesheets.style_of, rows)
    ]


def their_style(values: list[Any], srgb: Mapping[str, str]) -> Style:
    """Return the style of an element that Chromium rendered: what :class:`Rendered` has of it."""
    size, weight, color, family, font_style, gone, visibility = values
    return Style(
        font_size=float(size.removesuffix("px")),
        font_weight=float(weight),
        bold=float(weight) >= 600,
        color=_color(srgb.get(color, color)),
        font_family=tuple(_families(family.lower())),
        font_style=font_style.partition(" ")[0],  # no angle
        display_none=gone,
        visible=visibility == "visible",
    )


def _color(written: str) -> tuple[float, float, float, float]:
    """Return ``rgb(...)`` in 0..255 or ``color(srgb ...)`` in 0..1 as numbers, clipped."""
    red, green, blue, *alpha = (
        0.0 if number == "none" else float(number) for number in _NUMBERS.findall(written)
    )
    scale = 255 if written.startswith("color(") else 1
    red, green, blue = (min(255.0, max(0.0, part * scale)) for part in (red, green, blue))
    return red, green, blue, *(alpha or [1.0])


def _families(written: str) -> Iterator[str]:
    for quoted, bare in _FAMILY.findall(written):
        yield _ESCAPE.sub(r"\1", quoted) if quoted else bare.strip()


def _path(document: Document, row: int) -> str:
    path_id = [row, *document.ancestors(row)][:5]
    return ">".join(_compound(document.element(u)) for u in reversed(path_id))


def _compound(element: etree._Element) -> str:
    identifier = element.get("id")
    classes = "".join(f".{name}" for name in (element.get("class") or "").split())
    whole = f"{element.tag}#{identifier}{classes}" if identifier else f"{element.tag}{classes}"
    return whole[:_LONGEST_COMPOUND]
