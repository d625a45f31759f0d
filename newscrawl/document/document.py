"""A page as preorder arrays over its tree.

A row is an element or a text node with text, in document order. The subtree T_u of row ``u`` is the
slice ``u : end[u]``; its characters and link characters are differences of prefix sums. Later steps
read these arrays. The lxml tree is only parsed for steps that use its elements.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from copy import copy
from functools import cached_property
from itertools import accumulate, compress, filterfalse, islice, zip_longest
from typing import TYPE_CHECKING, Any

from lxml import etree

from newscrawl.compiled import compiled, is_compiled
from newscrawl.document.encoding import is_binary, to_utf8
from newscrawl.document.flatten import flatten
from newscrawl.document.guard import drop_surplus_attributes
from newscrawl.document.html_tables import LIBXML_VERSION
from newscrawl.document.repair import (
    close_noscripts,
    close_open_title,
    needs_repair,
    repair_tree,
    show_fallbacks,
    show_shadow_roots,
)
from newscrawl.document.rows import (
    BLOCK_LEVEL,
    HEAD,
    INVISIBLE,
    LEADING,
    MAX_LABEL,
    SCRIPT,
    TEXT,
    TRAILING,
    WIDGET,
    Rows,
)
from newscrawl.text import squeeze, unescape, without_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

__all__ = [
    "COMPILED",
    "HEAD",
    "INVISIBLE",
    "MAX_DEPTH",
    "MAX_LABEL",
    "MAX_PAGE_BYTES",
    "SCRIPT",
    "TEXT",
    "WIDGET",
    "Document",
    "DocumentError",
    "parse_document",
    "rows_between",
]

MAX_PAGE_BYTES = 32 * 1024 * 1024
"""Size of the largest page that is parsed."""

MAX_TAGS = 400_000
"""Tags that are parsed, end tags included. The largest page of 4,007 has 20,574."""

MAX_TEXTS = 60_000
"""Texts between tags that are parsed. Each takes 3 KB of memory."""

_LONE_RETURN = re.compile(rb"\r(?!\n)")
_TEXT_END, _TAG = re.compile(rb"[^>]<"), re.compile(rb"<")

MAX_DEPTH = 1000
"""Levels that are kept of a tree that exceeds libxml2's limit of 2,048 levels."""

_HAS_SAME_RULES = etree.LIBXML_VERSION[:2] == LIBXML_VERSION


@compiled("newscrawl.document._read_rows", max_tags=MAX_TAGS, max_texts=MAX_TEXTS)
def read_rows(
    utf8: bytes,  # noqa: ARG001  # only the compiled function reads it
    *,
    scripts: bool = False,  # noqa: ARG001
    shown: AbstractSet[int] = frozenset(),  # noqa: ARG001
) -> Rows | None:
    """Return the columns of a page, those of :func:`~newscrawl.document.flatten.flatten`.

    A parser spends most of its time on nodes and attributes that are not used, and on freeing them.
    *utf8* is valid UTF-8 without NUL and carriage return. No attribute hides the elements at the
    rows *shown*. None: the columns have to be read from the tree, because the compiled module is
    missing, there are more than :data:`MAX_TAGS` or :data:`MAX_TEXTS`, elements are nested in more
    than 2,000 others, a tag has more than 256 attributes, or a name has 100 bytes or more.
    """
    return None


@compiled("newscrawl.document._read_rows")
def read_attributes(utf8: bytes, place: int) -> dict[str, str]:
    """Return the attributes of the tag of which they begin at *place*: for :func:`read_rows`."""
    raise NotImplementedError


@compiled("newscrawl.document._read_rows")
def with_newlines(utf8: bytes) -> bytes:
    """Return *utf8* with a newline in place of each end of a line, as browsers read it."""
    return _LONE_RETURN.sub(b"\n", utf8).translate(None, b"\r")


COMPILED = is_compiled(read_rows)
"""Whether pages are read without a tree."""

# Their first bytes are found fast; the attribute before a target is matched afterwards.
_CONTROLS = re.compile(rb"""aria-controls\s*=\s*["']?([^"'<>#]{1,200})""")
_TARGET = re.compile(rb"""#([^"'<>#\s]{1,200})""")
_TARGETING = re.compile(rb"""\s(?:href|data-(?:bs-)?target)\s*=\s*["']?\Z""", re.IGNORECASE)
_TARGETING_BYTES = 30
_DATA_ATTRIBUTE = re.compile(rb"""=(?:"([{\[][^"]{400,})"|'([{\[][^']{400,})')""")
_IMAGE_TAGS = frozenset(("svg", "math"))
_NAMES = ("class", "id", "itemtype")
_BREAKS = BLOCK_LEVEL | {"br", "td", "th"}


