"""Custom properties, and ``var()`` and ``env()`` in values.

https://drafts.csswg.org/css-variables-1/
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST_CHARACTERS = 65_536
"""Longest text that a substitution may make: no billion laughs."""

MOST_CHARACTERS_OF_PAGE = 4_000_000
"""All that the substitutions in one page's custom properties may make."""

MOST_CHAIN, MOST_FALLBACKS = 24, 12
"""References followed from custom property to custom property, and fall-backs in fall-backs."""

# "--name(" calls a function of the page's own, of which none is known here.
_FUNCTION = r"(?<![\w-])(?P<name>var|env|--[\w-]*)\("
_REFERENCE = re.compile(_FUNCTION, re.IGNORECASE)
_STRING = r"\"(?:[^\"\\]|\\.)*+\"?+|'(?:[^'\\]|\\.)*+'?+|\\."
_TO_REFERENCE = re.compile(rf"{_STRING}|{_FUNCTION}", re.IGNORECASE | re.DOTALL)
_TO_BRACKET = re.compile(rf"{_STRING}|(?P<bracket>[()\[\]{{}},])", re.DOTALL)
_ENVIRONMENT = re.compile(r"safe-area-(?:max-)?inset-(?:top|right|bottom|left)\b")


def has_reference(text: str) -> bool:
    """Return whether *text* may hold a ``var()`` or an ``env()``."""
    return "(" in text and _REFERENCE.search(text) is not None


def substitute(text: str, lookup: Callable[[str], str | None], depth: int = 0) -> str | None:
    """Return *text* with its references replaced, None where one has no value."""
    pieces: list[str] = []
    place = size = 0
    while found := _next_reference(text, place):
        end, comma = _arguments(text, found.end())
        value = _value(found["name"].lower(), text[found.end() : end], comma, lookup, depth)
        if value is None:
            return None
        # Tokens stay apart: var(--n)px is no dimension.
        pieces += (text[place : found.start()], " ", value, " ")
        size += found.start() - place + len(value) + 2
        if size > MOST_CHARACTERS:
            return None
        place = end + 1
    return "".join((*pieces, text[place:])).strip() if pieces else text


def _next_reference(text: str, place: int) -> re.Match[str] | None:
    for found in _TO_REFERENCE.finditer(text, place):
        if found["name"]:
            return found
    return None


def _arguments(text: str, start: int) -> tuple[int, int]:
    """Return where the arguments that begin at *start* end, and where their first comma is.

    The comma's place counts from *start*; -1 where there is none.
    """
    depth, comma = 0, -1
    for found in _TO_BRACKET.finditer(text, start):
        bracket = found["bracket"]
        if not bracket:
            continue
        if bracket == ",":
            if depth == 0 and comma < 0:
                comma = found.start() - start
        elif bracket in "([{":
            depth += 1
        elif depth == 0:
            return found.start(), comma
        else:
            depth -= 1
    return len(text), comma


def _value(
    function: str, arguments: str, comma: int, lookup: Callable[[str], str | None], depth: int
) -> str | None:
    if function.startswith("--"):
        return None
    name = (arguments if comma < 0 else arguments[:comma]).strip()
    if function == "var":
        value = lookup(name) if name.startswith("--") else None
    else:
        value = "0px" if _ENVIRONMENT.match(name) else None
    if value is not None or comma < 0 or depth >= MOST_FALLBACKS:
        return value
    return substitute(arguments[comma + 1 :].strip(), lookup, depth + 1)


class Scope:
    """What all elements of a page share: registered properties, and the allowance for text.

    *registered* maps a custom property of ``@property`` to its initial value and whether it is
    inherited.
    """

    __slots__ = ("all_inherit", "made", "registered")

    def __init__(self, registered: Mapping[str, tuple[str | None, bool]] | None = None) -> None:
        self.registered = registered or {}
        self.all_inherit = all(inherits for _, inherits in self.registered.values())
        #: characters that substitutions have made so far
        self.made = 0


class Variables:
    """The custom properties of an element.

    *own* are those declared on it, None for one that is made invalid; the others are its
    parent's. They are resolved when asked for. A property that refers to itself is invalid, and
    so are all in the circle.
    """

    __slots__ = ("_cyclic", "_open", "own", "parent", "scope", "values")

    def __init__(
        self,
        own: Mapping[str, str | None],
        parent: Variables | None = None,
        scope: Scope | None = None,
    ) -> None:
        self.own = own
        self.parent = parent
        self.scope: Scope = parent.scope if parent else scope or Scope()
        #: results, those of the parents' that were asked for among them
        self.values: dict[str, str | None] = {}
        self._open: list[str] = []
        self._cyclic: set[str] = set()

    def below(self, own: Mapping[str, str | None] | None) -> Variables:
        """Return the custom properties of a child that declares *own*."""
        if own is None and self.scope.all_inherit:
            return self
        return Variables(own or {}, self)

    def get(self, name: str) -> str | None:
        """Return the value of a custom property, None where it has none."""
        initial, inherits = self.scope.registered.get(name, (None, True))
        value = self._inherited(name) if inherits else self._own(name)
        return initial if value is None else value

    def _own(self, name: str) -> str | None:
        return self.resolve(name) if name in self.own else None

    def _inherited(self, name: str) -> str | None:
        frame: Variables | None = self
        passed: list[Variables] = []
        while frame is not None and name not in frame.values and name not in frame.own:
            passed.append(frame)
            frame = frame.parent
        value = None if frame is None else frame.resolve(name)
        for below in passed:
            below.values[name] = value
        return value

    def resolve(self, name: str) -> str | None:
        """Return the value of one of *own* or of *values*."""
        if name in self.values:
            return self.values[name]
        text = self.own[name]
        if text is None or not has_reference(text):
            self.values[name] = text
            return text
        if name in self._open:
            self._cyclic.update(self._open[self._open.index(name) :])
            return None
        if len(self._open) >= MOST_CHAIN or self.scope.made > MOST_CHARACTERS_OF_PAGE:
            return None
        self._open.append(name)
        value = substitute(text, self.get)
        self._open.pop()
        if name in self._cyclic:
            value = None
        self.scope.made += len(value or "")
        self.values[name] = value
        return value
