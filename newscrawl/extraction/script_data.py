"""Data of a page in its scripts and attributes, where frameworks put it.

JSON scripts (Next.js, SvelteKit, JSON-LD), assignments (Fusion, Apollo, Redux), arguments of a
function (Nuxt 2), flat lists with references (Nuxt 3, SvelteKit), streams of rows (Next.js) and
properties of components.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from newscrawl.fields import Name, join_surrogates, parse_json_ld, read_literal
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.document.document import Document

_MAX_SCRIPT = 4_000_000
_MAX_LITERALS = 60  # of a script
_JSON_STARTS = frozenset({'{"', "[{", '["'})
_DECODER = json.JSONDecoder(strict=False)
# Begins with a set, for speed.
_LITERAL = lazy_regex(r"[=(,r](?:(?<!r)\s*+(?=[{\[\"'`])|eturn(?<=\breturn)\s*+(?=[{\[]))")
_STRING = lazy_regex(r"[=(,+\[]\s*+(?=[\"'`])")
_MAX_STRINGS = 400
_ENCODED = lazy_regex(rb"(?<![\w+/-])[A-Za-z0-9+/_-]{300,}+")
_MIN_STRING = 20
_IDENTIFIERS = ("__ref", "__id", "id")
_MAX_REFERENCE, _MAX_IDENTIFIER = 4, 60  # properties, characters
_IN_BASE_36 = lazy_regex(r"[0-9a-z]{1,6}")
_WRITERS = ("document.write", ".innerHTML", "insertAdjacentHTML", ".textContent", ".innerText")
_SEROVAL = lazy_regex(r"\$R\[\d++\]\s?=")
_FUNCTION = lazy_regex(r"function\s*\(([\w$,\s]*)\)\s*\{\s*return\s*(?=\{)")
_ARGUMENTS = lazy_regex(r"[\s;}]*+\)?+\s*+(?=\()")
_ANGULAR_MARKS = {"q": '"', "s": "'", "l": "<", "g": ">", "a": "&"}
_ANGULAR = lazy_regex("&([qslga]);")
_STREAM = "__next_f"
_STREAM_PUSH = lazy_regex(r"\.push\(\s*(?=\[)")
_STREAM_ROW = lazy_regex(rb"([0-9a-f]+):(?:T([0-9a-f]+),)?")
_STREAM_REFERENCE = lazy_regex(r'"\$([0-9a-f]+)"')


def script_values(document: Document, wanted: Iterable[str], min_chars: float) -> Iterator[Any]:
    """Yield the values in scripts and attributes of *document* that contain one of *wanted*.

    Scripts with fewer than *min_chars* characters are left out.
    """
    source = document.source
    wanted = [part for part in wanted if _is_in_data(source, part.encode(errors="replace"))]
    if not wanted and _STREAM.encode() not in source:  # the parts of a stream may divide words
        return
    stream: list[str] = []
    for attributes, text in document.scripts((_STREAM, *wanted)):
        if _STREAM in text:
            stream += _pushed(text)
        elif min_chars <= len(text) <= _MAX_SCRIPT:
            is_json = "json" in attributes.lower() or text[:40].lstrip()[:2] in _JSON_STARTS
            yield from parse_json_ld(_unescaped(text)) if is_json else _literals(text, wanted)
    joined = "".join(stream)
    if any(part in joined for part in wanted):
        yield from _stream_values(joined)
    for value in document.data_attributes():
        if any(part in value for part in wanted):
            yield from parse_json_ld(value)


def _is_in_data(source: bytes, part: bytes) -> bool:
    """Return whether *part* occurs twice, once as the page shows it, or in a script."""
    first = source.find(part)
    return first >= 0 and (
        source.find(part, first + 1) >= 0
        or source.rfind(b"<script", 0, first) > source.rfind(b"</script", 0, first)
    )


def written_texts(document: Document) -> Iterator[str]:
    """Yield the texts and the markup that scripts of *document* write into the page."""
    for attributes, text in document.scripts(_WRITERS):
        if "json" not in attributes.lower() and len(text) <= _MAX_SCRIPT:
            yield _joined_strings(text)


def encoded_texts(document: Document) -> Iterator[str]:
    """Yield the texts in Base64, also percent-encoded, in scripts and attributes of *document*."""
    for found in islice(_ENCODED.finditer(document.source), _MAX_STRINGS):
        with suppress(ValueError):
            code = found[0].replace(b"+", b"-").replace(b"/", b"_")
            yield unquote(urlsafe_b64decode(code + b"==").decode())


def _joined_strings(text: str) -> str:
    """Return the strings of a script, which it adds up or writes one after the other."""
    parts: list[str] = []
    place = 0
    for _ in range(_MAX_STRINGS):
        found = _STRING.search(text, place)
        if found is None:
            break
        part, place = read_literal(text, found.end())
        if "<" in part or len(part) >= _MIN_STRING:
            parts.append(part)
    return "".join(parts)


def _unescaped(text: str) -> str:
    """Return JSON without the escapes of Angular's transfer state."""
    return _ANGULAR.sub(lambda found: _ANGULAR_MARKS[found[1]], text) if "&q;" in text else text


