"""Masking of CSS text, so that it can be split at every brace and semicolon that remains.

Masking removes comments and replaces braces, semicolons and at signs inside strings, escapes,
``url()``, parentheses and brackets by control characters; :func:`unmask` restores them.
Constructs that are open at the end of the text are closed (CSS Syntax 3, 4.3 and 5.4).

One regular expression skips everything that needs no change, so masking costs a single scan.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SPACE = " \t\n\r\f"
"""White space of CSS. A no-break space is part of a name."""

BAD = "\x05"
"""Placeholder for a bad string or a bad URL; makes the construct that contains it invalid."""

MAX_MASKED_CHARACTERS = 2**18
"""Limit of the special characters handled in one sheet; the rest of the sheet is ignored."""

_MASKS = {"{": "\x01", "}": "\x02", ";": "\x03", "@": "\x04"}
_MASK = str.maketrans(_MASKS | dict.fromkeys("\x01\x02\x03\x04\x05\x06", "\ufffd"))
_MASK_ONLY = str.maketrans(_MASKS)
_UNMASK = str.maketrans({mask: char for char, mask in _MASKS.items()})
_MASKED = re.compile(f"[{''.join(_MASKS.values())}]")
_TO_MASK = r"{};@\x01-\x06"

# Text that needs no change, with parentheses and brackets nested up to three levels.
_STRING = rf"""(?:"(?:[^"\\\n\r\f{_TO_MASK}]++|\\[^{_TO_MASK}])*+"|'(?:[^'\\\n\r\f{_TO_MASK}]++|\\[^{_TO_MASK}])*+')"""
_ESCAPE = rf"\\[^{_TO_MASK}]"
_URL_START = r"\((?<=[uU][rR][lL]\()[ \t\n\r\f]*+(?![\"'])"
_URL = rf"{_URL_START}[^\"'()\\ \t\n\r\f{_TO_MASK}]*+[ \t\n\r\f]*+\)"
_BLOCK = ""
for _ in range(3):
    _INSIDE = rf"""(?:[^"'\\/()\[\]{_TO_MASK}]++|/(?!\*)|{_STRING}|{_ESCAPE}{_BLOCK})*+"""
    _BLOCK = rf"|(?!{_URL_START})\({_INSIDE}\)|\[{_INSIDE}\]|{_URL}"
_HARMLESS = re.compile(
    rf"""(?:[^"'\\/(\[\x01-\x06]++|{_STRING}|/(?!\*)|{_ESCAPE}{_BLOCK})*+""", re.DOTALL
)
_HARMLESS_INSIDE = re.compile(rf"""(?:[^"'\\/()\[\]{_TO_MASK}]++|/(?!\*))*+""")

_QUOTED = {
    '"': re.compile(r'"(?:[^"\\\n\r\f]++|\\(?:\r\n|.))*+', re.DOTALL),
    "'": re.compile(r"'(?:[^'\\\n\r\f]++|\\(?:\r\n|.))*+", re.DOTALL),
}
_UNQUOTED_URL = re.compile(_URL_START + r"(?:[^)\\]++|\\.)*+\)?+", re.DOTALL)
_GOOD_URL = re.compile(r"\([ \t\n\r\f]*+(?:[^\"'()\\ \t\n\r\f]++|\\.)*+[ \t\n\r\f]*+\)", re.DOTALL)
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_ESCAPE_SEQUENCE = re.compile(rf"\\(?:([0-9a-fA-F]{{1,6}})(?:\r\n|[{SPACE}])?|(\r\n|.))", re.DOTALL)
# A block with at most one level of inner blocks, such as most @media blocks.
_SHALLOW_BLOCK = re.compile(r"[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}")
_IN_NAME = re.compile(r"[\w-]")
_BREAKS = frozenset(f"{SPACE}{{}};")


def mask(text: str) -> str:
    """Return *text* without comments and with non-structural braces and semicolons masked.

    Runs in time linear in the length of *text*.
    """
    if _end_of(_HARMLESS, text, 0) == len(text):
        return text
    return "".join(_masked(text))


