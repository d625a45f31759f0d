"""JSON-LD of a page, as publishers really write it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

JsonObject = dict[str, Any]

MAX_CHARACTERS = 2_000_000
"""Longest script that is read; the longest of the corpora has some 200,000 characters."""

MAX_NODES = 2_000
"""Most objects that are looked at in one page."""

ARTICLE_TYPES = frozenset(
    {
        "AdvertiserContentArticle", "AnalysisNewsArticle", "Article", "AskPublicNewsArticle",
        "BackgroundNewsArticle", "BlogPosting", "LiveBlogPosting", "NewsArticle",
        "OpinionNewsArticle", "Report", "ReportageNewsArticle", "Review", "ReviewNewsArticle",
        "SatiricalArticle", "ScholarlyArticle", "SocialMediaPosting", "TechArticle",
    }
)  # fmt: skip
"""Types of https://schema.org/Article and its kin."""

# Where a page's own article stands; what hangs on other properties is about something else.
_CONTAINERS = ("@graph", "mainEntity", "mainEntityOfPage")
# A script may be wrapped in an HTML comment or a CDATA section, with or without "//" before them.
_WRAPPING = re.compile(r"(?:(?://|/\*)\s*+)?+(?:<!--|-->|<!\[CDATA\[|\]\]>)\s*+(?:\*/)?")
# Strings are matched first, so that commas inside them are left alone.
_STRING_OR_COMMA = re.compile(r'"(?:\\.|[^"\\])*+(?:"|\\?\Z)|,(?=\s*+[}\]])', re.DOTALL)
_BAD_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')
_START = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder(strict=False)


def parse_json_ld(text: str) -> list[Any]:
    """Return the values of one script: none where it cannot be read.

    Tolerated: control characters in strings, unknown escapes, trailing commas, an HTML comment or
    a CDATA section around it, several values after one another.
    """
    if len(text) > MAX_CHARACTERS:
        return []
    try:
        return _values(text) or _values(_repair(text))
    except RecursionError:
        return []


def page_nodes(values: Iterable[Any]) -> list[JsonObject]:
    """Return the objects of the page's own level in document order, :data:`MAX_NODES` at most."""
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
    """Return that of a page's *nodes* which describes its article, if there is one.

    Of several, the one that names one of *urls*, then the first.
    """
    articles = find_nodes(nodes, ARTICLE_TYPES)
    own = (node for node in articles if not urls.isdisjoint(_addresses(node)))
    return next(own, articles[0] if articles else None)


def find_nodes(nodes: Iterable[JsonObject], wanted: AbstractSet[str]) -> list[JsonObject]:
    """Return the *nodes* of any of the *wanted* types."""
    return [node for node in nodes if not wanted.isdisjoint(types(node))]


def types(node: JsonObject) -> list[str]:
    """Return the types of *node* without their vocabulary's prefix."""
    return [
        name.rpartition("/")[2].rpartition(":")[2]
        for name in as_list(node.get("@type"))
        if isinstance(name, str)
    ]


def as_list(value: Any) -> list[Any]:
    """Return *value* if it is a list, else a list of it; of ``None`` an empty one."""
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


def _repair(text: str) -> str:
    return _STRING_OR_COMMA.sub(_repair_part, _WRAPPING.sub("", text))


def _repair_part(match: re.Match[str]) -> str:
    if match[0] == ",":
        return ""
    return _BAD_ESCAPE.sub(lambda escape: escape[0] if escape[1] else "", match[0])


def _addresses(node: JsonObject) -> Iterator[str]:
    for name in ("url", "@id", "mainEntityOfPage"):
        for value in as_list(node.get(name)):
            address = value.get("@id") or value.get("url") if isinstance(value, dict) else value
            if isinstance(address, str):
                yield address.partition("#")[0]
