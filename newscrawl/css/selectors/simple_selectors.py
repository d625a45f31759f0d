"""The compiler's short cut: selectors made of names and combinators, nine in ten of any sheet."""

from __future__ import annotations

import re

from newscrawl.css.selectors.compiled_selectors import (
    CHILD,
    DESCENDANT,
    LATER,
    NEXT,
    Compound,
    Selector,
)
from newscrawl.css.selectors.element_tree import ascii_lower

_IDENT = r"-?+[a-zA-Z_][-a-zA-Z0-9_]*+"
_COMPOUND = rf"(?:(?:{_IDENT}|\*)(?:[.#]{_IDENT})*+|(?:[.#]{_IDENT})++)"
_SIMPLE = re.compile(rf"\s*+{_COMPOUND}(?:(?:\s*+[>+~]\s*+|\s++){_COMPOUND})*+\s*+", re.ASCII)
_NAMES = re.compile(r"[.#]?[^.#*]+")
_SYMBOLS = re.compile(r"[>+~]")


def is_simple(text: str) -> bool:
    """Return whether *text* is a selector made of names and combinators."""
    return _SIMPLE.fullmatch(text) is not None


def compile_simple(text: str, *, quirks: bool) -> Selector | None:
    """Return the compiled selector; None where *text* needs the parser, or is no selector."""
    if not is_simple(text):
        return None
    compounds: list[Compound] = []
    ancestors: frozenset[str] = frozenset()
    combinator, fragile, tags = "", False, 0
    spaced = text if _SYMBOLS.search(text) is None else _SYMBOLS.sub(r" \g<0> ", text)
    for part in reversed(spaced.split()):
        if part in {CHILD, NEXT, LATER}:
            combinator = part
            continue
        if compounds:
            combinator = combinator or DESCENDANT
        names, tag = _names(part, quirks=quirks)
        tags += tag
        compounds.append(Compound(combinator, names, ()))
        if combinator in {DESCENDANT, CHILD}:
            ancestors |= names
        elif combinator:
            fragile = True
        combinator = ""
    specificity = (text.count("#"), text.count("."), tags)
    return Selector(text, specificity, tuple(compounds), ancestors, fragile=fragile, never=False)


def _names(compound: str, *, quirks: bool) -> tuple[frozenset[str], bool]:
    """Return the names in a compound selector, and whether a tag is among them."""
    has_tag = compound[0] not in ".#*"
    if quirks:
        compound = ascii_lower(compound)
    names: list[str] = _NAMES.findall(compound)
    if has_tag:
        names[0] = names[0].lower()
    return frozenset(names), has_tag
