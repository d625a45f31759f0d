"""Lines of the body: runs of text with links and emphasis, and images."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.body.render import INVISIBLE_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SPACES = re.compile(r"\s+")
_CODE_SPACES = re.compile(r"[^\S\n\t]")
LINE_END = "\n"


class Marks(NamedTuple):
    """Link and emphasis of a run of text."""

    link: str | None = None
    strong: bool = False
    em: bool = False
    code: bool = False
    #: ``sub``, ``sup`` or ""
    script: str = ""

    def between(self, other: Marks) -> Marks:
        """Return the marks of a space between two runs of text; emphasis has no spaces at its ends."""
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


SPACE = Text(" ")
BREAK = Text(LINE_END)
Inline = Text | InlineImage
Line = list[Inline]


def preformatted_text(pieces: Iterable[Inline]) -> str:
    """Return the text of *pieces* with their white space, without blank lines at the ends."""
    text = "".join(piece.text for piece in pieces if isinstance(piece, Text))
    text = _CODE_SPACES.sub(" ", INVISIBLE_CHARACTERS.sub("", text))
    lines = [line.rstrip() for line in text.split(LINE_END)]
    return LINE_END.join(lines).strip(LINE_END) if any(lines) else ""


def paragraphs(pieces: Sequence[Inline]) -> Iterator[list[Line]]:
    """Yield the lines of each paragraph; empty lines separate paragraphs."""
    if BREAK not in pieces:  # the common case
        if line := _line(pieces):
            yield [line]
        return
    lines: list[Line] = []
    breaks = 0
    for is_break, run in groupby(pieces, lambda piece: piece == BREAK):
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
    for piece in _spaced(pieces):
        last = line[-1] if line else None
        if piece == SPACE and (last is None or last == piece):
            continue
        line.append(piece)
    if line and line[-1] == SPACE:
        line.pop()
    for index in range(1, len(line) - 1):
        if line[index] == SPACE:
            line[index] = Text(" ", line[index - 1].marks.between(line[index + 1].marks))
    return _merged(line) if len(line) > 1 else line


def _spaced(pieces: Iterable[Inline]) -> Iterator[Inline]:
    """Yield *pieces* with the spaces at their ends as pieces of their own, without marks."""
    for piece in pieces:
        if isinstance(piece, InlineImage):
            yield piece
            continue
        text = _collapsed(piece.text)
        core = text.strip(" ")
        if text.startswith(" "):
            yield SPACE
        if core:
            yield Text(core, piece.marks)
            if text.endswith(" "):
                yield SPACE


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
