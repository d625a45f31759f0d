"""Folders with a Markdown file for each article, with YAML front matter."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy.exporters import BaseItemExporter

from newscrawl.items import Article

if TYPE_CHECKING:
    from typing import BinaryIO

MARKDOWN: Final = "markdown"
"""Name of the format in ``FEEDS``."""

_MAX_TITLE: Final = 60
_MAX_TITLE_BYTES: Final = 120
"""Limits of the title in a file name, in characters and in UTF-8: systems allow 255 bytes."""
_OTHER: Final = re.compile(r"[\W_]+")
_KEY: Final = re.compile(r".*?([0-9a-f]{10})\.md")


class MarkdownFolder:
    """The files of *folder*, which is created: ``2026-11-20-council-votes-3f9a2c1b7d.md``.

    A name has the day and the words of the title, in letters and digits only, and ten digits of the
    hash of the URL. The file of a URL keeps its name when the article changes.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        found = filter(None, (_KEY.fullmatch(path.name) for path in self._folder.iterdir()))
        self._names = {match[1]: match[0] for match in found}

    def write_article(self, article: Article) -> None:
        """Write the file of *article*, or replace it in one step; the text of a deleted one stays.

        Raises ``OSError``, and ``ValueError`` if the article has no Markdown.
        """
        key = hashlib.sha256((article.url or article.body).encode(errors="replace")).hexdigest()[
            :10
        ]
        if "deleted" in article.flags and key in self._names:
            return
        text = article.to_markdown(front_matter=True)
        name = self._names.setdefault(key, _file_name(article, key))
        part = self._folder / f".{name}.part"
        try:
            part.write_text(text, encoding="utf-8", errors="replace", newline="\n")
            part.replace(self._folder / name)
        except OSError:
            with suppress(OSError):
                part.unlink()
            raise

    def flush(self) -> None:
        """Do nothing: a file is complete when it is written."""

    close = flush


class MarkdownExporter(BaseItemExporter):
    """Exporter for the format ``markdown``, whose *file* is a ``MarkdownFolder``."""

    def __init__(self, file: BinaryIO | MarkdownFolder, **options: Any) -> None:
        super().__init__(**options)
        if not isinstance(file, MarkdownFolder):
            raise TypeError("the format markdown writes a folder of local files")
        self._files = file

    def export_item(self, item: Any) -> None:
        """Write the file of an article. Raises ``TypeError`` for another item."""
        if not isinstance(item, Article):
            raise TypeError(f"a {type(item).__qualname__} is not an Article")
        self._files.write_article(item)


def _file_name(article: Article, key: str) -> str:
    day = article.date.isoformat()[:10] if article.date else ""
    words = _OTHER.sub("-", unicodedata.normalize("NFC", article.title or "").lower()).strip("-")
    title = words[:_MAX_TITLE].encode()[:_MAX_TITLE_BYTES].decode(errors="ignore")
    if len(title) < len(words) and "-" in title:
        title = title.rpartition("-")[0]
    return "-".join(filter(None, (day, title, key))) + ".md"
