"""Computed style of the text nodes of a page, on demand.

Styles are computed only for requested nodes and their ancestors. Elements that no selector can
distinguish are matched once, the cascade runs once per set of rules, and a style is computed once
per (style of the parent, cascaded values).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.css.cascade.cascaded_values import (
    HINTS,
    IMPORTANT_STYLE,
    STYLE,
    CascadedValues,
    CascadeKey,
    cascade,
)
from newscrawl.css.cascade.computed_values import ComputedStyle, ElementStyle, PageDefaults, compute
from newscrawl.css.cascade.default_stylesheet import Hints, presentational_hints
from newscrawl.css.cascade.matcher import Matcher
from newscrawl.css.cascade.rule_index import Block, Match, parse_values
from newscrawl.css.cascade.sheet_sources import collect_sheets
from newscrawl.css.cascade.sheet_stack import sheet_stack
from newscrawl.css.selectors.style_tree import StyleTree
from newscrawl.css.syntax.declarations import parse_declarations
from newscrawl.css.values.colors import parse_legacy_color
from newscrawl.document.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from newscrawl.css.cascade.cascaded_values import DeclarationBlock
    from newscrawl.css.sheets.sheet import Sheet
    from newscrawl.css.sheets.sheet_store import SheetStore
    from newscrawl.document.document import Document

Matches = tuple[Match[Block], ...]

_SELF_STYLED = frozenset(("[style", "[hidden", "[popover", "font", "body", "table"))
"""Names of elements that may have a ``style`` attribute or presentational hints."""


class Stylesheets:
    """The computed styles of a page.

    *sheets* are the linked and imported sheets by absolute URL, as text or parsed; *base_url* is
    the URL of the page. A *store* caches the parsed ``style`` blocks and sheets given as text.
    Invalid style sheets raise no error.
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
        sources = collect_sheets(document.root, sheets or {}, base_url, store)
        #: URLs of sheets that apply and were not supplied
        self.missing = sources.missing
        self._stack = sheet_stack(sources, quirks=self._tree.quirks)
        self._matcher = Matcher(self._tree, self._stack.match_cache)
        self._body = document.tag.index("body") if "body" in document.tag else 0
        link = document.element(self._body).get("link", "")
        self._page = PageDefaults(self._tree.quirks, parse_legacy_color(link))
        # Caches; the ids are those of objects that stay alive with the page or the stack.
        #: id of the matches, style attribute, hints -> cascaded values
        self._own_cascaded: dict[tuple[int, str | None, Hints], CascadedValues] = {}
        #: id of the parent's style, id of the cascaded values -> style
        self._by_own: dict[tuple[int, int], ElementStyle] = {}
        self._computed: dict[int, ElementStyle] = {-1: self._stack.initial(self._page)}

    @property
    def exhausted(self) -> bool:
        """Whether matching exceeded its limit; then only the default style sheet matches."""
        return self._matcher.exhausted

    @property
    def complete(self) -> bool:
        """Whether no sheet is missing and matching did not exceed its limit."""
        return not self.missing and not self.exhausted

    def style_of(self, row: int) -> ComputedStyle:
        """Return the computed style of an element, or of the parent of a text node."""
        document, computed = self._document, self._computed
        if document.tag[row] == TEXT:
            row = document.parent[row]
        path: list[int] = []
        while row not in computed:
            path.append(row)
            row = document.parent[row]
        found = computed[row]
        for descendant in reversed(path):
            found = computed[descendant] = self._compute(descendant, found)
        return found.style

    def _compute(self, row: int, parent: ElementStyle) -> ElementStyle:
        matches = self._matcher.matches(row)
        if self._tree.names[row].isdisjoint(_SELF_STYLED):
            return self._style_from_sheets(parent, matches)
        return self._style_with_attributes(parent, matches, *self._attributes(row))

    def _style_with_attributes(
        self, parent: ElementStyle, matches: Matches, style: str | None, hints: Hints
    ) -> ElementStyle:
        if style is None and not hints:
            return self._style_from_sheets(parent, matches)
        rules = (id(matches), style, hints)
        cascaded = self._own_cascaded.get(rules)
        if cascaded is None:
            cascaded = self._own_cascaded[rules] = self._cascade(matches, style, hints)
        key = (id(parent), id(cascaded))
        computed = self._by_own.get(key)
        if computed is None:
            computed = self._by_own[key] = self._compute_child(parent, cascaded)
        return computed

    def _style_from_sheets(self, parent: ElementStyle, matches: Matches) -> ElementStyle:
        stack = self._stack
        cascaded = stack.cascaded.get(id(matches))
        if cascaded is None:
            cascaded = stack.cascaded[id(matches)] = self._cascade(matches)
        computed = parent.children.get(id(cascaded))
        if computed is None:
            computed = self._compute_child(parent, cascaded)
            if computed is not parent:
                parent.children[id(cascaded)] = computed
                stack.computed_count += 1
        return computed

    def _compute_child(self, parent: ElementStyle, cascaded: CascadedValues) -> ElementStyle:
        root = self._computed.get(0)
        return compute(cascaded, parent, self._page, root.size.pixels if root else None)

    def _attributes(self, row: int) -> tuple[str | None, Hints]:
        """Return the ``style`` attribute and the presentational hints of an element."""
        element, tag = self._document.element(row), self._document.tag[row]
        hints = presentational_hints(tag, element)
        if tag == "table" and self._tree.quirks:
            # https://quirks.spec.whatwg.org/#the-tables-inherit-color-from-body-quirk
            hints = (("color", self.style_of(self._body).color), *hints)
        return element.get("style"), hints

    def _cascade(
        self, matches: Matches, style: str | None = None, hints: Hints = ()
    ) -> CascadedValues:
        blocks: list[DeclarationBlock] = [(CascadeKey(HINTS, 0), hints)] if hints else []
        for match in matches:
            blocks += self._stack.declarations(match)
        if style:
            normal, important = parse_values(parse_declarations(style), quirks=self._tree.quirks)
            blocks += [(CascadeKey(STYLE, 0), normal), (CascadeKey(IMPORTANT_STYLE, 0), important)]
        return cascade(blocks)
