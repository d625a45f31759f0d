"""Comparison of computed styles with Chromium, for each parent of a text node."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lxml import etree

from newscrawl.css import Stylesheets, decode_sheet
from newscrawl.document.document import HEAD, SCRIPT, TEXT, Document, parse_document
from newscrawl.lab.corpora.chromium import numbered_html
from tests.oracle.chromium import Rendered, Request, render
from tests.oracle.pages import Page

_MAX_COMPOUND_LENGTH = 60
_UNSEEN = frozenset((SCRIPT, HEAD))
SIZE_TOLERANCE = 0.06
"""In px; Chromium rounds some sizes to 64ths."""

_FAMILY = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|([^,"]+))\s*(?:,|$)""")
_ESCAPE = re.compile(r"\\(.)")


class Style(NamedTuple):
    """The compared properties of an element."""

    font_size: float
    font_weight: float
    bold: bool
    #: to be compared with the colours of the same page only
    color: str
    #: in lower case, as family names are case-insensitive
    font_family: tuple[str, ...]
    #: ``display: none``, of the element or of an ancestor
    display_none: bool
    visible: bool

    def differences(self, other: "Style") -> list[str]:
        """Return the names of the properties that differ from *other*."""
        return [
            name
            for name, ours, theirs in zip(self._fields, self, other, strict=True)
            if not _agree(name, ours, theirs)
        ]


def _agree(name: str, ours: Any, theirs: Any) -> bool:
    if name == "font_weight":  # ours are integers
        return bool(abs(ours - theirs) < 1)
    if name == "font_size":
        return bool(abs(ours - theirs) <= SIZE_TOLERANCE)
    return bool(ours == theirs)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A property of an element that differs."""

    page: str
    #: selectors of the innermost ancestors and of the element
    path: str
    #: start of its text
    text: str
    name: str
    ours: Any
    theirs: Any
    #: whether the two parsers built different trees around the element
    other_tree: bool

    def __str__(self) -> str:
        tree = " [other tree]" if self.other_tree else ""
        return (
            f"{self.page}: {self.path}: {self.name} {self.ours!r}, Chromium {self.theirs!r}{tree}"
        )


@dataclass(slots=True)
class Comparison:
    """The comparison of a page."""

    page: Page
    compared: int = 0
    #: elements that Chromium's parser dropped or that have no style in Chromium
    dropped: int = 0
    disagreements: list[Disagreement] = field(default_factory=list)
    #: whether matching exceeded its limit
    gave_up: bool = False
    #: the reason if the page could not be compared
    error: str | None = None


class Agreement:
    """The agreement by property over many pages."""

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
        lines += [f"  {c.page}: matching gave up" for c in self.comparisons if c.gave_up]
        return "\n".join(lines)

    def worst(self, limit: int = 10) -> list[Comparison]:
        """Return the pages with the most disagreements, worst first."""
        ordered = sorted(self.comparisons, key=lambda c: -len(c.disagreements))
        return [c for c in ordered[:limit] if c.disagreements]


def compare(pages: Sequence[Page]) -> list[Comparison]:
    """Compare every text parent of *pages*; needs Chromium."""
    comparisons = [Comparison(page) for page in pages]
    subjects: dict[int, _Subject] = {}

    def requests() -> Iterator[Request]:
        for index, page in enumerate(pages):
            subjects[index] = _Subject(page)
            yield subjects[index].request()

    def done(index: int, rendered: Rendered | Exception) -> None:
        subject = subjects.pop(index)  # a document is large
        if isinstance(rendered, Rendered):
            subject.compare(rendered, comparisons[index])
        else:
            comparisons[index].error = str(rendered)

    render(requests(), done)
    return comparisons


def request_of(page: Page, document: Document, rows: list[int]) -> Request:
    """Return the request for the serialised *document*; sets the row attributes in its tree."""
    return Request(page.url, numbered_html(document, page.html), page.sheets, rows)


class _Subject:
    """A page, its document and its styles."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.document = parse_document(page.html)
        self.rows = text_parents(self.document)
        self.ours, self.gave_up = _our_styles(page, self.document, self.rows)

    def request(self) -> Request:
        """Return the request for Chromium."""
        return request_of(self.page, self.document, self.rows)

    def compare(self, rendered: Rendered, comparison: Comparison) -> None:
        """Fill *comparison*."""
        comparison.gave_up = self.gave_up
        trees = _Trees(self.document, rendered)
        colors = _equal_colors(
            (mine.color, values[2])
            for mine, values in zip(self.ours, rendered.styles, strict=True)
            if values is not None
        )
        for row, mine, values in zip(self.rows, self.ours, rendered.styles, strict=True):
            if values is None:
                comparison.dropped += 1
                continue
            comparison.compared += 1
            theirs = their_style(values)
            ours = mine._replace(color=colors.get(mine.color, mine.color))
            for name in ours.differences(theirs):
                comparison.disagreements.append(
                    Disagreement(
                        str(self.page), _path(self.document, row),
                        self.document.subtree_text(row)[:30], name,
                        getattr(ours, name), getattr(theirs, name), trees.differ(row),
                    )
                )  # fmt: skip


