"""Fast path of the selector compiler: selectors of tags, ids, classes and combinators only."""

from __future__ import annotations

import re

from newscrawl.compiled import compiled
from newscrawl.css.selectors.compiled_selectors import CHILD, DESCENDANT, Compound, Selector
from newscrawl.css.selectors.selector_tokens import PLAIN_SELECTOR
from newscrawl.css.selectors.style_tree import ascii_lower

_TOKEN = re.compile(r"\s*+([>+~])\s*+|(\s++)|([.#]?)([-\w]++|\*)", re.ASCII)


@compiled(
    "newscrawl.css.selectors._plain_selectors",
    compound=Compound,
    selector=Selector,
    lower=ascii_lower,
)
def compile_plain(text: str, *, quirks: bool) -> Selector | None:
    """Return the compiled selector, None if *text* needs the parser."""
    if PLAIN_SELECTOR.fullmatch(text) is None:
        return None
    text = text.strip()
    compounds: list[Compound] = []
    counts = {"#": 0, ".": 0, "": 0}
    ancestors: set[str] = set()
    names: set[str] = set()
    per_element = False
    for found, space, kind, name in _TOKEN.findall(text):
        if name:
            if name != "*":
                counts[kind] += 1
                names.add(kind + (ascii_lower(name) if quirks or not kind else name))
            continue
        combinator = DESCENDANT if space else found
        compounds.append(Compound(combinator, frozenset(names), ()))
        if combinator in (DESCENDANT, CHILD):
            ancestors |= names
        else:
            per_element = True
        names.clear()
    compounds.append(Compound("", frozenset(names), ()))
    return Selector(
        text,
        specificity=(counts["#"], counts["."], counts[""]),
        compounds=tuple(reversed(compounds)),
        ancestors=frozenset(ancestors),
        per_element=per_element,
        never_matches=False,
    )
