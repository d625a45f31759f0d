"""Pages with their examples by source of style, grouped by available style sheets."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.cardoso.cross_validation import nodes_without_style
from benchmarks.cardoso.looks import ChromiumStyles, Source, oracle_page, tag_styles
from newscrawl.document.document import DocumentError, parse_document
from newscrawl.fields.cardoso import TextNodes
from newscrawl.lab.corpora.tables import Table
from newscrawl.lab.training.example_types import without_style
from newscrawl.lab.training.examples import example

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from newscrawl.document.document import Document
    from newscrawl.fields.cardoso import StyleOf
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.example_types import Example

    #: corpus and id of a page
    Key = tuple[str, str]

GROUPS = COMPLETE, SITES, INCOMPLETE = "css-complete", "css-sites", "sheets missing"
MIN_EMBEDDED = 2048
"""Minimum characters of embedded style of a page in :data:`COMPLETE`."""

_BATCH_SIZE = 60
"""Pages rendered in one batch; limits the memory for their bytes and sheets."""


class Pool(NamedTuple):
    """Pages and their examples with each source of style."""

    pages: list[LabelledPage]
    examples: dict[Source, list[Example]]

    def only(self, chosen: Callable[[LabelledPage], bool]) -> Pool:
        """Return the pool of the pages for which *chosen* is true."""
        indices = [index for index, page in enumerate(self.pages) if chosen(page)]
        return Pool(
            [self.pages[index] for index in indices],
            {
                source: [examples[index] for index in indices]
                for source, examples in self.examples.items()
            },
        )


class Groups:
    """Groups of pages by the availability of their style sheets."""

    def __init__(self, corpora: Path) -> None:
        listed = json.loads((corpora / f"{COMPLETE}.json").read_bytes())
        self._inline: set[Key] = {(entry["corpus"], entry["id"]) for entry in listed}
        self._listed_corpora = {corpus for corpus, _ in self._inline}
        self._sheets: dict[Key, Sheets] = {}

    def __call__(self, page: LabelledPage) -> str:
        """Return the group of *page*."""
        if page.corpus == SITES:
            return SITES
        return COMPLETE if self.complete(page) else INCOMPLETE

    def complete(self, page: LabelledPage) -> bool:
        """Return whether all style sheets of *page* are available."""
        if page.corpus == SITES:
            return True
        if page.corpus in self._listed_corpora:
            return key_of(page) in self._inline
        sheets = self._of(page)
        return not sheets.linked and sheets.embedded >= MIN_EMBEDDED

    def table(self, pages: Iterable[LabelledPage]) -> Table:
        """Return the number of pages by corpus and available sheets."""
        counts: dict[str, Counter[str]] = {}
        for page in pages:
            embedded = self._of(page).embedded > 0
            kind = "all" if self.complete(page) else "embedded" if embedded else "none"
            counts.setdefault(page.corpus, Counter())[kind] += 1
        kinds = ("all", "embedded", "none")
        rows = [
            [corpus, str(count.total()), *(str(count[kind]) for kind in kinds)]
            for corpus, count in counts.items()
        ]
        columns = ("corpus", "pages", "all sheets", "embedded only", "none")
        return Table("Pages by available style sheets", columns, rows)

    def _of(self, page: LabelledPage) -> Sheets:
        key = key_of(page)
        if key not in self._sheets:
            self._sheets[key] = sheets_of(page)
        return self._sheets[key]


def key_of(page: LabelledPage) -> Key:
    """Return the name of a page."""
    return page.corpus, page.id


class Sheets(NamedTuple):
    """Style sheets of a page: number of links, characters of embedded style."""

    linked: int
    embedded: int


def sheets_of(page: LabelledPage) -> Sheets:
    """Return the linked, imported and embedded sheets of *page*."""
    try:
        root = parse_document(page.html()).root
    except DocumentError:
        return Sheets(0, 0)
    texts = [element.text or "" for element in root.iter("style")]
    links = [link for link in root.iter("link") if "stylesheet" in (link.get("rel") or "").lower()]
    return Sheets(len(links) + sum("@import" in text for text in texts), sum(map(len, texts)))


def read_pool(
    pages: Sequence[LabelledPage],
    sources: Sequence[Source],
    folder: Path,
    workers: int,
    complete: Callable[[LabelledPage], bool],
) -> Pool:
    """Return the examples of *pages* with all *sources*, without pages that Chromium rejects.

    Chromium renders the pages that are *complete*; the others have our style instead.
    """
    shown = [page for page in pages if complete(page)]
    if "chromium" in sources:
        render_missing(shown, folder)
    pool = Pool([], {source: [] for source in sources})
    rendered = frozenset(map(key_of, shown))
    read = partial(read_sources, sources=sources, folder=folder, rendered=rendered)
    with ProcessPoolExecutor(workers, get_context("spawn")) as processes:
        for page, by_source in zip(pages, processes.map(read, pages, chunksize=8), strict=True):
            if by_source is not None:
                pool.pages.append(page)
                for source in sources:
                    pool.examples[source].append(by_source[source])
    return pool


def render_missing(pages: Sequence[LabelledPage], folder: Path) -> None:
    """Render the *pages* that are not cached in *folder* with Chromium, in batches."""
    chromium = ChromiumStyles(folder)
    for start in range(0, len(pages), _BATCH_SIZE):
        chromium.add([oracle_page(page) for page in pages[start : start + _BATCH_SIZE]])


def read_sources(
    page: LabelledPage, *, sources: Sequence[Source], folder: Path, rendered: AbstractSet[Key]
) -> dict[Source, Example] | None:
    """Return the example of *page* with each source of style; None if one is not available.

    Pages that are not *rendered* by Chromium have our style instead.
    """
    try:
        document = parse_document(page.html())
    except DocumentError:
        return None
    ours = replace(example(document, page), body=None)
    shown = oracle_page(page)
    examples: dict[Source, Example] = {}
    for source in sources:
        styled: Example | None = ours
        if source == "none":
            candidates = without_style(ours.candidates)
            styled = replace(ours, nodes=nodes_without_style(ours.nodes), candidates=candidates)
        elif source == "tags":
            styled = _restyled(document, ours, tag_styles(shown))
        elif source == "chromium" and key_of(page) in rendered:
            styled = _restyled(document, ours, ChromiumStyles(folder).of(shown))
        if styled is None:
            return None
        examples[source] = styled
    return examples


def _restyled(document: Document, original: Example, style_of: StyleOf | None) -> Example | None:
    """Return *original* with other styles; candidates with unknown style are not changed."""
    if style_of is None:
        return None
    rows, candidates = original.nodes.rows, original.candidates
    if any(candidates.features["style_known"]):
        candidates = candidates.with_style(rows, style_of)
    return replace(original, nodes=TextNodes.of(document, rows, style_of), candidates=candidates)
