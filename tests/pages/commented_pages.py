"""Synthetic pages with readers' comments, with labels.

They follow the markup of real comment software, in eleven languages, for tests. Rules may be tuned
on the half ``tune``; the half ``report`` is only for evaluation.
"""

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "comments"


@dataclass(frozen=True, slots=True)
class CommentedPage:
    """A page and its labels."""

    #: file name
    page: str
    #: ``tune`` or ``report``
    half: str
    #: comment software, or style of markup
    system: str
    language: str
    title: str
    #: paragraphs separated by blank lines
    body: str
    #: one text node per line, including names, dates, headings and house rules
    comments: str

    @property
    def html(self) -> bytes:
        """HTML of the page."""
        return (FOLDER / "pages" / self.page).read_bytes()


def commented_pages(half: str | None = None) -> list[CommentedPage]:
    """Return the pages of *half*, or all."""
    lines = (FOLDER / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    pages = [CommentedPage(**json.loads(line)) for line in lines]
    return [page for page in pages if half in {None, page.half}]
