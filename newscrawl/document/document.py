"""A page as one table: preorder arrays over the lxml tree.

A row is an element or a text node that is not blank, in document order. The subtree T_u of row
``u`` is the slice ``u : end[u]``; what the papers ask of a subtree, its characters and the
characters of its links, is a difference of prefix sums. Every later step reads these arrays and
makes no second walk.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from copy import copy
from functools import cached_property
from itertools import filterfalse
from typing import TYPE_CHECKING, Any

from lxml import etree

from newscrawl.compiled import compiled_module
from newscrawl.document import flatten as rows
from newscrawl.document.encoding import is_binary, to_utf8
from newscrawl.document.flatten import HEAD, INVISIBLE, SCRIPT, TEXT, WIDGET
from newscrawl.document.guard import drop_surplus_attributes
from newscrawl.document.repair import needs_repair, repair_tree, without_open_title
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "COMPILED",
    "HEAD",
    "INVISIBLE",
    "MOST_BYTES",
    "MOST_DEPTH",
    "SCRIPT",
    "TEXT",
    "WIDGET",
    "Document",
    "DocumentError",
    "parse_document",
]

MOST_BYTES = 32 * 1024 * 1024
"""Size of the largest page that is parsed."""

MOST_DEPTH = 1000
"""Where libxml2 gives up (2,048 levels) the tree is built again, elements below this left out."""

_CONTROLS = re.compile(rb"""aria-controls=["']([^"'<>]{1,200})""")
_IMAGES = frozenset(("svg", "math"))


class DocumentError(ValueError):
    """The bytes hold no page: empty, binary, or too large."""


_compiled = compiled_module("newscrawl.document._flatten")
flatten: Callable[..., rows.Rows] = _compiled.flatten if _compiled else rows.flatten
COMPILED = _compiled is not None
"""Whether pages are walked by the compiled pass. The environment variable
``NEWSCRAWL_NO_EXTENSIONS`` turns it off."""


class Document:
    """A parsed page.

    Made by :func:`parse_document`. All lists have one entry a row; prefix sums one more.
    """

    def __init__(
        self,
        root: etree._Element,
        encoding: str,
        flags: list[str],
        *,
        scripts: bool = False,
        source: bytes | None = None,
    ) -> None:
        self._root: etree._Element | None = root
        self._source = source
        #: the codec that the bytes were read with
        self.encoding = encoding
        #: ``attributes_dropped``, ``depth_exceeded``, ``encoding_repaired``
        self.flags = flags
        columns = flatten(root, scripts=scripts)
        if needs_repair(columns):
            repair_tree(root)
            columns = flatten(root, scripts=scripts)
        #: tag of an element, :data:`TEXT` of a text node
        self.tag = columns.tag
        #: row of the parent, -1 for the root
        self.parent = columns.parent
        #: row after the last of the subtree
        self.end = columns.end
        #: distance from the root
        self.depth = columns.depth
        #: text of a text node, white space stripped at the ends; "" for an element
        self.text = columns.text
        #: 0, or why the row's text does not count: SCRIPT, WIDGET, INVISIBLE, HEAD
        self.hidden = columns.hidden
        #: where white space stands, which :attr:`text` is without: bits of
        #: :class:`~newscrawl.document.flatten.Rows`
        self.space = columns.space
        #: the values of ``class``, ``id``, ``itemtype`` and ``role``, by name and row: without the
        #: elements, which are made for the asking
        self.attributes = columns.attributes
        #: weighted characters (:func:`~newscrawl.text.weighted_length`) of shown text before a row
        self.chars_before = columns.chars_before
        #: the same, of text inside ``a`` elements
        self.link_chars_before = columns.link_chars_before
        #: what elements state about the page (:data:`~newscrawl.document.flatten.STATING`), those with an
        #: ``itemprop``, too, in document order
        self.statements = columns.statements
        #: the rows of the text nodes, hidden ones too
        self.text_rows = columns.text_rows
        #: those whose text counts
        self.shown = columns.shown
        #: the short ones (:data:`~newscrawl.document.flatten.MOST_SHORT`) with a digit
        self.numbered = columns.numbered
        self._rows_by_tag = columns.by_tag

    def __len__(self) -> int:
        return len(self.tag)

    @property
    def root(self) -> etree._Element:
        """The ``html`` element; comments and processing instructions are not in the tree."""
        if self._root is None:
            self._root = _parse(self._source or b"", [])
            repair_tree(self._root)
        return self._root

    def release_tree(self) -> None:
        """Free the tree, if nobody else has an element of it: nothing else here needs it.

        To free it while it is in the processor's cache takes half of the time, a tenth of a parse.
        Where an element is asked for nevertheless, the page is parsed once more.
        """
        if self._source is not None:
            self._root = None
            self.__dict__.pop("_elements", None)

    @cached_property
    def controlled(self) -> frozenset[str]:
        """The ids of the elements that controls of the page open: values of ``aria-controls``."""
        found = _CONTROLS.findall(self._source or b"")
        return frozenset(" ".join(value.decode() for value in found).split())

    def element(self, row: int) -> etree._Element:
        """Return the lxml element of *row*; for a text node, its parent."""
        return self._elements[row]

    @cached_property
    def _elements(self) -> list[etree._Element]:
        """The element of each row; all at once, since one by one a third of them costs more."""
        following = self.root.iter()
        elements: list[etree._Element] = []
        for tag, parent in zip(self.tag, self.parent, strict=True):
            elements.append(elements[parent] if tag == TEXT else next(following))
        return elements

    def chars(self, row: int) -> float:
        """Return the size of text(T_u): weighted characters of shown text in the subtree of *row*."""
        return self.chars_before[self.end[row]] - self.chars_before[row]

    def link_chars(self, row: int) -> float:
        """Return the weighted characters inside ``a`` elements of the subtree of *row*."""
        return self.link_chars_before[self.end[row]] - self.link_chars_before[row]

    def link_density(self, row: int) -> float:
        """Return linkdensity(T_u), in 0..1; 0 where there is no text."""
        end, links = self.end[row], self.link_chars_before
        chars = self.chars_before[end] - self.chars_before[row]
        return (links[end] - links[row]) / chars if chars else 0.0

    def text_nodes(self, row: int = 0) -> Sequence[int]:
        """Return the rows of shown text nodes in the subtree of *row*, in document order."""
        rows = self.shown
        if row == 0:
            return rows
        first = bisect_left(rows, row)
        return rows[first : bisect_left(rows, self.end[row], first)]

    def rows_of(self, tag: str) -> Sequence[int]:
        """Return the rows of the elements *tag*, in document order."""
        return self._rows_by_tag.get(tag, ())

    def with_hidden(self, ranges: Sequence[range]) -> Document:
        """Return this document with the rows in *ranges* hidden, too; the tree is shared.

        The ranges are in document order and do not overlap.
        """
        shorn = copy(self)
        shorn.hidden = bytearray(self.hidden)
        for part in ranges:
            for row in part:
                shorn.hidden[row] = shorn.hidden[row] or INVISIBLE
        shorn.shown = list(filterfalse(shorn.hidden.__getitem__, self.text_rows))
        shorn.chars_before = _without(self.chars_before, ranges)
        shorn.link_chars_before = _without(self.link_chars_before, ranges)
        return shorn

    def children(self, row: int) -> Iterator[int]:
        """Yield the rows of the children of *row*, text nodes included."""
        child, last = row + 1, self.end[row]
        while child < last:
            yield child
            child = self.end[child]

    def ancestors(self, row: int) -> Iterator[int]:
        """Yield the rows of the ancestors of *row*, the closest first."""
        row = self.parent[row]
        while row >= 0:
            yield row
            row = self.parent[row]

    def subtree_text(self, row: int) -> str:
        """Return the shown text of the subtree of *row*, one space between text nodes."""
        end = self.end[row]
        shown = zip(self.text[row:end], self.hidden[row:end], strict=True)
        return " ".join([text for text, hidden in shown if text and not hidden])

    @cached_property
    def title_row(self) -> int | None:
        """Row of the first ``title`` element that is not an image's, None where there is none."""
        own = (
            row
            for row in self.rows_of("title")
            if not any(self.tag[u] in _IMAGES for u in self.ancestors(row))
        )
        return next(own, None)

    @cached_property
    def title(self) -> str:
        """Text of the ``title`` element, white space squeezed."""
        if self.title_row is None:
            return ""
        return squeeze(" ".join(self.text[self.title_row : self.end[self.title_row]]))


def _without(before: Sequence[float], ranges: Sequence[range]) -> list[float]:
    """Return the sums *before* each row with what is in *ranges* taken out."""
    sums: list[float] = []
    removed = 0.0
    for part in ranges:
        sums += [total - removed for total in before[len(sums) : part.start]]
        sums += [before[part.start] - removed] * len(part)
        removed += before[part.stop] - before[part.start]
    return sums + [total - removed for total in before[len(sums) :]]


def parse_document(
    html: bytes | str, encoding: str | None = None, *, scripts: bool = False
) -> Document:
    """Return the :class:`Document` of a page.

    *encoding* is the charset of the HTTP header, if there was one; see
    :mod:`newscrawl.document.encoding` for how far it is believed. With *scripts* the text of script,
    style, noscript, template and svg has rows, too, marked ``SCRIPT``: CoreEx R1 to R4 count it.
    Raises :class:`DocumentError` for what is no page.
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
    if b"\0" in utf8:
        utf8 = utf8.replace(b"\0", b"")
    if (shortened := drop_surplus_attributes(utf8)) is not None:
        utf8 = shortened
        flags.append("attributes_dropped")
    return Document(_parse(utf8, flags), encoding, flags, scripts=scripts, source=utf8)


def _check(data: bytes) -> None:
    if len(data) > MOST_BYTES:
        raise DocumentError(f"page of {len(data)} bytes: the largest parsed has {MOST_BYTES}")
    if is_binary(data):
        raise DocumentError(f"not a page: binary data beginning with {data[:4]!r}")


def _parser(**options: Any) -> etree.HTMLParser:
    """Return a parser for one page. A table of ids would cost 0.05 of a parse and serve nobody."""
    options |= {"huge_tree": True, "collect_ids": False}
    return etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, **options)


def _parse(utf8: bytes, flags: list[str]) -> etree._Element:
    """Return the tree of a page."""
    root = _parse_as_is(utf8, flags)
    ended = without_open_title(root, utf8)
    return root if ended is None else _parse_as_is(ended, flags)


def _parse_as_is(utf8: bytes, flags: list[str]) -> etree._Element:
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
        root.append(late)  # libxml2 makes a second tree of what follows </html>
    return root


class _ShallowBuilder:
    """A parser target that leaves elements below ``MOST_DEPTH`` out, and keeps their text.

    libxml2's tree builder drops whatever follows the 2,048th level; its events have no limit.
    """

    def __init__(self) -> None:
        self._builder = etree.TreeBuilder()
        self._depth = 0

    def start(self, tag: str, attributes: dict[str | bytes, str | bytes]) -> None:
        self._depth += 1
        if self._depth <= MOST_DEPTH:
            self._builder.start(tag, attributes)

    def end(self, tag: str) -> None:
        if self._depth <= MOST_DEPTH:
            self._builder.end(tag)
        else:
            self._builder.data(" ")
        self._depth -= 1

    def data(self, text: str) -> None:
        self._builder.data(text)

    def close(self) -> etree._Element:
        return self._builder.close()
