"""The pieces of a selector's text: names, escapes, strings, comments, arguments.

https://www.w3.org/TR/css-syntax-3/#tokenization
"""

from __future__ import annotations

import re

MOST_NESTING = 16
"""Levels of functions in a selector."""

SPACE = r"[ \t\r\n\f]"
ESCAPE = rf"\\(?:[0-9a-fA-F]{{1,6}}+(?:\r\n|{SPACE})?|[^\r\n\f0-9a-fA-F])"
IDENT = (
    rf"(?:--|-?(?:[a-zA-Z_]|[^\x00-\x7f]|{ESCAPE}))"
    rf"(?:[-a-zA-Z0-9_]|[^\x00-\x7f]|{ESCAPE})*+"
)
STRING = r""""(?:[^"\\\r\n\f]|\\.)*+"|'(?:[^'\\\r\n\f]|\\.)*+'"""

# A comment divides two names, as nothing that is valid would: it stays, and is an error.
_COMMENT = re.compile(rf"({STRING}|{ESCAPE})|(?<![-\w])/\*.*?\*/|/\*.*?\*/(?![-\w])", re.DOTALL)
_UNESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\r\n\f])?|(\r\n|.))", re.DOTALL)
_ARGUMENT = re.compile(rf"{ESCAPE}|{STRING}|[^\\\"'()\[\],]++|.", re.DOTALL)
_DEPTH = {"(": 1, "[": 1, ")": -1, "]": -1}


def words(text: str) -> frozenset[str]:
    """Return the words of a table."""
    return frozenset(text.split())


def without_comments(text: str) -> str:
    """Return *text* without comments."""
    return _COMMENT.sub(r"\1", text) if "/*" in text else text


def unescape(text: str) -> str:
    """Return the characters that an identifier, or the inside of a string, stands for."""
    return _UNESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    if match[1] is None:
        return "" if match[2] in {"\r\n", "\r", "\n", "\f"} else match[2]
    code = int(match[1], 16)
    return "\ufffd" if not code or code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)


def end_of_arguments(text: str, start: int) -> int:
    """Return where the parenthesis that was opened before *start* is closed, -1 if nowhere."""
    depth = 1
    for match in _ARGUMENT.finditer(text, start):
        depth += _DEPTH.get(match[0], 0)
        if not depth:
            return match.start()
    return -1


def split_arguments(text: str) -> list[str]:
    """Return the parts of *text* between its outermost commas."""
    if "," not in text:
        return [text]
    parts, start, depth = [], 0, 0
    for match in _ARGUMENT.finditer(text):
        depth += _DEPTH.get(match[0], 0)
        if match[0] == "," and not depth:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]
