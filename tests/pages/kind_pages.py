"""Synthetic pages of each kind: live blogs, galleries, truncated articles and other pages.

For tests and ``benchmarks/kinds.py``. Rules may be tuned on the half ``tune``; the half ``report``
is only for evaluation.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from newscrawl.items import ArticleKind

FOLDER = Path(__file__).parent / "kinds"


@dataclass(frozen=True, slots=True)
class KindPage:
    """A page and its labels."""

    #: file name
    page: str
    #: ``tune`` or ``report``
    half: str
    language: str
    kind: ArticleKind
    #: whether it shows part of the article and a subscription prompt
    paywalled: bool

    @property
    def html(self) -> bytes:
        """HTML of the page."""
        return (FOLDER / "pages" / self.page).read_bytes()


def kind_pages(half: str | None = None) -> list[KindPage]:
    """Return the pages of *half*, or all."""
    lines = (FOLDER / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    pages = [KindPage(**json.loads(line)) for line in lines]
    return [page for page in pages if half in {None, page.half}]
