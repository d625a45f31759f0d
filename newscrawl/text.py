"""Words and lengths of text, in every script."""

from __future__ import annotations

import re
import unicodedata

# Han, kana, Thai, Lao, Khmer and Burmese write no spaces: there a character is a word. Hangul does.
_SPACELESS = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    r"\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_ANY_SPACELESS = re.compile(f"[{_SPACELESS}]")
_SPACED_WORD = re.compile(r"\w+")
# Letters of ASCII in lower case, and all but letters, digits and "_" as a space.
_ASCII_WORDS = bytes(
    code if chr(code).isalnum() or chr(code) == "_" else ord(" ")
    for code in bytes(range(256)).lower()
)
_WORD = re.compile(rf"[{_SPACELESS}]|(?:(?![{_SPACELESS}])\w)+")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
# CJK, kana and Hangul carry about 2.5 Latin letters' worth of text in a character.
_WIDE = re.compile(
    "[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]"
)
# Of all below U+3000, Jamo alone are wide. The complement of two ranges is found in half the time.
_MAYBE_WIDE = re.compile("[^\u0000-\u10ff\u2000-\u2fff]")
# Digits of ASCII, and all where there are others: three are of Latin 1, and of U+2000 to U+2FFF some.
_MAYBE_DIGIT = re.compile("[^\0-/:-\u00b1\u00ba-\u065f\u2010-\u2027]")
WIDE_WEIGHT = 2.5
"""Weight of a CJK, kana or Hangul character; the NCE thresholds count Latin characters.

Measured on half the sites of the corpora: 2.5 adds half a point of F1 on pages in many
languages and takes nothing elsewhere.
"""


def words(text: str) -> list[str]:
    """Return the words of *text*: NFC, lower case; in scripts without spaces, each character."""
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode().split()
    return folded_words(folded(text))


def folded_words(text: str) -> list[str]:
    """Return the words of *text*, which :func:`folded` has made."""
    # The pattern for both costs ten times as much.
    return (_SPACED_WORD if _ANY_SPACELESS.search(text) is None else _WORD).findall(text)


def folded(text: str) -> str:
    """Return *text* as :func:`words` compares it: NFC, lower case, without what is invisible."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFC", text)).lower()


def tokens(text: str) -> list[str]:
    """Return the parts of *text* between white space; in scripts without spaces, its words.

    A tenth of the cost of :func:`words`, where punctuation does not matter. That a script has
    no spaces shows in the length of the parts: 5 to 7 characters in scripts that have them.
    """
    parts = text.split()
    return words(text) if len(text) > 12 * len(parts) else parts


def squeeze(text: str) -> str:
    """Return *text* with runs of white space as one space and none at the ends."""
    return " ".join(text.split())


def count_digits(text: str) -> int:
    """Return the number of digits in *text*, in every script."""
    return 0 if _MAYBE_DIGIT.search(text) is None else sum(map(str.isdigit, text))


def weighted_length(text: str) -> float:
    """Return the length of *text* in Latin characters' worth: see :data:`WIDE_WEIGHT`."""
    if text.isascii() or _MAYBE_WIDE.search(text) is None:
        return len(text)
    return len(text) + (WIDE_WEIGHT - 1) * len(_WIDE.findall(text))
