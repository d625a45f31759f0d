"""Parser of style sheets, declarations and media queries (thesis, 3.1).

Keeps only rules with properties that affect the appearance of text, most of the time a third of a
sheet. One regular expression skips the others. Nothing raises an error: as in CSS Syntax 3, an
invalid construct is dropped and parsing continues after it.

https://www.w3.org/TR/css-syntax-3/, https://drafts.csswg.org/css-nesting-1/; media queries:
https://drafts.csswg.org/mediaqueries-4/, for a screen of 1280 by 800 pixels, light, with a mouse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from w3lib.encoding import read_bom

from newscrawl.document.encoding import whatwg_codec
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH, HEIGHT = 1280.0, 800.0
"""Size of the viewport in px."""

MAX_IMPORTS = MAX_LAYERS = 64
"""Maximum number of imports and of layers of a sheet."""
_MAX_LENGTH = 4096
_KEYWORDS = {
    "orientation": "landscape", "hover": "hover", "any-hover": "hover", "pointer": "fine",
    "any-pointer": "fine", "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference",
}  # fmt: skip
_RANGES = {
    "width": WIDTH, "device-width": WIDTH, "height": HEIGHT, "device-height": HEIGHT,
    "resolution": 1.0, "device-pixel-ratio": 1.0,
}  # fmt: skip
_UNITS = {"px": 1, "em": 16, "rem": 16, "pt": 4 / 3, "dppx": 1, "x": 1, "dpi": 1 / 96, "": 1}
_NUMBER = re.compile(r"([+-]?(?:\d++(?:\.\d*)?|\.\d+))([a-z]*)")
_TYPE = re.compile(
    r"(?:(not|only)\s++)?(?!(?:not|and|or)\b)([a-z][\w-]*+)(?:\s++and\b(.*))?", re.DOTALL
)
_INNERMOST = re.compile(r"(?<![-\w])([-\w]*+)\(([^()]*+)\)")
_COMPARISON = re.compile(r"(<=|>=|<|>|=|:)")
_FLIPPED = str.maketrans("<>", "><")
_MAX_CONDITIONS = 20
# Declarations of other browsers, and of those of phones.
_FOREIGN = re.compile(r"(?<![-\w])(?:-moz-|-ms-|-apple-|-webkit-touch-callout|-webkit-overflow)")


@lru_cache(1024)
def media_applies(queries: str) -> bool:
    """Return whether a media query list (of ``@media`` or a ``media`` attribute) applies."""
    queries = queries.strip().lower()
    return not queries or any(map(_query_applies, queries[:_MAX_LENGTH].split(",")))


def _query_applies(query: str) -> bool:
    """Return whether one media query applies; an invalid or unknown one does not."""
    query = query.strip()
    found = _TYPE.fullmatch(query)
    try:
        if found is None:
            return _holds(query, _media_feature)
        negation, kind, condition = found.groups()
        applies = kind in {"all", "screen"} and (
            condition is None or _holds(condition, _media_feature)
        )
    except ValueError:
        return False
    return applies is not (negation == "not")


def _holds(condition: str, leaf: Callable[[str, str], bool]) -> bool:
    """Return whether a condition of ``not``, ``and``, ``or`` and parentheses holds.

    *leaf* judges what is in the innermost parentheses, with a function's name before them. Raises
    ``ValueError`` for an invalid condition.
    """

    def result(found: re.Match[str]) -> str:
        is_inner = not found[1] and set(found[2].split()) <= {"0", "1", "not", "and", "or"}
        return f" {_combined(found[2]) if is_inner else leaf(found[1], found[2]):d} "

    for _ in range(_MAX_CONDITIONS):
        condition, replaced = _INNERMOST.subn(result, condition)
        if not replaced:
            return _combined(condition)
    raise ValueError(condition)


def _combined(text: str) -> bool:
    words = text.split()
    if words[:1] == ["not"] and len(words) == 2:
        return not _combined(words[1])
    values, operators = words[::2], {*words[1::2]}
    is_list = len(words) % 2 == 1 and operators in ({"and"}, {"or"}, set())
    if not is_list or not {*values} <= {"0", "1"}:
        raise ValueError(text)
    return "0" not in values if operators != {"or"} else "1" in values


def _media_feature(_: str, text: str) -> bool:
    """Return whether a media feature is true. Raises ``ValueError`` if it is unknown."""
    parts = [part.strip() for part in _COMPARISON.split(text)]
    if len(parts) == 5:
        value, sign, name, *upper = parts
        return _feature(name, sign.translate(_FLIPPED), value) and _feature(name, *upper)
    if len(parts) == 3 and not parts[0][:1].isalpha() and parts[0][:1] != "-":
        parts = [parts[2], parts[1].translate(_FLIPPED), parts[0]]
    if len(parts) not in {1, 3}:
        raise ValueError(text)
    name, sign, value = [*parts, "", ""][:3]
    return _feature(name.removeprefix("-webkit-"), sign, value)


def _feature(name: str, sign: str, value: str) -> bool:
    if name in _KEYWORDS:
        return value == _KEYWORDS[name] if sign else _KEYWORDS[name] != "no-preference"
    if sign == ":":
        sign = {"min-": ">=", "max-": "<="}.get(name[:4], "=")
        name = (name[4:] if sign != "=" else name).removeprefix("-moz-")
    number = _NUMBER.fullmatch(value)
    if name not in _RANGES or number is None or number[2] not in _UNITS:
        raise ValueError(name)
    difference = round(_RANGES[name] - float(number[1]) * _UNITS[number[2]], 6)
    if not difference:
        return "=" in sign
    return sign != "=" and (difference > 0) == (sign[0] == ">")


SPACE = " \t\n\r\f"
"""White space of CSS."""

# Of left, top and height only values that remove an element: they are in most rules.
_REMOVING = (
    rf"(?:left|top)(?=[{SPACE}]*+:[{SPACE}]*+-\d{{3}})|(?:max-)?height(?=[{SPACE}]*+:[{SPACE}]*+0)"
)
_RELEVANT = rf"font(?:-(?:size|weight|family))?|color|display|visibility|clip(?:-path)?|opacity|text-indent|{_REMOVING}"
_RELEVANT_START = (
    rf"[{SPACE}]*+(?=[fFcCdDvVoOtTlLhHmM-])(?:(?i:{_RELEVANT})|--[^:;{{}}]*+)[{SPACE}]*+:"
)
_GAP = rf"(?:[{SPACE}]++|<!--|-->)*+"
_BRACE = lazy_regex(r"[{}]")
_PIECE = lazy_regex(r"([^{}]*+)([{}]|\Z)")
_HAS_RELEVANT = lazy_regex(f"(?:^|;){_RELEVANT_START}")
_IMPORT = lazy_regex(
    rf"""[{SPACE}]*+(?:url\([{SPACE}]*+)?+(?:"([^"]*+)"|'([^']*+)'|([^"'() {SPACE}]++))[{SPACE}]*+\)?+"""
    rf"[{SPACE}]*+(?:layer(?:\([^()]*+\))?+)?+[{SPACE}]*+(?:supports\([^()]*+(?:\([^()]*+\)[^()]*+)*+\))?+(.*)",
    re.IGNORECASE | re.DOTALL,
)