class DocumentError(ValueError):
    """The input is not an HTML page: empty, binary or too large."""


class Document(Rows):
    """A parsed page, created by :func:`parse_document`: its columns and, on demand, its tree."""

    def __init__(
        self,
        columns: Rows,
        encoding: str,
        flags: list[str],
        *,
        root: etree._Element | None = None,
        source: bytes = b"",
    ) -> None:
        """*root* is the tree of *columns*; if None, it is parsed from *source* on demand."""
        for name in Rows.__slots__:
            setattr(self, name, getattr(columns, name))
        self._root = root
        self._is_of_tree = root is not None
        #: bytes of the page in UTF-8, after repairs
        self.source = source
        #: codec that the bytes were decoded with
        self.encoding = encoding
        #: ``attributes_dropped``, ``depth_exceeded``, ``encoding_repaired``, ``truncated``
        self.flags = flags

    def __len__(self) -> int:
        return len(self.tag)

    @property
    def root(self) -> etree._Element:
        """The ``html`` element; the tree has no comments and no processing instructions.

        If libxml2 has other rules than :mod:`~newscrawl.document.html_tables` and its tree differs
        from the rows, the tree is built from them.
        """
        if self._root is None:
            root = _parse(self.source, [])
            self._root = root if _HAS_SAME_RULES or self._is_of(root) else self._rebuild()
        return self._root

    def _is_of(self, root: etree._Element) -> bool:
        """Return whether the elements of *root* are those of the rows."""
        tags = (tag for tag in self.tag if tag != TEXT)
        return all(
            own == other
            for own, other in zip_longest(tags, (element.tag for element in root.iter()))
        )

    def _rebuild(self) -> etree._Element:
        """Return a tree of the rows."""
        elements: list[etree._Element] = []
        for row, tag in enumerate(self.tag):
            parent = elements[self.parent[row]] if row else None
            if tag != TEXT:
                element = _element(tag, self.attributes_of(row))
                elements.append(element)
                if parent is not None:
                    parent.append(element)
                continue
            assert parent is not None  # noqa: S101  # the first row is an element
            elements.append(parent)
            text = without_controls(self.text[row])
            if len(parent):
                parent[-1].tail = f"{parent[-1].tail or ''} {text}"
            else:
                parent.text = f"{parent.text or ''} {text}"
        return elements[0]

    @cached_property
    def controlled(self) -> frozenset[str]:
        """Ids of elements that a control of the page opens: values of ``aria-controls``."""
        source = self.source
        found = _CONTROLS.findall(source)
        for target in _TARGET.finditer(source):
            mark = target.start()
            if source[mark - 1] in b"\"'=" and _TARGETING.search(
                source, max(0, mark - _TARGETING_BYTES), mark
            ):
                found.append(target[1])
        return frozenset(b" ".join(found).decode(errors="replace").split())

    def scripts(self, wanted: Iterable[str] = ("",)) -> Iterator[tuple[str, str]]:
        """Yield attributes and text of the ``script`` elements with one of *wanted*, as written."""
        parts = [part.encode(errors="replace") for part in wanted]
        source = self.source
        lower = source if b"<script" in source else source.lower()
        start = lower.find(b"<script")
        while start >= 0:
            text_start = lower.find(b">", start) + 1
            end = lower.find(b"</script", text_start)
            if not text_start or end < 0:
                return
            text = source[text_start:end]
            if any(part in text for part in parts):
                attributes = source[start + len(b"<script") : text_start - 1]
                yield attributes.decode(errors="replace"), text.decode(errors="replace")
            start = lower.find(b"<script", end)

    def data_attributes(self) -> Iterator[str]:
        """Yield long values of attributes that begin like JSON."""
        for quoted, other in _DATA_ATTRIBUTE.findall(self.source):
            yield unescape((quoted or other).decode(errors="replace"))

    def element(self, row: int) -> etree._Element:
        """Return the lxml element of *row*; for a text node, its parent."""
        return self._elements[row]

    def row_of(self, element: etree._Element) -> int:
        """Return the row of *element*, of the tree of :attr:`root`."""
        return self._rows_by_element[element]

    @cached_property
    def _rows_by_element(self) -> dict[etree._Element, int]:
        rows = enumerate(zip(self._elements, self.tag, strict=True))
        return {element: row for row, (element, tag) in rows if tag != TEXT}

    @cached_property
    def _elements(self) -> list[etree._Element]:
        """The element of each row, all at once: fetching a third of them one by one is slower."""
        following = self.root.iter()
        elements: list[etree._Element] = []
        for tag, parent in zip(self.tag, self.parent, strict=True):
            elements.append(elements[parent] if tag == TEXT else next(following))
        return elements

    def chars(self, row: int) -> float:
        """Return the length of text(T_u): weighted characters of shown text below *row*."""
        return self.chars_before[self.end[row]] - self.chars_before[row]

    def attributes_of(self, row: int) -> Mapping[str, str]:
        """Return the attributes of the element at *row*, from the source if there is no tree."""
        if not self.places:
            return dict(self.element(row).items())  # type: ignore[arg-type]  # of HTML, text
        place = self.places[row]
        return read_attributes(self.source, place) if place >= 0 else {}

    def link_chars(self, row: int) -> float:
        """Return the weighted characters inside ``a`` elements of the subtree of *row*."""
        return self.link_chars_before[self.end[row]] - self.link_chars_before[row]

    def link_density(self, row: int) -> float:
        """Return linkdensity(T_u), in 0..1; 0 without text."""
        end, links = self.end[row], self.link_chars_before
        chars = self.chars_before[end] - self.chars_before[row]
        return (links[end] - links[row]) / chars if chars else 0.0

    def text_nodes(self, row: int = 0) -> Sequence[int]:
        """Return the rows of shown text nodes in the subtree of *row*, in document order."""
        return self.shown_rows if row == 0 else rows_between(self.shown_rows, row, self.end[row])

    def rows_of(self, tag: str) -> Sequence[int]:
        """Return the rows of the elements with *tag*, in document order."""
        return self.by_tag.get(tag, ())

    def rows_named(
        self,
        parts: Iterable[str],
        columns: Iterable[str] = _NAMES,
        accept: Callable[[str], bool] | None = None,
    ) -> list[int]:
        """Return the rows whose value in *columns* contains one of *parts*, in lower case.

        *columns* are of class, id and item type; only values that *accept* returns True for count.
        """
        names, text = self._names
        named: set[str] = set()
        for part in parts:
            before = text.split(part)[:-1]
            places = accumulate([it.count("\0") for it in before])
            named.update(map(names.__getitem__, places))
        if accept is not None:
            named = set(filter(accept, named))
        rows: set[int] = set()
        for values in map(self.attributes.__getitem__, columns if named else ()):
            rows.update(compress(values, map(named.__contains__, values.values())))
        return sorted(rows)

    @cached_property
    def _names(self) -> tuple[list[str], str]:
        """The classes, ids and item types of the page, and these in lower case as one text."""
        names = list(set().union(*(self.attributes[column].values() for column in _NAMES)))
        return names, "\0".join(names).lower()

    def with_hidden(self, ranges: Sequence[range]) -> Document:
        """Return a copy with hidden rows in *ranges*, which shares the tree; itself without them.

        The ranges are in document order and do not overlap.
        """
        if not ranges:
            return self
        reduced = copy(self)
        reduced.hidden = bytearray(self.hidden)
        for rows in ranges:
            hidden = self.hidden[rows.start : rows.stop]
            reduced.hidden[rows.start : rows.stop] = hidden.replace(b"\0", bytes((INVISIBLE,)))
        reduced.shown_rows = list(filterfalse(reduced.hidden.__getitem__, self.text_rows))
        reduced.chars_before = _sums_without(self.chars_before, ranges)
        reduced.link_chars_before = _sums_without(self.link_chars_before, ranges)
        return reduced

    def with_shown(self, rows: AbstractSet[int]) -> Document:
        """Return the document without hiding by attributes of the elements at *rows*."""
        columns, root = None, None
        if not self._is_of_tree:
            columns = read_rows(self.source, shown=rows)
        if columns is None:
            root = self.root
            columns = flatten(root, shown=rows)
        return Document(columns, self.encoding, self.flags, root=root, source=self.source)

    def with_fallbacks(self) -> Document:
        """Return the document with what ``noscript``, ``template``, ``srcdoc``, scripts hold."""
        return self.with_source(show_fallbacks(self.source))

    def with_source(self, source: bytes, *, scripts: bool = False) -> Document:
        """Return the document of a changed *source*; itself if it is the same."""
        if source == self.source:
            return self
        source, columns, root = _read(source, [], scripts=scripts)
        return Document(columns, self.encoding, self.flags, root=root, source=source)

    def children(self, row: int) -> Iterator[int]:
        """Yield the rows of the children of *row*, text nodes included."""
        child, last = row + 1, self.end[row]
        while child < last:
            yield child
            child = self.end[child]

    def ancestors(self, row: int) -> Iterator[int]:
        """Yield the rows of the ancestors of *row*, closest first."""
        row = self.parent[row]
        while row >= 0:
            yield row
            row = self.parent[row]

    def closest_ancestors(self, row: int, count: int) -> list[int]:
        """Return the rows of at most *count* ancestors of *row*, closest first."""
        parent = self.parent
        rows: list[int] = []
        row = parent[row]
        while row >= 0 and len(rows) < count:
            rows.append(row)
            row = parent[row]
        return rows

    def subtree_text(self, row: int) -> str:
        """Return the shown text of the subtree of *row*, one space between text nodes."""
        end = self.end[row]
        shown = zip(self.text[row:end], self.hidden[row:end], strict=True)
        return " ".join([text for text, hidden in shown if text and not hidden])

    def shown_text(self, row: int) -> str:
        """Return the text of the subtree of *row* as a browser shows it, on one line."""
        inside = rows_between(self.shown_rows, row, self.end[row])
        return squeeze(self.text[inside[0]]) if len(inside) == 1 else self.join_texts(inside)

    def join_texts(self, rows: Iterable[int]) -> str:
        """Return the joined text of the text nodes *rows*, with the spaces of the page only."""
        parts: list[str] = []
        last: int | None = None
        for row in rows:
            if last is not None and self.is_apart(last, row):
                parts.append(" ")
            parts.append(self.text[row])
            last = row
        return squeeze("".join(parts))

    def is_apart(self, row: int, following: int) -> bool:
        """Return whether white space or a break separates two text nodes, in document order."""
        space, tag, end = self.space, self.tag, self.end
        if space[row] & TRAILING or space[following] & LEADING:
            return True
        for above in self.ancestors(row):
            if end[above] > following:
                break
            if space[above] & TRAILING or tag[above] in _BREAKS:
                return True
        between = row + 1
        while between < following:
            is_open = end[between] > following
            if tag[between] != TEXT and not (self.hidden[between] and not is_open):
                if tag[between] in _BREAKS or space[between] & (LEADING if is_open else 3):
                    return True
                between += 1
            else:
                if tag[between] != TEXT and space[between] & TRAILING:
                    return True
                between = end[between]
        return False

    @cached_property
    def json_ld(self) -> list[str]:
        """Texts of the JSON-LD scripts."""
        json_ld = "application/ld+json"
        return [it.script for it in self.statements if it.script and it.get("type") == json_ld]

    @cached_property
    def title_row(self) -> int | None:
        """Row of the first ``title`` element outside of images; None if there is none."""
        for row in self.rows_of("title"):
            if not any(self.tag[above] in _IMAGE_TAGS for above in self.ancestors(row)):
                return row
        return None

    @cached_property
    def title(self) -> str:
        """Text of the ``title`` element, white space squeezed."""
        if self.title_row is None:
            return ""
        return squeeze(" ".join(self.text[self.title_row : self.end[self.title_row]]))


