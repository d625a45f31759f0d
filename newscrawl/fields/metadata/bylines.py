"""Author names in the visible bylines of a page: next to the title, by markup, link or wording."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.fields.metadata.author_names import BY, clean_names, is_by, is_joint, is_person

if TYPE_CHECKING:
    from collections.abc import Iterator

    from newscrawl.document.document import Document

# Text nodes that are searched before and after the start of the title.
_NODES_BEFORE = 15
_NODES_AFTER = 45
# Longer texts are paragraphs.
_MAX_TEXT = 120
# Characters of an element whose class applies to the names in it.
_MAX_ELEMENT = 250
_MAX_LEVELS = 4
# Text nodes between two names of one byline.
_MAX_GAP = 6
# In lower case: case-insensitive patterns are five times slower.
_AUTHOR = re.compile(r"by-?_?line|auth?or(?!i[tsz])|auteur|writer|vcard|contributor")
# Other parts of an author's box.
_OTHER_PART = re.compile(
    r"bio|desc|role|position|job|date|time|social|share|twitter|follow|caption|comment|related"
)
_AUTHOR_PAGE = re.compile(
    r"/(?:auth?or|auteur|writer|staff|contributor|journalist|reporter)[a-z]{0,3}(?:/|\.\w+\?|-)[^/?#]"
    r"|[?&]author="
)
# Pages of other people, too: the address must name the author.
_PERSON_PAGE = re.compile(r"/(?:by|profile|team|user|producer)s?/(.+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}")


class _Name(NamedTuple):
    #: position among the shown text nodes
    position: int
    #: ``byline``, ``link`` or ``class``
    source: str
    #: tag and class of the element
    markup: tuple[str, str]
    names: list[str]


def find_byline(document: Document, start: int) -> tuple[list[str], str] | None:
    """Return the names in the byline closest to the row *start* of the title, and their source.

    The source is ``byline`` (a text that begins with "by"), ``link`` (to the page of an author) or
    ``class`` (of the element).
    """
    found = list(_names(document, start))
    if not found:
        return None
    first = min(found, key=_is_weak)
    names: list[str] = []
    last = first.position
    for name in found[found.index(first) :]:
        if not 0 <= name.position - last <= _MAX_GAP:
            break
        if (name.source, name.markup) == (first.source, first.markup):
            names += name.names
            last = name.position
    return clean_names(names), first.source


def _is_weak(name: _Name) -> bool:
    """Return whether *name* may be a label: a single word, of a cased script, marked by a class."""
    only = name.names[0]
    return name.source == "class" and " " not in only and only.lower() != only.upper()


def _names(document: Document, start: int) -> Iterator[_Name]:
    """Yield the marked names around *start* in document order, those after the title first."""
    rows = document.shown_rows
    middle = bisect_left(rows, start)
    positions = [
        *range(middle, min(middle + _NODES_AFTER, len(rows))),
        *range(max(0, middle - _NODES_BEFORE), middle),
    ]
    after_by = after_name = False
    for position in positions:
        text = document.text[rows[position]]
        introduces = is_by(text) or (after_name and is_joint(text))
        name = None
        if not introduces and len(text) <= _MAX_TEXT:
            name = _name(document, position, after_by=after_by)
        if name is not None:
            yield name
        after_by, after_name = introduces, name is not None and name.source == "byline"


def _name(document: Document, position: int, *, after_by: bool) -> _Name | None:
    """Return the marked names in a text node; with *after_by*, the text before it is "By"."""
    row = document.shown_rows[position]
    text = document.text[row]
    source = "byline" if after_by or BY.match(text) else _source(document, row)
    if source is None or _is_caption(document, row):
        return None
    names = list(filter(is_person, clean_names([text])))
    if not names:
        return None
    parent = document.parent[row]
    markup = (document.tag[parent], document.attributes["class"].get(parent, ""))
    return _Name(position, source, markup, names)


def _is_caption(document: Document, row: int) -> bool:
    above = islice(document.ancestors(row), _MAX_LEVELS)
    return any(document.tag[ancestor] in {"figure", "figcaption"} for ancestor in above)


def _source(document: Document, row: int) -> str | None:
    classes, ids = document.attributes["class"], document.attributes["id"]
    addresses = document.attributes["href"]
    source = None
    for above in islice(document.ancestors(row), _MAX_LEVELS):
        chars = document.chars(above)
        if chars > _MAX_ELEMENT:
            break
        address = addresses.get(above) if document.tag[above] == "a" else None
        if address is not None and _is_author_page(address, document.text[row]):
            return "link"
        if source is None and (above in classes or above in ids):
            is_author, is_other = _role(classes.get(above, ""), ids.get(above, ""))
            if is_other and chars < _MAX_TEXT:
                return None
            source = "class" if is_author else None
    return source


@lru_cache(maxsize=1024)
def _role(classes: str, identifier: str) -> tuple[bool, bool]:
    """Return whether class and id name an author, and whether they name another part of a box."""
    mark = f"{classes} {identifier}".lower()
    return _AUTHOR.search(mark) is not None, _OTHER_PART.search(mark) is not None


def _is_author_page(address: str, text: str) -> bool:
    if _AUTHOR_PAGE.search(address.lower()):
        return True
    page = _PERSON_PAGE.search(address)
    return page is not None and any(word in page[1].lower() for word in _WORD.findall(text.lower()))
