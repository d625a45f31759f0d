"""Measures of texts for the page kind classifier."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.document.repeats import prose
from newscrawl.text import places_of, weighted_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.document.document import Document

# Weighted characters: a shorter block is a caption or a teaser, a longer one is a run of its own.
_BLOCK = 80
_LONG_BLOCK = 400
INLINE = frozenset(
    {"a", "abbr", "b", "cite", "em", "font", "i", "mark", "q", "small", "span", "strong", "sub",
     "sup", "u"}
)  # fmt: skip
# Weighted characters.
_MIN_PARAGRAPH = 80
_MIN_HEADLINE = 25
# Link density of a block with little text apart from a link, for example a date.
_MIN_LINK_DENSITY = 0.6
_SENTENCE_ENDS = frozenset(
    ".!?\u2026\u3002\uff01\uff1f\u0964\u061f\u06d4\"'\u201d\u201c\u2019\u00bb\u300d)"
)
_DATE = re.compile(
    r"\d(?:(?:(?<=(?<!\d)1)9|(?<=(?<!\d)2)0)\d\d(?!\d)|(?<=\b\d)\d?[./-]\d{1,2}[./-]\d\d\b"
    r"|(?<=[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f])[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]{3})"
)
_COPYRIGHT = re.compile(r"©|copyright|\(c\)", re.IGNORECASE)
_PRICE = re.compile(r"[$\u00a3\u00a5\u20a0-\u20cf](?:\s?\d|(?<=\d.)|(?<=\d\s.))")


class TextMeasures(NamedTuple):
    """Visible text nodes by length, inside and outside of links."""

    #: rows of headline links: long link texts with little other text in their block
    headlines: list[int]
    #: weighted characters of the headline links
    headline_chars: float
    #: number of headline links followed by a plain text
    teasers: int
    #: number and weighted characters of the paragraphs
    paragraphs: int
    paragraph_chars: float
    #: number of plain texts that end like a sentence
    sentences: int


def _is_mostly_link(document: Document, row: int) -> bool:
    """Return whether the block of the text node *row* has little text outside of links."""
    tag, parent = document.tag, document.parent
    block = parent[row]
    while tag[block] in INLINE and parent[block] >= 0:
        block = parent[block]
    return document.link_density(block) >= _MIN_LINK_DENSITY


def measure_texts(document: Document) -> TextMeasures:
    """Return measures of the visible text nodes."""
    before, linked = document.chars_before, document.link_chars_before
    headlines: list[int] = []
    headline_chars, teasers, paragraphs, paragraph_chars = 0.0, 0, 0, 0.0
    after_headline = False
    sentences, text = 0, document.text
    for row in document.shown_rows:
        size = before[row + 1] - before[row]
        if size < _MIN_HEADLINE:
            continue
        if linked[row + 1] > linked[row]:
            if _is_mostly_link(document, row):
                headlines.append(row)
                headline_chars += size
                after_headline = True
            continue
        teasers += after_headline
        after_headline = False
        sentences += text[row][-1] in _SENTENCE_ENDS
        if size >= _MIN_PARAGRAPH:
            paragraphs += 1
            paragraph_chars += size
    return TextMeasures(headlines, headline_chars, teasers, paragraphs, paragraph_chars, sentences)


def count_sentences(lines: Iterable[str]) -> int:
    """Return the number of *lines* that are paragraphs and end like a sentence."""
    return sum(
        line[-1] in _SENTENCE_ENDS and weighted_length(line) >= _MIN_PARAGRAPH for line in lines
    )


def longest_runs(document: Document) -> tuple[float, float]:
    """Return the weighted characters of the two longest runs of text outside of links."""
    runs: dict[int, float] = defaultdict(float)
    for block, chars in block_chars(document).items():
        if chars >= _BLOCK:
            separate = chars >= _LONG_BLOCK and document.tag[block] != "p"
            runs[block if separate else document.parent[block]] += chars
    longest, second = sorted([0.0, 0.0, *runs.values()])[:-3:-1]
    return longest, second


def block_chars(document: Document) -> dict[int, float]:
    """Return block row -> weighted characters outside of links."""
    tag, parent = document.tag, document.parent
    chars, link_chars = document.chars_before, document.link_chars_before
    blocks: dict[int, float] = defaultdict(float)
    for row in document.text_nodes():
        if link_chars[row] == link_chars[row + 1]:
            block = parent[row]
            while tag[block] in INLINE and parent[block] >= 0:
                block = parent[block]
            blocks[block] += chars[row + 1] - chars[row]
    return blocks


def dates_and_prices(rows: list[int], texts: list[str]) -> tuple[list[int], int]:
    """Return those of *rows* whose texts have a date, and the number of those with a price."""
    numbers = "\0".join([texts[row] for row in rows])
    dates = [rows[place] for place in places_of(_DATE, numbers)]
    dates = [row for row in dates if not _COPYRIGHT.search(texts[row])]
    return dates, len(places_of(_PRICE, numbers))


class ForestMeasures(NamedTuple):
    """Measures of the body; characters are weighted."""

    #: number of texts
    texts: int
    chars: float
    #: characters of the longest text
    longest: float
    #: characters outside of links
    own: float
    #: characters of the largest group of trees with the same parent
    largest_group: float


def measure_forest(document: Document, forest: Sequence[int]) -> ForestMeasures:
    """Return measures of the body, the trees in *forest*."""
    end, before = document.end, document.chars_before
    sizes = [before[row + 1] - before[row] for root in forest for row in document.text_nodes(root)]
    own = sum(prose(document, root, end[root]) for root in forest)
    group, longest = _largest_group(document, forest), max(sizes, default=0.0)
    return ForestMeasures(len(sizes), sum(sizes), longest, own, group)


def _largest_group(document: Document, forest: Iterable[int]) -> float:
    """Return the weighted characters of the largest group of trees with the same parent."""
    groups: dict[int, float] = {}
    for root in forest:
        parent = document.parent[root]
        groups[parent] = groups.get(parent, 0.0) + document.chars(root)
    return max(groups.values())
