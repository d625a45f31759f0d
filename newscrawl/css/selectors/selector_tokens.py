"""Token patterns of selectors, and the splitting of arguments.

https://www.w3.org/TR/css-syntax-3/#tokenization
"""

from __future__ import annotations

import re

MAX_NESTING = 16
"""Maximum nesting of functions in a selector."""

SPACE = r"[ \t\r\n\f]"
ESCAPE = rf"\\(?:[0-9a-fA-F]{{1,6}}+(?:\r\n|{SPACE})?|[^\r\n\f0-9a-fA-F])"
IDENT = (
    rf"(?:--|-?(?:[a-zA-Z_]|[^\x00-\x7f]|{ESCAPE}))"
    rf"(?:[-a-zA-Z0-9_]|[^\x00-\x7f]|{ESCAPE})*+"
)
STRING = r""""(?:[^"\\\r\n\f]|\\.)*+"|'(?:[^'\\\r\n\f]|\\.)*+'"""

COMBINATOR = re.compile(rf"{SPACE}*+([>+~]){SPACE}*+|{SPACE}++")
# Selectors that consist of names and combinators, and valid ones that need no compiling.
_NAME = r"-?+[a-zA-Z_][-a-zA-Z0-9_]*+"
_STATE = r":(?:active|first-child|focus|hover|last-child|link|visited)(?![-\w(\\]|[^\x00-\x7f])"


def _selector(simple: str) -> str:
    compound = rf"(?:(?:{_NAME}|\*)(?:{simple})*+|(?:{simple})++)"
    return rf"{SPACE}*+{compound}(?:(?:{SPACE}*+[>+~]{SPACE}*+|{SPACE}++){compound})*+"


PLAIN_SELECTOR = re.compile(rf"{_selector(rf'[.#]{_NAME}')}{SPACE}*+", re.ASCII)
VALID_SELECTOR = re.compile(
    rf"{_selector(rf'[.#]{_NAME}|{_STATE}')}(?:::?(?:after|before))?+{SPACE}*+", re.ASCII
)
# "-->" is a separate token
TYPE_SELECTOR = re.compile(rf"(?!-->)(?:(?P<prefix>\*|{IDENT})?\|)?(?P<tag>\*|{IDENT})", re.ASCII)
SUBCLASS_SELECTOR = re.compile(
    rf"\#(?P<id>{IDENT})"
    rf"|\.(?P<class>{IDENT})"
    rf"|\[{SPACE}*+(?P<prefix>(?:\*|{IDENT})?\|(?!=))?(?P<attribute>{IDENT}){SPACE}*+"
    rf"(?:(?P<operator>[~|^$*]?=){SPACE}*+(?:(?P<string>{STRING})|(?P<word>{IDENT})){SPACE}*+"
    rf"(?P<flag>[iI])?{SPACE}*+)?\]"
    rf"|:(?P<pseudo>:?{IDENT})(?P<call>\()?"
    r"|(?P<nesting>&)",
    re.ASCII | re.DOTALL,
)
WORD = re.compile(rf"{SPACE}*+({IDENT}){SPACE}*+", re.ASCII)

# A comment between two names separates them; it is kept and makes the selector invalid.
_COMMENT = re.compile(rf"({STRING}|{ESCAPE})|(?<![-\w])/\*.*?\*/|/\*.*?\*/(?![-\w])", re.DOTALL)
_ARGUMENT = re.compile(rf"{ESCAPE}|{STRING}|[^\\\"'()\[\],]++|.", re.DOTALL)
_DEPTH = {"(": 1, "[": 1, ")": -1, "]": -1}


def words(text: str) -> frozenset[str]:
    """Return the words of *text*."""
    return frozenset(text.split())


def without_comments(text: str) -> str:
    """Return *text* without comments."""
    return _COMMENT.sub(r"\1", text) if "/*" in text else text


def end_of_arguments(text: str, start: int) -> int:
    """Return the position of the parenthesis that closes the one before *start*, else -1."""
    depth = 1
    for match in _ARGUMENT.finditer(text, start):
        depth += _DEPTH.get(match[0], 0)
        if not depth:
            return match.start()
    return -1


def split_arguments(text: str) -> list[str]:
    """Return the parts of *text* between its top-level commas."""
    if "," not in text:
        return [text]
    parts, start, depth = [], 0, 0
    for match in _ARGUMENT.finditer(text):
        depth += _DEPTH.get(match[0], 0)
        if match[0] == "," and not depth:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


# https://html.spec.whatwg.org/multipage/semantics-other.html#case-sensitivity-of-selectors
IGNORE_CASE = words(
    """
    accept accept-charset align alink axis bgcolor charset checked clear codetype color compact
    declare defer dir direction disabled enctype face frame hreflang http-equiv lang language link
    media method multiple nohref noresize noshade nowrap readonly rel rev rules scope scrolling
    selected shape target text type valign valuetype vlink
    """
)
"""Attributes whose values match regardless of case."""
