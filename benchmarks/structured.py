"""Structured data as we read it and as extruct does, the reference: what both see, and at what cost.

JSON-LD: the values of the scripts. OpenGraph: properties and their content. Microdata: the
properties that bear on an article (``PROPERTIES``), white space aside. ``agreement`` is the share of
extruct's statements that we read as it does; ``ours only`` counts those that extruct passes over:
broken JSON, properties outside of an ``itemscope`` and OpenGraph outside of the head, for the most
part. With ``--time`` both read pages that are parsed; the cost is given in parses of the page.

Without corpora the sample pages are read. Needs extruct.

    python benchmarks/structured.py [CORPUS...] [--time] [--list] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import lxml.html
from extruct.jsonld import JsonLdExtractor
from extruct.opengraph import OpenGraphExtractor
from extruct.w3cmicrodata import MicrodataExtractor

from newscrawl.corpora.corpus import load_corpus
from newscrawl.corpora.tables import Table, print_tables, share
from newscrawl.document.document import parse_document
from newscrawl.fields.metadata.jsonld import as_list
from newscrawl.fields.metadata.markup import Markup, read_markup, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lxml.etree import _Element

    from newscrawl.document.document import Document

SAMPLES = Path(__file__).resolve().parents[1] / "newscrawl" / "samples"
PROPERTIES = ("datePublished", "dateModified", "headline")
SYNTAXES = ("json-ld", "opengraph", "microdata")
ROUNDS = 3
# Those that extruct knows, and the one that pages declare.
_NAMESPACES = {"og", "music", "video", "article", "book", "profile", "product", "fb"}
_SHOWN = 120

Statements = dict[str, set[tuple[str, str]]]


class Page(NamedTuple):
    """A page, its name and its address."""

    name: str
    data: bytes
    url: str


class Compared(NamedTuple):
    """The statements of a page in one syntax."""

    page: str
    syntax: str
    both: set[tuple[str, str]]
    theirs: set[tuple[str, str]]
    ours: set[tuple[str, str]]


def read_pages(corpora: Iterable[Path]) -> Iterator[Page]:
    """Yield the pages of *corpora*, or the samples if there are none."""
    corpora = list(corpora)
    for folder in corpora:
        for page in load_corpus(folder).pages:
            yield Page(page.id, page.html(), page.url)
    if not corpora:
        for path in sorted(SAMPLES.rglob("*.html")):
            yield Page(path.name, path.read_bytes(), f"https://sample.example/{path.name}")


def by_us(document: Document, url: str) -> Statements:
    """Return what our reader finds in *document*."""
    markup = read_markup(document, url)
    return {
        "json-ld": {("", _text(item)) for value in markup.json_ld for item in as_list(value)},
        "opengraph": {
            (name, value)
            for name, values in markup.meta.items()
            if ":" in name and name.partition(":")[0] in _NAMESPACES
            for value in values
        },
        "microdata": set(_our_items(document, markup)),
    }


def _our_items(document: Document, markup: Markup) -> Iterator[tuple[str, str]]:
    for name in PROPERTIES:
        for item in markup.items.get(name.lower(), ()):
            yield (
                name,
                _tight(item.get("content") or item.get("datetime") or text_of(document, item)),
            )
        for value in markup.meta.get(name.lower(), ()):
            yield name, _tight(value)


def by_extruct(root: _Element, url: str) -> Statements:
    """Return what extruct finds under *root*; nothing in a syntax that it gives up on."""
    return {
        "json-ld": {("", _text(item)) for item in _json_ld(root)},
        "opengraph": {
            (name.lower(), value.strip())
            for thing in OpenGraphExtractor().extract_items(root)
            for name, value in thing["properties"]
            if value.strip()
        },
        "microdata": {
            (name, _tight(value))
            for name, value in _properties(MicrodataExtractor().extract_items(root, url))
            if name in PROPERTIES and isinstance(value, str) and value.strip()
        },
    }


def _json_ld(root: _Element) -> list[Any]:
    try:
        return JsonLdExtractor().extract_items(root)
    except ValueError:
        return []


def _properties(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and values of the properties of items, of nested ones, too."""
    if isinstance(value, list):
        for one in value:
            yield from _properties(one)
    elif isinstance(value, dict):
        for name, values in value.get("properties", {}).items():
            for one in as_list(values):
                yield name, one
                yield from _properties(one)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _tight(text: str) -> str:
    return "".join(text.split())


