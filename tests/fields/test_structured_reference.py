"""Structured data read as extruct reads them, its reference."""

import json
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from lxml.etree import _Element

from newscrawl.document.document import Document, parse_document
from newscrawl.fields.metadata.jsonld import as_list
from newscrawl.fields.metadata.structured_data import StructuredData
from newscrawl.lab.corpora.corpus import load_corpus
from tests.conftest import skip_missing

PROPERTIES = ("datePublished", "dateModified", "headline")
# supported by extruct, and fb
NAMESPACES = {"og", "music", "video", "article", "book", "profile", "product", "fb"}
URL = "https://sample.example/page"

Statements = dict[str, set[tuple[str, str]]]


def read_by_us(document: Document) -> Statements:
    """Return the statements that newscrawl finds in *document*."""
    data = StructuredData(document, URL)
    return {
        "json-ld": {("", text(item)) for value in data.json_ld for item in as_list(value)},
        "opengraph": {
            (name, value)
            for name, values in data.meta.items()
            if name.partition(":")[0] in NAMESPACES and ":" in name
            for value in values
        },
        "microdata": {
            (name, tight(value)) for name in PROPERTIES for value in our_values(data, name.lower())
        },
    }


def our_values(data: StructuredData, name: str) -> Iterator[str]:
    """Yield the values of a property."""
    for item in data.properties.get(name, ()):
        yield item.get("content") or item.get("datetime") or data.text_of(item)
    yield from data.meta.get(name, ())


def read_by_extruct(root: _Element) -> Statements:
    """Return the statements that extruct finds under *root*."""
    from extruct.jsonld import JsonLdExtractor
    from extruct.opengraph import OpenGraphExtractor
    from extruct.w3cmicrodata import MicrodataExtractor

    try:
        json_ld = JsonLdExtractor().extract_items(root)
    except ValueError:
        json_ld = []
    return {
        "json-ld": {("", text(item)) for item in json_ld},
        "opengraph": {
            (name.lower(), value.strip())
            for thing in OpenGraphExtractor().extract_items(root)
            for name, value in thing["properties"]
            if value.strip()
        },
        "microdata": {
            (name, tight(value))
            for name, value in properties(MicrodataExtractor().extract_items(root, URL))
            if name in PROPERTIES and isinstance(value, str) and value.strip()
        },
    }


def properties(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and values of the properties of items and nested items."""
    if isinstance(value, list):
        for item in value:
            yield from properties(item)
    elif isinstance(value, dict):
        for name, values in value.get("properties", {}).items():
            for item in as_list(values):
                yield name, item
                yield from properties(item)


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def tight(value: str) -> str:
    return "".join(value.split())


def check(pages: Iterable[bytes], *syntaxes: str) -> None:
    """Check that newscrawl finds what extruct finds, each by its tree, and some *syntaxes*."""
    if find_spec("extruct") is None:
        skip_missing("extruct, the reference of structured data, is not installed (extra dev)")
    found: set[str] = set()
    for html in pages:
        document = parse_document(html)
        parser = lxml.html.HTMLParser(encoding=document.encoding)
        theirs = read_by_extruct(lxml.html.document_fromstring(html, parser=parser))
        for syntax, ours in read_by_us(document).items():
            assert theirs[syntax] <= ours
            found.update([syntax] if theirs[syntax] else ())
    assert found >= set(syntaxes)


def test_reads_samples_like_extruct(repository: Path):
    samples = (repository / "samples").rglob("*.html")
    check((path.read_bytes() for path in samples), "json-ld", "opengraph")


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("name", ["news212", "fundus"])
def test_reads_corpora_like_extruct(corpus_dir: Path, name: str):
    pages = load_corpus(corpus_dir / name).pages
    check((page.html() for page in pages), "json-ld", "opengraph", "microdata")
