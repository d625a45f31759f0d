"""Blocks of the body as HTML.

The elements and attributes written here are the complete allow-list: nothing is copied from the page
except escaped text and checked URLs.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from newscrawl.extraction.body_lines import NO_MARKS, InlineImage, Text
from newscrawl.extraction.body_structure import BodyTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.extraction.body_lines import Inline, Line
    from newscrawl.extraction.body_structure import BodyBlock, Container


def write_html(blocks: Iterable[BodyBlock | BodyTable]) -> str:
    """Return *blocks* as HTML, one block per line."""
    pieces: list[str] = []
    open_containers: tuple[Container, ...] = ()
    for block in blocks:
        if block.containers != open_containers:
            _change(pieces, open_containers, block.containers)
            open_containers = block.containers
        pieces.append(_table(block) if isinstance(block, BodyTable) else _block(block))
    _change(pieces, open_containers, ())
    return "\n".join(pieces)


def _change(pieces: list[str], old: Sequence[Container], new: Sequence[Container]) -> None:
    """Close the containers that end and open those that start."""
    common = 0
    while common < min(len(old), len(new)) and old[common] == new[common]:
        common += 1
    pieces += [f"</{container.tag}>" for container in reversed(old[common:])]
    pieces += [f"<{container.tag}>" for container in new[common:]]


def _block(block: BodyBlock) -> str:
    if block.tag == "pre":
        return f"<pre>{escape(_plain(block.lines[0]))}</pre>"
    content = "<br>\n".join(map(_line, block.lines))
    return f"<{block.tag}>{content}</{block.tag}>"


def _plain(line: Line) -> str:
    return "".join(piece.text for piece in line if isinstance(piece, Text))


def _table(table: BodyTable) -> str:
    rows = (
        "".join(f"<{cell.tag}>{_line(cell.content)}</{cell.tag}>" for cell in row)
        for row in table.rows
    )
    return "<table>\n" + "".join(f"<tr>{row}</tr>\n" for row in rows) + "</table>"


def _line(line: Line) -> str:
    if len(line) == 1 and line[0].marks.link is None:
        return _inline(line[0])
    pieces = []
    for link, run in groupby(line, lambda piece: piece.marks.link):
        content = "".join(map(_inline, run))
        pieces.append(f'<a href="{escape(link)}">{content}</a>' if link else content)
    return "".join(pieces)


def _inline(piece: Inline) -> str:
    if isinstance(piece, InlineImage):
        return f'<img src="{escape(piece.source)}" alt="{escape(piece.alt)}">'
    text, marks = escape(piece.text, quote=False), piece.marks
    if marks[1:] == NO_MARKS[1:]:
        return text
    tags = {marks.script: bool(marks.script), "code": marks.code, "strong": marks.strong}
    for tag, is_set in {**tags, "em": marks.em}.items():
        if is_set:
            text = f"<{tag}>{text}</{tag}>"
    return text
