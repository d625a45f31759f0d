"""The computed style of a page's text nodes, on demand.

Nothing is computed but for the nodes asked for and their ancestors. What no selector can tell
apart is matched once, the cascade is run once for every set of rules, and a style computed once
for every (parent's style, cascaded values).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.css.cascade import (
    AUTHOR,
    HINTS,
    IMPORTANT_AUTHOR,
    IMPORTANT_STYLE,
    IMPORTANT_UA,
    STYLE,
    UA,
    Declared,
    Layers,
    Level,
    Pairs,
    decide,
)
from newscrawl.css.colors import parse_legacy_color
from newscrawl.css.computed import Computed, ComputedStyle, Page, compute, initial
from newscrawl.css.declarations import parse_declarations
from newscrawl.css.matcher import Match, Matcher, StyleTree
from newscrawl.css.rules import Block, FiledRules, filed_rules, ua_rules, valid_pairs
from newscrawl.css.sources import Source, Sources, collect
from newscrawl.css.ua import Hints, presentational_hints
from newscrawl.css.variables import Scope
from newscrawl.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from newscrawl.css.sheet import Sheet
    from newscrawl.css.store import SheetStore
    from newscrawl.document import Document

Matches = tuple[Match[Block], ...]

_TELLING = frozenset(("[style", "[hidden", "[popover", "font", "body", "table"))
"""Names of elements that may say something of their style themselves."""

_NOTHING: tuple[None, Hints] = (None, ())


class _Place:
    """The place of a sheet's rules in the cascade of a page."""

    __slots__ = ("important", "normal", "number", "ranks")

    def __init__(self, number: int, ranks: Mapping[str | None, int], *, ua: bool = False) -> None:
        self.number = number
        #: layer of the sheet -> its place among the page's
        self.ranks = ranks
        self.normal, self.important = (UA, IMPORTANT_UA) if ua else (AUTHOR, IMPORTANT_AUTHOR)

    def levels(self, match: Match[Block]) -> list[tuple[Level, Pairs]]:
        """Return what a rule says, each importance at its level of the cascade."""
        block, specificity = match.payload, match.specificity
        normal, important = block.pairs
        rank, number, rule = self.ranks[block.layer], self.number, block.number
        levels = [(Level(self.normal, rank, specificity, number, rule), normal)] if normal else []
        if important:
            levels.append((Level(self.important, -rank, specificity, number, rule), important))
        return levels