# Comments, strings, unquoted URLs and escapes.
_LITERAL = lazy_regex(
    r"""/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?"""
    r"""|\((?<=[uU][rR][lL]\()\s*+(?!["'\s])(?:[^)\\]|\\.)*+\)?|\\.""",
    re.DOTALL,
)
_MASKS = {"{": "\x01", "}": "\x02", ";": "\x03", "@": "\x04", ":": "\x05", ",": "\x06", "!": "\x07"}
_MASK = str.maketrans(_MASKS)
_UNMASK = str.maketrans({mask: char for char, mask in _MASKS.items()})
_CONTROLS = lazy_regex(r"[\x01-\x07]")
_TO_MASK = lazy_regex(r"[{};@:,!]")


ESCAPE = r"\\(?:[0-9a-fA-F]{1,6}[ \t\n\r\f]?|[^\n])"
"""Pattern of an escaped character."""

STRING = r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'"""
"""Pattern of a string."""

_ESCAPED = lazy_regex(ESCAPE)
_PARENTHESIS = lazy_regex(rf"{STRING}|[()]|[\"'].*+", re.DOTALL)  # an open string has the rest


_SCOPE = lazy_regex(r"@scope\s*+\(([^()]*+)\)\s*+", re.IGNORECASE)
_AT_RULE = lazy_regex(r"\s*+@?([\w-]*+)(.*)", re.DOTALL)  # matches anything

