"""Keys of the rule index: a name that the subject of a selector must have.

The key is extracted without compiling the selector. Most selectors of a sheet are never compiled,
because the page has no element with their key.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from newscrawl.compiled import compiled
from newscrawl.css.selectors.compiled_selectors import rarest_name
from newscrawl.css.selectors.selector_tokens import (
    ESCAPE,
    MAX_NESTING,
    STRING,
    VALID_SELECTOR,
    end_of_arguments,
    split_arguments,
)
from newscrawl.css.selectors.style_tree import ascii_lower
from newscrawl.css.syntax.masking import unescape

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHARACTER = "[-a-zA-Z0-9_]"
SELECTOR_SEPARATOR = "\6"
"""Separator of selectors that are stored as one text; masked sheets do not contain it."""

VALID_LIST = re.compile(
    f"{VALID_SELECTOR.pattern}(?:{SELECTOR_SEPARATOR}{VALID_SELECTOR.pattern})*+", re.ASCII
)
"""Pattern of valid selectors in such a text that need no compiling."""

# The last compound consists of a tag, classes and pseudo-classes, and nothing before it is special.
_PLAIN = re.compile(
    rf"""(?:(?:[^\\(\["'/{SELECTOR_SEPARATOR}]*[ >+~])?+(\*(?!:)|{_CHARACTER}++)?+(\.{_CHARACTER}++)*+"""
    rf"""(?::(?!root\b){_CHARACTER}++(?:\([^()"'\\\[{SELECTOR_SEPARATOR}]*+\))?+)*+|[^{SELECTOR_SEPARATOR}]*+){SELECTOR_SEPARATOR}""",
    re.ASCII,
)
# The last class or id in a compound that a descendant or child combinator follows.
_ANCESTOR = re.compile(
    rf".*([.#](?:{_CHARACTER}|[^\x00-\x7f])++)[^\s>+~]*+(?:\s*+>|\s++(?![>+~]))",
    re.ASCII | re.DOTALL,
)
_NEVER_MATCHING = (":active", ":after", ":before", ":focus", ":focus-visible", ":hover", ":visited")
_NEVER = re.compile(rf"""[^\\("'\[]*(?:{"|".join(_NEVER_MATCHING)})(?![-\w(])""", re.ASCII)
_MAX_ANCESTOR_SCAN = 200
_TO_MASK = re.compile(r"""[\\("'\[]|/\*""")
_MARK = "\1"
_NAME = re.compile(rf"(::?|[.#{_MARK}]|)((?:{_CHARACTER}|[^\x00-\x7f])++)")
_ESCAPE = re.compile(ESCAPE)
_QUOTED = re.compile(rf"{STRING}|/\*.*?\*/", re.DOTALL)
_ATTRIBUTE = re.compile(rf"\[(?=({_CHARACTER}*+))([^\[\]]*+)\]")
_ARGUMENTS = re.compile(r"\([^()]*+\)")


def rightmost_name(text: str) -> str:
    """Return a name that every element matched by *text* has, ``*`` if none is required.

    The name is ``#id``, ``.class``, ``[attribute``, ``tag`` or ``:root``, as in
    :class:`~newscrawl.css.selectors.style_tree.StyleTree`. *text* must be a valid selector. Runs in
    time linear in its length.
    """
    return rightmost_names([text])[0]


def rightmost_names(texts: Sequence[str]) -> list[str]:
    """Return the :func:`rightmost_name` of each of *texts*, most of them in one scan."""
    found = _PLAIN.findall(SELECTOR_SEPARATOR.join([*texts, ""]))
    if len(found) != len(texts):
        return [_extract_name(text, 0) for text in texts]
    return [
        class_name or tag.lower() or _cached_name(text)
        for (tag, class_name), text in zip(found, texts, strict=True)
    ]


@lru_cache(maxsize=4096)
def _cached_name(text: str) -> str:
    return _extract_name(text, 0)


def never_matches(text: str) -> bool:
    """Return whether a selector requires a state like ``:hover``; False if unknown."""
    return ":" in text and _NEVER.match(text) is not None


class SelectorTable:
    """The selectors of rules in one list, indexed by their key (:func:`rightmost_name`).

    *rules* are texts joined by :data:`SELECTOR_SEPARATOR`. The keys are in lower case for pages in
    *quirks* mode.
    """

    def __init__(self, rules: Sequence[str], *, quirks: bool) -> None:
        self._texts = SELECTOR_SEPARATOR.join(rules).split(SELECTOR_SEPARATOR) if rules else []
        self._quirks = quirks
        #: key -> index of the last selector that may match on a static page
        self._by_name: dict[str, int] = {}
        #: for each selector, the index of the one before it with the same key, -1 if there is none
        self._previous = [-1] * len(self._texts)
        names = rightmost_names(self._texts)
        for index, (text, name) in enumerate(zip(self._texts, names, strict=True)):
            if not never_matches(text):
                key = ascii_lower(name) if quirks else name
                self._previous[index] = self._by_name.get(key, -1)
                self._by_name[key] = index
        # for each rule, the index after its last selector
        self._ends = list(accumulate([rule.count(SELECTOR_SEPARATOR) + 1 for rule in rules]))

    def __contains__(self, name: str) -> bool:
        """Return whether a selector that may match has the key *name*."""
        return name in self._by_name

    def text(self, index: int) -> str:
        """Return a selector."""
        return self._texts[index]

    def rule(self, index: int) -> int:
        """Return the number of the rule of a selector."""
        return bisect_right(self._ends, index)

    def by_ancestor(self, name: str) -> tuple[dict[str, list[int]], int]:
        """Return the indexes of the selectors with the key *name* by :func:`ancestor_name`.

        The last selector comes first. The second result is the number of matching steps.
        """
        groups: defaultdict[str, list[int]] = defaultdict(list)
        steps, index = 0, self._by_name.get(name, -1)
        while index >= 0:
            text = self._texts[index]
            steps += 1 + len(text) // 16
            ancestor = ancestor_name(text)
            groups[ascii_lower(ancestor) if self._quirks else ancestor].append(index)
            index = self._previous[index]
        return dict(groups), steps


def _ancestor_by_pattern(text: str) -> str:
    match = _ANCESTOR.match(_masked(text) if _TO_MASK.search(text) else text)
    return text[match.start(1)] + unescape(text[match.start(1) + 1 : match.end(1)]) if match else ""


def ancestor_name(text: str) -> str:
    """Return a class or id that an ancestor of every matched element has, "" if unknown."""
    return _ancestor_by_pattern(text) if len(text) <= _MAX_ANCESTOR_SCAN else ""


@compiled(
    "newscrawl.css.selectors._rule_keys",
    name=_cached_name,
    never_matches=never_matches,
    lower=ascii_lower,
    by_pattern=_ancestor_by_pattern,
    max_length=_MAX_ANCESTOR_SCAN,
)
def index_selectors(rules: Sequence[str], *, quirks: bool) -> SelectorTable:
    """Return the table of the selectors of *rules*."""
    return SelectorTable(rules, quirks=quirks)


def _extract_name(text: str, nesting: int) -> str:
    text = text.strip(" \t\r\n\f")
    masked = _masked(text)
    start = max(map(masked.rfind, " >+~\t\n\r\f")) + 1
    names = []
    for match in _NAME.finditer(masked, start):
        name = unescape(text[match.start(2) : match.end()])
        match match[1]:
            case "." | "#":
                names.append(match[1] + name)
            case "\1":
                names.append(f"[{ascii_lower(name)}")
            case "":
                names.append(ascii_lower(name))
            case ":" if name == "root":
                names.append(":root")
    if not names and nesting < MAX_NESTING:
        return _only_alternative(text, masked, start, nesting)
    return rarest_name(names)


def _only_alternative(text: str, masked: str, start: int, nesting: int) -> str:
    """Return the name required by an ``:is()`` with a single argument."""
    for match in _NAME.finditer(masked, start):
        if match[0] in {":is", ":where"}:
            first = match.end() + 1
            arguments = split_arguments(text[first : end_of_arguments(text, first)])
            if len(arguments) == 1:
                return _extract_name(arguments[0], nesting + 1)
    return "*"


def _masked(text: str) -> str:
    """Return *text* with everything but names and combinators blanked, at the same length."""
    if "\\" in text:
        text = _ESCAPE.sub(lambda match: "_" * len(match[0]), text)
    text = _QUOTED.sub(_blank, text)
    text = _ATTRIBUTE.sub(
        lambda match: _MARK + match[1] + "\0" * (len(match[0]) - 1 - len(match[1])), text
    )
    for _ in range(MAX_NESTING):
        text, count = _ARGUMENTS.subn(_blank, text)
        if not count:
            break
    return text


def _blank(match: re.Match[str]) -> str:
    return "\0" * len(match[0])
