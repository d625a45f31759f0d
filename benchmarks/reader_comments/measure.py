"""Scores of extractors on pages with readers' comments.

*removed* is the share of comment words in lines that the body does not contain; *lost* is the share
of labelled word trigrams that the body does not contain on the page, but on the page without
comments.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

from benchmarks.reader_comments.labels import comments_at, read_labels
from benchmarks.reader_comments.pages import generated_pages
from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.metrics import bag_score
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

_NAMES = re.compile(r"\s(class|id|itemtype|data-[\w-]+)=('[^']*'|\"[^\"]*\")")


class Scored(NamedTuple):
    """A page and its labels."""

    #: comment software or CMS, or the corpus
    system: str
    #: ``tune``, ``report`` or ``corpora``
    half: str
    #: empty if unknown
    language: str
    #: kind of the body, empty if unknown
    kind: str
    html: bytes
    html_without: bytes
    body: str
    #: one text node per line
    comments: str


def made_pages() -> Iterator[Scored]:
    """Yield the generated pages."""
    for it in generated_pages():
        yield Scored(
            it.system, it.half, it.language, it.kind, it.html, it.html_without, it.body, it.comments
        )


def real_pages(folder: Path) -> Iterator[Scored]:
    """Yield the pages of the corpora with labelled comments."""
    for name, paths in read_labels().items():
        for page in load_corpus(folder / name).pages:
            if page.id in paths:
                html, path = page.html(), paths[page.id]
                comments = comments_at(html, path)
                yield Scored(
                    name, "corpora", "", "", html, _without(html, path), page.body or "", comments
                )


def _without(html: bytes, path: str) -> bytes:
    """Return *html* without the elements at XPath *path*."""
    root = parse_document(html).root
    found: Any = root.xpath(path)
    for element in found:
        element.clear(keep_tail=True)
    text: bytes = etree.tostring(root, method="html", encoding="utf-8")
    return text


@dataclass(frozen=True)
class RemovalScore:
    """Scores of an extractor on one page."""

    page: Scored
    #: None without comments
    removed: float | None
    lost: float
    kept: float


class Extractor(NamedTuple):
    """A tool, or a configuration of newscrawl."""

    #: returns the body
    run: Callable[[bytes], str]
    #: returns the body with comments, if different
    keep: Callable[[bytes], str]


def score(page: Scored, extractor: Extractor) -> RemovalScore:
    """Return the scores of *extractor* on *page*."""
    gold = _trigrams(words(page.body))
    body = words(extractor.run(page.html))
    whole = words(extractor.keep(page.html_without))
    kept, possible = (bag_score(_trigrams(text), gold).recall for text in (body, whole))
    removed = 1 - _share_contained(body, page.comments) if page.comments else None
    return RemovalScore(page, removed, max(0.0, possible - kept), kept)


def _trigrams(text: Sequence[str]) -> list[str]:
    """Return the word trigrams of *text*."""
    return [" ".join(three) for three in zip(text, text[1:], text[2:], strict=False)]


def _share_contained(body: Sequence[str], comments: str) -> float:
    """Return the share of the words of *comments* in lines that *body* contains."""
    text = f" {' '.join(body)} "
    sizes: Counter[bool] = Counter()
    for line in comments.splitlines():
        found = words(line)
        sizes[f" {' '.join(found)} " in text] += len(found)
    return sizes[True] / sizes.total() if sizes else 0.0


def without_names(html: bytes) -> bytes:
    """Return *html* without classes, ids and microdata."""
    return _NAMES.sub("", html.decode("utf-8", "replace")).encode()


def _extract(html: bytes, *, method: str, comments: bool, change: Callable[[bytes], bytes]) -> str:
    options = ExtractOptions(remove_comments=not comments)
    return extract(change(html), method=method, options=options).body


def _ours(method: str, change: Callable[[bytes], bytes] = bytes) -> Extractor:
    run = partial(_extract, method=method, change=change)
    return Extractor(partial(run, comments=False), partial(run, comments=True))


def _unchanged(method: str) -> Extractor:
    run = partial(_extract, method=method, change=bytes, comments=True)
    return Extractor(run, run)


OURS: Mapping[str, Extractor] = {
    "newscrawl": _ours("newscrawl"),
    "newscrawl, no names at all": _ours("newscrawl", without_names),
    "nce": _ours("nce"),
    "nce without phase 2": _unchanged("nce"),
    "nce:published": _ours("nce:published"),
    "nce:published without phase 2": _unchanged("nce:published"),
    "nce:ancestor": _ours("nce:ancestor"),
}
"""Methods of newscrawl; the second reads pages without classes, ids and microdata."""


def peer(name: str) -> Extractor:
    """Return the tool *name* of ``benchmarks.peers``. Raises ``ImportError``."""
    from benchmarks.peers.tool_types import PageInput  # noqa: PLC0415
    from benchmarks.peers.tools import TOOLS  # noqa: PLC0415 - lxml.html and more

    run = TOOLS[name].load()

    def body(html: bytes) -> str:
        return run(PageInput(html, html.decode("utf-8", "replace"), None)).body or ""

    return Extractor(body, body)
