"""Pages of ``docs/results`` that a benchmark writes: introduction, tables, notes, figures."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from newscrawl.lab.corpora.tables import Table, markdown, print_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


class Figure(NamedTuple):
    """A chart, placed after the table before it."""

    #: name of the file, without suffix
    name: str
    #: description for screen readers
    description: str
    svg: str


Part: TypeAlias = Table | Figure


def write_page(
    file: Path, command: str, start: str, parts: Iterable[Part], notes: Mapping[str, str]
) -> None:
    """Print each table when it is ready, then write the page and its figures.

    A note is added to each table whose title begins with its key.
    """
    ready = []
    for part in parts:
        if isinstance(part, Figure):
            (file.parent / f"{part.name}.svg").write_text(part.svg, encoding="utf-8")
        else:
            print_tables([part], sys.stdout)
            sys.stdout.flush()
        ready.append(part)
    file.write_text(result_page(command, start, ready, notes), encoding="utf-8")


def result_page(command: str, start: str, parts: Iterable[Part], notes: Mapping[str, str]) -> str:
    """Return a page that states the *command* it is written by."""
    paragraphs = [f"<!-- Written by `{command}`: do not edit. -->", *start.strip().split("\n\n")]
    sections = [_section(part, notes) for part in parts]
    return "\n\n".join([*map(_wrapped, paragraphs), *sections]) + "\n"


def _section(part: Part, notes: Mapping[str, str]) -> str:
    if isinstance(part, Figure):
        return f"![{part.description}]({part.name}.svg)"
    note = next((note for name, note in notes.items() if part.title.startswith(name)), "")
    heading, _, rows = markdown(part).partition("\n\n")
    return "\n\n".join(filter(None, (heading, _wrapped(note), rows.strip())))


def _wrapped(paragraph: str) -> str:
    if paragraph.startswith((" ", "#", "- ", "<!--")):  # code, headings, lists, comments
        return paragraph
    return textwrap.fill(paragraph, 100, break_on_hyphens=False, break_long_words=False)
