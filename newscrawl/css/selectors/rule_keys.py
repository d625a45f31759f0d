"""What a selector's subject must be called, read from the text: rules are filed under it.

Most selectors of a sheet never meet an element that has such a name, so they are never compiled.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.css.selectors.compiled_selectors import rarest_name, split_name
from newscrawl.css.selectors.element_tree import ascii_lower
from newscrawl.css.selectors.selector_tokens import (
    ESCAPE,
    MOST_NESTING,
    STRING,
    end_of_arguments,
    split_arguments,
    unescape,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHARACTER = "[-a-zA-Z0-9_]"
END = "\6"
"""What stands between selectors that are kept as one text; sheets have none, they are masked."""

# a last compound of a tag, classes and pseudo-classes, after what needs no second look
_EASY = re.compile(
    rf"""(?:(?:[^\\(\["'/{END}]*[ >+~])?+(\*(?!:)|{_CHARACTER}++)?+(\.{_CHARACTER}++)*+"""
    rf"""(?::(?!root\b){_CHARACTER}++(?:\([^()"'\\\[{END}]*+\))?+)*+|[^{END}]*+){END}""",
    re.ASCII,
)
# the last class or id that is followed by names and combinators of ancestors alone
_ANCESTOR = re.compile(
    rf""".*(?<!\\)([.#][a-zA-Z]{_CHARACTER}*+)(?![\\\x80-\U0010ffff])"""
    r"""[-\w.#*:]*+[\s>][-\w.#*:\s>]*+\Z""",
    re.ASCII | re.DOTALL,
)
_NEVER = (":active", ":after", ":before", ":focus", ":focus-visible", ":hover", ":visited")
_LONGEST = 200
_MARK = "\1"
_NAME = re.compile(rf"(::?|[.#{_MARK}]|)((?:{_CHARACTER}|[^\x00-\x7f])++)")
_ESCAPE = re.compile(ESCAPE)
_QUOTED = re.compile(rf"{STRING}|/\*.*?\*/", re.DOTALL)
_ATTRIBUTE = re.compile(rf"\[(?=({_CHARACTER}*+))([^\[\]]*+)\]")
_ARGUMENTS = re.compile(r"\([^()]*+\)")


class Filed(NamedTuple):
    """The selectors of rules, one after the other."""

    #: all selectors
    texts: list[str]
    #: of each rule, the place after its last selector
    ends: list[int]
    #: places of the selectors that may match, by :func:`rightmost_name`
    places: dict[str, list[int]]


def rightmost_key(text: str) -> tuple[str, str]:
    """Return :func:`rightmost_name` in two parts, the kind of name and the name."""
    return split_name(rightmost_name(text))


def rightmost_name(text: str) -> str:
    """Return a name that whatever *text* selects has, ``*`` if it need have none.

    ``#id``, ``.class``, ``[attribute``, ``tag`` or ``:root``, as in
    :class:`~newscrawl.css.selectors.element_tree.StyleTree`. Holds for valid selectors only. Time is linear in the
    length of *text*.
    """
    return rightmost_names([text])[0]


def rightmost_names(texts: Sequence[str]) -> list[str]:
    """Return the :func:`rightmost_name` of each of *texts*; one scan does for most."""
    found = _EASY.findall(END.join([*texts, ""]))
    if len(found) != len(texts):
        return [_rightmost(text, 0) for text in texts]
    return [
        class_name or tag.lower() or cached_name(text)
        for (tag, class_name), text in zip(found, texts, strict=True)
    ]


def file_rules(rules: Sequence[str], *, quirks: bool) -> Filed:
    """Return the selectors of *rules*, each the selectors of a rule with :data:`END` between.

    The names are in lower case for pages in *quirks* mode.
    """
    texts = END.join(rules).split(END) if rules else []
    places: dict[str, list[int]] = {}
    for place, name in enumerate(rightmost_names(texts)):
        if never_matches(texts[place]):
            continue
        key = ascii_lower(name) if quirks else name
        if key in places:
            places[key].append(place)
        else:
            places[key] = [place]
    return Filed(texts, list(accumulate([rule.count(END) + 1 for rule in rules])), places)


def never_matches(text: str) -> bool:
    """Return whether it is seen at a glance that a selector matches nothing."""
    return text.endswith(_NEVER) and "\\" not in text


def ancestor_name(text: str) -> str:
    """Return a class or id that an ancestor of whatever *text* selects has, "" if none is seen."""
    match = _ANCESTOR.match(text) if len(text) <= _LONGEST else None
    return match[1] if match else ""


def _rightmost(text: str, nesting: int) -> str:
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
    if not names and nesting < MOST_NESTING:
        return _only_alternative(text, masked, start, nesting)
    return rarest_name(names)


cached_name = lru_cache(maxsize=4096)(partial(_rightmost, nesting=0))
""":func:`rightmost_name` of what is not easy."""


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
    """Return *text* with what is no name and no combinator blotted out, of the same length."""
    if "\\" in text:
        text = _ESCAPE.sub(lambda match: "_" * len(match[0]), text)
    text = _QUOTED.sub(_blot, text)
    text = _ATTRIBUTE.sub(
        lambda match: _MARK + match[1] + "\0" * (len(match[0]) - 1 - len(match[1])), text
    )
    for _ in range(MOST_NESTING):
        text, count = _ARGUMENTS.subn(_blot, text)
        if not count:
            break
    return text


def _blot(match: re.Match[str]) -> str:
    return "\0" * len(match[0])
