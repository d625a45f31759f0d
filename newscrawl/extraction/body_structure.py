"""Structure of the body: blocks with their lists, quotes and tables, links and emphasis.

:func:`body_blocks` reads the text in the same walk, so that all formats have the same words. URLs
are absolute and have the scheme http or https.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.body.parts import is_data_table
from newscrawl.document.rows import INVISIBLE, WIDGET
from newscrawl.extraction.render import INVISIBLE_CHARACTERS, PARAGRAPH, Flow
from newscrawl.extraction.story_media import is_separate
from newscrawl.extraction.web_addresses import PLAYER_TAGS, PageLinks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from newscrawl.document.document import Document

EMBED_TEXT = "\u25b6"
"""Text of a link to an embedded player: a symbol, not a word of the page."""
MAX_CONTAINERS = 16
"""Nested lists, items and quotes; deeper ones have no structure."""
_MAX_IMAGES = 500
_ITEM_LISTS = {"menu": "ul", "dir": "ul", "ul": "ul", "ol": "ol"}
_STRONG_TAGS = frozenset({"b", "strong", "dt"})
_EM_TAGS = frozenset({"em", "i"})
_CODE_TAGS = frozenset({"code", "kbd", "samp", "tt"})
_MARK_TAGS = _STRONG_TAGS | _EM_TAGS | _CODE_TAGS | {"sub", "sup"}
# The title is the only heading of level 1.
_HEADINGS = {"h1": "h2", **{f"h{level}": f"h{level}" for level in range(2, 7)}}
_KINDS = {**_HEADINGS, **dict.fromkeys(("pre", "listing", "plaintext", "xmp"), "pre")}
_STRUCTURAL_TAGS = frozenset(
    ("a", "blockquote", "figcaption", "figure", "li", "sub", "sup", "table", "td", "th", "tr")
).union(_STRONG_TAGS, _EM_TAGS, _CODE_TAGS, _KINDS)

_SPACES = re.compile(r"\s+")
_CODE_SPACES = re.compile(r"[^\S\n\t]")
_LINE_END = "\n"


class Marks(NamedTuple):
    """Link and emphasis of a run of text."""

    link: str | None = None
    strong: bool = False
    em: bool = False
    code: bool = False
    #: ``sub``, ``sup`` or ""
    script: str = ""

    def between(self, other: Marks) -> Marks:
        """Return the marks of a space between two runs of text; emphasis has none at its ends."""
        if self == other:
            return self
        return Marks(self.link) if self.link == other.link else NO_MARKS


NO_MARKS = Marks()


class Text(NamedTuple):
    """A run of text in a line, with white space collapsed."""

    text: str
    marks: Marks = NO_MARKS


class InlineImage(NamedTuple):
    """An image in a line."""

    source: str
    alt: str
    marks: Marks = NO_MARKS
    #: row of the ``img`` element
    row: int = -1


_SPACE = Text(" ")
_BREAK = Text(_LINE_END)
Inline = Text | InlineImage
Line = list[Inline]


class Container(NamedTuple):
    """An element around blocks: ``ul``, ``ol``, ``li``, ``blockquote``, ``figure``, ``table``."""

    tag: str
    row: int


class BodyBlock(NamedTuple):
    """A paragraph, heading, caption or preformatted text."""

    #: outermost first
    containers: tuple[Container, ...]
    #: ``p``, ``h2`` to ``h6``, ``pre`` or ``figcaption``
    tag: str
    #: separated by line breaks; a ``pre`` has one, with its white space
    lines: list[Line]


class Cell(NamedTuple):
    """A cell of a table."""

    #: ``td`` or ``th``
    tag: str
    content: Line


class BodyTable(NamedTuple):
    """A table with data."""

    containers: tuple[Container, ...]
    rows: list[list[Cell]]


def body_blocks(
    document: Document, roots: Sequence[int], skip: AbstractSet[int], url: str | None
) -> tuple[str, list[BodyBlock | BodyTable]]:
    """Return text and blocks of the body in the subtrees of *roots*, without the rows in *skip*.

    The text is that of :func:`~newscrawl.extraction.render.render`, read in the same walk. *url* is
    that of the page. Images between two roots are included if no text is next to them except a
    caption.
    """
    flow = _BlockFlow(document, roots, PageLinks(document, url))
    flow.write(roots, skip)
    blocks = flow.blocks()
    if not document.rows_of("table"):
        return flow.text(), list(blocks)
    return flow.text(), list(_with_tables(document, blocks))


def text_blocks(text: str) -> list[BodyBlock | BodyTable]:
    """Return the blocks of plain *text* with blank lines between paragraphs."""
    pieces: list[Inline] = []
    for line in text.split(_LINE_END):
        pieces += [Text(line), _BREAK]
    return [BodyBlock((), "p", lines) for lines in _paragraphs(pieces)]


class _Context(NamedTuple):
    """Structure around the text of an element."""

    containers: tuple[Container, ...] = ()
    tag: str = "p"
    marks: Marks = NO_MARKS
    in_table: bool = False


@dataclass(slots=True)
class _OpenBlock:
    containers: tuple[Container, ...]
    tag: str
    pieces: list[Inline] = field(default_factory=list)


class _BlockFlow(Flow):
    """Collects blocks; a text has the structure of all its ancestors, also above the roots."""

    def __init__(self, document: Document, roots: Sequence[int], links: PageLinks) -> None:
        super().__init__(document)
        self._roots = roots
        self._blocks: list[BodyBlock] = []
        self._links = links
        #: rows of images and players
        self._media = sorted(row for tag in ("img", *PLAYER_TAGS) for row in document.rows_of(tag))
        self._contexts: dict[int, _Context] = {-1: _Context()}
        self._open_block: _OpenBlock | None = None
        self._images = 0

    def start(self, root: int, previous: int | None) -> None:
        """Start a paragraph; add images and players before it with no text but a caption."""
        if previous is not None:
            self._add_media(range(self.document.end[previous], root), around=(previous, root))
        super().start(root, previous)

    def open_image(self, row: int) -> None:
        """Add the ``img`` element *row*, or another medium, as a piece without text."""
        self.pieces.append("")
        self.rows.append(row)

    def leave_out(self, row: int) -> None:
        """Add the images of a figure without its caption, and the link of an embedded player."""
        super().leave_out(row)
        tag = self.document.tag[row]
        if tag == "figure":
            self._add_media(range(row, self.document.end[row]))
        elif tag in PLAYER_TAGS:
            self.open_image(row)

    def blocks(self) -> list[BodyBlock]:
        """Return the blocks of the pieces."""
        for text, row in zip(self.pieces, self.rows, strict=True):
            if row < 0:
                self._add_break(text)
            elif not text:
                self._add_medium(row)
            elif self._open_block is not None or not text.isspace():
                context = self._context(row)
                self._add(Text(text, context.marks), context.containers, context.tag)
        self._end_block()
        return self._blocks

    def _add_break(self, separator: str) -> None:
        if separator == PARAGRAPH:
            self._end_block()
        elif self._open_block is not None:
            self._open_block.pieces.append(Text(separator))

    def _end_block(self) -> None:
        """End the open block; blank lines in it separate paragraphs."""
        if (block := self._open_block) is None:
            return
        self._open_block = None
        if block.tag == "pre":
            if text := _preformatted_text(block.pieces):
                self._blocks.append(BodyBlock(block.containers, "pre", [[Text(text)]]))
            return
        for lines in _paragraphs(block.pieces):
            self._blocks.append(BodyBlock(block.containers, block.tag, lines))

    def _add(self, piece: Inline, containers: tuple[Container, ...], tag: str) -> None:
        block = self._open_block
        if block is None or (block.containers, block.tag) != (containers, tag):
            self._end_block()
            block = self._open_block = _OpenBlock(containers, tag)
        block.pieces.append(piece)

    def _add_media(self, rows: range, around: tuple[int, int] | None = None) -> None:
        """Add images and players in *rows*, each as a block."""
        first = bisect_left(self._media, rows.start)
        for row in self._media[first : bisect_left(self._media, rows.stop, first)]:
            if around is not None and not is_separate(self.document, row, *around):
                continue
            self.add_space(PARAGRAPH)
            self.open_image(row)
            self.add_space(PARAGRAPH)

    def _add_medium(self, row: int) -> None:
        """Add the image *row*, or the link of the player *row*."""
        document, parent = self.document, self.document.parent[row]
        context = self._context(parent)
        is_shown = document.hidden[parent] not in {INVISIBLE, WIDGET} and context.tag != "pre"
        piece: Inline | None = None
        if document.tag[row] == "img":
            if document.hidden[row] != INVISIBLE and (image := self._links.image(row)):
                piece = InlineImage(*image, Marks(context.marks.link), row)
        elif is_shown and (source := self._links.player(row)):
            piece = Text(EMBED_TEXT, Marks(link=source))
        if piece is not None and self._images < _MAX_IMAGES:
            self._images += 1
            if context.tag != "pre":
                self._add(piece, context.containers, context.tag)
                return
            # Before the preformatted text, which stays in one piece.
            if self._open_block is not None and self._open_block.tag != "pre":
                self._end_block()
            self._blocks.append(BodyBlock(context.containers, "p", [[piece]]))

    def _context(self, row: int) -> _Context:
        """Return the structure of the text in the element *row*."""
        contexts = self._contexts
        path = []
        while row not in contexts:
            path.append(row)
            row = self.document.parent[row]
        context = contexts[row]
        for inner in reversed(path):
            context = contexts[inner] = self._inner_context(context, inner)
        return context

    def _inner_context(self, context: _Context, row: int) -> _Context:
        """Return the structure of the text in the element *row* that *context* is around."""
        tag = self.document.tag[row]
        if tag not in _STRUCTURAL_TAGS:
            return context
        marks = self._marks(context.marks, row, tag)
        containers, block, in_table = context.containers, context.tag, context.in_table
        if in_table:
            if tag in {"tr", "td", "th"} and containers[-1].tag not in {"td", "th"}:
                containers = (*containers, Container(tag, row))
        elif tag == "table" and is_data_table(self.document, row):
            containers, block, in_table = (*containers, Container(tag, row)), "p", True
        elif len(containers) < MAX_CONTAINERS:
            containers += self._own_containers(row, tag)
        if tag == "figcaption" and not in_table and block == "p":
            block = tag
        elif tag in _KINDS and not in_table:
            block = _KINDS[tag] if tag in _HEADINGS or self._is_written(row) else "p"
        return _Context(containers, block, marks, in_table)

    def _is_written(self, row: int) -> bool:
        """Return whether the element *row* is in one of the roots."""
        place = bisect_right(self._roots, row)
        return place > 0 and row < self.document.end[self._roots[place - 1]]

    def _own_containers(self, row: int, tag: str) -> tuple[Container, ...]:
        if tag in {"blockquote", "figure"}:
            return (Container(tag, row),)
        if tag == "li":
            parent = self.document.parent[row]
            list_tag = _ITEM_LISTS.get(self.document.tag[parent], "ul")
            return Container(list_tag, parent), Container(tag, row)
        return ()

    def _marks(self, marks: Marks, row: int, tag: str) -> Marks:
        if tag == "a":
            return marks._replace(link=self._links.link(row) or marks.link)
        if tag not in _MARK_TAGS:
            return marks
        return Marks(
            marks.link,
            marks.strong or tag in _STRONG_TAGS,
            marks.em or tag in _EM_TAGS,
            marks.code or tag in _CODE_TAGS,
            tag if tag in {"sub", "sup"} else marks.script,
        )


def _table(block: BodyBlock) -> Container | None:
    return next((one for one in block.containers if one.tag == "table"), None)


def _with_tables(
    document: Document, blocks: Iterable[BodyBlock]
) -> Iterator[BodyBlock | BodyTable]:
    for table, run in groupby(blocks, _table):
        if table is None:
            yield from run
            continue
        members = list(run)
        depth = members[0].containers.index(table)
        yield BodyTable(members[0].containers[:depth], _table_rows(document, members, depth + 1))


def _table_rows(document: Document, blocks: Iterable[BodyBlock], depth: int) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for place, members in groupby(blocks, lambda block: block.containers[depth : depth + 1]):
        content: dict[int, Cell] = {}
        if place and place[0].tag == "tr":
            content = {
                row: Cell(document.tag[row], [])
                for row in document.children(place[0].row)
                if document.tag[row] in {"td", "th"}
            }
        for block in members:
            inner = block.containers[-1]
            cell = content.setdefault(inner.row, Cell("td", []))
            for line in block.lines:
                if cell.content:
                    cell.content.append(_SPACE)
                cell.content.extend(line)
        rows.append(list(content.values()))
    return rows


def plain_text(pieces: Iterable[Inline]) -> str:
    """Return the text of *pieces* without links, emphasis and images."""
    return "".join(piece.text for piece in pieces if isinstance(piece, Text))


def _preformatted_text(pieces: Iterable[Inline]) -> str:
    """Return the text of *pieces* with their white space, without blank lines at the ends."""
    text = _CODE_SPACES.sub(" ", INVISIBLE_CHARACTERS.sub("", plain_text(pieces)))
    lines = [line.rstrip() for line in text.split(_LINE_END)]
    return _LINE_END.join(lines).strip(_LINE_END) if any(lines) else ""


def _paragraphs(pieces: Sequence[Inline]) -> Iterator[list[Line]]:
    """Yield the lines of each paragraph; empty lines separate paragraphs."""
    if _BREAK not in pieces:  # the common case
        if line := _line(pieces):
            yield [line]
        return
    lines: list[Line] = []
    breaks = 0
    for is_break, run in groupby(pieces, lambda piece: piece == _BREAK):
        if is_break:
            breaks += len(list(run))
        elif line := _line(list(run)):
            if breaks > 1 and lines:
                yield lines
                lines = []
            lines.append(line)
            breaks = 0
    if lines:
        yield lines


def _line(pieces: Sequence[Inline]) -> Line:
    """Return a line with collapsed white space, whose spaces have the marks of both neighbours."""
    marks = pieces[0].marks
    if all(piece.marks is marks and isinstance(piece, Text) for piece in pieces):  # the common case
        text = _collapsed("".join([piece[0] for piece in pieces])).strip(" ")
        return [Text(text, marks)] if text else []
    line: Line = []
    has_space = False
    for piece in pieces:
        core: Inline = piece
        text = ""
        if isinstance(piece, Text):
            text = _collapsed(piece.text)
            core = Text(text.strip(" "), piece.marks)
            has_space = has_space or text.startswith(" ")
            if not core.text:
                continue
        if has_space and line:
            line.append(Text(" ", line[-1].marks.between(core.marks)))
        line.append(core)
        has_space = text.endswith(" ")
    return _merged(line) if len(line) > 1 else line


def _collapsed(text: str) -> str:
    if text.isprintable() and "  " not in text:  # the common case
        return text
    return _SPACES.sub(" ", INVISIBLE_CHARACTERS.sub("", text))


def _merged(line: Line) -> Line:
    """Join adjacent runs of text with the same marks."""
    merged: Line = []
    for is_image, run in groupby(line, lambda piece: isinstance(piece, InlineImage)):
        if is_image:
            merged += run
            continue
        for marks, texts in groupby(run, lambda piece: piece.marks):
            merged.append(Text("".join(piece[0] for piece in texts), marks))
    return merged