def rows_between(rows: Sequence[int], start: int, stop: int) -> Sequence[int]:
    """Return those of the sorted *rows* from *start* to before *stop*."""
    first = bisect_left(rows, start)
    return rows[first : bisect_left(rows, stop, first)]


def _sums_without(before: Sequence[float], ranges: Sequence[range]) -> list[float]:
    """Return the prefix sums *before* with the rows in *ranges* set to zero."""
    sums: list[float] = []
    removed = 0.0
    for rows in ranges:
        sums += [total - removed for total in before[len(sums) : rows.start]]
        sums += [before[rows.start] - removed] * len(rows)
        removed += before[rows.stop] - before[rows.start]
    return sums + [total - removed for total in before[len(sums) :]]


def parse_document(
    html: bytes | str, encoding: str | None = None, *, scripts: bool = False
) -> Document:
    """Return the :class:`Document` of a page.

    *encoding* is the charset of the HTTP header (:mod:`newscrawl.document.encoding` decides whether
    it is used). With *scripts*, text of script, style, noscript, template and svg elements gets
    rows, marked ``SCRIPT``: CoreEx R1 to R4 count it. Raises :class:`DocumentError` if the input is
    not an HTML page.
    """
    flags: list[str] = []
    if isinstance(html, str):
        utf8, encoding = html.encode(errors="replace"), "str"
        _check(utf8)
    else:
        _check(html)
        utf8, encoding, repaired = to_utf8(html, encoding)
        if repaired:
            flags.append("encoding_repaired")
    utf8 = utf8.replace(b"\0", b"")
    if b"\r" in utf8:
        utf8 = with_newlines(utf8)
    utf8, columns, root = _read(utf8, flags, scripts=scripts)
    for change in (show_shadow_roots, close_open_title, close_noscripts):
        if (changed := change(columns, utf8)) is not None:
            utf8, columns, root = _read(changed, flags, scripts=scripts)
    if needs_repair(columns):
        root = _parse(utf8, flags) if root is None else root
        repair_tree(root)
        columns = flatten(root, scripts=scripts)
    return Document(columns, encoding, flags, root=root, source=utf8)


