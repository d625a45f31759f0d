"""Features of the texts of candidate blocks: punctuation, symbols, repetition, words of furniture.

Furniture is what surrounds stories: sign-ups, advertisements, legal notices, controls. A reader
tells "Sign up for our newsletter" from a story by its words alone. They are features of the block
classifier, not rules: stories have some of these words, too. The other features do not depend on
the language.

Cython compiles this module, with the types in ``text_features.pxd``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from newscrawl.body.blocks import zeros
from newscrawl.language_words import word_table
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from array import array

    from newscrawl.document.document import Document

TEXT_FEATURES = (
    "ends", "odd", "described", "again", "digits", "furniture", "furniture_share"
)  # fmt: skip
"""Names of the features."""

SENTENCE = 2.0
"""Value of the feature ``ends`` of a text that ends like a sentence."""
UNSPACED = frozenset({"ja", "ko", "th", "vi", "zh"})
"""Languages whose words are searched in the text: they are not separated, or are several
syllables."""

# Characters in which symbols, digits and words are counted.
_SYMBOL_CHARS, _DIGIT_CHARS, _WORD_CHARS = 100, 60, 300
_MAX_DESCRIPTION = 600  # characters that are read
# Characters of a text that are compared with the description.
_PREFIX, _MIN_PREFIX, _WORD_START = 50, 20, 8
_DESCRIPTION_NAMES = frozenset({"description", "og:description"})
_MAX_DESCRIPTIONS = 4

_STEM, _CHARS_A_WORD = 6, 2  # the latter in text without spaces


def text_columns(texts: list[str], description: str) -> dict[str, array[float]]:
    """Return the columns of :data:`TEXT_FEATURES` of the *texts* of candidate blocks.

    *description* are the descriptions in the metadata of the page.
    """
    count = len(texts)
    columns = {name: zeros(count) for name in TEXT_FEATURES}
    ends, odd, digits = columns["ends"], columns["odd"], columns["digits"]
    described, again = columns["described"], columns["again"]
    rare, share = columns["furniture"], columns["furniture_share"]
    seen: dict[str, bool] = {}
    for place in range(count):
        text = texts[place]
        seen[text] = text in seen
        ends[place] = ending(text)
        odd[place] = _count_symbols(text)
        described[place] = _is_described(text, description) if description else -1
        digits[place] = _share_of_digits(text[:_DIGIT_CHARS])
        rare[place], share[place] = _furniture(text)
    for place in range(count):
        again[place] = seen[texts[place]]
    return columns


def ending(text: str) -> float:
    """Return :data:`SENTENCE` if *text* ends a sentence, 1 if it ends with a colon, else 0."""
    size = len(text)
    place, first = size - 1, max(0, size - 8)
    while place >= first and text[place] in "\"'”’»)]」』":
        place -= 1
    if first <= place < size - 1 and text[place].isspace():  # before French quotation marks
        place -= 1
    if place >= first and text[place] in ".!?…。！？؟۔।॥":
        return SENTENCE
    return 1.0 if size and text[size - 1] in ":：" else 0.0


def _count_symbols(text: str) -> float:
    count = 0
    for character in text[:_SYMBOL_CHARS]:
        count += character in "©®|•»›→▶►@#/"
    return count


def _share_of_digits(start: str) -> float:
    count = 0
    for character in start:
        count += "0" <= character <= "9" or (character > "\x7f" and character.isdigit())
    return count / (len(start) or 1)


def _is_described(text: str, description: str) -> bool:
    """Return whether the start of *text* is in the description."""
    size, end, word_start = len(text), 0, _WORD_START
    if size < _MIN_PREFIX:
        return False
    while end < word_start and not text[end].isspace():
        end += 1
    if text[:end] not in description:  # the common case
        return False
    start = text[:_PREFIX]
    if "  " in start or start[-1] == " " or not start.isprintable():
        start = squeeze(text[: 4 * _PREFIX])[:_PREFIX]
    return len(start) >= _MIN_PREFIX and start in description


def page_descriptions(document: Document) -> str:
    """Return the descriptions in ``meta`` elements, one per line, white space collapsed."""
    found: list[str] = []
    for _, tag, attributes, _ in document.statements:
        if tag == "meta":
            name = attributes.get("name") or attributes.get("property")
            if name and name.lower() in _DESCRIPTION_NAMES:
                found.append(squeeze(attributes.get("content", "")[:_MAX_DESCRIPTION]))
    return "\n".join(found[:_MAX_DESCRIPTIONS])


def _furniture(text: str) -> tuple[int, float]:
    """Return the number of words of furniture that are rare in stories, and the share of all.

    Words are compared by stems, which most inflected forms share.
    """
    stems, unspaced, pattern, signs = _furniture_words()
    text = text[:_WORD_CHARS].lower()
    words = text.split()
    size = len(words)
    found = [rare for word in words if (rare := stems.get(word[:_STEM])) is not None]
    if not text.isascii() and not signs.isdisjoint(text) and (inside := pattern.findall(text)):
        found += [unspaced[word] for word in inside]
        size = max(size, len(text) // _CHARS_A_WORD)
    return (sum(found), len(found) / size) if found else (0, 0.0)


@cache
def _furniture_words() -> tuple[dict[str, bool], dict[str, bool], re.Pattern[str], frozenset[str]]:
    """Return words of furniture, and whether each is rare in stories.

    They are the stems of languages that separate words, and the words of the others with their
    pattern and one character of each.
    """
    stems: dict[str, bool] = {}
    unspaced: dict[str, bool] = {}
    for language, lists in word_table().items():
        for name in ("controls", "furniture"):
            for word in lists.get(name, ()):
                if language in UNSPACED:
                    unspaced[word] = unspaced.get(word, False) or name == "furniture"
                else:
                    stem = word[:_STEM]
                    stems[stem] = stems.get(stem, False) or name == "furniture"
    ordered = sorted(unspaced, key=lambda word: (-len(word), word))
    pattern = re.compile("|".join(map(re.escape, ordered)))
    return stems, unspaced, pattern, frozenset(map(max, ordered))
