"""Full article text in embedded JSON, for pages that show only its beginning.

Frameworks embed the data of a page as JSON in a script. Behind a paywall, that JSON often contains
the whole article as rich text: a list of objects or HTML with one paragraph each.
"""

from __future__ import annotations

import html
import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from w3lib.html import remove_tags

from newscrawl.fields.metadata.jsonld import parse_json_ld
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.document.document import Document

MAX_SHOWN_CHARS = 2500
"""Maximum weighted characters of a body that may be incomplete."""
MIN_LENGTH_RATIO = 1.5
"""Minimum length of the embedded article relative to the visible body."""
_MAX_VALUES, _MAX_LISTS = 100_000, 20
# Levels of objects and lists around the text of a paragraph.
_MAX_DEPTH = 12
# Start of the longest visible text to take the search string from, and its minimum length.
_PROBE_RANGE, _MIN_PROBE = 200, 12

# Keys of texts and of nested objects in the rich text of Contentful, Draft.js, Editor.js,
# htmlparser2, Portable Text, ProseMirror and Slate.
_TEXT_KEYS = ("text", "value", "data", "html")
_CHILD_KEYS = ("content", "children", "nodes", "blocks", "body", "paragraphs")
_PARAGRAPH_ENDS = re.compile(r"</p\s*>|(?:<br\s*/?>\s*){2,}", re.IGNORECASE)
# Text that is never escaped in JSON.
_UNESCAPED = re.compile(r"[^\"\\/<>&\s\u2010-\u2026]+(?: [^\"\\/<>&\s\u2010-\u2026]+)*")


def find_embedded_article(document: Document, rows: Sequence[int]) -> str | None:
    """Return the full text of the article that begins with the text nodes *rows*, or None.

    Paragraphs are separated by blank lines.
    """
    before = document.chars_before
    shown = sum(before[row + 1] - before[row] for row in rows)
    if shown > MAX_SHOWN_CHARS:
        return None
    longest = max((document.text[row] for row in rows), key=len, default="")
    probe = max(_UNESCAPED.findall(longest[:_PROBE_RANGE]), key=len, default="")
    if len(probe) < _MIN_PROBE:
        return None
    texts = (
        "\n\n".join(filter(None, map(_plain_text, parts)))
        for script in document.statements
        if script.tag == "script" and "ld+json" not in script.get("type") and probe in script.script
        for parts in islice(_parts_around(parse_json_ld(script.script), probe), _MAX_LISTS)
    )
    best = max(texts, key=len, default="")
    return best if len(best) >= MIN_LENGTH_RATIO * shown else None


def _parts_around(values: Iterable[Any], probe: str) -> Iterator[Sequence[Any]]:
    """Yield the lists of objects that contain the text *probe*, and paragraphs of HTML with it."""
    pending: list[tuple[Any, tuple[list[Any], ...]]] = [(value, ()) for value in values]
    for _ in range(_MAX_VALUES):
        if not pending:
            return
        value, lists = pending.pop()
        if isinstance(value, dict):
            pending.extend((part, lists) for part in value.values())
        elif isinstance(value, list):
            inside = (*lists, value) if all(isinstance(part, dict) for part in value) else lists
            pending.extend((part, inside) for part in value)
        elif isinstance(value, str) and probe in value:
            yield from lists
            yield _PARAGRAPH_ENDS.split(value)


def _plain_text(value: Any) -> str:
    text = _text(value)
    return squeeze(html.unescape(remove_tags(text)) if "<" in text or "&" in text else text)


def _text(value: Any, depth: int = _MAX_DEPTH) -> str:
    """Return the text of a rich text value: a string, an object or a list of either."""
    if isinstance(value, str):
        return value
    if not depth:
        return ""
    if isinstance(value, list):
        return "".join(_text(part, depth - 1) for part in value)
    if isinstance(value, dict):
        texts = (value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str))
        children = (value[key] for key in _CHILD_KEYS if value.get(key))
        return _text(next(chain(texts, children), ""), depth - 1)
    return ""
