"""What classes and ids say of a block, as far as it helps on sites that were never seen."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
        self._tags: dict[int, frozenset[str]] = {-1: frozenset()}

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
        """Return the flags of *row* and of all its ancestors."""
        path = self._unknown(row, self._inherited)
        bits = self._inherited[self._document.parent[path[-1]] if path else row]
        for inner in reversed(path):
            bits |= self.flags(inner)
            self._inherited[inner] = bits
        return bits

    def within(self, row: int, tag: str) -> bool:
        """Return whether *row* or an ancestor of it is a *tag*."""
        path = self._unknown(row, self._tags)
        tags = self._tags[self._document.parent[path[-1]] if path else row]
        for inner in reversed(path):
            if self._document.tag[inner] not in tags:
                tags |= {self._document.tag[inner]}
            self._tags[inner] = tags
        return tag in tags

    def inline_flags(self, rows: Iterable[int], owner: int) -> int:
        """Return the flags of the elements between *owner* and its text nodes *rows*."""
        bits = 0
        for row in rows:
            above = self._document.parent[row]
            while above != owner:
                bits |= self.flags(above)
                above = self._document.parent[above]
        return bits

    def _unknown(self, row: int, known: Mapping[int, object]) -> list[int]:
        path = []
        while row not in known:
            path.append(row)
            row = self._document.parent[row]
        return path
