"""What is known of a block by its text alone: a part of its features.

None depends on the language: which punctuation ends the text, which signs stand in it, whether it
is the page's own description, whether it is there twice.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.document.document import Document

# The compiled loop has these three, too.
_STOPS = ".!?…。！？؟۔।॥"
_CLOSING = "\"'”’»)]」』"
_ODD = re.compile("[©®|•»›→▶►@#/]")
MOST_LOOKED_AT = 100
_DESCRIPTIONS = frozenset({"description", "og:description"})
MOST_DESCRIBED = 600
BEGINNING, LEAST_DESCRIBED = 50, 20
_FEW = 4
_LONG, _OFTEN = 160, 3


def texts_of(document: Document, rows: Iterable[Sequence[int]]) -> list[str]:
    """Return the texts of the blocks of the text nodes *rows*."""
    text = document.text
    return [
        text[mine[0]] if len(mine) == 1 else " ".join([text[row] for row in mine]) for mine in rows
    ]


def texts_in_python(texts: Sequence[str], description: str) -> dict[str, list[float]]:
    """Return the features of the text itself.

    *description* is what the page says of itself, white space squeezed.
    """
    seen, find_odd = Counter(texts), _ODD.findall
    return {
        "ends": list(map(_ending, texts)),
        "odd": [float(len(find_odd(text[:MOST_LOOKED_AT]))) for text in texts],
        "described": _described(texts, description),
        "again": [float(seen[text] > 1) for text in texts],
    }


def _ending(text: str) -> float:
    end = text[-8:].rstrip(_CLOSING)[-1:]
    if end and end in _STOPS:
        return 2.0
    return 1.0 if text.endswith((":", "：")) else 0.0


def _described(texts: Sequence[str], description: str) -> list[float]:
    """Return 1 for each text that begins as what the page's description says; -1: there is none."""
    if not description:
        return [-1.0] * len(texts)
    return [float(_begins_in(description, text)) for text in texts]


def _begins_in(description: str, text: str) -> bool:
    start = text[:BEGINNING]
    if not start.isprintable() or "  " in start or start.endswith(" "):
        start = squeeze(text[:MOST_DESCRIBED])[:BEGINNING]
    return len(start) >= LEAST_DESCRIBED and start in description


def description_of(document: Document) -> str:
    """Return what the page's ``meta`` elements say of it, in the head or where it is cut short."""
    found: list[str] = []
    for _, tag, attributes, _ in document.statements:
        if tag == "meta":
            name = attributes.get("name") or attributes.get("property")
            if name and name.lower() in _DESCRIPTIONS:
                found.append(squeeze(attributes.get("content", "")[:MOST_DESCRIBED]))
    return "\n".join(found[:_FEW])


def said_often(
    document: Document, rows: Sequence[Sequence[int]], chars: Sequence[float]
) -> set[int]:
    """Return the positions of the long texts that are there three times and more.

    No article says so: it is what stands in for each embedded post until a reader consents. Where
    no other long text is, there are none. *rows* are those of the texts' nodes, *chars* their
    weighted characters.
    """
    sizes = Counter([size for size in chars if size >= _LONG])
    if max(sizes.values(), default=0) < _OFTEN:
        return set()
    long = [place for place, size in enumerate(chars) if size >= _LONG]
    texts = texts_of(document, [rows[place] for place in long])
    seen = Counter(texts)
    often = {place for place, text in zip(long, texts, strict=True) if seen[text] >= _OFTEN}
    return often if len(often) < len(long) else set()
