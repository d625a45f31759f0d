"""Lazy view of a document for selectors: names, siblings and attributes of elements.

Elements are identified by their row in the :class:`~newscrawl.document.document.Document`. Data is
read when needed, so styling few nodes of a page costs little.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from newscrawl.css.selectors.quirks_mode import quirks_mode
from newscrawl.document.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from newscrawl.document.document import Document

    Signature: TypeAlias = tuple[str | None, ...]
    """Tag, id, class and names of all attributes of an element; the root has one item more."""

V = TypeVar("V")

MAX_MATCH_STEPS = 2_000_000
"""Limit of the matching work per page (a few seconds), after which nothing matches any more."""

MAX_ANCESTOR_NAMES = 1_000_000
"""Limit of the names in all cached sets of ancestor names of a page, about 60 MB."""

_NO_SPACE = re.compile(r"[^ \t\n\f\r]+")
_MAX_DIRECTION_SCAN = 1000


def ascii_lower(text: str) -> str:
    """Return *text* with only A to Z in lower case, as CSS compares names."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


_LOWER = {capital: capital + 32 for capital in range(65, 91)}


class _LazyDict(dict[int, V], Generic[V]):
    """Values by row, computed on first access."""

    __slots__ = ("_compute",)

    def __init__(self, compute: Callable[[int], V]) -> None:
        self._compute = compute

    def __missing__(self, row: int) -> V:
        value = self[row] = self._compute(row)
        return value


@lru_cache(16384)  # the pages of a site share most signatures
def _names_of(signature: Signature, quirks: bool) -> frozenset[str]:  # noqa: FBT001
    """Return the names of elements with *signature*."""
    tag, own_id, classes, *attributes = signature
    names = [tag or "", *(name if name == ":root" else f"[{name}" for name in attributes)]
    if own_id:
        names.append(f"#{ascii_lower(own_id) if quirks else own_id}")
    if classes:
        classes = ascii_lower(classes) if quirks else classes
        # split() is faster but splits at more characters than HTML does, outside of ASCII
        found = classes.split() if classes.isascii() else _NO_SPACE.findall(classes)
        names += [f".{name}" for name in found]
    return frozenset(names)


class Path:
    """The elements whose signatures, and those of their ancestors, are equal."""

    __slots__ = ("children", "known", "names", "parent", "signature", "with_ancestors")

    def __init__(self, parent: Path | None, signature: Signature, names: frozenset[str]) -> None:
        #: None above the root element
        self.parent = parent
        self.signature = signature
        self.names = names
        #: names of the element and its ancestors if *known*, None above :data:`MAX_ANCESTOR_NAMES`
        self.with_ancestors: frozenset[str] | None = frozenset()
        self.known = parent is None
        self.children: dict[Signature, Path] = {}