def expanded(value: Any) -> Any:
    """Return *value* with resolved references if it is a list with references (devalue, Qwik)."""
    known: dict[int, Any] = {}
    if isinstance(value, dict) and isinstance(objects := value.get("objs"), list):
        flat = list(map(_numbered, objects))
        with suppress(RecursionError):
            return [_expand(flat, n, known) for n, it in enumerate(flat) if isinstance(it, dict)]
    if not (isinstance(value, list) and len(value) > 2 and _has_references(value[0], len(value))):
        return value
    with suppress(RecursionError):
        return _expand(value, 0, known)
    return known.get(0, value)


def resolve_references(root: Any) -> None:
    """Replace the references (Apollo, Relay, JSON:API, Contentful) in *root* by their objects."""
    records: dict[str, Any] = {}
    references: list[tuple[Any, Any, str]] = []
    pending: list[tuple[Any, Any, Any]] = [(None, 0, root)]
    while pending:
        container, key, value = pending.pop()
        if isinstance(value, dict) and container and isinstance(value.get("__refs"), list):
            value = container[key] = [{"__ref": name} for name in value["__refs"]]
        if isinstance(value, dict):
            name = _identifier(value)
            if container and name and _is_short(value):
                references.append((container, key, name))
            else:
                records.setdefault(name, value)
            if ":" in str(key):
                records.setdefault(key, value)
            pending += [(value, name, part) for name, part in value.items()]
        elif isinstance(value, list):
            pending += [(value, place, part) for place, part in enumerate(value)]
    for container, key, name in references:
        container[key] = records.get(name, container[key])


def _identifier(value: dict[str, Any]) -> str:
    inner = system if isinstance(system := value.get("sys"), dict) else value
    name = next((it for key in _IDENTIFIERS if isinstance(it := inner.get(key), str)), "")
    return f"{value.get('type')}:{name}" if name.isdigit() else name


def _is_short(value: dict[str, Any]) -> bool:
    parts = [part for key, part in value.items() if key != "sys"]
    return len(parts) <= _MAX_REFERENCE and not any(
        isinstance(part, (dict, list)) or len(str(part)) > _MAX_IDENTIFIER for part in parts
    )


def _numbered(value: Any) -> Any:
    """Return an object or a list of Qwik with its references, to the base 36, as integers."""
    if isinstance(value, dict):
        return dict(zip(value, _numbered(list(value.values())), strict=True))
    if isinstance(value, list):
        return [int(it, 36) if _IN_BASE_36.fullmatch(str(it)) else None for it in value]
    return value


def _has_references(first: Any, size: int) -> bool:
    parts = list(first.values()) if isinstance(first, dict) else first
    if isinstance(parts, list) and parts and isinstance(parts[0], str):
        parts = parts[1:]
    return (
        isinstance(parts, list)
        and bool(parts)
        and all(isinstance(part, int) and -8 < part < size for part in parts)
    )


