"""Boilerplate inside the body: captions, boxes, navigation, bylines, date lines and link blocks.

NCE tests the link density of the children of the separator node only, so these remain inside of
them. The rules use the meaning of elements in HTML, and apply NCE's test to every block.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from newscrawl.body.block_features import SENTENCE, ending
from newscrawl.body.notices import address, host, leads_to_site
from newscrawl.body.parts import CAPTION_TAGS, elements_in, is_embed
from newscrawl.document.document import rows_between
from newscrawl.text import letter_overlap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
_LIST_TAGS = frozenset({"dl", "li", "ol", "ul"})
# Classes of frameworks for text that only screen readers read, and of explanations of words.
_LABEL_NAME = re.compile(
    r"(?:^|[\s_-])(?:sr-?only|visually-?hidden|screen-?reader(?:s|-text|-only)?|a11y-hidden|show-for-sr"
    r"|offscreen|tool-?tip(?:-?text|-?content)?|(?:glossary|tooltip|dfn)-(?:info|definition|content|popup))(?:$|[\s_-])",
    re.IGNORECASE,
)
_HEADING_TAGS = frozenset({"h2", "h3", "h4", "header"})
_FLOW_TAGS = frozenset({"blockquote", "dd", "li", "p", "td"})
_LINK_DENSITY_THRESHOLD = 0.7
_SELECTED_LINK_DENSITY_THRESHOLD = 0.9  # blocks selected one by one are rarely link blocks
_MIN_LINKED_PARAGRAPH = 120  # of a selected block that is wholly a link
_MIN_STANDFIRST, _MIN_TITLE_OVERLAP = 80, 0.1  # before the title
_QUOTES = " .\"'«»‘’‚“”„"
# A year and another number, which a sentence with a year has seldom.
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d\D++\d|\d\D++(?:19|20)\d\d(?!\d)")
_MAX_DATE_LINE = 80  # longer text around a time element is a sentence
_MAX_DATE_SENTENCE = 30
_MAX_BYLINE = 60  # longer text between title and date is a standfirst
_MAX_SHARE_BEFORE_TITLE = 0.5  # a title after most of the text is that of a teaser or an image


def boilerplate(
    document: Document,
    roots: Sequence[int],
    title: int | None,
    *,
    captions: bool = False,
    selected: bool = False,
    url: str | None = None,
) -> frozenset[int]:
    """Return the rows of boilerplate in the subtrees of *roots*.

    It comprises figures without code and captions (unless *captions*), asides, navigation and
    footers; blocks of links; date lines; text before the row *title* and between it and the date
    line, unless most of the text precedes it. If the blocks were *selected* one by one, lists of
    links stay, and headings whose link does not lead to another page of the site of *url*.
    """
    aside = _ASIDE_TAGS - CAPTION_TAGS if captions else _ASIDE_TAGS
    blocks = _BLOCK_TAGS - _LIST_TAGS if selected else _BLOCK_TAGS
    special = aside | {"time"}
    threshold = _SELECTED_LINK_DENSITY_THRESHOLD if selected else _LINK_DENSITY_THRESHOLD
    ends, links = document.end, document.link_chars_before
    classes, roles = document.attributes["class"], document.attributes["role"]
    found = [
        (row, tag)
        for root in roots
        for row, tag in enumerate(document.tag[root : ends[root]], root)
        if tag in special
        or (tag in blocks and (links[row] != links[ends[row]] or row in roles))
        or (tag == "span" and (row in classes or row in roles))
    ]
    rows: set[int] = set()
    for row, tag in found:
        if tag == "time":
            line = _line(document, row)
            if document.tag[document.parent[line]] not in _FLOW_TAGS:
                rows.add(line)
        elif tag == "span":
            if _is_label(document, row):
                rows.add(row)
        elif tag == "figure" and _is_of_text(document, row):
            continue
        elif (tag in aside or _is_boilerplate_block(document, row, threshold)) and not (
            selected and _is_of_story(document, row, url)
        ):
            rows.add(row)
    if title is not None and _share_before(document, roots, title) <= _MAX_SHARE_BEFORE_TITLE:
        standfirst = _standfirst(document, roots, title) if selected else ()
        rows.update(row for row in _head(document, roots, title) if row not in standfirst)
    return frozenset(rows)


def _is_of_text(document: Document, row: int) -> bool:
    """Return whether a ``figure`` contains code, or a quote that is not repeated on the page."""
    quotes = elements_in(document, row, "blockquote")
    return bool(elements_in(document, row, "pre")) or (
        bool(quotes)
        and not any(is_embed(document, it) or _is_repeated(document, it) for it in quotes)
    )


def _is_repeated(document: Document, row: int) -> bool:
    """Return whether the longest text in *row* is a part of another text."""
    texts = (document.text[it] for it in document.text_nodes(row))
    longest = max(texts, key=len, default="").strip(_QUOTES)
    return sum(longest in document.text[it] for it in document.shown_rows) > 1


def _is_label(document: Document, row: int) -> bool:
    """Return whether a ``span`` has text for screen readers, or an explanation of a word."""
    if document.chars(row) == document.chars(document.parent[row]):
        return False
    name = document.attributes["class"].get(row)
    if document.attributes["role"].get(row) == "tooltip":
        return True
    return name is not None and _LABEL_NAME.search(name) is not None


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
    is_prose = ending(text) == SENTENCE and document.chars(row) >= _MIN_STANDFIRST
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


def _is_boilerplate_block(document: Document, row: int, link_density_threshold: float) -> bool:
    if document.link_density(row) > link_density_threshold:
        return True
    role = document.attributes["role"].get(row)
    return role is not None and role.lower() in _ASIDE_ROLES


def _is_of_story(document: Document, row: int, url: str | None) -> bool:
    """Return whether a link is a sentence, or a heading that leads to no other page of *url*'s site."""
    if document.tag[row] == "p":
        return _is_sentence(document, row)
    texts = document.text_nodes(row) if document.tag[row] in _HEADING_TAGS else ()
    link = address(document, texts[0]) if texts else None
    if not link:
        return False
    is_place = "#" in link and link.partition("#")[0] == (url or "").partition("#")[0]
    return is_place or not leads_to_site(link, host(url))


def _is_sentence(document: Document, row: int) -> bool:
    """Return whether a paragraph is long and ends like a sentence, among others that are no links."""
    is_long = document.chars(row) >= _MIN_LINKED_PARAGRAPH
    is_among_prose = document.link_density(document.parent[row]) <= _LINK_DENSITY_THRESHOLD
    return is_long and is_among_prose and ending(document.subtree_text(row)) == SENTENCE


def _is_date_line(text: str) -> bool:
    """Return whether *text* has a date and is no sentence, such as the first of a story."""
    size = len(text)
    is_date = size <= _MAX_DATE_LINE and _DATE.search(text) is not None
    return is_date and (size <= _MAX_DATE_SENTENCE or not ending(text))


def _line(document: Document, row: int) -> int:
    """Return the highest ancestor of *row* with at most the text of a date line."""
    parent = document.parent[row]
    while parent > 0 and document.chars(parent) <= _MAX_DATE_LINE:
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
