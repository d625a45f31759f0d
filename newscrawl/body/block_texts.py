"""Features of blocks from their text alone: punctuation, symbols, description, repetition."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.document.document import Document

# _block_features.pyx repeats these three.
_SENTENCE_ENDS = ".!?…。！？؟۔।॥"
_CLOSING_MARKS = "\"'”’»)]」』"
_SYMBOL = re.compile("[©®|•»›→▶►@#/]")
MAX_SYMBOL_TEXT = 100
"""Characters of a text in which symbols are counted."""
_MAX_DESCRIPTION = 600  # characters that are read
DESCRIPTION_PREFIX, MIN_DESCRIPTION_PREFIX = 50, 20
"""Characters of a text that are compared with the description."""
_DESCRIPTION_NAMES = frozenset({"description", "og:description"})
_MAX_DESCRIPTIONS = 4
SENTENCE = 2.0
"""Value of the feature ``ends`` of a text that ends like a sentence."""
_MIN_REPEATED_CHARS, _MIN_REPETITIONS = 160, 3


def texts_of(document: Document, rows: Iterable[Sequence[int]]) -> list[str]:
    """Return the text of each block; *rows* are the text nodes of each."""
    text = document.text
    return [
        text[mine[0]] if len(mine) == 1 else " ".join([text[row] for row in mine]) for mine in rows
    ]


def text_columns(texts: Sequence[str], description: str) -> dict[str, list[float]]:
    """Return the text features; *description* is the result of :func:`page_descriptions`."""
    seen, find_symbols = Counter(texts), _SYMBOL.findall
    return {
        "ends": list(map(ending, texts)),
        "odd": [float(len(find_symbols(text[:MAX_SYMBOL_TEXT]))) for text in texts],
        "described": _described(texts, description),
        "again": [float(seen[text] > 1) for text in texts],
    }


def ending(text: str) -> float:
    """Return :data:`SENTENCE` if *text* ends a sentence, 1 if it ends with a colon, else 0."""
    end = text[-8:].rstrip(_CLOSING_MARKS)[-1:]
    if end and end in _SENTENCE_ENDS:
        return SENTENCE
    return 1.0 if text.endswith((":", "：")) else 0.0


def _described(texts: Sequence[str], description: str) -> list[float]:
    """Return 1 for each text whose prefix is in the description, else 0; -1 without description."""
    if not description:
        return [-1.0] * len(texts)
    starts = [squeeze(text[: 4 * DESCRIPTION_PREFIX])[:DESCRIPTION_PREFIX] for text in texts]
    return [float(len(it) >= MIN_DESCRIPTION_PREFIX and it in description) for it in starts]


def page_descriptions(document: Document) -> str:
    """Return the descriptions in ``meta`` elements, one per line, white space collapsed."""
    found: list[str] = []
    for _, tag, attributes, _ in document.statements:
        if tag == "meta":
            name = attributes.get("name") or attributes.get("property")
            if name and name.lower() in _DESCRIPTION_NAMES:
                found.append(squeeze(attributes.get("content", "")[:_MAX_DESCRIPTION]))
    return "\n".join(found[:_MAX_DESCRIPTIONS])


def repeated_texts(
    document: Document, rows: Sequence[Sequence[int]], chars: Sequence[float]
) -> set[int]:
    """Return the positions of long texts that occur three times or more.

    They are placeholders of embedded posts before consent. Empty if all long texts are repeated.
    *rows* are the text nodes of each text, *chars* its weighted characters.
    """
    sizes = [size for size in chars if size >= _MIN_REPEATED_CHARS]
    if len(sizes) - len(set(sizes)) < _MIN_REPETITIONS - 1:  # the common case
        return set()
    long = [place for place, size in enumerate(chars) if size >= _MIN_REPEATED_CHARS]
    texts = texts_of(document, [rows[place] for place in long])
    seen = Counter(texts)
    repeated = {
        place for place, text in zip(long, texts, strict=True) if seen[text] >= _MIN_REPETITIONS
    }
    return repeated if len(repeated) < len(long) else set()