class _Trees:
    """Differences between Chromium's tree and the document."""

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
    """Return the rows of the parents of text nodes in the body, except scripts and styles."""
    body = next((row for row, tag in enumerate(document.tag) if tag == "body"), 0)
    rows = range(body, document.end[body])
    texts = (
        row for row in rows if document.tag[row] == TEXT and document.hidden[row] not in _UNSEEN
    )
    return sorted({document.parent[row] for row in texts})


def _our_styles(page: Page, document: Document, rows: Iterable[int]) -> tuple[list[Style], bool]:
    """Return the styles of *rows*, and whether matching exceeded its limit."""
    sheets = {url: decode_sheet(content) for url, content in page.sheets.items()}
    stylesheets = Stylesheets(document, sheets, base_url=page.url)
    styles = [
        Style(
            font_size=style.font_size,
            font_weight=style.font_weight,
            bold=style.bold,
            color=style.color,
            font_family=style.font_family,
            display_none=style.display_none,
            visible=style.visible,
        )
        for style in map(stylesheets.style_of, rows)
    ]
    return styles, stylesheets.exhausted


def _equal_colors(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the colours of Chromium by ours, given those of all elements.

    Colours are only compared for equality, so a colour is right if most elements with it have one
    colour in Chromium, and most of those with that colour have it.
    """
    ours: dict[str, str] = {}
    theirs: dict[str, str] = {}
    for (mine, other), _ in Counter(pairs).most_common():
        ours.setdefault(mine, other)
        theirs.setdefault(other, mine)
    return {mine: other for mine, other in ours.items() if theirs[other] == mine}


def their_style(values: list[Any]) -> Style:
    """Return the style of an element from its values in :class:`Rendered`."""
    size, weight, color, family, gone, visibility = values
    return Style(
        font_size=float(size.removesuffix("px")),
        font_weight=float(weight),
        bold=float(weight) >= 600,
        color=color,
        font_family=tuple(_families(family.lower())),
        display_none=gone,
        visible=visibility == "visible",
    )


def _families(written: str) -> Iterator[str]:
    for quoted, bare in _FAMILY.findall(written):
        yield _ESCAPE.sub(r"\1", quoted) if quoted else bare.strip()


def _path(document: Document, row: int) -> str:
    path = [row, *document.ancestors(row)][:5]
    return ">".join(_compound(document.element(u)) for u in reversed(path))


def _compound(element: etree._Element) -> str:
    identifier = element.get("id")
    classes = "".join(f".{name}" for name in (element.get("class") or "").split())
    whole = f"{element.tag}#{identifier}{classes}" if identifier else f"{element.tag}{classes}"
    return whole[:_MAX_COMPOUND_LENGTH]
