"""Tolerant parser of the JSON-LD of a page, and of the object literals of JavaScript."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
MAX_TOKENS = 200_000
"""Tokens that are read of a literal."""
_MAX_DEPTH = 200

# A quote that is not followed by the next value or the end of its container belongs to the text.
_OWN_QUOTE = r'"(?!\s*+(?:[:)}\]]|\Z|,\s*+(?:["{\[}\]]|-?\d|(?:true|false|null)\b|[\w$]++\s*+:)))'
# By whether quotes are repaired: a comment, a string or word, a colon after it, the mark of a
# container.
_TOKENS = [
    re.compile(
        rf"""[\s,:;]*+(?://[^\n]*+|/\*.*?(?:\*/|\Z)|("[^"\\]*+(?:(?:\\.{own_quote})[^"\\]*+)*+(?:"|\\?\Z)"""
        r"""|'[^'\\]*+(?:\\.[^'\\]*+)*+(?:'|\\?\Z)|`[^`\\]*+(?:\\.[^`\\]*+)*+(?:`|\\?\Z)"""
        r"""|[^\s{}\[\](),:;"'`]++)(\s*+:)?+|([{}\[\]()])|\Z)""",
        re.DOTALL,
    )
    for own_quote in ("", f"|{_OWN_QUOTE}")
]
_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL
)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\n": ""}
_WORDS = {
    "true": True, "false": False, "!0": True, "!1": False, "null": None, "undefined": None, "NaN": None,
    "void": None,
}  # fmt: skip
_OPENED: dict[str, type[Any]] = {"{": dict, "[": list, "(": list}
_QUOTES, _NUMBERS = "\"'`", "-0123456789"
_CLOSED: dict[str, type[Any]] = {"}": dict, "]": list, ")": list}


def parse_json_ld(text: str) -> list[Any]:
    """Return the JSON values of a script, or an empty list for invalid JSON.

    Accepts control characters in strings, a surrounding HTML comment or CDATA section, several
    values in sequence, and the damage that :func:`read_literal` repairs.
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


def person_names(value: Any, resolved: Callable[[JsonObject], JsonObject]) -> Iterator[str]:
    """Yield the names of people or organisations: texts, objects, *resolved* references."""
    for person in flat(value)[:_MAX_PEOPLE]:
        if isinstance(person, str):
            yield person
        elif isinstance(person, dict):
            yield from _names(person) or _names(resolved(person)) or [""]


def are_organizations(value: Any) -> bool:
    """Return whether *value*, authors, are organisations only."""
    people = flat(value)[:_MAX_PEOPLE]
    return bool(people) and all(
        isinstance(person, dict) and "Organization" in " ".join(types(person)) for person in people
    )


def flat(value: Any) -> list[Any]:
    """Return *value* as a list; lists in it are joined."""
    if not isinstance(value, list):
        return [] if value is None else [value]
    return [inner for item in value for inner in as_list(item)]


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


def addresses(node: JsonObject) -> Iterator[str]:
    """Yield the addresses by which *node* names its page."""
    for name in ("url", "@id", "mainEntityOfPage"):
        for value in as_list(node.get(name)):
            address = value.get("@id") or value.get("url") if isinstance(value, dict) else value
            if isinstance(address, str):
                yield address


class Name(str):
    """An identifier in a literal."""

    __slots__ = ()


def read_literal(text: str, start: int = 0, *, repair: bool = False) -> tuple[Any, int]:
    """Return the value that begins at *start* and its end.

    Accepts unquoted names, quotes of any kind, comments, surplus or missing commas, a cut end and
    ``undefined``; with *repair*, also quotes in strings that are not escaped. Raises ``ValueError``
    without a value.
    """
    values: list[Any] = []
    opened: list[Any] = [values]
    key = None
    for token in islice(_TOKENS[repair].finditer(text, start), MAX_TOKENS):
        start = token.end()
        raw, colon, mark = token.groups()
        if colon and isinstance(opened[-1], dict):
            key = _unquoted(raw)
        elif raw or mark in _OPENED:
            value = _OPENED[mark]() if mark else _scalar(raw)
            if isinstance(opened[-1], list):
                opened[-1].append(value)
            elif key is not None:
                opened[-1].setdefault(key, value)
            key = None
            if mark:
                opened.append(value)
        elif mark:
            _close(opened, _CLOSED[mark])
            key = None
        if (len(opened) == 1 and values) or len(opened) > _MAX_DEPTH:
            break
    if not values:
        raise ValueError("no value")
    return values[0], start


def _close(opened: list[Any], kind: type) -> None:
    """End the innermost container of this *kind*, if one is open."""
    if any(isinstance(container, kind) for container in opened[1:]):
        while not isinstance(opened.pop(), kind):
            pass


def _scalar(raw: str) -> Any:
    if raw[0] in _QUOTES:
        return _unquoted(raw)
    if raw in _WORDS:
        return _WORDS[raw]
    try:
        return json.loads(raw) if raw[0] in _NUMBERS else Name(raw)
    except ValueError:
        return Name(raw)


def _unquoted(raw: str) -> str:
    if raw[0] not in _QUOTES:
        return raw
    text = raw[1:-1] if raw.endswith(raw[0], 1) else raw[1:]
    return unescaped(text) if "\\" in text else text


def unescaped(text: str) -> str:
    """Return *text* with the escapes of JavaScript resolved."""
    data = _ESCAPE.sub(_unescaped, text).encode("utf-16", "surrogatepass")
    return data.decode("utf-16", "surrogatepass")  # joins pairs of surrogates


def _unescaped(found: re.Match[str]) -> str:
    *codes, character = found.groups()
    if character is not None:
        return _ESCAPED.get(character, character)
    number = int(next(filter(None, codes)), 16)
    return chr(number) if number <= 0x10FFFF else ""


def join_surrogates(text: str) -> str:
    """Return *text* with pairs of surrogates joined and single ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
