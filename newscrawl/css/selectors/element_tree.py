"""A page as selectors see it: names, siblings and attributes of elements, read on demand.

Elements are known by their row in the :class:`~newscrawl.document.document.Document`. Nothing is read
before a selector or a caller asks for it, so a page of which few nodes are styled costs little.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from newscrawl.css.selectors.quirks import quirks_mode
from newscrawl.document.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from newscrawl.document.document import Document

    _Looks: TypeAlias = tuple[str | None, ...]

V = TypeVar("V")

MOST_STEPS = 2_000_000
"""Elements compared with parts of selectors before matching gives up on a page: a few seconds.

The dearest of the labelled news pages takes a tenth of it with its whole tree styled."""

MOST_NAMES = 1_000_000
"""Names kept in sets of ancestors' names, all sets of a page together: some 60 MB."""

_NO_SPACE = re.compile(r"[^ \t\n\f\r]+")
_AUTO_DIRECTION = 1000


def ascii_lower(text: str) -> str:
    """Return *text* with A to Z in lower case, as CSS compares names; others stay."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


_LOWER = {capital: capital + 32 for capital in range(65, 91)}


class _OnDemand(dict[int, V], Generic[V]):
    """Values by row, computed when first asked for."""

    __slots__ = ("_compute",)

    def __init__(self, compute: Callable[[int], V]) -> None:
        self._compute = compute

    def __missing__(self, row: int) -> V:
        value = self[row] = self._compute(row)
        return value


class StyleTree:
    """The elements of a document, for selectors.

    The mappings fill themselves: ``tree.names[row]`` may be written for any row of an element.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        #: tag of each row, :data:`~newscrawl.document.document.TEXT` where it is no element
        self.tag = document.tag
        #: row of the parent, -1 for the root
        self.parent = document.parent
        #: whether ids and classes match in any case
        self.quirks = quirks_mode(document)
        #: the element whose ``:has()`` is looked into
        self.anchor = 0
        #: work done in matching, see :data:`MOST_STEPS`
        self.steps = 0
        #: results that tests keep for the page
        self.memo: dict[Hashable, bool | list[int]] = {}
        #: tag, ``#id``, ``.class`` and ``[attribute`` of each; ``:root``, too, of the root
        self.names = _OnDemand(self._names)
        #: rows of the elements that are children; of -1, the root
        self.children = _OnDemand(self._children)
        self._chain: dict[int, int] = {-1: 0}
        self._chains: dict[tuple[int, _Looks], int] = {}
        self._names_of: dict[_Looks, frozenset[str]] = {}
        self._names_above: dict[int, frozenset[str] | None] = {0: frozenset()}
        self._kept_names = 0
        self._named: dict[str, list[int]] | None = None
        self._languages: dict[int, str] = {-1: ""}
        self._directions: dict[int, str] = {-1: "ltr"}

    @property
    def exhausted(self) -> bool:
        """Whether matching has given up on this page: from here on nothing matches."""
        return self.steps > MOST_STEPS

    def attribute(self, row: int, name: str) -> str | None:
        """Return the value of an attribute, None where the element has none of that name."""
        return self.document.element(row).get(name)

    def chain(self, row: int) -> int:
        """Return a number that rows share which look alike, as do their ancestors.

        Alike are elements of the same tag, id, class attribute and names of attributes.
        """
        known = self._chain
        if row in known:
            return known[row]
        path = [row]
        while (row := self.parent[row]) not in known:
            path.append(row)
        for below in reversed(path):
            self._enter(below)
        return known[path[0]]

    def _names(self, row: int) -> frozenset[str]:
        self.chain(row)
        return self.names[row]

    def _enter(self, row: int) -> None:
        """Read an element whose parent is known."""
        element: Any = self.document.element(row)
        attributes = element.keys()
        looks: _Looks = (
            self.tag[row],
            element.get("id") if "id" in attributes else None,
            element.get("class") if "class" in attributes else None,
            *attributes,
        )
        above = self._chain[self.parent[row]]
        key = (above, looks)
        chain = self._chains.get(key)
        if chain is None:
            chain = self._chains[key] = len(self._chains) + 1
        self._chain[row] = chain
        names = self._names_of.get(looks)
        if names is None:
            names = self._names_of[looks] = frozenset(self._split(looks))
        self.names[row] = names if above else names | {":root"}

    def _split(self, looks: _Looks) -> Iterator[str]:
        tag, own_id, classes, *attributes = looks
        yield tag or ""
        yield from (f"[{name}" for name in attributes)
        if own_id:
            yield f"#{ascii_lower(own_id) if self.quirks else own_id}"
        if classes:
            if self.quirks:
                classes = ascii_lower(classes)
            # split() takes more for white space than HTML does, of which ASCII has next to nothing
            names = classes.split() if classes.isascii() else _NO_SPACE.findall(classes)
            yield from (f".{name}" for name in names)

    def ancestor_names(self, row: int) -> frozenset[str] | None:
        """Return the names of all ancestors of *row*; None if they are too many to keep."""
        row, known = self.parent[row], self._names_above
        path = []
        while (chain := self.chain(row)) not in known:
            path.append((chain, row))
            row = self.parent[row]
        names = known[chain]
        for below, place in reversed(path):
            names = known[below] = self._joined(names, self.names[place])
        return names

    def _joined(self, above: frozenset[str] | None, own: frozenset[str]) -> frozenset[str] | None:
        if above is None or self._kept_names > MOST_NAMES:
            return None
        if own <= above:
            return above
        joined = above | own
        self._kept_names += len(joined)
        return joined

    def _children(self, row: int) -> list[int]:
        if row < 0:
            return [0]
        return [child for child in self.document.children(row) if self.tag[child] != TEXT]

    def siblings(self, row: int) -> list[int]:
        """Return the rows of the element children of *row*'s parent, *row* among them."""
        return self.children[self.parent[row]]

    def previous(self, row: int) -> int:
        """Return the element before *row* among its siblings, -1 where it is the first."""
        siblings = self.children[self.parent[row]]
        place = bisect_left(siblings, row)
        return siblings[place - 1] if place else -1

    def following(self, row: int) -> list[int]:
        """Return the elements after *row* among its siblings."""
        siblings = self.children[self.parent[row]]
        return siblings[bisect_left(siblings, row) + 1 :]

    def named(self, name: str, first: int, last: int) -> Iterator[int]:
        """Yield the elements of rows *first* to *last* - 1 that have *name*; ``*`` is any."""
        if self._named is None:
            self._named = self._all_names()
        rows = self._named.get(name, [])
        for place in range(bisect_left(rows, first), bisect_left(rows, last)):
            yield rows[place]

    def _all_names(self) -> dict[str, list[int]]:
        named: dict[str, list[int]] = {"*": []}
        for row, tag in enumerate(self.tag):
            if tag != TEXT:
                named["*"].append(row)
                for name in self.names[row]:
                    named.setdefault(name, []).append(row)
        return named

    def language(self, row: int) -> str:
        """Return the language of *row*, "" where the page does not say."""
        return self._inherited(row, self._languages, self._own_language)

    def _own_language(self, row: int) -> str | None:
        return self.attribute(row, "lang")

    def direction(self, row: int) -> str:
        """Return the direction of *row*: ``ltr`` or ``rtl``.

        https://html.spec.whatwg.org/multipage/dom.html#the-directionality
        """
        return self._inherited(row, self._directions, self._own_direction)

    def _own_direction(self, row: int) -> str | None:
        value = ascii_lower(self.attribute(row, "dir") or "")
        if value in {"ltr", "rtl"}:
            return value
        if value == "auto" or self.tag[row] == "bdi":
            return self._text_direction(row)
        return None

    def _text_direction(self, row: int) -> str:
        """Return the direction of the first letter that has one, near the start of the text."""
        for text in self.document.text[row : min(self.document.end[row], row + _AUTO_DIRECTION)]:
            for character in text[:_AUTO_DIRECTION]:
                if (kind := unicodedata.bidirectional(character)) in {"L", "R", "AL"}:
                    return "ltr" if kind == "L" else "rtl"
        return "ltr"

    def _inherited(self, row: int, known: dict[int, str], own: Callable[[int], str | None]) -> str:
        path = []
        while row not in known:
            path.append(row)
            value = own(row)
            if value is not None:
                known[row] = value
                break
            row = self.parent[row]
        value = known[row]
        known.update(dict.fromkeys(path, value))
        return value
