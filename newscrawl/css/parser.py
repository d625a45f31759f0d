"""Parser of style sheets, declarations and media queries (thesis, 3.1).

Keeps only rules with properties that affect the appearance of text, most of the time a third of a
sheet. One regular expression skips the others. Nothing raises an error: as in CSS Syntax 3, an
invalid construct is dropped and parsing continues after it.

https://www.w3.org/TR/css-syntax-3/; media queries: https://drafts.csswg.org/mediaqueries-4/, without
``or`` and nested conditions, for a screen of 1280 by 800 pixels, light, with a mouse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from w3lib.encoding import read_bom

from newscrawl.document.encoding import whatwg_codec
from newscrawl.patterns import lazy_regex

WIDTH, HEIGHT = 1280.0, 800.0
"""Size of the viewport in px."""

MAX_IMPORTS = 64
"""Maximum number of imports of a sheet."""
_MAX_LENGTH = 4096
_KEYWORDS = {
    "orientation": "landscape",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "prefers-color-scheme": "light",
    "prefers-reduced-motion": "no-preference",
}
_RANGES = {
    "width": WIDTH,
    "device-width": WIDTH,
    "height": HEIGHT,
    "device-height": HEIGHT,
    "resolution": 1.0,
    "device-pixel-ratio": 1.0,
}
_UNITS = {"px": 1, "em": 16, "rem": 16, "pt": 4 / 3, "dppx": 1, "x": 1, "dpi": 1 / 96, "": 1}
_NUMBER = re.compile(r"([+-]?(?:\d++(?:\.\d*)?|\.\d+))([a-z]*)")
_QUERY = re.compile(r"(?:(not|only)\s++)?([\w-]*+)((?:\s*+(?:and\b\s*+)?\([^()]*+\))*+)")
_FEATURE = re.compile(r"\(\s*+(?:-\w+-)?([a-z-]++)\s*+(?:(:|[<>]=?|=)([^()<>=]*+))?\)")


@lru_cache(1024)
def media_applies(queries: str) -> bool:
    """Return whether a media query list (of ``@media`` or a ``media`` attribute) applies."""
    queries = queries.strip().lower()
    return not queries or any(map(_query_applies, queries[:_MAX_LENGTH].split(",")))


def _query_applies(query: str) -> bool:
    """Return whether one media query applies; an invalid or unknown one does not."""
    found = _QUERY.fullmatch(query := query.strip())
    if found is None or not query:
        return False
    negation, kind, condition = found.groups()
    results = [_feature(*feature) for feature in _FEATURE.findall(condition)]
    if None in results or len(results) != condition.count("("):
        return False
    applies = kind in {"", "all", "screen"} and all(results)
    return applies is not (negation == "not")


def _feature(name: str, sign: str, value: str) -> bool | None:
    """Return whether a media feature is true, None if it is unknown."""
    value = value.strip()
    if name in _KEYWORDS:
        return value == _KEYWORDS[name] if sign else _KEYWORDS[name] != "no-preference"
    if sign == ":":
        sign = {"min-": ">=", "max-": "<="}.get(name[:4], "=")
        name = (name[4:] if sign != "=" else name).removeprefix("-moz-")
    number = _NUMBER.fullmatch(value)
    if name not in _RANGES or number is None or number[2] not in _UNITS:
        return None
    difference = round(_RANGES[name] - float(number[1]) * _UNITS[number[2]], 6)
    if not difference:
        return "=" in sign
    return sign != "=" and (difference > 0) == (sign[0] == ">")


SPACE = " \t\n\r\f"
"""White space of CSS."""

_RELEVANT = r"font(?:-(?:size|weight|family))?|color|display|visibility"
_RELEVANT_START = rf"[{SPACE}]*+(?=[fFcCdDvV-])(?:(?i:{_RELEVANT})|--[^:;{{}}]*+)[{SPACE}]*+:"
_GAP = rf"(?:[{SPACE}]++|<!--|-->)*+"
_BRACE = lazy_regex(r"[{}]")
_PIECE = lazy_regex(r"([^{}]*+)([{}]|\Z)")
_HAS_RELEVANT = lazy_regex(f"(?:^|;){_RELEVANT_START}")
_IS_RELEVANT = lazy_regex(rf"(?:{_RELEVANT})|--.*", re.DOTALL)
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


Rule: TypeAlias = tuple[str, str]
"""Selectors and declarations of a style rule, both masked."""


@dataclass(slots=True)
class Sheet:
    """A parsed style sheet."""

    rules: list[Rule] = field(default_factory=list)
    #: URLs of imported sheets that apply, as written
    imports: list[str] = field(default_factory=list)
    #: selectors and rule numbers by a name of their subject, made when the sheet is first used
    index: dict[str, list[tuple[str, int]]] | None = field(default=None, compare=False, repr=False)

    @property
    def size(self) -> int:
        """Approximate number of characters held in memory."""
        return sum(len(selectors) + len(block) for selectors, block in self.rules)

    def add_rule(self, prelude: str, block: str) -> None:
        """Add a style rule if it may have relevant declarations; *block* has no inner blocks."""
        selectors = prelude.strip(SPACE)
        if selectors and ";" not in selectors and _HAS_RELEVANT.search(block):
            self.rules.append((selectors, block))

    def enters(self, prelude: str, *, has_block: bool) -> bool:
        """Return whether the rules in the block of an at-rule apply; add an import."""
        if has_block:
            return _block_applies(prelude)
        name, condition = _AT_RULE.fullmatch(prelude).groups()  # type: ignore[union-attr]
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
    """Return whether the rules in the block of an at-rule apply; layers keep their order."""
    name, condition = _AT_RULE.fullmatch(prelude).groups()  # type: ignore[union-attr]
    name = name.lower()
    return name in {"supports", "layer"} or (name == "media" and media_applies(unmask(condition)))


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
    while position < len(text):
        for item in _ITEM.finditer(text, position):  # the items adjoin
            prelude, block = item.group(3, 4)
            if block is None:
                break
            sheet.add_rule(prelude, block)
        position = item.end()
        if item[1] is not None:
            if not sheet.enters(item[1], has_block=item[2] == "{") and item[2] == "{":
                position = _end_of_block(text, position)
        elif item[5] == "{":
            start, position = position, _end_of_block(text, position)
            sheet.add_rule(prelude, _without_blocks(text[start:position].removesuffix("}")))
    return sheet


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
        if not _IS_RELEVANT.fullmatch(name):
            return None
    value, _, priority = value.partition("!")
    important = priority.strip(SPACE).lower() == "important"
    if priority and not important:
        return None
    value = unmask(value).strip(SPACE)
    return Declaration(name, value, important) if value or name.startswith("--") else None
