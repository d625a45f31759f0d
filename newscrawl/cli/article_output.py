"""Output of ``newscrawl extract``: articles as JSON, text, Markdown, HTML or CSV."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self

from newscrawl.body.parts import DEFAULT_PARTS
from newscrawl.exporters.safe_csv import SafeCsvItemExporter
from newscrawl.items import Article

if TYPE_CHECKING:
    from types import TracebackType

FORMATS: Final = ("json", "text", "markdown", "html", "csv")
DEFAULT_PARTS_LIST: Final = ",".join(sorted(DEFAULT_PARTS))

_SUFFIXES: Final = {
    ".csv": "csv",
    ".htm": "html",
    ".html": "html",
    ".md": "markdown",
    ".txt": "text",
}
_NOT_IN_CSV: Final = frozenset(
    {"body_html", "body_markdown", "cluster", "evidence", "images", "links"}
)
_COLUMNS: Final = [
    "source",
    *(field.name for field in fields(Article) if field.name not in _NOT_IN_CSV),
]


def format_of(path: str) -> str:
    """Return the format for the output file *path*, by its suffix."""
    return _SUFFIXES.get(Path(path).suffix.lower(), "json")


class ArticleOutput:
    """Writes articles to the file *path* (``-``: standard output) in a format of :data:`FORMATS`.

    JSON is one article per line if there are *several*, otherwise indented.
    """

    def __init__(self, path: str, form: str, *, several: bool) -> None:
        self._file: IO[bytes] = (
            sys.stdout.buffer if path == "-" else Path(path).open("wb")  # noqa: SIM115  # closed by __exit__
        )
        self._form = form
        self._several = several
        self._count = 0
        self._table = (
            SafeCsvItemExporter(self._file, fields_to_export=_COLUMNS) if form == "csv" else None
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._table:
            self._table.finish_exporting()
        self._file.flush()
        if self._file is not sys.stdout.buffer:
            self._file.close()

    def write(self, article: Article, source: str | None) -> None:
        """Write *article*; *source* is the path of its file if there are several."""
        if self._table:
            self._table.export_item({**article.to_dict(), "source": source})
        else:
            gap = "\n" if self._count and self._form != "json" else ""
            self._file.write((gap + self._as_text(article, source)).encode(errors="replace"))
        self._count += 1

    def _as_text(self, article: Article, source: str | None) -> str:
        if self._form == "markdown":
            return article.to_markdown()
        if self._form == "html":
            return article.to_html()
        if self._form == "text":
            return plain_text(article)
        row: dict[str, Any] = {"source": source} if source else {}
        indent = None if self._several else 2
        return json.dumps(row | article.to_dict(), ensure_ascii=False, indent=indent) + "\n"


def plain_text(article: Article) -> str:
    """Return *article* as plain text: title, date and authors, body."""
    date = article.date.isoformat() if article.date else ""
    byline = " - ".join(part for part in (date, ", ".join(article.authors)) if part)
    return "\n\n".join(part for part in (article.title, byline, article.body) if part) + "\n"
