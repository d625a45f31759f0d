"""Generated pages with readers' comments, in the markup of comment software, with labels.

``systems.json`` has the markup of a section, a record and its replies for each system, after the
public templates of the software; the texts are our own. Rules may be tuned on systems of the half
``tune``; those of the half ``report`` are unseen.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import lxml.html

from benchmarks.reader_comments.articles import (
    COMMENT_LIKE,
    KINDS,
    LAYOUTS,
    OWN_WORDS,
    make_body,
    make_frame,
)
from benchmarks.reader_comments.texts import Writer, languages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.reader_comments.articles import Kind

SYSTEMS = Path(__file__).with_name("systems.json")
PAGES_PER_SYSTEM = 4
PAGES_WITHOUT_COMMENTS = 40
WITHOUT = "none"
"""System of pages without comments."""
_USUAL_KINDS: tuple[Kind, ...] = (*KINDS, "news", "news", "short", "long", "opinion")
_THREADS = (1, 2, 3, 3, 4, 5, 7, 12)
_SLOT = re.compile(r"\{(\w+)(?::([^|}]*)\|([^}]*))?\}")


@dataclass(frozen=True)
class GeneratedPage:
    """A page and its labels."""

    name: str
    system: str
    #: ``tune`` or ``report``
    half: str
    language: str
    kind: Kind
    layout: str
    html: bytes
    #: the same page without the comments
    html_without: bytes
    #: paragraphs separated by newlines
    body: str
    #: one text node per line, including names, dates, headings and house rules
    comments: str


def generated_pages() -> Iterator[GeneratedPage]:
    """Yield all pages; each call yields the same ones."""
    for index, system in enumerate(sorted(_systems())):
        for number in range(PAGES_PER_SYSTEM):
            yield generate(system, index, number)
    for number in range(PAGES_WITHOUT_COMMENTS):
        yield generate(WITHOUT, number, number)


@cache
def _systems() -> dict[str, dict[str, str]]:
    systems: dict[str, dict[str, str]] = json.loads(SYSTEMS.read_text(encoding="utf-8"))
    return systems


def generate(system: str, index: int, number: int) -> GeneratedPage:
    """Return page *number* of the system with this *index*."""
    rng = random.Random(f"{system} {number}")
    known = languages()
    language = known[(index + 3 * number) % len(known)]
    kind = rng.choice(sorted(COMMENT_LIKE) if system == WITHOUT else _USUAL_KINDS)
    layout = rng.choice(list(LAYOUTS))
    writer = Writer(language, rng)
    if kind in OWN_WORDS:
        writer.reserve("comment", "own")
    title = writer.one("titles")
    body = make_body(kind, writer)
    section = "" if system == WITHOUT else _Section(_systems()[system], writer).html()
    page = make_frame(layout, writer, title, body.html)
    return GeneratedPage(
        f"{system}.{number}.{language}",
        system,
        "report" if index % 2 else "tune",
        language,
        kind,
        layout,
        page(section),
        page(""),
        "\n".join(body.paragraphs),
        "\n".join(_texts(section)),
    )


def _texts(section: str) -> Iterator[str]:
    """Yield the text nodes of *section*."""
    if section:
        for text in lxml.html.fragment_fromstring(section, create_parent=True).itertext():
            if words := " ".join(text.split()):
                yield words


class _Section:
    """A comment section in the markup of one system."""

    def __init__(self, markup: dict[str, str], writer: Writer) -> None:
        self._markup = markup
        self._writer = writer
        self._rng = writer.rng
        self._number = 0

    def html(self) -> str:
        """Return the HTML of the section."""
        records = self._records(self._rng.choice(_THREADS), depth=0)
        closed = self._rng.random() < 0.2
        return self._fill("section", {"records": records}, {"closed"} if closed else set())

    def _records(self, number: int, depth: int) -> str:
        return "".join(self._record(depth) for _ in range(number))

    def _record(self, depth: int) -> str:
        self._number += 1
        number, replies = self._number, ""
        paragraphs = self._paragraphs()
        if depth < 2 and self._rng.random() < 0.3:
            replies = self._fill(
                "replies", {"records": self._records(self._rng.randint(1, 2), depth + 1)}, set()
            )
        shown = [escape(text, quote=False) for text in paragraphs]
        name = self._writer.one("nick")
        values = {
            "id": f"{4000 + number}",
            "name": escape(name, quote=False),
            "initial": escape(name[0], quote=False),
            "text": "".join(f"<p>{text}</p>" for text in shown),
            "breaks": "<br><br>".join(shown),
            "replies": replies,
        }
        return self._fill("record", values, {"pick"} if self._rng.random() < 0.1 else set())

    def _paragraphs(self) -> list[str]:
        """Return the text of a comment: a few words, a few sentences, or longer than an article."""
        draw = self._rng.random()
        if draw < 0.12:
            return [self._writer.one("short")]
        if draw < 0.8:
            return [self._writer.paragraph("comment", self._rng.randint(1, 3))]
        return [self._writer.paragraph("comment", 3) for _ in range(self._rng.randint(2, 3))]

    def _fill(self, part: str, values: dict[str, str], optional: set[str]) -> str:
        """Return the markup of *part* with filled slots; *optional* ones are empty unless named."""

        def value(slot: re.Match[str]) -> str:
            name, before, after = slot.groups()
            if before is None and after is None:
                return values[name] if name in values else escape(self._label(name), quote=False)
            return (
                f"{before}{escape(self._label(name), quote=False)}{after}"
                if name in optional
                else ""
            )

        return _SLOT.sub(value, self._markup[part])

    def _label(self, name: str) -> str:
        """Return a generated label, date, number or name of a place."""
        writer = self._writer
        if name in {"long", "numeric"}:
            return writer.long_date() if name == "long" else writer.numeric_date()
        if name == "place":
            return writer.one("place")
        if name == "n":
            return str(self._rng.randint(1, 60))
        return writer.ui(name, self._number if name == "count" else None)
