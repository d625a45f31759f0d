"""Formats of the body besides plain text, with its links and images: :data:`BODY_FORMATS`."""

from __future__ import annotations

from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, get_args

from newscrawl.body.parts import elements_in
from newscrawl.body.render import render
from newscrawl.extraction.body_lines import InlineImage, Text
from newscrawl.extraction.body_structure import BodyTable
from newscrawl.extraction.html_writer import write_html
from newscrawl.extraction.markdown_writer import write_markdown
from newscrawl.items import BodyImage, BodyLink
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from newscrawl.document.document import Document
    from newscrawl.extraction.body_lines import Line
    from newscrawl.extraction.body_structure import BodyBlock
    from newscrawl.items import Article

    Blocks = Sequence[BodyBlock | BodyTable]

BodyFormat = Literal["html", "images", "links", "markdown"]
BODY_FORMATS: tuple[BodyFormat, ...] = get_args(BodyFormat)
"""Names of the formats."""

_MAX_CAPTION = 1000


class UnknownFormatError(ValueError):
    """The name is not in :data:`BODY_FORMATS`."""


def parse_formats(names: Iterable[str]) -> frozenset[BodyFormat]:
    """Return the formats with these *names*. Raises :class:`UnknownFormatError`."""
    wanted = {name.strip() for name in names} - {""}
    if unknown := wanted.difference(BODY_FORMATS):
        raise UnknownFormatError(
            f"unknown body format {min(unknown)!r}; expected one of: {', '.join(BODY_FORMATS)}"
        )
    return frozenset(name for name in BODY_FORMATS if name in wanted)


def set_formats(
    article: Article, blocks: Blocks, document: Document, formats: Iterable[BodyFormat]
) -> None:
    """Set the body of *article*, which has *blocks*, in *formats*."""
    for name in formats:
        field, write = _WRITERS[name]
        setattr(article, field, write(blocks, document))


def _links(blocks: Blocks, _: Document) -> list[BodyLink]:
    """Return the links of *blocks*; a link of several lines is one for each."""
    found = []
    for line in _lines(blocks):
        for link, run in groupby(line, lambda piece: piece.marks.link):
            if link is not None:
                text = "".join(piece.text for piece in run if isinstance(piece, Text))
                found.append(BodyLink(link, text.strip()))
    return found


def _images(blocks: Blocks, document: Document) -> list[BodyImage]:
    caption = cache(partial(_caption, document))
    return [
        BodyImage(piece.source, piece.alt, caption(_figure(document, piece.row)))
        for line in _lines(blocks)
        for piece in line
        if isinstance(piece, InlineImage)
    ]


def _figure(document: Document, row: int) -> int | None:
    while row >= 0 and document.tag[row] != "figure":
        row = document.parent[row]
    return row if row >= 0 else None


def _caption(document: Document, figure: int | None) -> str:
    captions = () if figure is None else elements_in(document, figure, "figcaption")
    shown = next((row for row in captions if not document.hidden[row]), None)
    return "" if shown is None else squeeze(render(document, [shown]))[:_MAX_CAPTION]


def _lines(blocks: Blocks) -> Iterator[Line]:
    for block in blocks:
        if isinstance(block, BodyTable):
            yield from (cell.content for row in block.rows for cell in row)
        else:
            yield from block.lines


#: format -> field of articles, and function that returns its value
_WRITERS: dict[BodyFormat, tuple[str, Callable[[Blocks, Document], Any]]] = {
    "html": ("body_html", lambda blocks, _: write_html(blocks)),
    "images": ("images", _images),
    "links": ("links", _links),
    "markdown": ("body_markdown", lambda blocks, _: write_markdown(blocks)),
}

FORMAT_FIELDS: dict[str, str] = {name: field for name, (field, _) in _WRITERS.items()}
"""Format -> field of articles."""