# Rules without relevant declarations, and empty blocks.
_IRRELEVANT = (
    rf"(?:{_GAP}(?:[^@{{}};][^{{}};]*+\{{(?:(?!{_RELEVANT_START})[^{{}};]*+;)*+"
    rf"(?!{_RELEVANT_START})[^{{}};]*+\}}|@[^{{}};]*+\{{[{SPACE}]*+\}}))*+"
)
# An at-rule (1) and its end (2); else a prelude (3), and a block without inner blocks (4) or the
# brace after it (5).
_ITEM = lazy_regex(
    rf"{_IRRELEVANT}{_GAP}(?:(@[^{{}};]*+)([{{}};]|\Z)|([^{{}}]*+)(?:\{{([^{{}}]*+)(?:\}}|\Z)|([{{}}]|\Z)))"
)


class Declaration(NamedTuple):
    """A declaration: name in lower case (custom properties as written), and text of the value."""

    name: str
    value: str
    important: bool = False


Rule: TypeAlias = tuple[str, str, str]
"""Selectors and declarations of a style rule, both masked, and its layer, "" for none."""

RuleIndex: TypeAlias = dict[str, list[tuple[str, int]]]
"""Selectors and numbers of rules by a name of their subject."""

MAX_EXPANDED = 2**20
"""Characters of the selectors of nested rules, which repeat those around them."""
_MAX_NESTING = 8


@dataclass(slots=True)
class Sheet:
    """A parsed style sheet."""

    rules: list[Rule] = field(default_factory=list)
    #: URLs of imported sheets that apply, as written
    imports: list[str] = field(default_factory=list)
    #: names of the layers in the order of their first mention; those in others with a dot
    layers: list[str] = field(default_factory=list)
    #: selectors and rule numbers by a name of their subject, made when the sheet is first used
    index: RuleIndex | None = field(default=None, compare=False, repr=False)
    #: the same of the rules that may hide text
    hiding: RuleIndex | None = field(default=None, compare=False, repr=False)

    @property
    def size(self) -> int:
        """Approximate number of characters held in memory."""
        return sum(len(selectors) + len(block) for selectors, block, _ in self.rules)

    def add_rule(self, prelude: str, block: str, layer: str = "") -> None:
        """Add a style rule if it may have relevant declarations; *block* has no inner blocks."""
        selectors = prelude.strip(SPACE)
        if selectors and ";" not in selectors and _HAS_RELEVANT.search(block):
            self.rules.append((selectors, block, layer))

    def layer_of(self, prelude: str, outer: str) -> str:
        """Return the layer of the block of an at-rule in the layer *outer*."""
        name, names = _AT_RULE.fullmatch(prelude).groups()  # type: ignore[union-attr]
        if name.lower() != "layer":
            return outer
        layer = outer
        for own in names.strip(SPACE).split(","):
            layer = ".".join(filter(None, (outer, own.strip(SPACE) or f"({len(self.layers)})")))
            if layer not in self.layers and len(self.layers) < MAX_LAYERS:
                self.layers.append(layer)
        return layer

    def enters(self, prelude: str, layer: str, *, has_block: bool) -> bool:
        """Return whether the rules in the block of an at-rule apply; add an import or layers."""
        if has_block:
            return _block_applies(prelude)
        name, condition = _AT_RULE.fullmatch(prelude).groups()  # type: ignore[union-attr]
        self.layer_of(prelude, layer)
        is_import = name.lower() == "import" and not self.rules
        is_import &= len(self.imports) < MAX_IMPORTS and len(condition) <= _MAX_LENGTH
        if is_import:
            url = parse_import(unmask(condition))
            self.imports += [] if url is None else [url]
        return False