class StyleTree:
    """The elements of a document, as selectors see them.

    The mappings compute missing values, so ``tree.names[row]`` works for any element row.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        #: tag of each row, :data:`~newscrawl.document.document.TEXT` for text nodes
        self.tag = document.tag
        #: row of the parent, -1 for the root
        self.parent = document.parent
        #: whether ids and classes match case-insensitively
        self.quirks = quirks_mode(document)
        #: the element whose ``:has()`` is being evaluated
        self.anchor = 0
        #: matching work so far, see :data:`MAX_MATCH_STEPS`
        self.steps = 0
        #: results cached by tests for this page
        self.memo: dict[Hashable, bool | list[int]] = {}
        #: tag, ``#id``, ``.class`` and ``[attribute`` of each element, and ``:root`` for the root
        self.names = _LazyDict(self._names)
        #: rows of the child elements; for -1, the root
        self.children = _LazyDict(self._children)
        #: names of the child elements together
        self.child_names = _LazyDict(self._child_names)
        self._paths: dict[int, Path] = {-1: Path(None, (), frozenset())}
        self._cached_name_count = 0
        self._rows_by_name: dict[str, list[int]] | None = None
        self._languages: dict[int, str] = {-1: ""}
        self._directions: dict[int, str] = {-1: "ltr"}

    @property
    def exhausted(self) -> bool:
        """Whether the limit of the matching work is reached, so that nothing matches any more."""
        return self.steps > MAX_MATCH_STEPS

    def attribute(self, row: int, name: str) -> str | None:
        """Return the value of an attribute, None if the element does not have it."""
        return self.document.element(row).get(name)

    def path(self, row: int) -> Path:
        """Return the path of an element, one object for equal signatures up to the root."""
        paths = self._paths
        path = paths.get(row)
        if path is None:
            rows, ancestor = [row], row
            while (ancestor := self.parent[ancestor]) not in paths:
                rows.append(ancestor)
            path = paths[ancestor]
            for below in reversed(rows):
                path = self._register(below, path)
        return path

    def _names(self, row: int) -> frozenset[str]:
        return self.path(row).names

    def _register(self, row: int, parent: Path) -> Path:
        """Register an element whose parent is registered."""
        element: Any = self.document.element(row)
        attributes = element.keys()
        signature: Signature = (
            self.tag[row],
            element.get("id") if "id" in attributes else None,
            element.get("class") if "class" in attributes else None,
            *attributes,
        )
        path = parent.children.get(signature)
        if path is None:
            own = signature if row else (*signature, ":root")
            path = Path(parent, own, _names_of(own, self.quirks))
            parent.children[signature] = path
        self._paths[row] = path
        self.names[row] = path.names
        return path

    def ancestor_names(self, path: Path) -> frozenset[str] | None:
        """Return the names of all ancestors of *path*, None above :data:`MAX_ANCESTOR_NAMES`."""
        parent = path.parent
        if parent is None:
            return frozenset()
        if not parent.known:
            self._read_ancestors(parent)
        return parent.with_ancestors

    def _read_ancestors(self, path: Path) -> None:
        unknown = []
        above: Path | None = path
        while above is not None and not above.known:
            unknown.append(above)
            above = above.parent
        names = above.with_ancestors if above else frozenset()
        for below in reversed(unknown):
            names = below.with_ancestors = self._union(names, below.names)
            below.known = True

    def _union(self, names: frozenset[str] | None, more: frozenset[str]) -> frozenset[str] | None:
        if names is None or self._cached_name_count > MAX_ANCESTOR_NAMES:
            return None
        if more <= names:
            return names
        union = names | more
        self._cached_name_count += len(union)
        return union

    def _children(self, row: int) -> list[int]:
        if row < 0:
            return [0]
        return [child for child in self.document.children(row) if self.tag[child] != TEXT]

    def _child_names(self, row: int) -> frozenset[str]:
        self.steps += len(self.children[row])
        return frozenset().union(*[self.names[child] for child in self.children[row]])

    def siblings(self, row: int) -> list[int]:
        """Return the rows of *row* and its sibling elements."""
        return self.children[self.parent[row]]

    def previous(self, row: int) -> int:
        """Return the previous sibling element of *row*, -1 if there is none."""
        siblings = self.children[self.parent[row]]
        position = bisect_left(siblings, row)
        return siblings[position - 1] if position else -1

    def named(self, name: str, first: int, last: int) -> Iterator[int]:
        """Yield the elements in rows *first* to *last* - 1 that have *name*; ``*`` means all."""
        if self._rows_by_name is None:
            self._rows_by_name = self._all_names()
        rows = self._rows_by_name.get(name, [])
        for position in range(bisect_left(rows, first), bisect_left(rows, last)):
            yield rows[position]

    def _all_names(self) -> dict[str, list[int]]:
        named: dict[str, list[int]] = {"*": []}
        for row, tag in enumerate(self.tag):
            if tag != TEXT:
                named["*"].append(row)
                for name in self.names[row]:
                    named.setdefault(name, []).append(row)
        return named

    def language(self, row: int) -> str:
        """Return the language of *row*, "" if it is not specified."""
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
        """Return the direction of the first strong character near the start of the text."""
        for text in self.document.text[
            row : min(self.document.end[row], row + _MAX_DIRECTION_SCAN)
        ]:
            for character in text[:_MAX_DIRECTION_SCAN]:
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
