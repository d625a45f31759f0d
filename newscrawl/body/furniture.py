"""Words of a page's furniture: sign-ups, advertisements, legal notices, controls.

A reader tells "Sign up for our newsletter" from a story by its words alone. They are features of
the block classifier, not rules: stories have some of them, too.
"""

from __future__ import annotations

import re
from functools import cache

from newscrawl.language_words import word_table

UNSPACED = frozenset({"ja", "ko", "th", "vi", "zh"})
"""Languages whose words are searched in the text: they are not separated, or are several syllables."""

_STEM = 6
_MAX_TEXT = 300
"""Characters of a text that are looked at."""
_CHARS_A_WORD = 2  # in text without spaces
_RARE = 1000  # more than the words of a text


@cache
def _words(*, unspaced: bool) -> dict[str, int]:
    """Return the words of languages that do not separate them, or the stems of those of others.

    Their values are 1, and :data:`_RARE` more for words of furniture.
    """
    codes: dict[str, int] = {}
    for language, lists in word_table().items():
        for name, code in (("controls", 1), ("furniture", _RARE + 1)):
            for word in lists.get(name, ()) if (language in UNSPACED) == unspaced else ():
                key = word if unspaced else word[:_STEM]
                codes[key] = max(code, codes.get(key, 0))
    return codes


@cache
def _unspaced() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of the words that are not separated, and of one character of each."""
    ordered = sorted(_words(unspaced=True), key=lambda word: (-len(word), word))
    signs = "".join({max(word) for word in ordered})
    return re.compile("|".join(map(re.escape, ordered))), re.compile(f"[{re.escape(signs)}]")


def furniture(text: str) -> tuple[float, float]:
    """Return the number of words in *text* that are rare in stories, and the share of all of furniture.

    Words are compared by their first six letters, which most inflected forms share.
    """
    text = text[:_MAX_TEXT].lower()
    words, codes = text.split(), _words(unspaced=False)
    found = sum([codes[stem] for word in words if (stem := word[:_STEM]) in codes])
    size = len(words)
    if not text.isascii():
        pattern, sign = _unspaced()
        if sign.search(text) and (unspaced := pattern.findall(text)):
            found += sum(map(_words(unspaced=True).__getitem__, unspaced))
            size = max(size, len(text) // _CHARS_A_WORD)
    rare, rest = divmod(found, _RARE)
    return float(rare), rest / (size or 1)