def _without_blocks(declarations: str) -> str:
    pieces, depth = [], 0
    for text, brace in _PIECE.findall(declarations):
        if not depth:
            pieces.append(text[: text.rfind(";") + 1] if brace == "{" else text)
        depth += {"{": 1, "}": -1}.get(brace, 0)
    return "".join(pieces)


@lru_cache(1024)
def _block_applies(prelude: str) -> bool:
    """Return whether the rules in the block of an at-rule apply."""
    name, condition = _AT_RULE.fullmatch(prelude).groups()  # type: ignore[union-attr]
    name = name.lower()
    if name == "supports":
        try:
            return _holds(
                unmask(condition[:_MAX_LENGTH]).lower(), lambda _, text: not _FOREIGN.search(text)
            )
        except ValueError:
            return False
    return name == "layer" or (name == "media" and media_applies(unmask(condition)))


def decode_sheet(data: bytes, charset: str | None = None) -> str:
    """Return the text of a style sheet; *charset* comes from the HTTP header.

    Precedence: byte order mark, HTTP header, ``@charset`` rule, UTF-8. Undecodable bytes are
    replaced.
    """
    marked, mark = read_bom(data)
    if marked and mark:
        return data[len(mark) :].decode(marked, "replace")
    rule = re.match(rb'@charset "([^"]{1,64}+)";', data)
    declared = whatwg_codec(rule[1].decode("latin-1")) if rule else None
    if declared and declared.startswith("utf-16"):  # the rule was readable as ASCII
        declared = "utf-8"
    return data.decode(whatwg_codec(charset) or declared or "utf-8", "replace")


def mask(text: str) -> str:
    """Return *text* without comments, and with structural characters in literals masked."""
    return _LITERAL.sub(_masked_literal, without_controls(text))


def _masked_literal(match: re.Match[str]) -> str:
    literal = match[0]
    if literal[0] == "/":
        return ""
    return literal.translate(_MASK) if _TO_MASK.search(literal) else literal


def without_controls(text: str) -> str:
    """Return *text* with the control characters that serve as masks replaced."""
    for control in _MASKS.values():
        if control in text:
            text = text.replace(control, "\ufffd")
    return text


def unmask(text: str) -> str:
    """Return a piece of masked text with its original characters."""
    return text.translate(_UNMASK) if _CONTROLS.search(text) else text


def unescape(text: str) -> str:
    """Return *text* with its escapes resolved."""
    return _ESCAPED.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    try:
        code = int(match[0][1:], 16)
        return chr(code) if code else "\ufffd"
    except (ValueError, OverflowError):
        return match[0][1:]


def end_of_arguments(text: str, start: int) -> int:
    """Return the position of the parenthesis that closes the one before *start*, else -1."""
    depth = 1
    for match in _PARENTHESIS.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth:
            return match.start()
    return -1


