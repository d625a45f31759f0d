"""Labelled comments of the corpora, and bodies that are classified as comments."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newscrawl.body.comments import comment_rows
from newscrawl.document.document import parse_document
from newscrawl.lab.corpora.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage

LABELS = Path(__file__).parents[1] / "comments.json"
_MIN_LETTERS = 20  # shorter texts may occur several times on a page


def read_labels() -> dict[str, dict[str, str]]:
    """Return the XPath of the comments by corpus and page."""
    labels: dict[str, dict[str, str]] = json.loads(LABELS.read_text(encoding="utf-8"))
    return labels


def comments_at(html: bytes, path: str) -> str:
    """Return the visible text nodes below the elements at XPath *path*, one per line."""
    document = parse_document(html)
    found: Any = document.root.xpath(path)
    roots = set(found)
    rows = [row for row, tag in enumerate(document.tag) if tag != "#text"]
    elements = zip(rows, document.root.iter(), strict=True)
    texts = [
        document.text[text]
        for row, element in elements
        if element in roots
        for text in document.text_nodes(row)
    ]
    return "\n".join(" ".join(text.split()) for text in texts)


def precision_table(pages: Iterable[LabelledPage], names: Sequence[str]) -> Table:
    """Return the share of the labelled bodies that ``comment_rows`` classifies as comments."""
    shares = {(page.corpus, page.id): share_removed(page) for page in pages if page.body}
    rows = []
    for name in names:
        own = [share for (corpus, _), share in shares.items() if corpus == name]
        if own:
            over = [str(sum(share > bound for share in own)) for bound in (0, 0.01, 0.05)]
            rows.append([name, str(len(own)), *over, f"{max(own):.3f}"])
    head = ("corpus", "pages", "any", "over 1 %", "over 5 %", "max")
    return Table("Pages with parts of the labelled body classified as comments", head, rows)


def share_removed(page: LabelledPage) -> float:
    """Return the share of letters of the labelled body in comment rows."""
    document, body = parse_document(page.html()), _letters(page.body or "")
    removed = 0
    for rows in comment_rows(document):
        for row in rows:
            text = "" if document.hidden[row] else _letters(document.text[row])
            removed += len(text) if len(text) >= _MIN_LETTERS and text in body else 0
    return removed / len(body) if body else 0.0


def _letters(text: str) -> str:
    """Return the letters and digits of *text* in lower case."""
    return re.sub(r"\W", "", text).lower()
