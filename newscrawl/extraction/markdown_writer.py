"""Blocks of the body as Markdown: CommonMark with the tables of GitHub."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING

from newscrawl.extraction.body_structure import NO_MARKS, BodyTable, InlineImage, Text, plain_text
from newscrawl.text import escape_markdown, escape_markdown_start

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.extraction.body_structure import BodyBlock, Container, Inline, Line

_BACKTICKS = re.compile("`+")
_REFERENCE = re.compile(r"&(?=#?\w+;)")


def write_markdown(blocks: Iterable[BodyBlock | BodyTable]) -> str:
    """Return *blocks* as Markdown, separated by blank lines; items of a list follow each other."""
    writer = _Writer()
    for block in blocks:
        writer.add(block)
    return "\n".join(writer.lines)


class _Writer:
    """Lines of Markdown."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._open: list[Container] = []
        #: text in front of the lines of each open container
        self._prefixes: list[str] = []
        #: list -> marker and number of its last item
        self._items: dict[Container, tuple[str, int]] = {}
        #: the list that ended last, by the number of containers around it
        self._ended: dict[int, Container] = {}

    def add(self, block: BodyBlock | BodyTable) -> None:
        """Add a block with the markers of the containers that start with it."""
        containers = block.containers
        if not (containers or self._open):  # the common case
            self.lines += ["", *_lines(block)] if self.lines else _lines(block)
            self._ended.clear()
            return
        common = 0
        while self._open[common : common + 1] == list(containers[common : common + 1]) != []:
            common += 1
        if self.lines and not self._starts_item(containers, common):
            self.lines.append("".join(self._prefixes[:common]).rstrip())
        first = "".join(self._prefixes[:common])
        for depth, container in enumerate(self._open[common:], common):
            if container in self._items:
                self._ended[depth] = container
        del self._open[common:], self._prefixes[common:]
        for container in containers[common:]:
            marker = self._marker(container)
            self._open.append(container)
            self._prefixes.append("> " if marker == "> " else " " * len(marker))
            first += marker
        rest = "".join(self._prefixes)
        lines = _lines(block)
        self.lines.append((first + lines[0]).rstrip(" "))
        self.lines += [(rest + line).rstrip(" ") for line in lines[1:]]
        self._ended = {
            depth: ended for depth, ended in self._ended.items() if depth > len(self._open)
        }

    def _starts_item(self, containers: Sequence[Container], common: int) -> bool:
        """Return whether the next item of an open list starts, or a list in an open item."""
        tags = [container.tag for container in containers[common : common + 1]]
        lists = {"ul", "ol"}
        within = common > 0 and containers[common - 1].tag in (lists if tags == ["li"] else {"li"})
        return within and (tags == ["li"] or bool(lists.intersection(tags)))

    def _marker(self, container: Container) -> str:
        """Return the text in front of the first line of *container*."""
        if container.tag == "blockquote":
            return "> "
        if container.tag in {"ul", "ol"}:
            marker, other = (".", ")") if container.tag == "ol" else ("-", "*")
            before = self._ended.get(len(self._open))  # right before it
            is_same = before is not None and self._items[before][0] == marker
            self._items[container] = (other if is_same else marker, 0)
        if container.tag != "li":
            return ""
        parent = self._open[-1]
        marker, number = self._items[parent]
        self._items[parent] = marker, number + 1
        return f"{number + 1}{marker} " if parent.tag == "ol" else f"{marker} "


def _lines(block: BodyBlock | BodyTable) -> list[str]:
    return _table(block) if isinstance(block, BodyTable) else _block(block)


def _block(block: BodyBlock) -> list[str]:
    if block.tag == "pre":
        text = plain_text(block.lines[0])
        fence = _fence(text, 3)
        return [fence, *text.split("\n"), fence]
    lines = [escape_markdown_start(_line(line)) for line in block.lines]
    if block.tag.startswith("h"):
        heading = " ".join(lines)
        if heading.endswith("#"):
            heading = heading[:-1] + "\\#"
        return [f"{'#' * int(block.tag[1])} {heading}"]
    return [*(line + "\\" for line in lines[:-1]), lines[-1]]


def _table(table: BodyTable) -> list[str]:
    """Return the lines of *table*; its first row is the header."""
    rows = [[_line(cell.content).replace("|", "\\|") for cell in row] for row in table.rows]
    width = max(map(len, rows))
    head = rows[0] + [""] * (width - len(rows[0]))
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * width, *rows[1:])]


def _fence(text: str, shortest: int) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    return "`" * max(shortest, longest + 1)


def _line(line: Line) -> str:
    if len(line) == 1 and line[0].marks is NO_MARKS and isinstance(line[0], Text):
        return escape_markdown(line[0].text)
    pieces: list[str] = []
    for link, run in groupby(line, lambda piece: piece.marks.link):
        content = _inlines(list(run))
        if link or content.startswith("!["):
            _protect_exclamation(pieces)
        pieces.append(f"[{content}]({_destination(link)})" if link else content)
    return "".join(pieces)


def _protect_exclamation(pieces: list[str]) -> None:
    """Escape a "!" in front of a bracket, which would make an image of a link."""
    if pieces and pieces[-1].endswith("!"):
        pieces[-1] = pieces[-1][:-1] + "\\!"


def _destination(url: str) -> str:
    return _REFERENCE.sub("&amp;", url) if "&" in url else url


def _inlines(pieces: Sequence[Inline]) -> str:
    parts: list[str] = []
    for index, piece in enumerate(pieces):
        if isinstance(piece, InlineImage):
            _protect_exclamation(parts)
            parts.append(f"![{escape_markdown(piece.alt)}]({_destination(piece.source)})")
        elif piece.marks.code and not (parts and parts[-1].endswith("`")):
            parts.append(_code(piece.text))
        else:
            before = parts[-1][-1:] if parts else ""
            after = pieces[index + 1][0][:1] if index + 1 < len(pieces) else ""
            parts.append(_emphasised(piece, before, after))
    return "".join(parts)


def _code(text: str) -> str:
    fence = _fence(text, 1)
    padding = " " if "`" in (text[0], text[-1]) else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def _emphasised(piece: Text, before: str, after: str) -> str:
    """Return *piece* with its emphasis, unless Markdown would not read it as such.

    https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run
    """
    text = escape_markdown(piece.text)
    delimiter = "**" * piece.marks.strong + "*" * piece.marks.em
    if not delimiter or before == "*":
        return text
    if _is_flanking(piece.text[0], before) and _is_flanking(piece.text[-1], after):
        return f"{delimiter}{text}{delimiter}"
    return text


def _is_flanking(inner: str, outer: str) -> bool:
    return not _is_punctuation(inner) or not outer or outer.isspace() or _is_punctuation(outer)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
