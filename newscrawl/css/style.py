"""Computed style of the text nodes of a page, on demand (DocEng 2011, 3.2; thesis, 3.1).

Styles are computed only for requested nodes and their ancestors. Elements that no selector can
distinguish share one :class:`_Element`, also with later pages that have the same sheets: a tree of
tag, id, class and style from the root down. Only selectors that look at siblings or at values of
attributes are matched again for each element.

https://drafts.csswg.org/css-cascade-5/
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import accumulate
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.css.hiding import may_hide
from newscrawl.css.parser import Sheet, mask, parse_declarations, parse_sheet
from newscrawl.css.selectors import (
    MAX_STEPS,
    StyleTree,
    compile_selector,
    index_rules,
    names_of,
)
from newscrawl.css.sheet_links import CollectedSheets, style_blocks
from newscrawl.css.sheet_store import PAGE_STORE
from newscrawl.css.values import (
    MEDIUM,
    REMOVING,
    FontSize,
    Pending,
    Variables,
    Wide,
    parse_value,
    relative_weight,
)
from newscrawl.document.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    from newscrawl.css.parser import Declaration
    from newscrawl.css.selectors import Selector
    from newscrawl.css.sheet_store import SheetStore
    from newscrawl.css.values import Value
    from newscrawl.document.document import Document

    Values: TypeAlias = tuple[tuple[str, Value | str], ...]
    """(property, value), each property once; the value of a custom property is its text."""

    Signature: TypeAlias = tuple[str | None, ...]

    LayerRank: TypeAlias = tuple[float, ...]

DEFAULT_SHEET = """
area, base, datalist, dialog:not([open]), head, link, meta, noembed, noframes, noscript, param, rp,
script, style, template, title, input[type="hidden"], [hidden] { display: none }
b, strong { font-weight: bolder }
th, h1, h2, h3, h4, h5, h6 { font-weight: bold }
h1 { font-size: 2em }
h2 { font-size: 1.5em }
h3 { font-size: 1.17em }
h5 { font-size: .83em }
h6 { font-size: .67em }
code, kbd, pre, samp, tt { font-family: monospace }
big { font-size: larger }
small, sub, sup { font-size: smaller }
a:any-link, area:any-link { color: #0000ee }
mark { color: black }
button, input, select, textarea { font: 13.3333px arial; color: black }
option { font-weight: normal }
"""
"""Default style sheet of browsers, as far as it affects text.

https://html.spec.whatwg.org/multipage/rendering.html
"""

BOLD = 600  # minimum weight

MAX_HIDDEN_SIZE = 1.0  # px, of text that nobody reads

MAX_SUBSTITUTED = 8_000_000
"""Characters of one page in which variables are substituted."""

MAX_ANCESTOR_NAMES = 1_000_000
"""Names in all sets of names of ancestors of a page, about 60 MB."""

MAX_CACHED_STACKS = 16
MAX_CACHED_ENTRIES = 50_000
"""Rules and shared elements in the cached stacks of a thread, about 50 MB."""


@dataclass(frozen=True, slots=True)
class ComputedStyle:
    """The computed style of an element's text."""

    #: in px
    font_size: float = MEDIUM
    #: 1..1000, 400 is normal
    font_weight: float = 400.0
    #: names in lower case, by preference
    font_family: tuple[str, ...] = ("times new roman",)
    #: ``#rrggbb``, or the notation of the sheet; to be compared with colours of the same page only
    color: str = "#000000"
    #: whether ``display`` is ``none`` for the element or an ancestor
    display_none: bool = False
    #: whether ``visibility`` is ``visible``
    visible: bool = True
    #: whether the element or an ancestor is clipped, off screen, or transparent and without height
    removed: bool = False

    @property
    def bold(self) -> bool:
        """Whether the weight is 600 or more."""
        return self.font_weight >= BOLD

    @property
    def hidden(self) -> bool:
        """Whether a reader does not see the text."""
        is_hidden = self.display_none or self.removed or not self.visible
        return is_hidden or self.font_size <= MAX_HIDDEN_SIZE


INITIAL_STYLE = ComputedStyle()
_FIELDS = {
    "font-size": "font_size", "font-weight": "font_weight", "font-family": "font_family",
    "color": "color", "display": "display_none", "visibility": "visible",
}  # fmt: skip

# Transparent elements fade in, those without height unfold.
_TOGETHER = frozenset(("opacity", "height", "max-height"))

# Origins and importance in cascade order.
_DEFAULT, _AUTHOR, _STYLE, _IMPORTANT, _IMPORTANT_STYLE = range(5)


@dataclass(slots=True, eq=False)
class _Entry:
    """A selector in the sheets of a page, compiled when it is first needed."""

    text: str | None
    declarations: str
    layer: LayerRank
    #: number of the sheet in the cascade, 0 for the default style sheet, and of the rule
    place: tuple[int, int]
    compiled: Selector | None = None
    #: declarations with their cascade key
    blocks: list[tuple[tuple[Any, ...], Values]] | None = None


def parse_block(declarations: Iterable[Declaration]) -> tuple[Values, Values]:
    """Return the normal and the important values of *declarations*."""
    parts: tuple[dict[str, Value | str], dict[str, Value | str]] = ({}, {})
    for name, text, important in declarations:
        parts[important].update({name: text} if name.startswith("--") else parse_value(name, text))
    return tuple(parts[0].items()), tuple(parts[1].items())


class SheetStack:
    """The sheets of a page in cascade order, with the elements that pages with them share."""

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        self._sheets = (_default_sheet(), *sheets)
        self._buckets: dict[str, list[_Entry]] = {}
        self._rule_count = sum(len(sheet.rules) for sheet in sheets)
        self._layers = _layer_ranks(sheets)
        #: characters in which variables may still be substituted on the current page
        self.budget = [MAX_SUBSTITUTED]
        self.root = _Element(frozenset(), INITIAL_STYLE, Variables({}, None, self.budget))
        #: shared elements so far
        self.elements = 0

    @property
    def size(self) -> int:
        """Number of rules and shared elements."""
        return self._rule_count + self.elements

    def candidates(self, names: Iterable[str]) -> list[_Entry]:
        """Return the selectors that an element with *names* may match."""
        found: list[_Entry] = []
        for name in (*names, "*"):
            if name not in self._buckets:
                self._buckets[name] = self._bucket(name)
            found += self._buckets[name]
        return found

    def _bucket(self, name: str) -> list[_Entry]:
        """Return the selectors whose subject has *name*."""
        bucket: list[_Entry] = []
        for place, sheet in enumerate(self._sheets):
            if sheet.index is None:
                sheet.index = index_rules(sheet.rules)
            for text, number in sheet.index.get(name, ()):
                _, declarations, layer = sheet.rules[number]
                bucket.append(_Entry(text, declarations, self._layers[layer], (place, number)))
        return bucket

    def blocks(self, entry: _Entry) -> list[tuple[tuple[Any, ...], Values]]:
        """Return the declarations of a rule that matches, with their keys in the cascade."""
        if entry.blocks is None:
            normal, important = parse_block(parse_declarations(entry.declarations))
            place = entry.compiled.specificity if entry.compiled else (), *entry.place
            entry.blocks = []
            if normal:
                origin = _AUTHOR if entry.place[0] else _DEFAULT
                entry.blocks.append(((origin, entry.layer, *place), normal))
            if important:  # layers in reverse order
                rank = tuple(-number for number in entry.layer)
                entry.blocks.append(((_IMPORTANT, rank, *place), important))
        return entry.blocks


def _layer_ranks(sheets: Iterable[Sheet]) -> dict[str, LayerRank]:
    """Return the ranks of layers in the cascade: by first mention, above their inner ones."""
    order: dict[str, int] = {}
    ranks: defaultdict[str, LayerRank] = defaultdict(lambda: (inf,))
    for layer in (layer for sheet in sheets for layer in sheet.layers):
        around = list(accumulate(layer.split("."), "{}.{}".format))
        ranks[layer] = (*(order.setdefault(name, len(order)) for name in around), inf)
    return ranks


@cache
def _default_sheet() -> Sheet:
    return parse_sheet(DEFAULT_SHEET)


@dataclass(slots=True, eq=False)
class _Element:
    """Elements of equal signatures and ancestors that match the same rules."""

    #: names of the element and its ancestors, None if they are too many
    all_names: frozenset[str] | None
    style: ComputedStyle
    variables: Variables
    children: dict[Signature, _Matched] = field(default_factory=dict)


class _Matched(NamedTuple):
    """The rules for the elements of one signature and one parent."""

    names: frozenset[str]
    all_names: frozenset[str] | None
    #: rules that match all of them
    certain: list[_Entry]
    #: selectors to be matched with each of them
    open: list[tuple[Selector, _Entry]]
    #: declarations of their own attributes
    own: list[tuple[tuple[Any, ...], Values]]
    #: indexes of the open ones that match -> elements
    elements: dict[tuple[int, ...], _Element]


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
        self._given = sheets or {}
        self._base_url = base_url
        self._store = store or PAGE_STORE
        #: whether matching exceeded its limit; then only the default style sheet matches
        self.exhausted = False
        self._name_count = 0
        self._root_size = MEDIUM
        self._elements: dict[int, _Element] = {}

    @cached_property
    def _collected(self) -> CollectedSheets:
        return CollectedSheets(self._document, self._given, self._base_url, self._store)

    @property
    def missing(self) -> list[str]:
        """URLs of the sheets that are not given."""
        return self._collected.missing

    @cached_property
    def _stack(self) -> SheetStack:
        """The sheets in cascade order, parsed when a style is first needed."""
        sheets = [
            self._store.parsed(sheet) if isinstance(sheet, str) else sheet
            for sheet in self._collected.found
        ]
        stack = stacks.get(sheets)
        stack.budget[0] = MAX_SUBSTITUTED
        return stack

    @property
    def complete(self) -> bool:
        """Whether no sheet is missing and matching did not exceed its limit."""
        return not self.missing and not self.exhausted

    def style_of(self, row: int) -> ComputedStyle:
        """Return the computed style of an element, or of the parent of a text node."""
        document, elements = self._document, self._elements
        if not elements:
            elements[-1] = self._stack.root
        if document.tag[row] == TEXT:
            row = document.parent[row]
        path: list[int] = []
        while row not in elements:
            path.append(row)
            row = document.parent[row]
        found = elements[row]
        for below in reversed(path):
            found = elements[below] = self._element(below, found)
        if self._tree.steps > MAX_STEPS:
            self._give_up()
            return self.style_of(row)
        return found.style

    def may_hide(self, rows: Iterable[int]) -> bool:
        """Return whether sheets may hide one of the elements *rows*, judged by names."""
        sheets = self._collected.found if self._given else style_blocks(self._document)
        return may_hide(self._document, sheets, rows, self._store)

    def _element(self, row: int, parent: _Element) -> _Element:
        """Return the shared element of *row*, whose parent is given."""
        attributes = self._document.attributes_of(row)
        keys = tuple(attributes)
        tag, get = self._document.tag[row], attributes.get
        signature: Signature = (tag, get("id"), get("class"), get("style"), *keys)
        matched = parent.children.get(signature)
        if matched is None:
            matched = self._matched(row, parent, signature, keys)
            parent.children[signature] = matched
        tree = self._tree
        tree.names[row] = matched.names
        matching: tuple[int, ...] = ()
        if matched.open:
            tree.steps += len(matched.open)
            matching = tuple(
                [n for n, (selector, _) in enumerate(matched.open) if selector.matches(row, tree)]
            )
        found = matched.elements.get(matching)
        if found is None:
            found = matched.elements[matching] = self._computed(parent, matched, matching)
        if row == 0:
            self._root_size = found.style.font_size
        return found

    def _give_up(self) -> None:
        """Match only the default style sheet from now on."""
        stacks.remove(self._stack)
        self.exhausted = True
        self._stack = SheetStack(())
        self._elements = {-1: self._stack.root}
        self._tree.steps = -sys.maxsize

    def _matched(
        self, row: int, parent: _Element, signature: Signature, keys: Sequence[str]
    ) -> _Matched:
        """Match the selectors with an element of a new signature."""
        tree, stack = self._tree, self._stack
        tag = signature[0] or ""
        names = names_of(tag, signature[1], signature[2], tuple(keys), row == 0)
        tree.names[row] = names
        all_names = parent.all_names
        if all_names is not None and not names <= all_names:
            all_names = all_names | names
            self._name_count += len(all_names)
            all_names = None if self._name_count > MAX_ANCESTOR_NAMES else all_names
        certain: list[_Entry] = []
        opened: list[tuple[Selector, _Entry]] = []
        for entry in stack.candidates(names):
            tree.steps += 1
            if tree.steps > MAX_STEPS:
                break
            if entry.text is not None:
                tree.steps += len(entry.text) >> 4
                entry.compiled, entry.text = compile_selector(entry.text), None
            selector = entry.compiled
            if (
                selector is None
                or not selector.compounds[0].names <= names
                or not (all_names is None or selector.required <= all_names)
            ):
                continue
            if selector.per_element:
                opened.append((selector, entry))
            elif selector.matches(row, tree):
                certain.append(entry)
        stack.elements += 1
        own = _own_declarations(signature[3])
        return _Matched(names, all_names, certain, opened, own, {})

    def _computed(self, parent: _Element, matched: _Matched, matching: Sequence[int]) -> _Element:
        """Return a new shared element: the cascade and the computed values."""
        entries = [*matched.certain, *(matched.open[n][1] for n in matching)]
        blocks = [block for entry in entries for block in self._stack.blocks(entry)]
        blocks += matched.own
        blocks.sort(key=itemgetter(0))
        values: dict[str, Value | str] = {}
        for _, block in blocks:
            values.update(block)
            self._tree.steps += len(block)
        variables = parent.variables
        own = {name: text for name, text in values.items() if name[0] == "-"}
        if own:
            variables = Variables(own, variables, self._stack.budget)  # type: ignore[arg-type]
        style = _computed_style(values, parent.style, variables, self._root_size)
        return _Element(matched.all_names, style, variables)


def _own_declarations(style: str | None) -> list[tuple[tuple[Any, ...], Values]]:
    """Return the declarations of a ``style`` attribute, with their cascade keys."""
    if not style:
        return []
    normal, important = parse_block(parse_declarations(mask(style)))
    place = (), (0, 0, 0), 0, 0
    return [((_STYLE, *place), normal), ((_IMPORTANT_STYLE, *place), important)]


def _computed_style(
    values: Mapping[str, Value | str], parent: ComputedStyle, variables: Variables, root_size: float
) -> ComputedStyle:
    """Return the style of an element with these cascaded *values*."""
    changed = {
        field: _computed(name, values[name], getattr(parent, field), variables, root_size)
        for name, field in _FIELDS.items()
        if name in values
    }
    if parent.display_none:
        changed["display_none"] = True
    removing = {name for name in REMOVING if values.get(name) is True}
    if removing - _TOGETHER or ("opacity" in removing and len(removing) > 1):
        changed["removed"] = True
    return replace(parent, **changed) if changed else parent


def _computed(name: str, value: Any, inherited: Any, variables: Variables, root_size: float) -> Any:
    """Return the computed value of a declared property."""
    if isinstance(value, Pending):  # unset if it is invalid with its variables substituted
        text = variables.substitute(value.text)
        value = dict(parse_value(value.name, text) if text else ()).get(name)
        if value is None or isinstance(value, Pending):
            value = Wide("unset")
    if isinstance(value, Wide):
        is_inherited = name != "display" and value.keyword != "initial"
        keeps = is_inherited or value.keyword == "inherit"
        return inherited if keeps else getattr(INITIAL_STYLE, _FIELDS[name])
    if isinstance(value, FontSize):
        return value.pixels(inherited, root_size)
    if name == "font-weight" and isinstance(value, str):
        return relative_weight(value, inherited)
    return inherited if value == "currentcolor" else value


class _StackCache(threading.local):
    """The recently used stacks of this thread, by the identity of their sheets."""

    def __init__(self) -> None:
        self._stacks: OrderedDict[tuple[int, ...], SheetStack] = OrderedDict()

    def get(self, sheets: Sequence[Sheet]) -> SheetStack:
        """Return the stack of *sheets*, which keeps them alive."""
        key = tuple(map(id, sheets))
        size = sum(stack.size for stack in self._stacks.values())
        while self._stacks and (len(self._stacks) > MAX_CACHED_STACKS or size > MAX_CACHED_ENTRIES):
            size -= self._stacks.popitem(last=False)[1].size
        if key not in self._stacks:
            self._stacks[key] = SheetStack(sheets)
        self._stacks.move_to_end(key)
        return self._stacks[key]

    def clear(self) -> None:
        """Remove all stacks."""
        self._stacks.clear()

    def remove(self, stack: SheetStack) -> None:
        """Remove a stack whose elements are incomplete."""
        for key in [key for key, cached in self._stacks.items() if cached is stack]:
            del self._stacks[key]


stacks = _StackCache()
