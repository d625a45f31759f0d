"""Compiler of selectors: returns a :class:`Selector` or a :class:`SelectorError`.

https://www.w3.org/TR/selectors-4/, with the pseudo-classes of HTML. Namespaces are not supported:
``svg|a`` is an error, ``*|a`` is ``a``. As in Chromium, the flag ``s`` is an error.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from newscrawl.css.selectors.compiled_selectors import (
    DESCENDANT,
    SIGNATURE_VALUES,
    Attribute,
    Compound,
    Has,
    Is,
    Not,
    Selector,
    SelectorError,
    is_anchor,
)
from newscrawl.css.selectors.nth import (
    Nth,
    SiblingsOf,
    all_siblings,
    parse_an_plus_b,
    siblings_of_type,
)
from newscrawl.css.selectors.plain_selectors import compile_plain
from newscrawl.css.selectors.pseudo_classes import (
    LEGACY_PSEUDO_ELEMENTS,
    NEVER_MATCHING,
    NEVER_MATCHING_FUNCTIONS,
    PER_ELEMENT_TESTS,
    PSEUDO_ELEMENT_FUNCTIONS,
    PSEUDO_ELEMENTS,
    SHARED_TESTS,
    IsDirection,
    IsLanguage,
    may_follow,
)
from newscrawl.css.selectors.rule_keys import SELECTOR_SEPARATOR, VALID_LIST
from newscrawl.css.selectors.selector_tokens import (
    COMBINATOR,
    IGNORE_CASE,
    MAX_NESTING,
    SUBCLASS_SELECTOR,
    TYPE_SELECTOR,
    VALID_SELECTOR,
    WORD,
    end_of_arguments,
    split_arguments,
    without_comments,
)
from newscrawl.css.selectors.style_tree import ascii_lower
from newscrawl.css.syntax.masking import unescape

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

    from newscrawl.css.selectors.compiled_selectors import Test
    from newscrawl.css.selectors.style_tree import StyleTree

__all__ = ["Selector", "SelectorError", "compile_list", "compile_selector"]

MAX_SELECTOR_LENGTH = 10_000
"""Maximum length of a selector."""


class _InvalidError(ValueError):
    """The selector is invalid."""


@lru_cache(maxsize=4096)
def compile_selector(text: str, *, quirks: bool = False) -> Selector | SelectorError:
    """Compile the complex selector *text*; *quirks* for pages in quirks mode."""
    if len(text) > MAX_SELECTOR_LENGTH:
        return SelectorError(text, "too long")
    try:
        return compile_plain(text, quirks=quirks) or (
            _SelectorParser(without_comments(text), quirks=quirks).selector()
        )
    except _InvalidError as error:
        return SelectorError(text, str(error))


def compile_list(
    texts: Sequence[str], *, quirks: bool = False
) -> tuple[Selector, ...] | SelectorError:
    """Compile the selectors of a rule; an error in one makes the whole rule invalid."""
    selectors = []
    for text in texts:
        selector = compile_selector(text, quirks=quirks)
        if isinstance(selector, SelectorError):
            return selector
        selectors.append(selector)
    return tuple(selectors)


def all_valid(rule: str, *, quirks: bool = False) -> bool:
    """Return whether the selectors of a rule, joined, are valid complex selectors."""
    return VALID_LIST.fullmatch(rule) is not None or all(
        VALID_SELECTOR.fullmatch(text) is not None
        or not isinstance(compile_selector(text, quirks=quirks), SelectorError)
        for text in rule.split(SELECTOR_SEPARATOR)
    )


class _Compound:
    """Builder of a compound selector."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.tests: list[Test] = []
        #: required names of its ancestors
        self.ancestors: frozenset[str] = frozenset()
        self.per_element = self.never_matches = False
        #: name without colons, "" if there is none
        self.pseudo_element = ""

    def add(self, test: Test, *, per_element: bool) -> None:
        self.tests.append(test)
        self.per_element |= per_element

    def add_all(self, selector: Selector) -> None:
        """Add the only alternative of an ``:is()``."""
        subject = selector.compounds[0]
        self.names |= subject.names
        self.ancestors |= selector.ancestors
        self.per_element |= selector.per_element
        self.tests.extend(subject.tests if len(selector.compounds) == 1 else (Is((selector,)),))