class Stylesheets:
    """The styles of a page.

    *sheets* are those that it links or that others import, by absolute URL, as text or parsed;
    *base_url* is the page's own. With a *store* the blocks in the page and the sheets given as
    text are parsed through it. Bad style sheets raise nothing.
    """

    def __init__(
        self,
        document: Document,
        sheets: Mapping[str, str | Sheet] | None = None,
        *,
        base_url: str = "",
        store: SheetStore | None = None,
    ) -> None:
        self._document = document
        self._tree = StyleTree(document)
        sources = collect(document.root, sheets or {}, base_url, store)
        #: URLs of sheets that apply and were not given
        self.missing = sources.missing
        self._places: dict[FiledRules, _Place] = {}
        self._file(sources)
        self._matcher = Matcher(self._tree, self._places)
        self._body = document.tag.index("body") if "body" in document.tag else 0
        link = document.element(self._body).get("link", "")
        self._page = Page(self._tree.quirks, parse_legacy_color(link))
        self._levels: dict[int, list[tuple[Level, Pairs]]] = {}
        self._of_chain: dict[tuple[int, int], Computed] = {}
        self._declared: dict[tuple[int, str | None, Hints], Declared] = {}
        self._shared: dict[tuple[int, int], Computed] = {}
        self._computed: dict[int, Computed] = {-1: initial(_scope(sources))}

    @property
    def complete(self) -> bool:
        """Whether no sheet is missing, and none was so costly that matching was given up."""
        return not self.missing and not self._tree.exhausted

    def style_of(self, row: int) -> ComputedStyle:
        """Return the computed style of an element, or of a text node's parent."""
        document, computed = self._document, self._computed
        if document.tag[row] == TEXT:
            row = document.parent[row]
        path: list[int] = []
        while row not in computed:
            path.append(row)
            row = document.parent[row]
        found = computed[row]
        for below in reversed(path):
            found = computed[below] = self._compute(below, found)
        return found.style

    def _file(self, sources: Sources) -> None:
        """Give every sheet its place in the cascade, and find the rules filed before."""
        quirks, layers = self._tree.quirks, Layers()
        for path in sources.layers:
            layers.add(path)
        self._places[ua_rules(quirks=quirks)] = _Place(0, {None: layers.rank(())}, ua=True)
        copies: dict[tuple[int, tuple[str, ...]], int] = {}
        for number, source in enumerate(sources.sheets, 1):
            # Of two equal sheets the later counts, unless they are in different layers.
            copy = copies.setdefault((id(source.sheet), source.layer), len(copies))
            if source.kept:
                rules = filed_rules(source.sheet, quirks=quirks, copy=copy if source.layer else 0)
            else:
                rules = FiledRules(source.sheet, quirks=quirks)
            self._places[rules] = _Place(number, _ranks(source, layers))

    def _compute(self, row: int, parent: Computed) -> Computed:
        tree, matcher = self._tree, self._matcher
        chain = tree.chain(row)
        key = (id(parent), chain)
        computed = self._of_chain.get(key)
        if computed is None:
            matches = matcher.matches(row)
            plain = tree.names[row].isdisjoint(_TELLING)
            own = _NOTHING if plain else self._attributes(row)
            computed = self._of_rules(parent, matches, *own)
            if plain and matcher.shares(chain):
                self._of_chain[key] = computed
        return computed

    def _of_rules(
        self, parent: Computed, matches: Matches, style: str | None, hints: Hints
    ) -> Computed:
        # The matcher keeps its tuples: an id stays that of one set of rules.
        rules = (id(matches), style, hints)
        declared = self._declared.get(rules)
        if declared is None:
            declared = self._declared[rules] = self._decide(matches, style, hints)
        key = (id(parent), id(declared))
        computed = self._shared.get(key)
        if computed is None:
            root = self._computed.get(0)
            rem = root.size.pixels if root else None
            computed = self._shared[key] = compute(declared, parent, self._page, rem)
        return computed

    def _attributes(self, row: int) -> tuple[str | None, Hints]:
        """Return what the attributes of an element say of its style."""
        element, tag = self._document.element(row), self._document.tag[row]
        hints = presentational_hints(tag, element)
        if tag == "table" and self._tree.quirks:
            # https://quirks.spec.whatwg.org/#the-tables-inherit-color-from-body-quirk
            hints = (("color", self.style_of(self._body).color), *hints)
        return element.get("style"), hints

    def _decide(self, matches: Matches, style: str | None, hints: Hints) -> Declared:
        blocks: list[tuple[Level, Pairs]] = [(Level(HINTS, 0), hints)] if hints else []
        for match in matches:
            levels = self._levels.get(id(match))
            if levels is None:
                levels = self._places[match.payload.sheet].levels(match)
                self._levels[id(match)] = levels
            blocks += levels
        if style:
            normal, important = valid_pairs(parse_declarations(style), quirks=self._tree.quirks)
            blocks += [(Level(STYLE, 0), normal), (Level(IMPORTANT_STYLE, 0), important)]
        return decide(blocks)


def _ranks(source: Source, layers: Layers) -> dict[str | None, int]:
    """Return the places of the layers of a sheet."""
    names: list[str | None] = [None, *source.sheet.layers]
    return {name: layers.rank(source.path(name)) for name in names}


def _scope(sources: Sources) -> Scope:
    return Scope(
        {
            name: (initial_value, inherits)
            for source in sources.sheets
            for name, initial_value, inherits in source.sheet.properties
        }
    )