def _read(
    utf8: bytes, flags: list[str], *, scripts: bool
) -> tuple[bytes, Rows, etree._Element | None]:
    """Return the page as it was read, its columns, and the tree if they had to be read from it."""
    columns = read_rows(utf8, scripts=scripts)
    if columns is None and (first := _first_tags(utf8)) is not None:
        utf8 = first
        flags.append("truncated")
        columns = read_rows(utf8, scripts=scripts)
    if columns is not None:
        return utf8, columns, None
    if (shortened := drop_surplus_attributes(utf8)) is not None:
        utf8 = shortened
        flags.append("attributes_dropped")
    root = _parse(utf8, flags)
    return utf8, flatten(root, scripts=scripts), root


def _first_tags(utf8: bytes) -> bytes | None:
    """Return the page up to :data:`MAX_TAGS` and :data:`MAX_TEXTS`; None if it has fewer."""
    if utf8.count(b"<") <= MAX_TEXTS:
        return None
    limits = ((_TEXT_END, MAX_TEXTS), (_TAG, MAX_TAGS))
    ends = (next(islice(it.finditer(utf8), limit, None), None) for it, limit in limits)
    ends_of_part = [end.end() - 1 for end in ends if end]
    return utf8[: min(ends_of_part)] if ends_of_part else None


