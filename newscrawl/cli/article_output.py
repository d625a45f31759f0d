"""Output of ``newscrawl extract``: articles as JSON, text, Markdown, HTML or CSV."""

from __future__ import annotations

import errno
import json
import os
import sys
from dataclasses import fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self

import click

from newscrawl.body.parts import DEFAULT_PARTS
from newscrawl.cli.shared_options import suffix_of
from newscrawl.items import Article

if TYPE_CHECKING:
    from newscrawl.exporters.markdown_folder import MarkdownFolder
    from newscrawl.exporters.text_feeds import SafeCsvItemExporter

FORMATS: Final = (
    "json",
    "jsonl",
    "schema-org",
    "text",
    "markdown",
    "front-matter",
    "html",
    "tei",
    "csv",
)
DEFAULT_PARTS_LIST: Final = ",".join(sorted(DEFAULT_PARTS))

_SUFFIXES: Final = {
    ".csv": "csv",
    ".htm": "html",
    ".html": "html",
    ".jl": "jsonl",
    ".json": "json",
    ".jsonl": "jsonl",
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
    """Return the format for the output file *path*, by its suffix.

    Raises ``click.UsageError`` for a suffix without a format.
    """
    return _SUFFIXES.get(suffix_of(path, _SUFFIXES, ", or --format"), "json")


class ArticleOutput:
    """Writes articles to the file *path* (``-``: standard output) in a format of :data:`FORMATS`.

    Markdown goes to a file for each article if *path* is a folder, or ends like one. JSON is
    indented if there are not *several* articles; several are an array in a file called ``.json``,
    otherwise one per line. The file is opened, and replaced, at the first article. Raises
    ``OSError`` if its folder is missing.
    """

    def __init__(self, path: str, form: str, *, several: bool) -> None:
        self._path = Path(path)
        self._folder: MarkdownFolder | None = None
        if path.endswith(("/", os.sep)) or self._path.is_dir():
            if form not in ("front-matter", "markdown"):
                raise click.UsageError(f"{path}: a folder; only --markdown writes one")
            # imports Scrapy
            from newscrawl.exporters.markdown_folder import MarkdownFolder  # noqa: PLC0415

            self._folder = MarkdownFolder(self._path)
        elif path != "-" and not self._path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self._form = form
        is_json = form in ("json", "schema-org")
        self._indent = 2 if is_json and not several else None
        self._is_array = is_json and several and self._path.suffix.lower() == ".json"
        self._file: IO[bytes] | None = None
        self._table: SafeCsvItemExporter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is None:
            return
        if self._table:
            self._table.finish_exporting()
        if self._is_array:
            self._file.write(b"]\n")
        self._file.flush()
        if self._file is not sys.stdout.buffer:
            self._file.close()

    def write(self, article: Article, source: str | None) -> None:
        """Write *article*; *source* is the path of its file if there are several."""
        if self._folder is not None:
            self._folder.write_article(article)
            return
        is_first = self._file is None
        if self._file is None:
            self._file = sys.stdout.buffer if str(self._path) == "-" else self._path.open("wb")
            if self._form == "csv":
                # imports Scrapy
                from newscrawl.exporters.text_feeds import SafeCsvItemExporter  # noqa: PLC0415

                self._table = SafeCsvItemExporter(self._file, fields_to_export=_COLUMNS)
        if self._table:
            self._table.export_item({**article.to_dict(), "source": source})
            return
        gap = "" if is_first or self._form in ("json", "jsonl", "schema-org") else "\n"
        if self._is_array:
            gap = "[" if is_first else ","
        self._file.write((gap + self._as_text(article, source)).encode(errors="replace"))

    def _as_text(self, article: Article, source: str | None) -> str:
        if self._form == "markdown":
            return article.to_markdown()
        if self._form == "front-matter":
            return article.to_markdown(front_matter=True)
        if self._form == "tei":
            from newscrawl.extraction.tei_writer import write_tei  # noqa: PLC0415  # lxml's builder

            return write_tei(article)
        if self._form == "html":
            return article.to_html()
        if self._form == "text":
            return plain_text(article)
        row: dict[str, Any] = {"source": source} if source else {}
        row |= article.to_schema_org() if self._form == "schema-org" else article.to_dict()
        return json.dumps(row, ensure_ascii=False, indent=self._indent) + "\n"


def plain_text(article: Article) -> str:
    """Return *article* as plain text: title, date and authors, body."""
    date = article.date.isoformat() if article.date else ""
    byline = " - ".join(part for part in (date, ", ".join(article.authors)) if part)
    return "\n\n".join(part for part in (article.title, byline, article.body) if part) + "\n"
