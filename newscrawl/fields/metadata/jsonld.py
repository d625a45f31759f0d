"""Tolerant parser of the JSON-LD of a page."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from newscrawl.fields.metadata.literals import read_literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

JsonObject = dict[str, Any]

MAX_CHARACTERS = 2_000_000
"""Maximum length of a script; longer ones are ignored."""

MAX_NODES = 2_000
"""Maximum number of objects that are read per page."""

_MAX_PEOPLE = 50
# Characters before the last damaged value.
_MAX_REPAIRED = 200_000

ARTICLE_TYPES = frozenset(
    {
        "AdvertiserContentArticle", "AnalysisNewsArticle", "Article", "AskPublicNewsArticle",
        "BackgroundNewsArticle", "BlogPosting", "LiveBlogPosting", "NewsArticle",
        "OpinionNewsArticle", "Report", "ReportageNewsArticle", "Review", "ReviewNewsArticle",
        "SatiricalArticle", "ScholarlyArticle", "SocialMediaPosting", "TechArticle",
    }
)  # fmt: skip
"""https://schema.org/Article and related types."""

# Properties with the page's own article; objects of other properties describe something else.
_CONTAINERS = ("@graph", "mainEntity", "mainEntityOfPage")
# HTML comment or CDATA section around a script, with or without a comment mark.
_WRAPPING = re.compile(r"(?:(?://|/\*)\s*+)?+(?:<!--|-->|<!\[CDATA\[|\]\]>)\s*+(?:\*/)?")
_START = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder(strict=False)


def parse_json_ld(text: str) -> list[Any]:
    """Return the JSON values of a script, or an empty list for invalid JSON.

    Accepts control characters in strings, a surrounding HTML comment or CDATA section, several
    values in sequence, and the damage that
    :func:`~newscrawl.fields.metadata.literals.read_literal` repairs.
    """
    if len(text) > MAX_CHARACTERS:
        return []
    try:
        return _values(text) or _repaired_values(_WRAPPING.sub("", text))
    except RecursionError:
        return []


def page_nodes(values: Iterable[Any]) -> list[JsonObject]:
    """Return the top-level objects of a page in document order, at most :data:`MAX_NODES`."""
    nodes = []
    pending = list(values)[::-1]
    for _ in range(MAX_NODES):
        if not pending:
            break
        value = pending.pop()
        if isinstance(value, list):
            pending.extend(reversed(value))
        elif isinstance(value, dict):
            nodes.append(value)
            pending.extend(value[name] for name in reversed(_CONTAINERS) if name in value)
    return nodes


def article_node(nodes: Iterable[JsonObject], urls: set[str]) -> JsonObject | None:
    """Return the object of the page's article: the first that names one of *urls*, or the first."""
    articles = find_nodes(nodes, ARTICLE_TYPES)
    matching = (node for node in articles if not urls.isdisjoint(_addresses(node)))
    return next(matching, articles[0] if articles else None)


def find_nodes(nodes: Iterable[JsonObject], wanted: AbstractSet[str]) -> list[JsonObject]:
    """Return the *nodes* of any of the *wanted* types."""
    return [node for node in nodes if not wanted.isdisjoint(types(node))]


def person_names(value: Any, nodes: Iterable[JsonObject]) -> Iterator[str]:
    """Yield the names of people or organisations: texts, objects or references to *nodes*."""
    for person in _flat(value)[:_MAX_PEOPLE]:
        if isinstance(person, str):
            yield person
        elif isinstance(person, dict):
            own = _names(person)
            yield from own or next(filter(None, map(_names, _same_id(person, nodes))), [""])


def are_organizations(value: Any) -> bool:
    """Return whether *value*, authors, are organisations only."""
    people = _flat(value)[:_MAX_PEOPLE]
    return bool(people) and all(
        isinstance(person, dict) and "Organization" in " ".join(types(person)) for person in people
    )


def _flat(value: Any) -> list[Any]:
    """Return *value* as a list; lists in it are joined."""
    return [inner for item in as_list(value) for inner in as_list(item)]


def _same_id(person: JsonObject, nodes: Iterable[JsonObject]) -> Iterator[JsonObject]:
    reference = person.get("@id")
    if isinstance(reference, str) and reference:
        yield from (node for node in nodes if node.get("@id") == reference)


def _names(person: JsonObject) -> list[str]:
    names = [name for name in as_list(person.get("name")) if isinstance(name, str) and name]
    if names:
        return names
    parts = (person.get("givenName"), person.get("familyName"))
    name = " ".join(part for part in parts if isinstance(part, str))
    return [name] if name else []


def types(node: JsonObject) -> list[str]:
    """Return the types of *node* without the prefix of the vocabulary."""
    return [
        name.rpartition("/")[2].rpartition(":")[2]
        for name in as_list(node.get("@type"))
        if isinstance(name, str)
    ]


def as_list(value: Any) -> list[Any]:
    """Return *value* as a list; ``None`` becomes an empty list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _values(text: str) -> list[Any]:
    values = []
    start = _START.search(text)
    while start is not None:
        try:
            value, end = _DECODER.raw_decode(text, start.start())
        except ValueError:
            break
        values.append(value)
        start = _START.search(text, end)
    return values


def _repaired_values(text: str) -> list[Any]:
    values = []
    start = _START.search(text)
    while start is not None and start.start() < _MAX_REPAIRED:
        value, end = read_literal(text, start.start(), repair=True)
        values.append(value)
        start = _START.search(text, end)
    return list(filter(None, values))


def _addresses(node: JsonObject) -> Iterator[str]:
    for name in ("url", "@id", "mainEntityOfPage"):
        for value in as_list(node.get(name)):
            address = value.get("@id") or value.get("url") if isinstance(value, dict) else value
            if isinstance(address, str):
                yield address.partition("#")[0]