def _check(data: bytes) -> None:
    if len(data) > MAX_PAGE_BYTES:
        raise DocumentError(f"page of {len(data)} bytes exceeds the limit of {MAX_PAGE_BYTES}")
    if is_binary(data):
        raise DocumentError(f"not an HTML page: binary data starting with {data[:4]!r}")


def _parser(**options: Any) -> etree.HTMLParser:
    """Return a parser for one page, without the table of ids, which is not used."""
    options |= {"huge_tree": True, "collect_ids": False}
    return etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, **options)


def _parse(utf8: bytes, flags: list[str]) -> etree._Element:
    parser = _parser()
    try:
        root = etree.fromstring(utf8, parser)
        if root is not None and any(e.type_name == "ERR_RESOURCE_LIMIT" for e in parser.error_log):
            flags.append("depth_exceeded")
            root = etree.fromstring(utf8, _parser(target=_ShallowBuilder()))
    except etree.XMLSyntaxError as error:
        raise DocumentError(f"unparseable: {error}") from error
    if root is None:
        raise DocumentError("empty page")
    for late in list(root.itersiblings("html")):
        root.append(late)  # libxml2 builds a second tree from content after </html>
    return root


def _element(tag: str, attributes: Mapping[str, str]) -> etree._Element:
    """Return an element; libxml2 refuses some of the names and values that pages have."""
    try:
        return etree.Element(
            tag, {name: without_controls(text) for name, text in attributes.items()}
        )
    except ValueError:
        return etree.Element("span")


class _ShallowBuilder:
    """Parser target that drops elements below :data:`MAX_DEPTH` and keeps their text.

    libxml2's tree builder drops everything after its depth limit; its events have no limit.
    """

    def __init__(self) -> None:
        self._builder = etree.TreeBuilder()
        self._depth = 0

    def start(self, tag: str, attributes: dict[str | bytes, str | bytes]) -> None:
        self._depth += 1
        if self._depth <= MAX_DEPTH:
            self._builder.start(tag, attributes)

    def end(self, tag: str) -> None:
        if self._depth <= MAX_DEPTH:
            self._builder.end(tag)
        else:
            self._builder.data(" ")
        self._depth -= 1

    def data(self, text: str) -> None:
        self._builder.data(text)

    def close(self) -> etree._Element:
        return self._builder.close()
