"""Custom properties and the substitution of ``var()`` and ``env()``.

https://drafts.csswg.org/css-variables-1/
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_SUBSTITUTION_LENGTH = 65_536
"""Maximum length of a substituted value, against exponential expansion."""

MAX_PAGE_SUBSTITUTIONS = 4_000_000
"""Maximum number of characters that the substitutions of one page may produce."""

MAX_REFERENCE_CHAIN, MAX_FALLBACK_DEPTH = 24, 12
"""Limits of references from custom property to custom property, and of nested fallbacks."""

# "--name(" calls a custom function, which is not supported.
_FUNCTION = r"(?<![\w-])(?P<name>var|env|--[\w-]*)\("
_REFERENCE = re.compile(_FUNCTION, re.IGNORECASE)
_STRING = r"\"(?:[^\"\\]|\\.)*+\"?+|'(?:[^'\\]|\\.)*+'?+|\\."
_TO_REFERENCE = re.compile(rf"{_STRING}|{_FUNCTION}", re.IGNORECASE | re.DOTALL)
_TO_BRACKET = re.compile(
    rf"[^\"'\\()\[\]{{}},]*+(?:{_STRING}|\\|(?P<bracket>[()\[\]{{}},])|\Z)", re.DOTALL
)
_ONLY_REFERENCE = re.compile(r"var\([ \t\n]*+(--[-a-zA-Z0-9_]*+)[ \t\n]*+\)", re.IGNORECASE)
_ENVIRONMENT = re.compile(r"safe-area-(?:max-)?inset-(?:top|right|bottom|left)\b")


def has_reference(text: str) -> bool:
    """Return whether *text* may contain a ``var()`` or ``env()``."""
    return "(" in text and (text.startswith("var(") or _REFERENCE.search(text) is not None)


def substitute(text: str, lookup: Callable[[str], str | None], depth: int = 0) -> str | None:
    """Return *text* with its references replaced, None if one has no value."""
    if only := _ONLY_REFERENCE.fullmatch(text):
        value = lookup(only[1])
        return None if value is None or len(value) > MAX_SUBSTITUTION_LENGTH - 2 else value.strip()
    pieces: list[str] = []
    position = size = 0
    while found := _next_reference(text, position):
        end, comma = _arguments(text, found.end())
        value = _value(found["name"].lower(), text[found.end() : end], comma, lookup, depth)
        if value is None:
            return None
        # Spaces keep tokens separate: var(--n)px is not a dimension.
        pieces += (text[position : found.start()], " ", value, " ")
        size += found.start() - position + len(value) + 2
        if size > MAX_SUBSTITUTION_LENGTH:
            return None
        position = end + 1
    return "".join((*pieces, text[position:])).strip() if pieces else text


def _next_reference(text: str, position: int) -> re.Match[str] | None:
    if found := _REFERENCE.match(text, position):
        return found
    for found in _TO_REFERENCE.finditer(text, position):
        if found["name"]:
            return found
    return None


def _arguments(text: str, start: int) -> tuple[int, int]:
    """Return the end of the arguments that begin at *start* and the offset of their first comma.

    The offset counts from *start*; it is -1 if there is no comma.
    """
    depth, comma = 0, -1
    for found in _TO_BRACKET.finditer(text, start):
        bracket = found["bracket"]
        if not bracket:
            continue
        if bracket == ",":
            if depth == 0 and comma < 0:
                comma = found.end() - 1 - start
        elif bracket in "([{":
            depth += 1
        elif depth == 0:
            return found.end() - 1, comma
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
    if value is not None or comma < 0 or depth >= MAX_FALLBACK_DEPTH:
        return value
    return substitute(arguments[comma + 1 :].strip(), lookup, depth + 1)


class RegisteredProperty(NamedTuple):
    """A custom property registered with ``@property``."""

    name: str
    initial: str | None
    inherits: bool
    syntax: str = "*"


class VariableScope:
    """State shared by all elements of a page: registered properties and substituted length.

    *has_syntax* returns whether a value has the syntax of a registered property.
    """

    __slots__ = ("all_inherit", "has_syntax", "registered", "substituted")

    def __init__(
        self,
        registered: Mapping[str, RegisteredProperty] | None = None,
        has_syntax: Callable[[str, str], bool] = lambda _value, _syntax: True,
    ) -> None:
        self.registered = registered or {}
        self.has_syntax = has_syntax
        self.all_inherit = all(item.inherits for item in self.registered.values())
        #: characters that substitutions have produced so far
        self.substituted = 0


class Variables:
    """The custom properties of an element, resolved lazily.

    *own* are those declared on the element, None for the guaranteed-invalid value; the others are
    inherited from *parent*. All properties of a reference cycle are invalid.
    """

    __slots__ = ("_cyclic", "_open", "own", "parent", "scope", "values")

    def __init__(
        self,
        own: Mapping[str, str | None],
        parent: Variables | None = None,
        scope: VariableScope | None = None,
    ) -> None:
        self.own = own
        self.parent = parent
        self.scope: VariableScope = parent.scope if parent else scope or VariableScope()
        #: resolved values, including requested inherited ones
        self.values: dict[str, str | None] = {}
        self._open: list[str] = []
        self._cyclic: set[str] = set()

    def child(self, own: Mapping[str, str | None] | None) -> Variables:
        """Return the custom properties of a child element that declares *own*."""
        if own is None and self.scope.all_inherit:
            return self
        return Variables(own or {}, self)

    def get(self, name: str) -> str | None:
        """Return the value of a custom property, None if it has none."""
        registered = self.scope.registered.get(name)
        if registered is None:
            return self._inherited(name)
        value = self._inherited(name) if registered.inherits else self._own(name)
        return registered.initial if value is None else value

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
        """Return the value of a property of *own* or *values*."""
        if name in self.values:
            return self.values[name]
        text = self.own[name]
        if text is None or not has_reference(text):
            self.values[name] = value = self._checked(name, text)
            return value
        if name in self._open:
            self._cyclic.update(self._open[self._open.index(name) :])
            return None
        if (
            len(self._open) >= MAX_REFERENCE_CHAIN
            or self.scope.substituted > MAX_PAGE_SUBSTITUTIONS
        ):
            return None
        self._open.append(name)
        value = substitute(text, self.get)
        self._open.pop()
        value = None if name in self._cyclic else self._checked(name, value)
        self.scope.substituted += len(value or "")
        self.values[name] = value
        return value

    def _checked(self, name: str, value: str | None) -> str | None:
        """Return *value*; one that does not have the registered syntax is unset."""
        registered = self.scope.registered.get(name)
        if value is None or registered is None or self.scope.has_syntax(value, registered.syntax):
            return value
        return self.parent.get(name) if registered.inherits and self.parent is not None else None
