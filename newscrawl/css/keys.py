"""What a selector's subject must be called, read from the text: rules are filed under it.

Most selectors of a sheet never meet an element that has such a name, so they are never compiled.
"""

from __future__ import annotations

import re

from newscrawl.css.compounds import split_name
from newscrawl.css.lexical import (
    ESCAPE,
    MOST_NESTING,
    STRING,
    end_of_arguments,
    split_arguments,
    unescape,
)
from newscrawl.css.tree import ascii_lower

_PLAIN = re.compile(r"""[^\\(\["'/]*+""")
_NAME = re.compile(r"(::?|[.#]|)((?:[-a-zA-Z0-9_]|[^\x00-\x7f])++)")
_COMBINATORS = re.compile(r"[ \t\r\n\f>+~]")
_ESCAPE = re.compile(ESCAPE)
_QUOTED = re.compile(rf"{STRING}|/\*.*?\*/", re.DOTALL)
_INNERMOST = re.compile(r"\[[^\[\]()]*+\]|\([^\[\]()]*+\)")


def rightmost_key(text: str) -> tuple[str, str]:
    """Return kind (``id``, ``class``, ``tag``, ``any``) and name, see :func:`rightmost_name`."""
    return split_name(rightmost_name(text))


def rightmost_name(text: str) -> str:
    """Return ``#id``, ``.class`` or ``tag`` that whatever *text* selects has; ``*`` for no name.

    Holds for valid selectors only. Time is linear in the length of *text*.
    """
    return _rightmost(text, 0)


def _rightmost(text: str, nesting: int) -> str:
    text = text.strip(" \t\r\n\f")
    masked = text if _PLAIN.fullmatch(text) else _masked(text)
    start = max(map(masked.rfind, " >+~\t\n\r\f")) + 1
    best = "*"
    for match in _NAME.finditer(masked, start):
        kind = match[1]
        if kind == "#":
            return "#" + unescape(text[match.start(2) : match.end()])
        if kind == ".":
            best = "." + unescape(text[match.start(2) : match.end()])
        elif not kind and best == "*":
            best = ascii_lower(unescape(text[match.start() : match.end()]))
    if best == "*" and nesting < MOST_NESTING:
        return _only_alternative(text, masked, start, nesting)
    return best


def _only_alternative(text: str, masked: str, start: int, nesting: int) -> str:
    """Return the name that an ``:is()`` with one argument asks for."""
    for match in _NAME.finditer(masked, start):
        if match[0] in {":is", ":where"}:
            first = match.end() + 1
            arguments = split_arguments(text[first : end_of_arguments(text, first)])
            if len(arguments) == 1:
                return _rightmost(arguments[0], nesting + 1)
    return "*"


def _masked(text: str) -> str:
    """Return *text* with what is no name and no combinator made unreadable, of the same length."""
    text = _ESCAPE.sub(lambda match: "_" * len(match[0]), text)
    text = _QUOTED.sub(lambda match: "\0" * len(match[0]), text)
    for _ in range(MOST_NESTING):
        text, count = _INNERMOST.subn(lambda match: "\0" * len(match[0]), text)
        if not count:
            break
    return text