def unmask(text: str) -> str:
    """Return a piece of masked text with its original characters."""
    return text.translate(_UNMASK) if _MASKED.search(text) else text


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return the end of the match of *pattern* at *start*."""
    match = pattern.match(text, start)
    return match.end() if match else start


def _masked(text: str) -> Iterator[str]:
    """Yield *text* masked, piece by piece."""
    start, stack = 0, list[str]()
    # The stack holds the closing characters of open parentheses.
    for _ in range(MAX_MASKED_CHARACTERS):
        match = (_HARMLESS_INSIDE if stack else _HARMLESS).match(text, start)
        end = match.end()  # type: ignore[union-attr]  # matches anything
        yield text[start:end]
        if end == len(text):
            break
        if text[end] == "/":
            start, piece = _comment(text, end)
        else:
            start, piece = _special(text, end, stack)
        yield piece
    yield "".join(reversed(stack)).translate(_MASK)


def _special(text: str, start: int, stack: list[str]) -> tuple[int, str]:
    """Return the end and the masked text of the special token at *start*."""
    char = text[start]
    if char in _QUOTED:
        return _string(text, start)
    if char == "\\":
        return start + 2, "\\" + (text[start + 1 : start + 2].translate(_MASK) or "\ufffd")
    url = _UNQUOTED_URL.match(text, start) if char == "(" else None
    if url is not None:
        return url.end(), _url(url[0])
    if char in _CLOSERS:
        stack.append(_CLOSERS[char])
    elif stack and char == stack[-1]:
        stack.pop()
    return start + 1, char.translate(_MASK)


def _comment(text: str, start: int) -> tuple[int, str]:
    """Return the end of a comment and its replacement: a space if two names would join."""
    end = text.find("*/", start + 2) + 2
    if end == 1:
        return len(text), ""
    if text[start - 1] in _BREAKS or text[end : end + 1] in _BREAKS:
        return end, ""
    return end, " " if _IN_NAME.match(text, start - 1) and _IN_NAME.match(text, end) else ""


def _string(text: str, start: int) -> tuple[int, str]:
    """Return the end of a string and its masked text; a line break makes it a bad string."""
    quote = text[start]
    end = _end_of(_QUOTED[quote], text, start)
    if end < len(text) and text[end] != quote:
        return end, BAD
    return end + 1, text[start:end].translate(_MASK) + quote


def _url(url: str) -> str:
    """Return an unquoted URL, starting with its parenthesis, masked."""
    if not url.endswith(")"):
        url += ")"
    return url.translate(_MASK) if _GOOD_URL.fullmatch(url) else f"({BAD})"


def hide_braces(masked: str) -> str:
    """Return masked declarations with their brace blocks, which are values, masked as well."""
    if "{" not in masked and "}" not in masked:
        return masked
    depth, pieces = 0, list[str]()
    for piece in re.split(r"([{}])", masked):
        if piece == "}" and not depth:
            pieces.append(BAD)
            continue
        depth += (piece == "{") - (piece == "}")
        pieces.append(piece.translate(_MASK_ONLY) if depth or piece == "}" else piece)
    return "".join(pieces) + _MASKS["}"] * depth


def unescape(text: str) -> str:
    """Return an identifier or string content with escapes resolved (CSS Syntax 3, 4.3.7)."""
    return _ESCAPE_SEQUENCE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is None:
        return "" if match[2] in {"\r\n", "\r", "\n", "\f"} else match[2]
    code = int(match[1], 16)
    valid = 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code) if valid else "\ufffd"


def separate_braces(masked: str) -> str:
    """Return masked text with a semicolon inserted before each brace.

    A regular expression skips runs that end at a single character fastest.
    """
    return masked.replace("{", ";{").replace("}", ";}")


def mask_and_separate(text: str) -> str:
    """Return *text* masked and with a semicolon before each brace."""
    return separate_braces(mask(text))


def rejoin_braces(separated: str) -> str:
    """Undo :func:`separate_braces` for a piece of text."""
    return separated.replace(";{", "{").replace(";}", "}")


def block_end(masked: str, start: int) -> int:
    """Return the position after the closing brace of the block whose content begins at *start*."""
    if match := _SHALLOW_BLOCK.match(masked, start):
        return match.end()
    depth = 1
    while depth:
        end = masked.find("}", start)
        if end < 0:
            return len(masked)
        depth += masked.count("{", start, end) - 1
        start = end + 1
    return start
