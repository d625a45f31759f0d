"""Numbers in CSS values: units, percentages and ``calc()``, ``min()``, ``max()``, ``clamp()``.

https://drafts.csswg.org/css-values-4/#math. The rarely used functions (``round()``, ``sin()``, ...)
are not supported: such a value is invalid.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH = 40
"""Maximum nesting of parentheses and functions."""

MAX_TOKENS = 2000
"""Maximum number of tokens of a value, which bounds the cost of a hostile sheet."""

NUMBER, LENGTH, ANGLE, PERCENT = "number", "length", "angle", "percent"

_TOKEN = re.compile(
    r"(?P<space>\s++)"
    r"|(?P<number>[+-]?(?:\d++(?:\.\d++)?+|\.\d++)(?:e[+-]?\d++)?+)(?P<unit>%|-?[a-z_][\w-]*+)?+"
    r"|(?P<function>-?-?[a-z_][\w-]*+)\("
    r"|(?P<ident>--|-?-?[a-z_][\w-]*+)"
    r"|\#(?P<hash>[\w-]++)"
    r"|(?P<punctuation>[-+*/(),])",
    re.IGNORECASE,
)
_DEGREES = {"deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0}


class Token(NamedTuple):
    """A token of a value: kind (group name of the pattern), text and number.

    The text of a number is its unit.
    """

    kind: str
    text: str
    number: float = 0.0


class Quantity(NamedTuple):
    """A value and its kind: NUMBER, LENGTH (px), ANGLE (degrees) or PERCENT."""

    value: float
    kind: str


def resolve_percentage(value: float, unit: str) -> Quantity | None:
    """Return a percentage, None for all other units."""
    return Quantity(value, PERCENT) if unit == "%" else None


class InvalidValueError(ValueError):
    """The value is invalid for its property. Never leaves this package."""


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a value in lower case.

    Raises InvalidValueError if the text has unknown characters or too many tokens.
    """
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None or len(tokens) > MAX_TOKENS:
            raise InvalidValueError(text[:80])
        position = found.end()
        kind = found.lastgroup or ""
        if kind in ("number", "unit"):
            unit = (found["unit"] or "").lower()
            tokens.append(Token("number", unit, float(found["number"])))
        else:
            tokens.append(Token(kind, found[kind].lower()))
    while tokens and tokens[-1].kind == "space":
        tokens.pop()
    return tokens