def compare(page: Page) -> Iterator[Compared]:
    """Yield what both read on *page*, each in a tree of its own, in the charset that we see."""
    document = parse_document(page.data)
    parser = lxml.html.HTMLParser(encoding=document.encoding)
    theirs = by_extruct(lxml.html.document_fromstring(page.data, parser=parser), page.url)
    ours = by_us(document, page.url)
    for syntax in SYNTAXES:
        one, other = ours[syntax], theirs[syntax]
        yield Compared(page.name, syntax, one & other, other - one, one - other)


def summary(compared: Sequence[Compared]) -> dict[str, dict[str, float]]:
    """Return the counts of each syntax."""
    result = {}
    for syntax in SYNTAXES:
        rows = [one for one in compared if one.syntax == syntax]
        both, theirs, ours = (sum(len(getattr(one, name)) for one in rows) for name in
                              ("both", "theirs", "ours"))  # fmt: skip
        result[syntax] = {
            "pages": sum(bool(one.both or one.theirs) for one in rows),
            "both": both,
            "theirs": theirs,
            "ours": ours,
            "agreement": both / (both + theirs) if both + theirs else 1.0,
        }
    return result


def times(pages: Iterable[Page]) -> dict[str, float]:
    """Return the median cost of both readers, in parses of the page.

    Ours finds the elements to read in the document's one pass, which is not counted.
    """
    costs = [_cost(page) for page in pages]
    ours, theirs = (median(column) for column in zip(*costs, strict=True))
    return {"ours": ours, "extruct": theirs}


def _cost(page: Page) -> tuple[float, float]:
    root = lxml.html.document_fromstring(page.data)
    parse = _least(lambda: lxml.html.document_fromstring(page.data))
    document = parse_document(page.data)
    ours = _least(lambda: read_markup(document, page.url))
    return ours / parse, _least(lambda: _run_extruct(root, page.url)) / parse


def _run_extruct(root: Any, url: str) -> None:
    _json_ld(root)
    list(OpenGraphExtractor().extract_items(root))
    MicrodataExtractor().extract_items(root, url)


def _least(function: Callable[[], object]) -> float:
    least = float("inf")
    for _ in range(ROUNDS):
        start = process_time()
        function()
        least = min(least, process_time() - start)
    return least


def tables(report: dict[str, Any]) -> Iterator[Table]:
    """Yield the tables that show *report*."""
    rows = [
        [syntax, *(str(counts[name]) for name in ("pages", "both", "theirs", "ours")),
         share(counts["agreement"])]
        for syntax, counts in report["syntaxes"].items()
    ]  # fmt: skip
    columns = ("syntax", "pages", "both", "extruct only", "ours only", "agreement")
    yield Table(f"Statements on {report['pages']} pages", columns, rows)
    if costs := report["times"]:
        ratio = f"{costs['extruct'] / costs['ours']:.1f}"
        row = [f"{costs['ours']:.2f}", f"{costs['extruct']:.2f}", ratio]
        yield Table("Median cost in parses of the page", ("ours", "extruct", "ratio"), [row])


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="*", type=Path, metavar="CORPUS")
    parser.add_argument("--time", action="store_true", help="time both, too")
    parser.add_argument("--list", action="store_true", help="list what extruct alone reads")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    arguments = parser.parse_args()
    pages = list(read_pages(arguments.corpora))
    compared = [one for page in pages for one in compare(page)]
    if arguments.list:
        for one in compared:
            for name, value in one.theirs:
                print(one.page, one.syntax, name, value[:_SHOWN])
    report = {
        "pages": len(pages),
        "syntaxes": summary(compared),
        "times": times(pages) if arguments.time else None,
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(report), encoding="utf-8")
    print_tables(tables(report), sys.stdout)


if __name__ == "__main__":
    main()
