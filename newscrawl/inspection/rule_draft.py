"""``draft_rule()``: the start of a site rule from what extraction selected in a page."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from newscrawl.document.document import TEXT, DocumentError, rows_between
from newscrawl.extraction.extract import DEFAULT_METHOD, ExtractOptions, extract
from newscrawl.extraction.method import Trace
from newscrawl.fields import day_of
from newscrawl.fields.metadata.author_names import clean_names
from newscrawl.site_rules import SiteRules
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from newscrawl.document.document import Document
    from newscrawl.items import Article

MAX_STRIPS: Final = 20
"""Elements in the body that are stripped by the draft."""
_BODY_SHARE: Final = 0.9
_MAX_BYLINE: Final = 120
_MAX_SAMPLE: Final = 80
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z_-]{2,40}")
"""Names of classes and ids that are not counted or generated."""


def draft_rule(
    html: bytes | str,
    url: str,
    *,
    encoding: str | None = None,
    method: str = DEFAULT_METHOD,
    site_rules: str = "",
    marks: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> str:
    """Return the start of a rule for the site of *url*.

    *site_rules* is a folder of rules that are used. *marks* has texts of the page by directive,
    for the smallest element with all of them. The other arguments and errors are
    those of :func:`~newscrawl.extraction.extract.extract`, and ``DocumentError`` if there is none.
    """
    trace = Trace()
    options = ExtractOptions(site_rules=SiteRules(site_rules) if site_rules else None)
    article = extract(html, url, encoding=encoding, method=method, options=options, trace=trace)
    document = trace.document
    assert document is not None  # noqa: S101  # extract() fills the trace
    drafts = {
        "title": [f"title: {_title(document, trace)}"],
        "body": list(_body(document, trace)),
        "author": list(_authors(document, article)),
        "date": list(_date(document, article, trace)),
    }
    for name, texts in marks.items():
        groups = [[text] for text in texts] if name == "strip" else [texts]
        rows = (_home(document, group) for group in groups)
        drafts[name] = [f"{name}: {_path(document, row)}" for row in rows]
    lines = (line for draft in drafts.values() for line in draft)
    return "\n".join([*lines, "", f"test_url: {url}", *_sample(article)]) + "\n"


def _home(document: Document, texts: Sequence[str]) -> int:
    """Return the smallest element with all of *texts*."""
    wanted = [squeeze(text) for text in texts]
    found: int | None = None
    rows: Iterable[int] = (0,)
    while True:
        for row in rows:
            is_element = document.tag[row] != TEXT
            if is_element and all(text in document.shown_text(row) for text in wanted):
                found, rows = row, document.children(row)
                break
        else:
            break
    if found is None:
        raise DocumentError(f"no element has {' and '.join(map(repr, wanted))}")
    return found


def _title(document: Document, trace: Trace) -> str:
    if trace.title_row is None:
        return "//meta[@property='og:title']/@content"
    return _path(document, trace.title_row)


def _body(document: Document, trace: Trace) -> Iterator[str]:
    """Yield the expression of the smallest element with the body, and of what is not part of it."""
    kept = {row for root in trace.roots for row in document.text_nodes(root)}
    kept -= {row for root in trace.skipped for row in document.text_nodes(root)}
    if not kept:
        return
    wanted = _BODY_SHARE * sum(len(document.text[row]) for row in kept)
    home = max(kept)
    end = document.end
    while sum(len(document.text[row]) for row in kept if home <= row < end[home]) < wanted:
        home = document.parent[home]
    home = home if document.tag[home] != TEXT else document.parent[home]
    yield f"body: {_path(document, home)}"
    path = _path(document, home)
    others = (row for row in _others(document, home, kept) if row != trace.title_row)
    lines = dict.fromkeys(f"strip: {path}//{_step(document, row)}" for row in others)
    matched = set(kept)
    for number, line in enumerate(lines):
        if number == MAX_STRIPS:
            return
        rows = _named(document, line.rpartition("//")[2], home)
        if not any(matched.intersection(document.text_nodes(row)) for row in rows):
            yield line


def _others(document: Document, row: int, kept: set[int]) -> Iterator[int]:
    """Yield the largest elements in that at *row* that have text, but none of *kept*."""
    for child in document.children(row):
        texts = document.text_nodes(child)
        if not texts or document.tag[child] == TEXT:
            continue
        if kept.isdisjoint(texts):
            yield child
        else:
            yield from _others(document, child, kept)


def _authors(document: Document, article: Article) -> Iterator[str]:
    """Yield the expression of the smallest element with all authors and no other name."""
    short = [row for row in document.text_nodes() if len(document.text[row]) <= _MAX_BYLINE]
    rows = [
        row
        for name in map(str.casefold, article.authors)
        for row in [row for row in short if name in document.text[row].casefold()][:1]
    ]
    if not rows:
        return
    home = document.parent[rows[0]]
    while not all(home < row < document.end[home] for row in rows):
        home = document.parent[home]
    if clean_names([document.shown_text(home)]) == article.authors:
        yield f"author: {_path(document, home)}"


def _date(document: Document, article: Article, trace: Trace) -> Iterator[str]:
    source = article.evidence["date"].source if article.date else ""
    if source.startswith("meta:"):
        name = source.removeprefix("meta:")
        yield f"date: //meta[@property='{name}' or @name='{name}']/@content"
    day = day_of(article.date) if article.date else None
    for item in trace.dates:
        if item.day == day and item.row is not None:
            row = item.row if document.tag[item.row] != TEXT else document.parent[item.row]
            yield f"date: {_path(document, row)}"
            return


def _sample(article: Article) -> Iterator[str]:
    """Yield a text of the middle of the body."""
    paragraphs = [part for part in article.body.split("\n\n") if "\n" not in part]
    if paragraphs:
        text = max(paragraphs[len(paragraphs) // 2 :], key=len)
        yield f"test_contains: {text[:_MAX_SAMPLE].rpartition(' ')[0] or text[:_MAX_SAMPLE]}"


def _path(document: Document, row: int) -> str:
    """Return an expression for the element at *row*, by the closest name that is the only one."""
    steps: list[str] = []
    while True:
        step = _step(document, row)
        if len(_named(document, step, 0)) == 1:
            return "//" + "/".join([step, *steps])
        parent = document.parent[row]
        if parent < 0:
            return "/" + "/".join([document.tag[row], *steps])
        if "[" not in step:
            alike = [it for it in document.children(parent) if document.tag[it] == step]
            step = step if len(alike) == 1 else f"{step}[{alike.index(row) + 1}]"
        steps.insert(0, step)
        row = parent


def _step(document: Document, row: int) -> str:
    """Return a step to the element at *row*: its tag, with its id or the rarest of its classes."""
    tag = document.tag[row]
    identifier = document.attributes["id"].get(row, "")
    if _NAME.fullmatch(identifier):
        return f"{tag}[@id='{identifier}']"
    classes = filter(_NAME.fullmatch, document.attributes["class"].get(row, "").split())
    steps = [
        f"{tag}[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]"
        for name in classes
    ]
    return min(steps, key=lambda step: len(_named(document, step, 0)), default=tag)


def _named(document: Document, step: str, within: int) -> Sequence[int]:
    """Return the rows in the element *within* that a result of :func:`_step` names."""
    tag, _, condition = step.partition("[")
    rows = rows_between(document.rows_of(tag), within, document.end[within])
    if not condition:
        return rows
    name = condition.split("'")[-2].strip()
    column = document.attributes["id" if condition.startswith("@id") else "class"]
    return [row for row in rows if name in column.get(row, "").split()]
