"""Structured data compared with extruct: agreement and cost.

Compared are JSON-LD values, OpenGraph properties and the microdata properties of articles
(``PROPERTIES``), ignoring white space. ``agreement`` is the share of extruct's statements that
newscrawl finds; ``ours only`` counts statements that extruct does not find, mostly invalid JSON,
properties outside of an ``itemscope`` and OpenGraph outside of the head. ``--time`` measures both
on parsed pages, in parses of the page.

Without corpora the sample pages are used. Needs extruct.

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

from newscrawl.document.document import parse_document
from newscrawl.fields.metadata.jsonld import as_list
from newscrawl.fields.metadata.structured_data import StructuredData
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.tables import Table, print_tables, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lxml.etree import _Element

    from newscrawl.document.document import Document

SAMPLES = Path(__file__).resolve().parents[1] / "newscrawl" / "samples"
PROPERTIES = ("datePublished", "dateModified", "headline")
SYNTAXES = ("json-ld", "opengraph", "microdata")
ROUNDS = 3
# supported by extruct, and fb
_NAMESPACES = {"og", "music", "video", "article", "book", "profile", "product", "fb"}
_MAX_PRINTED = 120

Statements = dict[str, set[tuple[str, str]]]


class Page(NamedTuple):
    """A page with its name and URL."""

    name: str
    data: bytes
    url: str


class Compared(NamedTuple):
    """Statements of a page in one syntax, found by both, by extruct only and by newscrawl only."""

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
    """Return the statements that newscrawl finds in *document*."""
    data = StructuredData(document, url)
    return {
        "json-ld": {("", _text(item)) for value in data.json_ld for item in as_list(value)},
        "opengraph": {
            (name, value)
            for name, values in data.meta.items()
            if ":" in name and name.partition(":")[0] in _NAMESPACES
            for value in values
        },
        "microdata": set(_our_items(data)),
    }


def _our_items(data: StructuredData) -> Iterator[tuple[str, str]]:
    for name in PROPERTIES:
        for item in data.properties.get(name.lower(), ()):
            yield (
                name,
                _tight(item.get("content") or item.get("datetime") or data.text_of(item)),
            )
        for value in data.meta.get(name.lower(), ()):
            yield name, _tight(value)


def by_extruct(root: _Element, url: str) -> Statements:
    """Return the statements that extruct finds under *root*."""
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
    """Yield names and values of the properties of items and nested items."""
    if isinstance(value, list):
        for item in value:
            yield from _properties(item)
    elif isinstance(value, dict):
        for name, values in value.get("properties", {}).items():
            for item in as_list(values):
                yield name, item
                yield from _properties(item)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _tight(text: str) -> str:
    return "".join(text.split())


def compare(page: Page) -> Iterator[Compared]:
    """Compare both on *page*, each with its own tree but the same encoding."""
    document = parse_document(page.data)
    parser = lxml.html.HTMLParser(encoding=document.encoding)
    theirs = by_extruct(lxml.html.document_fromstring(page.data, parser=parser), page.url)
    ours = by_us(document, page.url)
    for syntax in SYNTAXES:
        found, reference = ours[syntax], theirs[syntax]
        yield Compared(page.name, syntax, found & reference, reference - found, found - reference)


def summary(compared: Sequence[Compared]) -> dict[str, dict[str, float]]:
    """Return the counts of each syntax."""
    result = {}
    for syntax in SYNTAXES:
        rows = [it for it in compared if it.syntax == syntax]
        both, theirs, ours = (sum(len(getattr(it, name)) for it in rows) for name in
                              ("both", "theirs", "ours"))  # fmt: skip
        result[syntax] = {
            "pages": sum(bool(it.both or it.theirs) for it in rows),
            "both": both,
            "theirs": theirs,
            "ours": ours,
            "agreement": both / (both + theirs) if both + theirs else 1.0,
        }
    return result


def times(pages: Iterable[Page]) -> dict[str, float]:
    """Return the median cost of both, in parses of the page.

    The pass over the document in which newscrawl finds the elements is not included.
    """
    costs = [_cost(page) for page in pages]
    ours, theirs = (median(column) for column in zip(*costs, strict=True))
    return {"ours": ours, "extruct": theirs}


def _cost(page: Page) -> tuple[float, float]:
    root = lxml.html.document_fromstring(page.data)
    parse = _min_time(lambda: lxml.html.document_fromstring(page.data))
    document = parse_document(page.data)
    ours = _min_time(lambda: StructuredData(document, page.url))
    return ours / parse, _min_time(lambda: _run_extruct(root, page.url)) / parse


def _run_extruct(root: Any, url: str) -> None:
    _json_ld(root)
    list(OpenGraphExtractor().extract_items(root))
    MicrodataExtractor().extract_items(root, url)


def _min_time(function: Callable[[], object]) -> float:
    minimum = float("inf")
    for _ in range(ROUNDS):
        start = process_time()
        function()
        minimum = min(minimum, process_time() - start)
    return minimum


def tables(report: dict[str, Any]) -> Iterator[Table]:
    """Yield the tables of *report*."""
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
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="*", type=Path, metavar="CORPUS")
    parser.add_argument("--time", action="store_true", help="also measure the cost")
    parser.add_argument(
        "--list", action="store_true", help="list statements that only extruct finds"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    arguments = parser.parse_args()
    pages = list(read_pages(arguments.corpora))
    compared = [it for page in pages for it in compare(page)]
    if arguments.list:
        for it in compared:
            for name, value in it.theirs:
                print(it.page, it.syntax, name, value[:_MAX_PRINTED])
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
