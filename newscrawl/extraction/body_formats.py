"""Formats of the body besides plain text, with its links."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from newscrawl.extraction.body_structure import NO_MARKS, BodyTable, InlineImage, plain_text
from newscrawl.extraction.markdown_writer import write_markdown
from newscrawl.items import BodyLink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from newscrawl.extraction.body_structure import BodyBlock, Container, Inline, Line
    from newscrawl.items import Article

    Blocks = Sequence[BodyBlock | BodyTable]


def set_formats(article: Article, blocks: Blocks, names: AbstractSet[str]) -> None:
    """Set the fields *names* of *article* that are made of the *blocks* of its body."""
    for name in _WRITERS.keys() & names:
        setattr(article, name, _WRITERS[name](blocks))


def _links(blocks: Blocks) -> list[BodyLink]:
    """Return the links of *blocks*; a link of several lines is one for each."""
    found = []
    for line in _lines(blocks):
        for link, run in groupby(line, lambda piece: piece.marks.link):
            if link is not None:
                found.append(BodyLink(link, plain_text(run).strip()))
    return found


def _lines(blocks: Blocks) -> Iterator[Line]:
    for block in blocks:
        if isinstance(block, BodyTable):
            yield from (cell.content for row in block.rows for cell in row)
        else:
            yield from block.lines


def write_html(blocks: Iterable[BodyBlock | BodyTable]) -> str:
    """Return *blocks* as HTML, one block per line.

    The elements and attributes written here are the complete allow-list: nothing is copied from the
    page except escaped text and checked URLs.
    """
    pieces: list[str] = []
    open_containers: tuple[Container, ...] = ()
    for block in blocks:
        if block.containers != open_containers:
            _change_containers(pieces, open_containers, block.containers)
            open_containers = block.containers
        pieces.append(_html_table(block) if isinstance(block, BodyTable) else _html_block(block))
    _change_containers(pieces, open_containers, ())
    return "\n".join(pieces)


def _change_containers(
    pieces: list[str], old: Sequence[Container], new: Sequence[Container]
) -> None:
    """Close the containers that end and open those that start."""
    common = 0
    while common < min(len(old), len(new)) and old[common] == new[common]:
        common += 1
    pieces += [f"</{container.tag}>" for container in reversed(old[common:])]
    pieces += [f"<{container.tag}>" for container in new[common:]]


def _html_block(block: BodyBlock) -> str:
    if block.tag == "pre":
        return f"<pre>{escape(plain_text(block.lines[0]))}</pre>"
    content = "<br>\n".join(map(_html_line, block.lines))
    return f"<{block.tag}>{content}</{block.tag}>"


def _html_table(table: BodyTable) -> str:
    rows = (
        "".join(f"<{cell.tag}>{_html_line(cell.content)}</{cell.tag}>" for cell in row)
        for row in table.rows
    )
    return "<table>\n" + "".join(f"<tr>{row}</tr>\n" for row in rows) + "</table>"


def _html_line(line: Line) -> str:
    if len(line) == 1 and line[0].marks.link is None:
        return _html_inline(line[0])
    pieces = []
    for link, run in groupby(line, lambda piece: piece.marks.link):
        content = "".join(map(_html_inline, run))
        pieces.append(f'<a href="{escape(link)}">{content}</a>' if link else content)
    return "".join(pieces)


def _html_inline(piece: Inline) -> str:
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


#: field of articles -> function that returns its value
_WRITERS: dict[str, Callable[[Blocks], Any]] = {
    "body_html": write_html,
    "body_markdown": write_markdown,
    "links": _links,
}

BLOCK_FIELDS = frozenset(_WRITERS)
"""Fields of articles that need the blocks of the body."""