def _expand(flat: Sequence[Any], place: Any, known: dict[int, Any]) -> Any:
    if not isinstance(place, int) or not 0 <= place < len(flat):
        return None
    if place in known:
        return known[place]
    value = flat[place]
    if isinstance(value, dict):
        known[place] = {}
        known[place].update((key, _expand(flat, part, known)) for key, part in value.items())
    elif isinstance(value, list) and value and isinstance(value[0], str):  # a type and its content
        known[place] = None
        known[place] = _expand(flat, value[1], known) if len(value) > 1 else None
    elif isinstance(value, list):
        known[place] = []
        known[place] += [_expand(flat, part, known) for part in value]
    else:
        known[place] = value
    return known[place]


def _literals(text: str, wanted: Sequence[str]) -> Iterator[Any]:
    """Yield the objects, lists and strings with one of *wanted* that a script assigns or passes."""
    if "$R[" in text:  # the names of values in Seroval (Solid, TanStack)
        text = _SEROVAL.sub("", text)
    function = _FUNCTION.search(text)
    if function is not None:
        names = [name.strip() for name in function[1].split(",")]
        value, end = read_literal(text, function.end())
        arguments: Any = []
        if (call := _ARGUMENTS.match(text, end)) is not None:
            with suppress(ValueError):
                arguments, _ = read_literal(text, call.end())
        yield _with_names(value, dict(zip(names, arguments, strict=False)))
        return
    start, last = 0, max(map(text.rfind, wanted))
    for _ in range(_MAX_LITERALS):
        found = _LITERAL.search(text, start, last)
        if found is None:
            break
        start = begin = found.end()
        with suppress(ValueError):
            value, start = _read_value(text, begin)
            if any(text.find(part, begin, start) >= 0 for part in wanted):
                yield _unquoted(value)


def _read_value(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at *start*, in JSON or JavaScript, and its end."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return read_literal(text, start)


def _unquoted(value: Any) -> Any:
    return unquote(value) if isinstance(value, str) and value[:3] in {"%7B", "%5B"} else value


def _with_names(value: Any, names: dict[str, Any], depth: int = 60) -> Any:
    """Return *value* with the identifiers *names* replaced."""
    if isinstance(value, Name):
        return names.get(value)
    if isinstance(value, dict) and depth:
        return {key: _with_names(part, names, depth - 1) for key, part in value.items()}
    if isinstance(value, list) and depth:
        return [_with_names(part, names, depth - 1) for part in value]
    return value


def _pushed(text: str) -> Iterator[str]:
    for push in islice(_STREAM_PUSH.finditer(text), _MAX_LITERALS):
        with suppress(ValueError):
            pushed, _ = _read_value(text, push.end())
            yield from (part for part in pushed if isinstance(part, str))


def _stream_values(stream: str) -> Iterator[Any]:
    """Yield the values of the rows of a stream of server components."""
    data = join_surrogates(stream).encode()
    texts: dict[str, str] = {}
    lines: list[str] = []
    place = 0
    while (row := _STREAM_ROW.match(data, place)) is not None:
        if row[2]:
            place = row.end() + int(row[2], 16)
            texts[row[1].decode()] = data[row.end() : place].decode(errors="replace")
        else:
            end = data.find(b"\n", row.end())
            end = len(data) if end < 0 else end
            lines.append(data[row.end() : end].decode(errors="replace"))
            place = end + 1
    for line in lines:
        if line[:1] in {"[", "{"}:
            resolved = _STREAM_REFERENCE.sub(
                lambda found: json.dumps(texts[found[1]]) if found[1] in texts else found[0], line
            )
            with suppress(RecursionError):
                yield from map(_element, parse_json_ld(resolved))


def _element(value: Any) -> Any:
    """Return *value* with its React elements as objects."""
    if isinstance(value, dict):
        return {key: _element(part) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) >= 4 and value[0] == "$" and isinstance(value[3], dict):
        properties = {key: _element(part) for key, part in value[3].items()}
        return {"type": value[1] if isinstance(value[1], str) else "", **properties}
    return [_element(part) for part in value]


def nested_values(text: str) -> Sequence[Any]:
    """Return the values of JSON in a string, if any."""
    return parse_json_ld(text) if text[:1] in {"{", "["} else ()
