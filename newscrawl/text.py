"""Words and lengths of text in all scripts."""

from __future__ import annotations

import hashlib
import unicodedata
from html import unescape as unescape_text
from html.entities import html5
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    import re

# Scripts without spaces (Han, kana, Thai, Lao, Khmer, Burmese): a character is a word.
_SPACELESS = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    r"\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_ANY_SPACELESS = lazy_regex(f"[{_SPACELESS}]")
_SPACED_WORD = lazy_regex(r"\w+")
# windows-1252 in lower case, with spaces in place of all characters except letters, digits and "_".
_WESTERN_WORDS = b"".join(
    character.lower().encode("cp1252") if character.isalnum() or character == "_" else b" "
    for character in (bytes([code]).decode("cp1252", "replace") for code in range(256))
)
_WESTERN_START = 16  # characters
_WORD = lazy_regex(rf"[{_SPACELESS}]|[^\W{_SPACELESS}]+")
_REFERENCE = lazy_regex(r"&(#[xX]?[0-9a-fA-F]++;?|[0-9a-zA-Z]++(?:;|(?![=0-9a-zA-Z])))")
_INVISIBLE = lazy_regex("[\u00ad\u200b-\u200d\u2060\ufeff]")
# C0 without tab and line feed, C1, and the overrides of the direction of text.
_CONTROL_CHARACTERS = lazy_regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e]")
# With embeddings and isolates, which are ordinary in articles.
_UNPRINTABLE = lazy_regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_NOT_IN_XML = lazy_regex("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# CJK, kana and Hangul, of which a character has the weight WIDE_WEIGHT.
_WIDE = lazy_regex(
    "[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]"
)
# Below U+3000 only Jamo are wide. Searching for the complement of two ranges is faster.
_MAYBE_WIDE = lazy_regex("[^\u0000-\u10ff\u2000-\u2fff]")
# ASCII digits and every character that may be another digit.
_MAYBE_DIGIT = lazy_regex("[^\0-/:-\u00b1\u00ba-\u065f\u2010-\u2027]")
_SHINGLE = 4
WIDE_WEIGHT = 2.5
"""Weight of a CJK, kana or Hangul character in Latin characters, in which NCE's thresholds are
given; fitted on pages in many languages."""


def folded_words(text: str) -> list[str]:
    """Return the words of *text*, a result of :func:`folded`."""
    # _WORD is slower.
    spaced = _ANY_SPACELESS.search(text) is None
    return (_SPACED_WORD if spaced else _WORD).findall(text)


def folded(text: str) -> str:
    """Return *text* in NFC and lower case, without invisible characters."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFC", text)).lower()


def words(text: str) -> list[str]:
    """Return the words of *text*: NFC, lower case; in scripts without spaces, each character."""
    if text.isascii():  # a few times as fast as codecs, which are five times as fast as patterns
        return text.encode().translate(_WESTERN_WORDS).decode().split()
    try:
        western = text.encode("cp1252")
    except UnicodeEncodeError as error:
        if error.start > _WESTERN_START and "\n" in text:  # a few other signs
            return [word for line in text.split("\n") for word in words(line)]
        return folded_words(folded(text))
    return western.translate(_WESTERN_WORDS, b"\xad").decode("cp1252").split()  # soft hyphens


def unescape(text: str) -> str:
    """Return *text* with its character references resolved as in attributes of HTML.

    One without a semicolon stays before a letter, a digit or ``=``: "?a=1&copy=2".
    """
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    known = html5.get(reference[1])
    return known or (unescape_text(reference[0]) if reference[1][0] == "#" else reference[0])


def word_f1(first: str, second: str) -> float:
    """Return the F1 of the sets of words of two texts."""
    own, other = set(words(first)), set(words(second))
    return 2 * len(own & other) / (len(own) + len(other) or 1)


def places_of(pattern: re.Pattern[str], joined: str) -> list[int]:
    """Return the indices of the texts *joined* by NUL in which *pattern* matches; NUL ends one."""
    starts = [0, *[found.start() for found in pattern.finditer(joined)]]
    places = accumulate([joined.count("\0", *ends) for ends in pairwise(starts)])
    return list(dict.fromkeys(places))


def tokens(text: str) -> list[str]:
    """Split *text* at white space; in scripts without spaces, return its words.

    Ten times faster than :func:`words`, but keeps punctuation. Long parts indicate a script without
    spaces.
    """
    parts = text.split()
    return words(text) if len(text) > 12 * len(parts) else parts


def squeeze(text: str) -> str:
    """Collapse white space in *text* and strip it."""
    return " ".join(text.split())


def without_controls(text: str) -> str:
    """Return *text* without control characters, which a terminal would execute."""
    return text if text.replace("\n", "").isprintable() else _CONTROL_CHARACTERS.sub("", text)


def xml_text(text: str) -> str:
    """Return *text* without characters that XML excludes."""
    return _NOT_IN_XML.sub("", text)


def printable(text: str) -> str:
    r"""Return *text* for a terminal: control characters are written as ``\x1b`` or ``\u202e``."""
    return text if text.isprintable() else _UNPRINTABLE.sub(_escape_character, text)


def _escape_character(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def count_digits(text: str) -> int:
    """Return the number of digits of all scripts in *text*."""
    return 0 if _MAYBE_DIGIT.search(text) is None else sum(map(str.isdigit, text))


def weighted_length(text: str) -> float:
    """Return the length of *text* in Latin characters: see :data:`WIDE_WEIGHT`."""
    if text.isascii() or _MAYBE_WIDE.search(text) is None:
        return len(text)
    return len(text) + (WIDE_WEIGHT - 1) * len(_WIDE.findall(text))


# Emphasis, code, links, images, HTML and strikethrough.
_MARKDOWN = lazy_regex(r"[\\`*\[\]<~_&]")
_INSIDE_WORD = lazy_regex(r"(?<=[^\W_])_(?=[^\W_])")
_CHARACTER_REFERENCE = lazy_regex(r"&#?\w+;")
# Headings, quotes, lists, rules, tables and underlines of headings.
_MARKDOWN_STARTS = ("#", ">", "+", "=", ":", "|", "-")
_MARKDOWN_NUMBER = lazy_regex(r"\d{1,9}(?=[.)])")


def char_weight(text: str) -> float:
    """Return the mean weighted characters for each character of *text*."""
    return weighted_length(text) / (len(text) or 1) or 1.0


def letter_overlap(part: str, whole: str) -> float:
    """Return the share of the sequences of four weighted letters of *part* that are in *whole*."""
    key, other = "".join(words(part)), "".join(words(whole))
    size = round(_SHINGLE / char_weight(key))
    sequences = [key[place : place + size] for place in range(len(key) - size + 1)]
    return sum(map(other.__contains__, sequences)) / (len(sequences) or 1)


def escape_markdown(text: str) -> str:
    """Return *text* with a backslash before each character that is markup in Markdown."""
    return _MARKDOWN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    special, text, start = found[0], found.string, found.start()
    is_text = (special == "_" and _INSIDE_WORD.match(text, start)) or (
        special == "&" and not _CHARACTER_REFERENCE.match(text, start)
    )
    return special if is_text else "\\" + special


def escape_markdown_start(line: str) -> str:
    """Return a *line* of Markdown that is not read as a heading, list, quote, table or rule."""
    if line.startswith(_MARKDOWN_STARTS):
        return "\\" + line
    number = _MARKDOWN_NUMBER.match(line)
    return f"{number[0]}\\{line[number.end() :]}" if number else line


def body_hash(body: str) -> bytes:
    """Return a 16-byte hash of *body* that ignores differences in white space."""
    return hashlib.blake2b(squeeze(body).encode("utf-8", "surrogatepass"), digest_size=16).digest()
