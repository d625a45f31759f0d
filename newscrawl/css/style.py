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
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.css.parser import Sheet, mask, parse_declarations, parse_sheet
from newscrawl.css.selectors import (
    MAX_STEPS,
    StyleTree,
    compile_selector,
    index_rules,
    names_of,
    required_ancestor,
)
from newscrawl.css.sheet_links import collect_sheets
from newscrawl.css.values import (
    MEDIUM,
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
button, input, select, textarea { font: 13.3333px arial; color: black }
option { font-weight: normal }
"""
"""Default style sheet of browsers, as far as it affects text.

https://html.spec.whatwg.org/multipage/rendering.html
"""

BOLD = 600
"""Minimum weight of bold text."""

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

    @property
    def bold(self) -> bool:
        """Whether the weight is 600 or more."""
        return self.font_weight >= BOLD


INITIAL_STYLE = ComputedStyle()
_FIELDS = {
    "font-size": "font_size",
    "font-weight": "font_weight",
    "font-family": "font_family",
    "color": "color",
    "display": "display_none",
    "visibility": "visible",
}

# Origins and importance in cascade order.
_DEFAULT, _AUTHOR, _STYLE, _IMPORTANT, _IMPORTANT_STYLE = range(5)


class _Entry:
    """A selector in the sheets of a page, compiled when it is first needed."""

    __slots__ = ("blocks", "compiled", "declarations", "place", "text")

    def __init__(self, text: str, declarations: str, place: tuple[int, int]) -> None:
        self.text: str | None = text
        self.declarations = declarations
        #: number of the sheet in the cascade, 0 for the default style sheet, and of the rule
        self.place = place
        self.compiled: Selector | None = None
        #: declarations with their cascade key
        self.blocks: list[tuple[tuple[Any, ...], Values]] | None = None


def sheet_index(sheet: Sheet) -> dict[str, list[tuple[str, int]]]:
    """Return the index of the selectors of *sheet*, made once."""
    if sheet.index is None:
        sheet.index = index_rules(sheet.rules)
    return sheet.index


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
        self._buckets: dict[str, dict[str, list[_Entry]]] = {}
        self._rule_count = sum(len(sheet.rules) for sheet in sheets)
        #: characters in which variables may still be substituted on the current page
        self.budget = [MAX_SUBSTITUTED]
        self.root = _Element(frozenset(), INITIAL_STYLE, Variables({}, None, self.budget))
        #: shared elements so far
        self.elements = 0

    @property
    def size(self) -> int:
        """Number of rules and shared elements."""
        return self._rule_count + self.elements

    def candidates(
        self, names: Iterable[str], all_names: frozenset[str] | None
    ) -> Iterable[_Entry]:
        """Return the selectors that an element with *names* may match.

        *all_names* are those of its ancestors as well, None if they are not known.
        """
        found: list[_Entry] = []
        for name in (*names, "*"):
            bucket = self._buckets.get(name)
            if bucket is None:
                bucket = self._buckets[name] = self._bucket(name)
            found += bucket.get("", ())
            for required in bucket if all_names is None else bucket.keys() & all_names:
                found += bucket[required]
        return found

    def _bucket(self, name: str) -> dict[str, list[_Entry]]:
        """Return the selectors whose subject has *name*, by another name that they require."""
        bucket: dict[str, list[_Entry]] = {}
        for place, sheet in enumerate(self._sheets):
            for text, number in sheet_index(sheet).get(name, ()):
                entry = _Entry(text, sheet.rules[number][1], (place, number))
                bucket.setdefault(required_ancestor(text), []).append(entry)
        return bucket

    def blocks(self, entry: _Entry) -> list[tuple[tuple[Any, ...], Values]]:
        """Return the declarations of a rule that matches, with their keys in the cascade."""
        if entry.blocks is None:
            normal, important = parse_block(parse_declarations(entry.declarations))
            place = entry.compiled.specificity if entry.compiled else (), *entry.place
            entry.blocks = []
            if normal:
                origin = _AUTHOR if entry.place[0] else _DEFAULT
                entry.blocks.append(((origin, *place), normal))
            if important:
                entry.blocks.append(((_IMPORTANT, *place), important))
        return entry.blocks


@cache
def _default_sheet() -> Sheet:
    return parse_sheet(DEFAULT_SHEET)


class _Element:
    """Elements of equal signatures and ancestors that match the same rules."""

    __slots__ = ("all_names", "children", "style", "variables")

    def __init__(
        self,
        all_names: frozenset[str] | None,
        style: ComputedStyle,
        variables: Variables,
    ) -> None:
        #: names of the element and its ancestors, None if they are too many
        self.all_names = all_names
        self.style = style
        self.variables = variables
        self.children: dict[Signature, _Matched] = {}


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
        found, self.missing = collect_sheets(document.root, sheets or {}, base_url, store)
        self._stack = stacks.get(found)
        #: whether matching exceeded its limit; then only the default style sheet matches
        self.exhausted = False
        self._stack.budget[0] = MAX_SUBSTITUTED
        self._name_count = 0
        self._root_size = MEDIUM
        self._elements: dict[int, _Element] = {-1: self._stack.root}

    @property
    def complete(self) -> bool:
        """Whether no sheet is missing and matching did not exceed its limit."""
        return not self.missing and not self.exhausted

    def style_of(self, row: int) -> ComputedStyle:
        """Return the computed style of an element, or of the parent of a text node."""
        document, elements = self._document, self._elements
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

    def _element(self, row: int, parent: _Element) -> _Element:
        """Return the shared element of *row*, whose parent is given."""
        element: Any = self._document.element(row)
        keys = element.keys()
        tag, get = self._document.tag[row], element.get
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
        for entry in stack.candidates(names, all_names):
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
            elif parent.all_names is not None and selector.by_names:
                if selector.compounds[-1].names <= (
                    names if len(selector.compounds) == 1 else parent.all_names
                ):
                    certain.append(entry)
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
    place = (0, 0, 0), 0, 0
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
