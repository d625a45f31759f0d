"""Pages of each kind, of our own making: live blogs, galleries, paywall stubs, and no articles.

For tests and ``benchmarks/kinds.py`` only: no sample site serves them. Rules may be made after the
pages of the half ``tune``; those of ``report`` only report.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from newscrawl.items import ArticleKind

FOLDER = Path(__file__).parent / "kinds"


@dataclass(frozen=True, slots=True)
class KindPage:
    """A page and what it is."""

    #: name of its file
    page: str
    #: ``tune`` or ``report``
    half: str
    language: str
    kind: ArticleKind
    #: it shows a part of the article, and a box that asks for a subscription
    paywalled: bool

    @property
    def html(self) -> bytes:
        """The page."""
        return (FOLDER / "pages" / self.page).read_bytes()


def kind_pages(half: str | None = None) -> list[KindPage]:
    """Return the pages of *half*, or all."""
    lines = (FOLDER / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    pages = [KindPage(**json.loads(line)) for line in lines]
    return [page for page in pages if half in {None, page.half}]