class ValueReader:
    """Parser of the tokens of one value. All methods raise InvalidValueError.

    *resolve* converts a number with a unit to a quantity, or returns None for an unknown unit.
    """

    def __init__(
        self, tokens: list[Token], resolve: Callable[[float, str], Quantity | None]
    ) -> None:
        self.tokens = tokens
        self.position = 0
        #: values of identifiers
        self.names: dict[str, Quantity] = {}
        self._resolve = resolve
        self._depth = 0

    @property
    def kind(self) -> str:
        """Kind of the next token, "" at the end."""
        return self.tokens[self.position].kind if self.position < len(self.tokens) else ""

    def next(self) -> Token:
        """Consume and return the next token."""
        if self.position >= len(self.tokens):
            raise InvalidValueError("unexpected end")
        self.position += 1
        return self.tokens[self.position - 1]

    def skip_space(self) -> bool:
        """Skip white space and return whether there was any."""
        start = self.position
        while self.kind == "space":
            self.position += 1
        return self.position > start

    def accept(self, punctuation: str) -> bool:
        """Consume *punctuation*, after optional white space, and return whether it was there."""
        start = self.position
        self.skip_space()
        if self.kind == "punctuation" and self.tokens[self.position].text == punctuation:
            self.position += 1
            return True
        self.position = start
        return False

    def accept_word(self, *words: str) -> str:
        """Consume and return the next identifier if it is one of *words*, else return ""."""
        start = self.position
        self.skip_space()
        if self.kind == "ident" and self.tokens[self.position].text in words:
            return self.next().text
        self.position = start
        return ""

    def close(self) -> None:
        """Consume a closing parenthesis, or the end of the value (CSS Syntax 3, 5.4.9)."""
        if not self.accept(")"):
            self.end()

    def end(self) -> None:
        """Check that only white space is left."""
        self.skip_space()
        if self.position < len(self.tokens):
            raise InvalidValueError(f"unexpected {self.next().text}")

    def quantity(self) -> Quantity:
        """Return the next number, dimension, percentage or math function."""
        self.skip_space()
        token = self.next()
        if token.kind == "number":
            return self._dimension(token)
        if token.kind == "function" and token.text in _FUNCTIONS:
            return self._function(token.text)
        if token.kind == "ident" and token.text in self.names:
            return self.names[token.text]
        raise InvalidValueError(f"unexpected {token.text}")

    def _dimension(self, token: Token) -> Quantity:
        if not token.text:
            return Quantity(token.number, NUMBER)
        if token.text in _DEGREES:
            return Quantity(token.number * _DEGREES[token.text], ANGLE)
        found = self._resolve(token.number, token.text)
        if found is None:
            raise InvalidValueError(f"unknown unit {token.text}")
        return found

    def _function(self, name: str) -> Quantity:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise InvalidValueError("nested too deeply")
        found = _FUNCTIONS[name](self)
        self.close()
        self._depth -= 1
        return found

    def sum(self) -> Quantity:
        """Return a calc-sum: the operators + and - need white space on both sides."""
        total = self._product()
        while True:
            start = self.position
            spaced = self.skip_space()
            operator = self.tokens[self.position].text if self.kind == "punctuation" else ""
            if not spaced or operator not in ("+", "-"):
                self.position = start
                return total
            self.next()
            if not self.skip_space():
                raise InvalidValueError("operator without white space")
            term = self._product()
            sign = -1 if operator == "-" else 1
            total = Quantity(total.value + sign * term.value, _common_kind([total, term]))

    def _product(self) -> Quantity:
        result = self._term()
        while True:
            if self.accept("*"):
                factor = self._term()
                if NUMBER not in (result.kind, factor.kind):
                    raise InvalidValueError("product of dimensions")
                kind = factor.kind if result.kind == NUMBER else result.kind
                result = Quantity(result.value * factor.value, kind)
            elif self.accept("/"):
                divisor = self._term()
                if divisor.kind not in (NUMBER, result.kind):
                    raise InvalidValueError("division by a dimension")
                kind = NUMBER if divisor.kind == result.kind else result.kind
                result = Quantity(_divide(result.value, divisor.value), kind)
            else:
                return result

    def _term(self) -> Quantity:
        return self._function("calc") if self.accept("(") else self.quantity()

    def arguments(self) -> list[Quantity]:
        """Return the comma-separated calc-sums of a function."""
        found = [self.sum()]
        while self.accept(","):
            found.append(self.sum())
        return found


def _common_kind(quantities: list[Quantity]) -> str:
    """Return the kind that all *quantities* share."""
    kinds = {quantity.kind for quantity in quantities}
    if len(kinds) > 1:
        raise InvalidValueError("kinds differ")
    return kinds.pop()


def _divide(dividend: float, divisor: float) -> float:
    if divisor:
        return dividend / divisor
    return math.nan if dividend == 0 else math.copysign(math.inf, dividend)


def _reduce(reader: ValueReader, function: Callable[[list[float]], float]) -> Quantity:
    values = reader.arguments()
    return Quantity(function([value for value, _ in values]), _common_kind(values))


def _clamp(reader: ValueReader) -> Quantity:
    low = _bound(reader)
    reader.accept(",")
    value = reader.sum()
    if not reader.accept(","):
        raise InvalidValueError("clamp() needs three arguments")
    high = _bound(reader)
    kind = _common_kind([value, *(bound for bound in (low, high) if bound)])
    result = value.value if high is None else min(value.value, high.value)
    return Quantity(result if low is None else max(result, low.value), kind)


def _bound(reader: ValueReader) -> Quantity | None:
    return None if reader.accept_word("none") else reader.sum()


def _progress(reader: ValueReader) -> Quantity:
    value, start, end = reader.arguments()
    _common_kind([value, start, end])
    part = _divide(value.value - start.value, end.value - start.value)
    return Quantity(min(1.0, max(0.0, part)), NUMBER)


_FUNCTIONS: dict[str, Callable[[ValueReader], Quantity]] = {
    "calc": ValueReader.sum,
    "-webkit-calc": ValueReader.sum,
    "min": lambda reader: _reduce(reader, min),
    "max": lambda reader: _reduce(reader, max),
    "clamp": _clamp,
    "progress": _progress,
}


def parse_quantity(text: str, resolve: Callable[[float, str], Quantity | None]) -> Quantity | None:
    """Return the single quantity of a value, None if the value is anything else.

    *resolve* is that of :class:`ValueReader`.
    """
    try:
        reader = ValueReader(tokenize(text), resolve)
        found = reader.quantity()
        reader.end()
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return found
