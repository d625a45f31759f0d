"""Numbers of CSS: units, percentages and math functions, evaluated at once.

https://drafts.csswg.org/css-values-4/#math
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST_DEPTH = 40
"""Deepest nesting of parentheses and functions that is evaluated."""

MOST_TOKENS = 2000
"""Length of the longest value that is looked at: the limit of a hostile sheet's cost."""

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
_ANGLES = {"deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0}
_CONSTANTS = {"e": math.e, "pi": math.pi, "infinity": math.inf, "-infinity": -math.inf}
_ROUNDING: dict[str, Callable[[float], float]] = {
    "up": math.ceil,
    "down": math.floor,
    "to-zero": math.trunc,
    "nearest": lambda quotient: math.floor(quotient + 0.5),
}


class Token(NamedTuple):
    """A component of a value: its kind (a group of the pattern), its text, its number."""

    kind: str
    text: str
    number: float = 0.0


class Quantity(NamedTuple):
    """A number and what it is: NUMBER, LENGTH (px), ANGLE (degrees) or PERCENT."""

    value: float
    kind: str


class InvalidValueError(ValueError):
    """A value is not what its property takes. Raised and caught inside this package."""


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a value in lower case; raise :class:`InvalidValueError`."""
    tokens: list[Token] = []
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or len(tokens) > MOST_TOKENS:
            raise InvalidValueError(text[:80])
        place = found.end()
        kind = found.lastgroup or ""
        if kind in ("number", "unit"):
            unit = (found["unit"] or "").lower()
            tokens.append(Token("number", unit, float(found["number"])))
        else:
            tokens.append(Token(kind, found[kind].lower()))
    while tokens and tokens[-1].kind == "space":
        tokens.pop()
    return tokens


class Reader:
    """Reads the tokens of one value; every method raises :class:`InvalidValueError`.

    *resolve* gives the quantity of a number with a unit, None for an unknown unit; *names* the
    numbers that identifiers stand for.
    """

    def __init__(
        self,
        tokens: list[Token],
        resolve: Callable[[float, str], Quantity | None],
        names: Mapping[str, Quantity] | None = None,
    ) -> None:
        self.tokens = tokens
        self.place = 0
        self._resolve = resolve
        self._names = names or {}
        self._depth = 0

    @property
    def kind(self) -> str:
        """Kind of the next token, "" at the end."""
        return self.tokens[self.place].kind if self.place < len(self.tokens) else ""

    def next(self) -> Token:
        """Return the next token."""
        if self.place >= len(self.tokens):
            raise InvalidValueError("unexpected end")
        self.place += 1
        return self.tokens[self.place - 1]

    def skip_space(self) -> bool:
        """Skip white space; tell whether there was any."""
        start = self.place
        while self.kind == "space":
            self.place += 1
        return self.place > start

    def accept(self, punctuation: str) -> bool:
        """Skip white space and *punctuation*, if it comes next; tell whether it did."""
        start = self.place
        self.skip_space()
        if self.kind == "punctuation" and self.tokens[self.place].text == punctuation:
            self.place += 1
            return True
        self.place = start
        return False

    def close(self) -> None:
        """Skip a closing parenthesis; the end of the value closes all (CSS Syntax 3, 5.4.9)."""
        if not self.accept(")"):
            self.end()

    def end(self) -> None:
        """Check that nothing but white space is left."""
        self.skip_space()
        if self.place < len(self.tokens):
            raise InvalidValueError(f"unexpected {self.next().text}")

    def quantity(self) -> Quantity:
        """Return the number, dimension, percentage or math function that comes next."""
        self.skip_space()
        token = self.next()
        if token.kind == "number":
            return self._dimension(token)
        if token.kind == "function" and token.text in _FUNCTIONS:
            return self._function(token.text)
        if token.kind == "ident" and token.text in self._names:
            return self._names[token.text]
        raise InvalidValueError(f"unexpected {token.text}")

    def _dimension(self, token: Token) -> Quantity:
        if not token.text:
            return Quantity(token.number, NUMBER)
        if token.text in _ANGLES:
            return Quantity(token.number * _ANGLES[token.text], ANGLE)
        found = self._resolve(token.number, token.text)
        if found is None:
            raise InvalidValueError(f"unknown unit {token.text}")
        return found

    def _function(self, name: str) -> Quantity:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise InvalidValueError("nested too deep")
        found = _FUNCTIONS[name](self)
        self.close()
        self._depth -= 1
        return found

    def sum(self) -> Quantity:
        """Return a calc-sum: the operators + and - have white space on both sides."""
        total = self._product()
        while True:
            start = self.place
            spaced = self.skip_space()
            if not spaced or self.kind != "punctuation" or self.tokens[self.place].text not in "+-":
                self.place = start
                return total
            sign = -1 if self.next().text == "-" else 1
            if not self.skip_space():
                raise InvalidValueError("operator without white space")
            term = self._product()
            total = Quantity(total.value + sign * term.value, _same([total, term]))

    def _product(self) -> Quantity:
        result = self._term()
        while True:
            if self.accept("*"):
                factor = self._term()
                if NUMBER not in (result.kind, factor.kind):
                    raise InvalidValueError("product of two dimensions")
                kind = factor.kind if result.kind == NUMBER else result.kind
                result = Quantity(result.value * factor.value, kind)
            elif self.accept("/"):
                divisor = self._term()
                kind = NUMBER if divisor.kind == result.kind else result.kind
                if divisor.kind not in (NUMBER, result.kind):
                    raise InvalidValueError("division by a dimension")
                result = Quantity(_divide(result.value, divisor.value), kind)
            else:
                return result

    def _term(self) -> Quantity:
        self.skip_space()
        if self.kind == "ident" and self.tokens[self.place].text in _CONSTANTS:
            return Quantity(_CONSTANTS[self.next().text], NUMBER)
        if self.kind == "ident" and self.tokens[self.place].text == "nan":
            self.next()
            return Quantity(math.nan, NUMBER)
        if self.accept("("):
            return self._function("calc")
        return self.quantity()

    def arguments(self, least: int = 1, most: int = MOST_TOKENS) -> list[Quantity]:
        """Return the calc-sums up to the end of a function, separated by commas."""
        found = [self.sum()]
        while self.accept(","):
            found.append(self.sum())
        if not least <= len(found) <= most:
            raise InvalidValueError("wrong number of arguments")
        return found


def _same(quantities: list[Quantity]) -> str:
    """Return the one kind of *quantities*."""
    kinds = {quantity.kind for quantity in quantities}
    if len(kinds) > 1:
        raise InvalidValueError("kinds differ")
    return kinds.pop()


def _divide(dividend: float, divisor: float) -> float:
    if divisor:
        return dividend / divisor
    return math.nan if dividend == 0 else math.copysign(math.inf, dividend)


def _reduce(reader: Reader, function: Callable[[list[float]], float]) -> Quantity:
    values = reader.arguments()
    return Quantity(function([value for value, _ in values]), _same(values))


def _clamp(reader: Reader) -> Quantity:
    low = _bound(reader)
    reader.accept(",")
    value = reader.sum()
    if not reader.accept(","):
        raise InvalidValueError("clamp of two")
    high = _bound(reader)
    kind = _same([value, *(bound for bound in (low, high) if bound)])
    result = value.value if high is None else min(value.value, high.value)
    return Quantity(result if low is None else max(result, low.value), kind)


def _bound(reader: Reader) -> Quantity | None:
    reader.skip_space()
    if reader.kind == "ident" and reader.tokens[reader.place].text == "none":
        reader.next()
        return None
    return reader.sum()


def _round(reader: Reader) -> Quantity:
    strategy = _ROUNDING["nearest"]
    reader.skip_space()
    if reader.kind == "ident" and reader.tokens[reader.place].text in _ROUNDING:
        strategy = _ROUNDING[reader.next().text]
        if not reader.accept(","):
            raise InvalidValueError("rounding of nothing")
    values = reader.arguments(1, 2)
    step = values[1].value if len(values) == 2 else 1.0
    quotient = _divide(values[0].value, step)
    rounded = strategy(quotient) * step if math.isfinite(quotient) else values[0].value
    return Quantity(rounded, _same(values))


def _remainder(reader: Reader, function: Callable[[float, float], float]) -> Quantity:
    values = reader.arguments(2, 2)
    (dividend, _), (divisor, _) = values
    defined = divisor and math.isfinite(dividend) and math.isfinite(divisor)
    return Quantity(function(dividend, divisor) if defined else math.nan, _same(values))


def _of_number(reader: Reader, function: Callable[..., float], least: int = 1) -> Quantity:
    values = reader.arguments(least, 2)
    if _same(values) != NUMBER:
        raise InvalidValueError("not a number")
    return Quantity(function(*(value for value, _ in values)), NUMBER)


def _trigonometric(reader: Reader, function: Callable[[float], float]) -> Quantity:
    ((value, kind),) = reader.arguments(1, 1)
    if kind not in (NUMBER, ANGLE):
        raise InvalidValueError("not an angle")
    return Quantity(function(math.radians(value) if kind == ANGLE else value), NUMBER)


def _arc(reader: Reader, function: Callable[..., float], count: int = 1) -> Quantity:
    values = reader.arguments(count, count)
    _same(values)
    return Quantity(math.degrees(function(*(value for value, _ in values))), ANGLE)


def _sign(reader: Reader) -> Quantity:
    ((value, _),) = reader.arguments(1, 1)
    return Quantity(math.copysign(1, value) if value else value, NUMBER)


def _log(value: float, base: float = math.e) -> float:
    return math.log(value) if base == math.e else math.log(value, base)


_FUNCTIONS: dict[str, Callable[[Reader], Quantity]] = {
    "calc": Reader.sum,
    "-webkit-calc": Reader.sum,
    "min": lambda reader: _reduce(reader, min),
    "max": lambda reader: _reduce(reader, max),
    "clamp": _clamp,
    "round": _round,
    "mod": lambda reader: _remainder(reader, lambda a, b: a - b * math.floor(a / b)),
    "rem": lambda reader: _remainder(reader, math.fmod),
    "hypot": lambda reader: _reduce(reader, lambda values: math.hypot(*values)),
    "abs": lambda reader: _reduce(reader, lambda values: abs(values[0])),
    "sign": _sign,
    "pow": lambda reader: _of_number(reader, math.pow, 2),
    "sqrt": lambda reader: _of_number(reader, math.sqrt),
    "exp": lambda reader: _of_number(reader, math.exp),
    "log": lambda reader: _of_number(reader, _log),
    "sin": lambda reader: _trigonometric(reader, math.sin),
    "cos": lambda reader: _trigonometric(reader, math.cos),
    "tan": lambda reader: _trigonometric(reader, math.tan),
    "asin": lambda reader: _arc(reader, math.asin),
    "acos": lambda reader: _arc(reader, math.acos),
    "atan": lambda reader: _arc(reader, math.atan),
    "atan2": lambda reader: _arc(reader, math.atan2, 2),
}


def read_quantity(text: str, resolve: Callable[[float, str], Quantity | None]) -> Quantity | None:
    """Return the one quantity that *text* is, None where it is something else."""
    try:
        reader = Reader(tokenize(text), resolve)
        found = reader.quantity()
        reader.end()
    except (ValueError, ArithmeticError, RecursionError, TypeError):
        return None  # TypeError: a function of another number of arguments
    return found
