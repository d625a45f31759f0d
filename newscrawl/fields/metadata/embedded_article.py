"""The article in a page's data, where the page itself shows the beginning of it only.

Frameworks send with the page the data that it was made of, as JSON in a script. Where a wall cuts
the article short in the page, its data often hold all of it, as rich text: a list with an object or
a piece of HTML a paragraph.
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
"""Weighted characters of a body that may be the beginning only."""
MIN_LENGTH_RATIO = 1.5
"""Least size of the article in the data, over that of the body shown."""
_MOST_VALUES, _MOST_LISTS = 100_000, 20
_DEEPEST = 12
"""Most objects around a text of a paragraph."""
_KNOWN, _LEAST_PROBE = 200, 12
"""Characters of the longest text shown in which a run is sought that is the same in JSON, and least
characters of that run."""

_TEXTS = ("text", "value", "data", "html")
_PARTS = ("content", "children", "nodes", "blocks", "body", "paragraphs")
"""Names under which objects of rich text hold their text, and further objects: those of Contentful,
Draft.js, Editor.js, htmlparser2, Portable Text, ProseMirror and Slate."""
_PARAGRAPH_ENDS = re.compile(r"</p\s*>|(?:<br\s*/?>\s*){2,}", re.IGNORECASE)
_PLAIN = re.compile(r"[^\"\\/<>&\s\u2010-\u2026]+(?: [^\"\\/<>&\s\u2010-\u2026]+)*")


def find_embedded_article(document: Document, rows: Sequence[int]) -> str | None:
    """Return the text of the article whose beginning the text nodes *rows* are; None: it is nowhere.

    Paragraphs are separated by blank lines.
    """
    before = document.chars_before
    shown = sum(before[row + 1] - before[row] for row in rows)
    if shown > MAX_SHOWN_CHARS:
        return None
    known = max((document.text[row] for row in rows), key=len, default="")
    probe = max(_PLAIN.findall(known[:_KNOWN]), key=len, default="")
    if len(probe) < _LEAST_PROBE:
        return None
    texts = (
        "\n\n".join(filter(None, map(_plain_text, parts)))
        for script in document.statements
        if script.tag == "script" and "ld+json" not in script.get("type") and probe in script.script
        for parts in islice(_parts_around(parse_json_ld(script.script), probe), _MOST_LISTS)
    )
    best = max(texts, key=len, default="")
    return best if len(best) >= MIN_LENGTH_RATIO * shown else None


def _parts_around(values: Iterable[Any], known: str) -> Iterator[Sequence[Any]]:
    """Yield the lists of objects in *values* that hold the text *known*, and the HTML that does, cut."""
    pending: list[tuple[Any, tuple[list[Any], ...]]] = [(value, ()) for value in values]
    for _ in range(_MOST_VALUES):
        if not pending:
            return
        value, around = pending.pop()
        if isinstance(value, dict):
            pending.extend((part, around) for part in value.values())
        elif isinstance(value, list):
            inside = (*around, value) if all(isinstance(part, dict) for part in value) else around
            pending.extend((part, inside) for part in value)
        elif isinstance(value, str) and known in value:
            yield from around
            yield _PARAGRAPH_ENDS.split(value)


def _plain_text(value: Any) -> str:
    text = _text(value)
    return squeeze(html.unescape(remove_tags(text)) if "<" in text or "&" in text else text)


def _text(value: Any, depth: int = _DEEPEST) -> str:
    """Return the text of rich text: a string, an object with some, or a list of such."""
    if isinstance(value, str):
        return value
    if not depth:
        return ""
    if isinstance(value, list):
        return "".join(_text(part, depth - 1) for part in value)
    if isinstance(value, dict):
        own = (value[name] for name in _TEXTS if isinstance(value.get(name), str))
        parts = (value[name] for name in _PARTS if value.get(name))
        return _text(next(chain(own, parts), ""), depth - 1)
    return ""