class _SelectorParser:
    """Parser of a text that is one complex selector."""

    def __init__(self, text: str, *, quirks: bool, nesting: int = 0, in_has: bool = False) -> None:
        self._text = text.strip(" \t\r\n\f")
        self._quirks = quirks
        self._nesting = nesting
        self._in_has = in_has
        self._position = 0
        self._specificity = [0, 0, 0]

    def selector(self, *, relative: bool = False) -> Selector:
        """Return the selector; a *relative* one starts with a combinator to the anchor."""
        compounds: list[tuple[_Compound, str]] = []
        if relative:
            anchor = _Compound()
            anchor.add(is_anchor, per_element=True)
            compounds.append((anchor, self._combinator() or DESCENDANT))
        while True:
            compound = self._compound()
            if self._position == len(self._text):
                compounds.append((compound, ""))
                return self._finished(compounds)
            combinator = self._combinator()
            if not combinator or compound.pseudo_element:
                rest = self._text[self._position :][:1]  # empty after a combinator at the end
                raise _InvalidError(f"unexpected {rest!r} at {self._position}")
            compounds.append((compound, combinator))

    def _finished(self, parts: list[tuple[_Compound, str]]) -> Selector:
        ancestors: set[str] = set()
        for part, combinator in parts:
            ancestors |= part.ancestors
            if combinator in {" ", ">"}:
                ancestors |= part.names
        return Selector(
            text=self._text,
            specificity=(self._specificity[0], self._specificity[1], self._specificity[2]),
            compounds=tuple(
                Compound(combinator, frozenset(part.names), tuple(part.tests))
                for part, combinator in reversed(parts)
            ),
            ancestors=frozenset(ancestors),
            per_element=any(part.per_element or link in {"+", "~"} for part, link in parts),
            never_matches=any(part.never_matches for part, _ in parts),
        )

    def _combinator(self) -> str:
        match = COMBINATOR.match(self._text, self._position)
        if match is None:
            return ""
        self._position = match.end()
        return match[1] or DESCENDANT

    def _compound(self) -> _Compound:
        compound, start = _Compound(), self._position
        if match := TYPE_SELECTOR.match(self._text, self._position):
            self._position = match.end()
            self._add_type(compound, match)
        while match := SUBCLASS_SELECTOR.match(self._text, self._position):
            self._position = match.end()
            self._add_piece(compound, match)
        if self._position == start:
            raise _InvalidError(f"no compound selector at {start}")
        return compound

    def _add_type(self, compound: _Compound, match: re.Match[str]) -> None:
        if match["prefix"] not in {None, "*"}:
            raise _InvalidError(f"unknown namespace {match['prefix']}")
        if match["prefix"] is None and match[0].startswith("|"):
            compound.never_matches = True  # all HTML elements have a namespace
        if match["tag"] != "*":
            compound.names.add(ascii_lower(unescape(match["tag"])))
            self._specificity[2] += 1

    def _add_piece(self, compound: _Compound, match: re.Match[str]) -> None:
        if match["pseudo"]:
            self._add_pseudo(compound, match["pseudo"], call=bool(match["call"]))
        elif compound.pseudo_element:
            raise _InvalidError(f"{match[0]} after a pseudo-element")
        elif match["class"]:
            compound.names.add(f".{self._folded(match['class'])}")
            self._specificity[1] += 1
        elif match["id"]:
            compound.names.add(f"#{self._folded(match['id'])}")
            self._specificity[0] += 1
        elif match["attribute"]:
            self._add_attribute(compound, match)
        else:
            compound.names.add(":root")  # "&" outside of a style rule

    def _folded(self, name: str) -> str:
        name = unescape(name)
        return ascii_lower(name) if self._quirks else name

    def _add_attribute(self, compound: _Compound, match: re.Match[str]) -> None:
        if match["prefix"] not in {None, "*|", "|"}:
            raise _InvalidError(f"unknown namespace {match['prefix']}")
        name = ascii_lower(unescape(match["attribute"]))
        compound.names.add(f"[{name}")
        self._specificity[1] += 1
        if operator := match["operator"]:
            ignore_case = bool(match["flag"]) or name in IGNORE_CASE
            expected = unescape(match["word"] or match["string"][1:-1])
            expected = ascii_lower(expected) if ignore_case else expected
            test = Attribute(name, operator, expected, ignore_case)
            compound.add(test, per_element=name not in SIGNATURE_VALUES)

    def _add_pseudo(self, compound: _Compound, name: str, *, call: bool) -> None:
        name = ascii_lower(unescape(name))
        if name.startswith(":") or (name in LEGACY_PSEUDO_ELEMENTS and not call):
            self._add_pseudo_element(compound, name.lstrip(":"), call=call)
        elif compound.pseudo_element and not may_follow(name, compound.pseudo_element):
            raise _InvalidError(f"{name} after ::{compound.pseudo_element}")
        elif call:
            self._add_function(compound, name, self._arguments())
        elif name in {"root", "scope"}:
            compound.names.add(":root")
            self._specificity[1] += 1
        elif name in NEVER_MATCHING:
            compound.never_matches = True
            self._specificity[1] += 1
        elif test := SHARED_TESTS.get(name) or PER_ELEMENT_TESTS.get(name):
            compound.add(test, per_element=name in PER_ELEMENT_TESTS)
            self._specificity[1] += 1
        else:
            raise _InvalidError(f"unknown pseudo-class {name}")

    def _add_pseudo_element(self, compound: _Compound, name: str, *, call: bool) -> None:
        known = name in (PSEUDO_ELEMENT_FUNCTIONS if call else PSEUDO_ELEMENTS)
        if not known and not name.startswith("-webkit-"):
            raise _InvalidError(f"unknown pseudo-element {name}")
        if self._nesting:
            raise _InvalidError(f"pseudo-element {name} in a function")
        if call:
            self._arguments()
        compound.never_matches, compound.pseudo_element = True, name
        self._specificity[2] += 1

    def _add_function(self, compound: _Compound, name: str, arguments: list[str]) -> None:
        if name in {"is", "where"}:
            self._add_is(compound, self._forgiving(arguments), specific=name == "is")
        elif name == "-webkit-any":
            self._add_is(compound, self._strict(arguments), specific=True)
        elif name == "not":
            self._add_not(compound, arguments)
        elif name == "has":
            self._add_has(compound, arguments)
        elif name in _NTH:
            self._add_nth(compound, name, arguments)
        else:
            self._specificity[1] += 1
            if name == "lang":
                compound.add(IsLanguage(_word(",".join(arguments))), per_element=True)
            elif name == "dir":
                compound.add(IsDirection(_word(arguments[0])), per_element=True)
            elif name in NEVER_MATCHING_FUNCTIONS:
                compound.never_matches = True
            else:
                raise _InvalidError(f"unknown pseudo-class {name}()")

    def _add_is(
        self, compound: _Compound, selectors: Sequence[Selector], *, specific: bool
    ) -> None:
        if specific:
            self._add_highest_specificity(selectors)
        possible = tuple(selector for selector in selectors if not selector.never_matches)
        if len(possible) == 1:
            compound.add_all(possible[0])
        elif possible:
            compound.add(
                Is(possible), per_element=any(selector.per_element for selector in possible)
            )
        else:
            compound.never_matches = True

    def _add_not(self, compound: _Compound, arguments: list[str]) -> None:
        selectors = self._strict(arguments)
        self._add_highest_specificity(selectors)
        if possible := tuple(selector for selector in selectors if not selector.never_matches):
            compound.add(
                Not(possible), per_element=any(selector.per_element for selector in possible)
            )

    def _add_has(self, compound: _Compound, arguments: list[str]) -> None:
        if self._in_has:
            raise _InvalidError(":has() in :has()")
        self._in_has = True
        selectors = self._strict(arguments, relative=True)
        self._in_has = False
        self._add_highest_specificity(selectors)
        possible = tuple(selector for selector in selectors if not selector.never_matches)
        if possible:
            compound.add(Has(possible), per_element=True)
        else:
            compound.never_matches = True

    def _add_nth(self, compound: _Compound, name: str, arguments: list[str]) -> None:
        parsed = parse_an_plus_b(",".join(arguments))
        if parsed is None:
            raise _InvalidError(f"{name}({','.join(arguments)})")
        indexes, of = parsed
        self._specificity[1] += 1
        siblings, from_end = _NTH[name]
        if of is not None:
            if siblings is siblings_of_type:
                raise _InvalidError(f"{name}() with of")
            selectors = self._strict(split_arguments(of))
            self._add_highest_specificity(selectors)
            siblings = SiblingsOf(selectors)
        compound.add(Nth(indexes, siblings, from_end), per_element=True)

    def _arguments(self) -> list[str]:
        """Consume and return the arguments of a function."""
        end = end_of_arguments(self._text, self._position)
        if end < 0:
            raise _InvalidError("unclosed function")
        arguments = split_arguments(self._text[self._position : end])
        self._position = end + 1
        return arguments

    def _parsed(self, text: str, *, relative: bool = False) -> Selector:
        if self._nesting == MAX_NESTING:
            raise _InvalidError("functions nested too deeply")
        parser = _SelectorParser(
            text, quirks=self._quirks, nesting=self._nesting + 1, in_has=self._in_has
        )
        return parser.selector(relative=relative)

    def _strict(self, arguments: list[str], *, relative: bool = False) -> tuple[Selector, ...]:
        return tuple([self._parsed(text, relative=relative) for text in arguments])

    def _forgiving(self, arguments: list[str]) -> list[Selector]:
        """Return the valid selectors of a forgiving list."""
        selectors = []
        for text in arguments:
            with suppress(_InvalidError):
                selectors.append(self._parsed(text))
        return selectors

    def _add_highest_specificity(self, selectors: Sequence[Selector]) -> None:
        highest = max((selector.specificity for selector in selectors), default=(0, 0, 0))
        self._specificity = [a + b for a, b in zip(self._specificity, highest, strict=True)]


_NTH: dict[str, tuple[Callable[[StyleTree, int], list[int]], bool]] = {
    "nth-child": (all_siblings, False),
    "nth-last-child": (all_siblings, True),
    "nth-of-type": (siblings_of_type, False),
    "nth-last-of-type": (siblings_of_type, True),
}


def _word(text: str) -> str:
    """Return the identifier *text* in lower case."""
    match = WORD.fullmatch(text)
    if match is None:
        raise _InvalidError(f"not an identifier: {text}")
    return ascii_lower(unescape(match[1]))
