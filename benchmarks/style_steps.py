"""Steps timed by :mod:`benchmarks.styles`."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import lxml.html

from newscrawl.body.nce import nce
from newscrawl.css import Sheet, SheetStore, Stylesheets
from newscrawl.css.style import stacks
from newscrawl.document.document import Document, parse_document

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.oracle.pages import Page

PARSE = "lxml.html"
STRUCTURE = "parse_document + NCE"
NEW, COLD, STORED, CACHED = (
    f"relevant nodes, {state}" for state in ("new process", "cold", "stored", "cached")
)
WHOLE_NEW, WHOLE_CACHED = "whole tree, new process", "whole tree, cached"


class RecordingStore(SheetStore):
    """Store that records the texts of requested sheets."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def parsed(self, text: str) -> Sheet:
        """Return the sheet of *text*."""
        self.texts.append(text)
        return super().parsed(text)


class LinkedSheets(Mapping[str, Sheet]):
    """Sheets of a site by URL, from a store or parsed lazily."""

    def __init__(self, texts: Mapping[str, tuple[str, str]], store: SheetStore) -> None:
        #: URL -> hash and text
        self._texts = texts
        self._store = store

    def __getitem__(self, url: str) -> Sheet:
        key, text = self._texts[url]
        return self._store.get(key) or self._store.parsed(text)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


class Subject:
    """A page to time; *texts* maps the URLs of style sheets to hash and text."""

    def __init__(self, page: Page, texts: Mapping[str, tuple[str, str]]) -> None:
        self.page = page
        self.host = urlsplit(page.url).hostname
        self._texts = texts
        document = parse_document(page.html)
        self._relevant = relevant_rows(document)
        self._all_rows = range(len(document))
        #: step -> minimum CPU time in seconds
        self.times: dict[str, float] = {}

    def measure(self, others: Sequence[Subject]) -> None:
        """Time all steps and keep the minimum of each.

        *others* are pages of other sites that fill the caches of the process.
        """
        self._take(PARSE, lambda: lxml.html.document_fromstring(self.page.html))
        self._take(STRUCTURE, lambda: nce(parse_document(self.page.html)))
        forget()
        for other in others:
            other.style(SheetStore())
        with tempfile.TemporaryDirectory() as folder:
            store = SheetStore()
            self._take_style(COLD, store)
            self._take_style(CACHED, store)
            self._take_style(WHOLE_CACHED, store, whole=True)
            self.style(SheetStore(folder))
            forget()
            self._take_style(STORED, SheetStore(folder))
        forget()
        self._take_style(NEW, SheetStore())
        forget()
        self._take_style(WHOLE_NEW, SheetStore(), whole=True)

    def style(self, store: SheetStore, *, whole: bool = False) -> None:
        """Compute the style of the relevant nodes, or of all rows."""
        self._style(parse_document(self.page.html), store, whole=whole)

    def sheets(self) -> list[str]:
        """Return the texts of all sheets of the page, embedded ones included."""
        store = RecordingStore()
        self._style(parse_document(self.page.html), store, whole=False)
        return store.texts

    def _style(self, document: Document, store: SheetStore, *, whole: bool) -> None:
        sheets = LinkedSheets(self._texts, store)
        styles = Stylesheets(document, sheets, base_url=self.page.url, store=store)
        for row in self._all_rows if whole else self._relevant:
            styles.style_of(row)

    def _take_style(self, name: str, store: SheetStore, *, whole: bool = False) -> None:
        document = parse_document(self.page.html)
        document.element(0)  # the tree is parsed on demand, and its cost is not that of styles
        self._take(name, lambda: self._style(document, store, whole=whole))

    def _take(self, name: str, step: Callable[[], object]) -> None:
        start = time.process_time()
        step()
        taken = time.process_time() - start
        self.times[name] = min(taken, self.times.get(name, taken))


def relevant_rows(document: Document) -> list[int]:
    """Return the text nodes of NCE's forest and all before it (thesis, section 3.4.1)."""
    forest = nce(document).forest
    first = forest[0] if forest else len(document)
    rows = [row for row in document.text_nodes() if row < first]
    return rows + [row for tree in forest for row in document.text_nodes(tree)]


def forget() -> None:
    """Clear the caches of selectors, values and pages; parse the default style sheet again."""
    for name, module in list(sys.modules.items()):
        if name.startswith("newscrawl.css."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
    stacks.clear()
    Stylesheets(parse_document(b"<p>x"))
