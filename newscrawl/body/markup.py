"""What classes and ids say of a block, as far as it helps on sites that were never seen."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from newscrawl.document import Document

WORDS: Mapping[str, str] = {
    "caption": r"caption|credit|legend|photo|image|media|gallery|figure|video|player|slide|swiper",
    "related": r"relat|recommend|read-?(?:more|next|also)|more-|teaser|promo|popular|trending|also"
    r"|outbrain|taboola|most-|latest|card|carousel|river|feed",
    "newsletter": r"newsletter|subscri|sign-?up|donat|support|contribut(?!or)|paywall|piano|member"
    r"|campaign|cta\b|abo\b",
    "author": r"author|byline|\bbio\b|profile|contributor|writer|avatar|reporter",
    "meta": r"meta|date|time|tags?\b|topic|categor|breadcrumb|kicker|label|publish|info",
    "summary": r"summary|standfirst|lead|dek\b|intro|excerpt|teaser-?text|subtitle|subhead"
    r"|sub-?headline|descri|chapo|vorspann|abstract",
}
"""What the flags look for, mostly in English, in which markup is written the world over."""

_ANY = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in WORDS.items()))
FLAGS: Mapping[str, int] = {name: 1 << place for place, name in enumerate(WORDS)}
"""The bit of each flag."""

WITHIN: Mapping[str, int] = {
    tag: 1 << place for place, tag in enumerate(("article", "li", "section"), len(FLAGS))
}
"""The bits of tags that it matters to stand in, beside those of the flags."""

_LONGEST = 300
_WHOLE = frozenset({"body", "html"})


@lru_cache(maxsize=8192)  # pages of a site share their names
def _flags_of(names: str) -> int:
    found = {match.lastgroup for match in _ANY.finditer(names[:_LONGEST].lower())}
    return sum(bit for name, bit in FLAGS.items() if name in found)


class Markup:
    """Flags of the rows of a document, each looked for once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._classes, self._ids = document.attributes["class"], document.attributes["id"]
        self._own: dict[int, int] = {}
        self._inherited: dict[int, int] = {-1: 0}

    def flags(self, row: int) -> int:
        """Return the flags of the element *row*, as bits of :data:`FLAGS`."""
        if (found := self._own.get(row)) is not None:
            return found
        bits = 0
        if self._document.tag[row] not in _WHOLE:
            names = f"{self._classes.get(row, '')} {self._ids.get(row, '')}"
            if len(names) > 1:
                bits = _flags_of(names)
        self._own[row] = bits
        return bits

    def inherited(self, row: int) -> int:
        """Return the flags of *row* and of all its ancestors, and the bits of :data:`WITHIN`."""
        parent, tag, known = self._document.parent, self._document.tag, self._inherited
        path = []
        while row not in known:
            path.append(row)
            row = parent[row]
        bits = known[row]
        for inner in reversed(path):
            bits |= self.flags(inner) | WITHIN.get(tag[inner], 0)
            known[inner] = bits
        return bits
