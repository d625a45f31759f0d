"""Places on a page whose dates are not those of its story, and labels of dates."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from newscrawl.document.document import rows_between
from newscrawl.language_words import pattern

if TYPE_CHECKING:
    from newscrawl.document.document import Document

Label = Literal["published", "modified", "other", ""]
"""Meaning of the words before a date."""

Place = Literal["own", "story", "aside", "other"]
"""Place of a date."""

_TAGS = frozenset({"figcaption", "blockquote", "nav"})
_CLASSES = re.compile(
    r"(?<![a-z])(?:sidebar|comments?(?![a-z_-])|(?:wp|image|img|photo|picture|media|fig|figure)[-_]{0,2}caption|today(?![a-z]))"
)
_OWN_CLASSES = re.compile(r"byline|entry-meta|post-meta|article-meta|dateline|publish")
# Meaning -> list of words; of equal places, the first.
_LABELS: dict[Label, str] = {
    "published": "published",
    "other": "other_dates",
    "modified": "updated",
}
_MAX_LEVELS = 12
# Characters of an element with a link to another story, and of that link: after the start of the
# story, where names of authors are rare, and before it.
_MAX_ITEM = 400
_MIN_LINK, _MIN_LINK_BEFORE = 20, 28
_MAX_LINKS = 10
_MIN_LINK_SHARE = 0.7
_MIN_PARAGRAPH = 100
_MAX_LABEL = 30


class StoryPlaces(NamedTuple):
    """Places relative to the title of a story."""

    document: Document
    #: row of the title's element
    title_row: int | None
    #: text of the title, in lower case
    title: str
    #: row of the second paragraph after the title
    start: int

    @classmethod
    def of(cls, document: Document, title_row: int | None) -> StoryPlaces:
        """Return the places of the story with the title in *title_row*."""
        if title_row is None:
            return cls(document, None, "", len(document))
        rows, chars = document.shown_rows, document.chars_before
        after = rows[bisect_left(rows, document.end[title_row]) :]
        paragraphs = (it for it in after if chars[it + 1] - chars[it] >= _MIN_PARAGRAPH)
        start = next(islice(paragraphs, 1, None), len(document))  # after a standfirst
        return cls(document, title_row, document.shown_text(title_row).casefold(), start)

    def place_of(self, row: int) -> Place:
        """Return where *row* is.

        ``own`` is an item of a list with a link that has the title, ``other`` a caption, a
        quotation, or an item with a link to another story.
        """
        document, title = self.document, self.title_row
        classes, ids = document.attributes["class"], document.attributes["id"]
        place: Place = "story"
        for above in document.closest_ancestors(row, _MAX_LEVELS):
            if title is not None and above <= title < document.end[above]:
                break
            if document.tag[above] in _TAGS:
                return "other"
            if document.chars(above) <= _MAX_ITEM and (found := self._place_in_item(above, row)):
                return found
            if above in classes or above in ids:
                mark = _place_of_class(classes.get(above, ""), ids.get(above, ""))
                if mark == "other":
                    return mark
                place = mark if mark == "aside" else place
            if document.tag[above] == "aside":
                place = "aside"
        return place

    def _place_in_item(self, item: int, row: int) -> Literal["own", "other", ""]:
        """Return whether a link in *item* has the title, or else the length of another one."""
        document = self.document
        is_link = document.tag[item] == "a"
        links = [item] if is_link else rows_between(document.rows_of("a"), item, document.end[item])
        if not links:
            return ""
        is_after = row > self.start
        texts = [text for link in links[:_MAX_LINKS] for text in self._texts(link)]
        is_entry = document.tag[item] == "li"
        if self.title and is_entry and self.title in map(str.casefold, texts):
            return "own"
        own = document.text[row]
        linked, rest = document.link_chars(item), document.chars(item) - len(own)
        is_linked = is_after and not label_of(own) and linked >= _MIN_LINK_SHARE * rest
        if not (is_linked or is_link or is_entry):
            return ""
        min_length = 1 if is_linked and is_entry else _MIN_LINK if is_after else _MIN_LINK_BEFORE
        others = any(len(text) >= min_length for text in texts if text != own)
        return "other" if others or (own in texts and len(own) >= _MIN_LINK_BEFORE) else ""

    def _texts(self, link: int) -> list[str]:
        """Return the texts of *link*, except those in ``time`` elements."""
        document = self.document
        times = rows_between(document.rows_of("time"), link, document.end[link])
        dated = {it for time in times for it in document.text_nodes(time)}
        return [document.text[it] for it in document.text_nodes(link) if it not in dated]


@lru_cache(maxsize=1024)
def _place_of_class(classes: str, identifier: str) -> Place:
    mark = f"{classes} {identifier}".lower()
    found = _CLASSES.search(mark)
    if found is None or _OWN_CLASSES.search(mark):
        return "story"
    return "aside" if found[0] == "sidebar" else "other"


def label_of(before: str) -> Label:
    """Return the meaning of the text before a date, by its last words."""
    text = before[-_MAX_LABEL:].lower()
    last: Label = ""
    place = -1
    for label, words in _LABELS.items():
        for match in pattern(words).finditer(text):
            if match.start() > place:
                last, place = label, match.start()
    return last
