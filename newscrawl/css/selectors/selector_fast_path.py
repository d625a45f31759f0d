"""Fast compilation of selectors that consist of names and combinators, as most do."""

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
from newscrawl.css.selectors.style_tree import ascii_lower

_IDENT = r"-?+[a-zA-Z_][-a-zA-Z0-9_]*+"
_COMPOUND = rf"(?:(?:{_IDENT}|\*)(?:[.#]{_IDENT})*+|(?:[.#]{_IDENT})++)"
_SIMPLE = re.compile(rf"\s*+{_COMPOUND}(?:(?:\s*+[>+~]\s*+|\s++){_COMPOUND})*+\s*+", re.ASCII)
_NAMES = re.compile(r"[.#]?[^.#*]+")
_SYMBOLS = re.compile(r"[>+~]")


def is_simple(text: str) -> bool:
    """Return whether *text* consists of names and combinators only."""
    return _SIMPLE.fullmatch(text) is not None


def compile_simple(text: str, *, quirks: bool) -> Selector | None:
    """Return the compiled selector, None if *text* needs the parser or is invalid."""
    if not is_simple(text):
        return None
    compounds: list[Compound] = []
    ancestors: frozenset[str] = frozenset()
    combinator, per_element, tags = "", False, 0
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
            per_element = True
        combinator = ""
    specificity = (text.count("#"), text.count("."), tags)
    return Selector(
        text, specificity, tuple(compounds), ancestors, per_element, never_matches=False
    )


def _names(compound: str, *, quirks: bool) -> tuple[frozenset[str], bool]:
    """Return the names in a compound selector, and whether one is a tag."""
    has_tag = compound[0] not in ".#*"
    if quirks:
        compound = ascii_lower(compound)
    names: list[str] = _NAMES.findall(compound)
    if has_tag:
        names[0] = names[0].lower()
    return frozenset(names), has_tag