def parse_sheet(text: str) -> Sheet:
    """Return the rules of a style sheet that affect text, in time linear in its length."""
    sheet = Sheet()
    text, position = mask(text.removeprefix("\ufeff")), 0
    nested = _NestedRules(sheet)
    layer, outer = "", [""]
    while position < len(text):
        for item in _ITEM.finditer(text, position):  # the items adjoin
            prelude, block = item.group(3, 4)
            if block is None:
                break
            sheet.add_rule(prelude, block, layer)
        position = item.end()
        if item[1] is not None:
            if sheet.enters(item[1], layer, has_block=item[2] == "{"):
                outer.append(layer)
                layer = sheet.layer_of(item[1], layer)
            elif item[2] == "{":
                start, position = position, _end_of_block(text, position)
                if scope := _SCOPE.fullmatch(item[1]):
                    inner = text[start:position].removesuffix("}")
                    nested.add(f":where({scope[1]})", inner, layer)
        elif item[5] == "{":
            start, position = position, _end_of_block(text, position)
            nested.add(prelude, text[start:position].removesuffix("}"), layer)
        elif item[5] == "}":
            layer = outer.pop() if len(outer) > 1 else ""
    return sheet


class _NestedRules:
    """Rules in the blocks of others, written out as rules of their own."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._left = MAX_EXPANDED

    def add(self, selectors: str, block: str, layer: str, level: int = 0) -> None:
        """Add a rule and those in its *block*, up to :data:`MAX_EXPANDED`."""
        self._left -= len(selectors)
        self._sheet.add_rule(selectors if self._left >= 0 else "", _without_blocks(block), layer)
        position = 0
        while level < _MAX_NESTING and self._left > 0 and (brace := block.find("{", position)) >= 0:
            prelude = block[max(position, block.rfind(";", position, brace) + 1) : brace].strip(
                SPACE
            )
            position = _end_of_block(block, brace + 1)
            inner = block[brace + 1 : position].removesuffix("}")
            if prelude[:1] != "@":
                self.add(_nested_selectors(selectors, prelude), inner, layer, level + 1)
            elif _block_applies(prelude):
                self.add(selectors, inner, layer, level + 1)


def _nested_selectors(outer: str, selectors: str) -> str:
    """Return *selectors* with those around them in place of ``&``, or as ancestors."""
    outer = outer.strip(SPACE)
    outer = f":is({outer})" if "," in outer else outer
    parts = (part.strip(SPACE) for part in split_list(selectors))
    return ",".join(
        part.replace("&", outer) if "&" in part else f"{outer} {part}" for part in parts
    )


def _end_of_block(text: str, start: int) -> int:
    """Return the position behind the brace that closes the block that begins at *start*."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return len(text)


def parse_import(prelude: str) -> str | None:
    """Return the URL of an import as written, None if it does not apply."""
    found = _IMPORT.fullmatch(prelude)
    if found is None or not media_applies(found[4]):
        return None
    return unescape((found[1] or found[2] or found[3] or "").strip(SPACE)) or None


_LIST_PART = lazy_regex(r"[^()\[\],]++|.", re.DOTALL)
_DEPTH = {"(": 1, "[": 1, ")": -1, "]": -1}


def split_list(text: str) -> list[str]:
    """Return the parts of masked *text* between its top-level commas."""
    if "(" not in text:
        return text.split(",")
    parts, start, depth = [], 0, 0
    for match in _LIST_PART.finditer(text):
        depth += _DEPTH.get(match[0], 0)
        if match[0] == "," and depth <= 0:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def parse_declarations(block: str) -> tuple[Declaration, ...]:
    """Return the relevant declarations of a masked block, in order."""
    return tuple(found for text in block.split(";") if (found := _declaration(text)))


@lru_cache(8192)  # most declarations of a site are repeated
def _declaration(text: str) -> Declaration | None:
    name, colon, value = text.partition(":")
    name = name.strip(SPACE)
    if not colon:
        return None
    if not name.startswith("--"):
        name = name.lower()
        if not _HAS_RELEVANT.match(f"{name}:{value}"):
            return None
    value, _, priority = value.partition("!")
    important = priority.strip(SPACE).lower() == "important"
    if priority and not important:
        return None
    value = unmask(value).strip(SPACE)
    return Declaration(name, value, important) if value or name.startswith("--") else None
