"""Pages with readers' comments, of our own making: what is comment on them and what is not.

They follow the markup of comment software in use, in eleven languages, and are for tests and
``benchmarks/comments.py`` only: no sample site serves them. Rules may be made after the pages of
the half ``tune``; those of ``report`` only report.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "comments"


@dataclass(frozen=True, slots=True)
class CommentedPage:
    """A page and its texts, as a person reads them."""

    #: name of its file
    page: str
    #: ``tune`` or ``report``
    half: str
    #: the software or the manner of its markup
    system: str
    language: str
    title: str
    #: paragraphs separated by blank lines
    body: str
    #: one text node a line, names, dates, headings and house rules included
    comments: str

    @property
    def html(self) -> bytes:
        """The page."""
        return (FOLDER / "pages" / self.page).read_bytes()


def commented_pages(half: str | None = None) -> list[CommentedPage]:
    """Return the pages of *half*, or all."""
    lines = (FOLDER / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    pages = [CommentedPage(**json.loads(line)) for line in lines]
    return [page for page in pages if half in {None, page.half}]
