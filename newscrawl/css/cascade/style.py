"""The computed style of a page's text nodes, on demand.

Nothing is computed but for the nodes asked for and their ancestors. What no selector can tell
apart is matched once, the cascade is run once for every set of rules, and a style computed once
for every (parent's style, cascaded values).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.css.cascade.cascade import (
    HINTS,
    IMPORTANT_STYLE,
    STYLE,
    Declared,
    Level,
    Pairs,
    decide,
)
from newscrawl.css.cascade.computed import Computed, ComputedStyle, PageDefaults, compute
from newscrawl.css.cascade.default_stylesheet import Hints, presentational_hints
from newscrawl.css.cascade.matcher import Match, Matcher, StyleTree
from newscrawl.css.cascade.rule_index import Block, valid_pairs
from newscrawl.css.cascade.sheet_sources import collect
from newscrawl.css.cascade.sheet_stack import stack_of
from newscrawl.css.syntax.declarations import parse_declarations
from newscrawl.css.values.colors import parse_legacy_color
from newscrawl.document.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from newscrawl.css.sheets.sheet import Sheet
    from newscrawl.css.sheets.sheet_store import SheetStore
    from newscrawl.document.document import Document

Matches = tuple[Match[Block], ...]

_TELLING = frozenset(("[style", "[hidden", "[popover", "font", "body", "table"))
"""Names of elements that may say something of their style themselves."""

_NOTHING: tuple[None, Hints] = (None, ())


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
        self._stack = stack_of(sources, quirks=self._tree.quirks)
        self._matcher = Matcher(self._tree, self._stack.known)
        self._body = document.tag.index("body") if "body" in document.tag else 0
        link = document.element(self._body).get("link", "")
        self._page = PageDefaults(self._tree.quirks, parse_legacy_color(link))
        self._of_chain: dict[tuple[int, int], Computed] = {}
        self._own: dict[tuple[int, str | None, Hints], Declared] = {}
        self._of_own: dict[tuple[int, int], Computed] = {}
        self._computed: dict[int, Computed] = {-1: self._stack.initial(self._page)}

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
        if style is None and not hints:
            return self._of_sheets(parent, matches)
        rules = (id(matches), style, hints)
        declared = self._own.get(rules)
        if declared is None:
            declared = self._own[rules] = self._decide(matches, style, hints)
        key = (id(parent), id(declared))
        computed = self._of_own.get(key)
        if computed is None:
            computed = self._of_own[key] = self._below(parent, declared)
        return computed

    def _of_sheets(self, parent: Computed, matches: Matches) -> Computed:
        stack = self._stack
        declared = stack.declared.get(id(matches))
        if declared is None:
            declared = stack.declared[id(matches)] = self._decide(matches)
        computed = parent.children.get(id(declared))
        if computed is None:
            computed = self._below(parent, declared)
            if computed is not parent:
                parent.children[id(declared)] = computed
                stack.computed += 1
        return computed

    def _below(self, parent: Computed, declared: Declared) -> Computed:
        root = self._computed.get(0)
        return compute(declared, parent, self._page, root.size.pixels if root else None)

    def _attributes(self, row: int) -> tuple[str | None, Hints]:
        """Return what the attributes of an element say of its style."""
        element, tag = self._document.element(row), self._document.tag[row]
        hints = presentational_hints(tag, element)
        if tag == "table" and self._tree.quirks:
            # https://quirks.spec.whatwg.org/#the-tables-inherit-color-from-body-quirk
            hints = (("color", self.style_of(self._body).color), *hints)
        return element.get("style"), hints

    def _decide(self, matches: Matches, style: str | None = None, hints: Hints = ()) -> Declared:
        blocks: list[tuple[Level, Pairs]] = [(Level(HINTS, 0), hints)] if hints else []
        for match in matches:
            blocks += self._stack.levels(match)
        if style:
            normal, important = valid_pairs(parse_declarations(style), quirks=self._tree.quirks)
            blocks += [(Level(STYLE, 0), normal), (Level(IMPORTANT_STYLE, 0), important)]
        return decide(blocks)
