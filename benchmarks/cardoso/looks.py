"""Sources of text style: none, tags alone, newscrawl's engine, Chromium."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from newscrawl.css import INITIAL_STYLE, Stylesheets
from newscrawl.document.document import parse_document
from tests.oracle.chromium import Rendered, Request, render
from tests.oracle.compare import Style, request_of, their_style
from tests.oracle.pages import Page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from newscrawl.document.document import Document
    from newscrawl.fields.cardoso import StyleOf
    from newscrawl.lab.corpora.corpus import LabelledPage

Source = Literal["none", "tags", "ours", "chromium"]
SOURCES: tuple[Source, ...] = get_args(Source)


def oracle_page(page: LabelledPage) -> Page:
    """Return *page* with the style sheets of its corpus, as input of Chromium."""
    return Page(
        page.corpus, page.id, page.url or "", page.html(), corpus_bytes(page.path.parent.parent)
    )


@cache
def corpus_bytes(corpus: Path) -> dict[str, bytes]:
    """Return the style sheets of a corpus folder by URL."""
    index = corpus / "stylesheets.json"
    files: dict[str, str] = json.loads(index.read_bytes()) if index.is_file() else {}
    return {
        url: gzip.decompress((corpus / "css" / name).read_bytes()) for url, name in files.items()
    }


def tag_styles(page: Page) -> StyleOf:
    """Return the style of *page* without author styles."""
    document = without_author_styles(page.html)
    return Stylesheets(document, {}, base_url=page.url or "").style_of


def without_author_styles(html: bytes) -> Document:
    """Return the document of a page, with the same rows, without style elements and attributes."""
    html = re.sub(rb"(?i)<style(?=[\s>])", b"<style type=text/plain", html)
    return parse_document(re.sub(rb"(?i)(?<=[\s\"'])style(?=\s*=)", b"data-style", html))


class ChromiumStyles:
    """Styles computed by Chromium, cached in *folder*."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, pages: Sequence[Page]) -> None:
        """Render the *pages* that are not cached; failures are not cached."""
        requests = [_request(page) for page in pages]
        missing = [request for request in requests if not self._file(request).is_file()]

        def done(index: int, rendered: Rendered | Exception) -> None:
            if isinstance(rendered, Rendered):
                text = json.dumps(rendered.styles)
                self._file(missing[index]).write_text(text, encoding="utf-8")

        if missing:
            render(iter(missing), done)

    def of(self, page: Page) -> StyleOf | None:
        """Return Chromium's style of *page*, None if it is not cached."""
        request = _request(page)
        file = self._file(request)
        if not file.is_file():
            return None
        found: list[Any] = json.loads(file.read_bytes())
        styles = {
            row: their_style(values)
            for row, values in zip(request.rows, found, strict=True)
            if values is not None
        }
        return _Lookup(parse_document(page.html), styles)

    def _file(self, request: Request) -> Path:
        digest = hashlib.sha256(request.html)
        for url, sheet in request.sheets.items():
            digest.update(url.encode() + b"\0" + sheet)
        return self._folder / f"{digest.hexdigest()}.json"


class _Lookup:
    """Styles by row; elements without a style, as in ``video``, have that of their parent."""

    def __init__(self, document: Document, styles: Mapping[int, Style]) -> None:
        self._document = document
        self._styles = styles

    def __call__(self, row: int) -> Any:
        for ancestor in self._document.ancestors(row):
            if ancestor in self._styles:
                return self._styles[ancestor]
        return INITIAL_STYLE


def _request(page: Page) -> Request:
    document = parse_document(page.html)
    parents = sorted({document.parent[row] for row in document.text_nodes()})
    return request_of(page, document, parents)
