"""Boilerplate inside the body: captions, boxes, navigation, bylines, date lines and link blocks.

NCE tests the link density of the children of the separator node only, so these remain inside of
them. The rules use the meaning of elements in HTML, and apply NCE's test to every block.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from newscrawl.body.blocks import MIN_LONG
from newscrawl.body.parts import CAPTION_TAGS, elements_in
from newscrawl.body.text_features import SENTENCE, ending
from newscrawl.document.document import rows_between
from newscrawl.document.rows import HEADINGS
from newscrawl.text import letter_overlap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.document.document import Document

# https://html.spec.whatwg.org/multipage/sections.html: not part of the main content.
_ASIDE_TAGS = frozenset({"aside", "figcaption", "figure", "footer", "nav"})
# https://www.w3.org/TR/wai-aria-1.2/#role_definitions: the equivalent roles.
_ASIDE_ROLES = frozenset(
    {"alertdialog", "banner", "complementary", "contentinfo", "dialog", "navigation", "search"}
)
_BLOCK_TAGS = frozenset(
    "div dl h2 h3 h4 header li ol p section table ul".split()  # noqa: SIM905  # a list of words
)
# Classes of frameworks for text that only screen readers read.
_SPOKEN_NAME = re.compile(
    r"(?:^|[\s_-])(?:sr-?only|visually-?hidden|screen-?reader(?:s|-text|-only)?|a11y-hidden"
    r"|show-for-sr|offscreen)(?:$|[\s_-])",
    re.IGNORECASE,
)
_LABEL_TAGS, _CONTROL_TAGS = HEADINGS | {"span"}, frozenset({"a", "button"})
_FLOW_TAGS = frozenset({"blockquote", "dd", "li", "p", "td"})
_LINK_DENSITY_THRESHOLD = 0.7
_MIN_TITLE_OVERLAP = 0.1  # of a standfirst before the title
# A year and another number, which a sentence with a year has seldom.
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d\D++\d|\d\D++(?:19|20)\d\d(?!\d)")
_MAX_DATE_SENTENCE = 30
_MAX_BYLINE = 60  # longer text between title and date is a standfirst


def boilerplate(
    document: Document,
    roots: Sequence[int],
    title: int | None,
    *,
    captions: bool = False,
    selected: bool = False,
) -> frozenset[int]:
    """Return the rows of boilerplate in the subtrees of *roots*.

    It comprises text for screen readers, and controls in headings; text before the row *title* and
    between it and the date line, unless most of the text precedes it. Unless the blocks were
    *selected* one by one, it also comprises figures without code and captions (unless *captions*),
    asides, navigation and footers; blocks of links; date lines.
    """
    classes = document.attributes["class"]
    rows: set[int] = set()
    for root in roots:
        for row, tag in enumerate(document.tag[root : document.end[root]], root):
            if (tag in _CONTROL_TAGS and _is_control(document, row)) or (
                tag in _LABEL_TAGS and row in classes and _SPOKEN_NAME.search(classes[row])
            ):
                rows.add(row)
    if not selected:
        rows.update(_regions(document, roots, captions=captions))
    # A title after most of the text is that of a teaser or an image.
    if title is not None and 2 * _share_before(document, roots, title) <= 1:
        standfirst = _standfirst(document, roots, title) if selected else ()
        rows.update(row for row in _head(document, roots, title) if row not in standfirst)
    return frozenset(rows)


def _regions(document: Document, roots: Sequence[int], *, captions: bool) -> Iterator[int]:
    """Yield the rows of asides, blocks of links and date lines."""
    aside = _ASIDE_TAGS - CAPTION_TAGS if captions else _ASIDE_TAGS
    roles = document.attributes["role"]
    for root in roots:
        for row, tag in enumerate(document.tag[root : document.end[root]], root):
            if tag == "time":
                line = _line(document, row)
                if document.tag[document.parent[line]] not in _FLOW_TAGS:
                    yield line
            elif tag == "figure" and elements_in(document, row, "pre"):
                continue
            elif tag in aside or (
                tag in _BLOCK_TAGS
                and (
                    document.link_density(row) > _LINK_DENSITY_THRESHOLD
                    or roles.get(row, "").lower() in _ASIDE_ROLES
                )
            ):
                yield row


def _is_control(document: Document, row: int) -> bool:
    """Return whether an element next to the words of a heading copies or is a link to it."""
    chars, heading = document.chars(row), document.parent[row]
    return (
        document.tag[heading] in HEADINGS
        and 0 < chars < document.chars(heading)
        and (document.tag[row] == "button" or not any(map(str.isalnum, document.subtree_text(row))))
    )


def _share_before(document: Document, roots: Sequence[int], title: int) -> float:
    if not roots or title <= roots[0]:
        return 0.0
    before, ends = document.chars_before, document.end
    whole = earlier = 0.0
    for root in roots:
        whole += before[ends[root]] - before[root]
        earlier += before[max(root, min(title, ends[root]))] - before[root]
    return earlier / (whole or 1)


def _standfirst(document: Document, roots: Iterable[int], title: int) -> range:
    """Return the rows of the last block before the row *title* if it has words of the title."""
    root = max((root for root in roots if root < title), default=0)
    texts = rows_between(document.shown_rows, root, min(document.end[root], title))
    row = texts[-1] if root and texts else 0
    while row > root and document.end[document.parent[row]] <= title:
        row = document.parent[row]
    text = document.subtree_text(row) if row else ""
    is_prose = ending(text) == SENTENCE and document.chars(row) >= MIN_LONG
    if not is_prose or letter_overlap(document.subtree_text(title), text) < _MIN_TITLE_OVERLAP:
        return range(0)
    return range(row, document.end[row])


def _head(document: Document, roots: Iterable[int], title: int) -> list[int]:
    """Return the rows in *roots* that end before *title*, or between it and the date line."""
    ends, last = document.end, _end_of_head(document, roots, title)
    return [
        row
        for root in roots
        for row in range(root, min(ends[root], last))
        if ends[row] <= title or title < row < ends[row] <= last
    ]


def _is_date_line(text: str) -> bool:
    """Return whether *text* has a date and is no sentence, such as the first of a story."""
    size = len(text)
    is_date = size <= MIN_LONG and _DATE.search(text) is not None
    return is_date and (size <= _MAX_DATE_SENTENCE or not ending(text))


def _line(document: Document, row: int) -> int:
    """Return the highest ancestor of *row* with at most the text of a date line."""
    parent = document.parent[row]
    while parent > 0 and document.chars(parent) <= MIN_LONG:
        row, parent = parent, document.parent[parent]
    return row


def _end_of_head(document: Document, roots: Iterable[int], title: int) -> int:
    """Return the row after the date line that follows *title*, or after *title* itself."""
    before, after = document.chars_before, document.end[title]
    for row in chain.from_iterable(range(root, document.end[root]) for root in roots):
        if row >= after:
            if before[row] - before[after] > _MAX_BYLINE:
                break
            if document.tag[row] == "time" or _is_date_line(document.text[row]):
                return document.end[_line(document, row)]
    return after
