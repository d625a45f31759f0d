"""Features of a page for the page kind classifier, independent of language.

Page features need only the document, so that a page can be classified before extraction; the others
describe the extracted body, title and date, and the URL.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from math import log1p
from typing import TYPE_CHECKING, Final, NamedTuple

from newscrawl.document.document import rows_between
from newscrawl.document.repeats import prose
from newscrawl.fields.kind.link_classifier import url_points
from newscrawl.text import letter_overlap, places_of, weighted_length, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from newscrawl.document.document import Document
    from newscrawl.fields.titles.title import Headline
    from newscrawl.items import Evidence

UNKNOWN = -1.0
"""Value of unknown features."""
_NO_URL: Final = -9.0

_COUNTED_TAGS = (
    "p", "li", "img", "figure", "time", "article", "section", "form", "input", "button", "option",
    "table", "td", "br",
)  # fmt: skip

PAGE_FEATURES = (
    # text
    "chars", "prose", "link_density", "texts", "longest_run", "run_share", "next_run",
    "long_texts", "long_share", "sentences", "headline_links", "headline_link_share", "teasers", "numbered",
    "prices", "dates",
    # elements
    "links", "links_of_texts", "h1", "headings", "linked_headings", *_COUNTED_TAGS,
    # structured data
    "declared", "article_data", "list_data", "product_data", "page_data",
)  # fmt: skip

_BODY_FEATURES = (
    "body_chars", "body_share", "body_texts", "body_mean", "body_longest", "body_link_density",
    "body_confidence", "body_run", "body_start", "body_together", "body_sentences",
    "body_sentence_share", "chars_per_heading", "span_headings", "span_linked_headings",
    "span_headline_links", "span_images", "span_dates", "body_of_page", "images_before",
)  # fmt: skip
_TITLE_FEATURES = (
    "title_length", "title_confidence", "title_shown", "title_linked", "title_likeness",
    "title_distance", "title_texts", "title_recall",
)  # fmt: skip

KIND_FEATURES = (
    *PAGE_FEATURES, *_BODY_FEATURES, *_TITLE_FEATURES, "date_confidence", "date_kind", "authors",
    "same_links", "url_points",
)  # fmt: skip
"""Names of the features, in the order of the model."""

_HEADINGS = ("h2", "h3", "h4", "h5")
_MAX_HEADING_ROWS = 60
_MAX_LINKS = 200
# Characters of the body that may repeat the headline.
_START = 600
# Short texts with a digit that are searched for dates and prices.
_MAX_NUMBERED = 400
_TYPE_KEY = '"@type"'
_TYPE = re.compile(rf'{_TYPE_KEY}\s*+:\s*+(?:\[\s*+)?+"(\w+)"')
_ARTICLE_TYPES = frozenset({"Article", "BlogPosting", "LiveBlogPosting", "Report"})
_LIST_TYPES = frozenset({"CollectionPage", "ItemList", "SearchResultsPage"})
_PRODUCT_TYPES = frozenset({"Product", "Offer", "AggregateOffer", "Service", "LocalBusiness"})
_PAGE_TYPES = frozenset({"WebPage", "WebSite", "Organization"})
_DATE_KINDS = {"text": 1.0, "time": 2.0, "url": 0.0, "hint": 0.0, "hint:updated": 0.0}
_STRUCTURED_DATE_KIND = 3.0
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


class ExtractedFields(NamedTuple):
    """Results of extraction that the features describe."""

    #: roots of the body's subtrees
    forest: Sequence[int]
    body: Evidence | None
    title: Headline | None
    date: Evidence | None
    authors: int
    #: the body; of some pages in no node
    text: str


Features = dict[str, float]
"""Values by the names of features."""


def kind_features(
    document: Document, found: ExtractedFields | None = None, url: str | None = None
) -> Features:
    """Return the :data:`KIND_FEATURES`, or without *found* the :data:`PAGE_FEATURES`."""
    measures = _Measures.of(document)
    features = _page_features(document, measures)
    if found is not None:
        features |= _body_features(document, found, measures)
        features |= _title_features(document, found)
        kind = found.date.source.partition(":")[0] if found.date else None
        features |= {
            "date_confidence": found.date.confidence if found.date else 0.0,
            "date_kind": _DATE_KINDS.get(kind, _STRUCTURED_DATE_KIND) if kind else UNKNOWN,
            "authors": float(min(found.authors, 3)),
            "same_links": log1p(_same_links(document, found.forest)),
            "url_points": float(url_points(url)) if url else _NO_URL,
        }
    return features


class _Measures(NamedTuple):
    """Measures of a page that are shared by several features."""

    #: rows of the headline links
    headlines: list[int]
    #: features of the visible texts
    texts: Features
    #: rows of the visible headings
    headings: list[int]
    #: rows of the headings inside or around a link
    linked: list[int]
    #: rows of short texts with a date
    dates: list[int]
    #: number of short texts with a price
    prices: int
    #: weighted characters of the two longest runs of text
    runs: tuple[float, float]

    @classmethod
    def of(cls, document: Document) -> _Measures:
        return cls(
            *_measure_texts(document),
            *_headings(document),
            *dates_and_prices(document.number_rows[:_MAX_NUMBERED], document.text),
            longest_runs(document),
        )


def _page_features(document: Document, measures: _Measures) -> Features:
    run, second = measures.runs
    chars = document.chars(0)
    plain = chars - document.link_chars(0)
    count = len(document.shown_rows)
    links = len(document.rows_of("a"))
    types = data_types(document)
    return {
        "chars": log1p(chars),
        "prose": log1p(plain),
        "link_density": document.link_density(0),
        "texts": log1p(count),
        "longest_run": log1p(run),
        "run_share": run / (plain or 1),
        "next_run": second / (run or 1),
        **measures.texts,
        "numbered": len(document.number_rows) / (count or 1),
        "prices": log1p(measures.prices),
        "dates": log1p(len(measures.dates)),
        "links": log1p(links),
        "links_of_texts": links / (count or 1),
        "h1": log1p(len(document.rows_of("h1"))),
        "headings": log1p(len(measures.headings)),
        "linked_headings": len(measures.linked) / (len(measures.headings) or 1),
        **{tag: log1p(len(document.rows_of(tag))) for tag in _COUNTED_TAGS},
        "declared": float(declared_type(document)),
        "article_data": float(names_article(types)),
        "list_data": float(not types.isdisjoint(_LIST_TYPES)),
        "product_data": float(not types.isdisjoint(_PRODUCT_TYPES)),
        "page_data": float(not types.isdisjoint(_PAGE_TYPES)),
    }


def _headings(document: Document) -> tuple[list[int], list[int]]:
    """Return the rows of the visible headings, and of those inside or around a link."""
    before, links, end = document.chars_before, document.link_chars_before, document.end
    rows: list[int] = []
    for tag in _HEADINGS:
        rows += document.rows_of(tag)
    rows = sorted(
        row
        for row in rows
        if end[row] - row <= _MAX_HEADING_ROWS and before[end[row]] > before[row]
    )
    return rows, [row for row in rows if links[end[row]] > links[row]]


def _body_features(document: Document, found: ExtractedFields, measures: _Measures) -> Features:
    features = dict.fromkeys(_BODY_FEATURES, 0.0)
    features["body_confidence"] = 0.0 if found.body is None else found.body.confidence
    forest, end = found.forest, document.end
    stated = weighted_length(found.text)
    lines = list(filter(None, found.text.split("\n")))
    sentences = count_sentences(lines)
    features["body_sentences"] = log1p(sentences)
    features["body_sentence_share"] = sentences / (len(lines) or 1)
    if not forest:
        return features | {"body_chars": log1p(stated), "body_share": float(stated > 0)}
    first, last = forest[0], max(map(end.__getitem__, forest))
    images = document.rows_of("img")
    before, groups = document.chars_before, defaultdict[int, float](float)
    sizes = [before[row + 1] - before[row] for root in forest for row in document.text_nodes(root)]
    own = sum([prose(document, root, end[root]) for root in forest])
    for root in forest:  # by their parents
        groups[document.parent[root]] += document.chars(root)
    whole, plain = sum(sizes), prose(document, 0, len(document))
    size = max(whole, stated)
    headings = _count_between(measures.headings, first, last)
    return features | {
        "body_chars": log1p(size),
        "body_share": own / (plain or 1),
        "body_texts": log1p(len(sizes)),
        "body_mean": log1p(whole / (len(sizes) or 1)),
        "body_longest": log1p(max(sizes, default=0.0)),
        "body_link_density": 1 - own / (whole or 1),
        "body_run": log1p(measures.runs[0]) - log1p(size),
        "body_start": prose(document, 0, first) / (plain or 1),
        "body_together": max(groups.values()) / (whole or 1),
        "chars_per_heading": log1p(whole / (headings + 1)),
        "span_headings": log1p(headings),
        "span_linked_headings": log1p(_count_between(measures.linked, first, last)),
        "span_headline_links": log1p(_count_between(measures.headlines, first, last)),
        "span_images": log1p(_count_between(images, first, last)),
        "span_dates": log1p(_count_between(measures.dates, first, last)),
        "body_of_page": whole / (document.chars(0) or 1),
        "images_before": bisect_left(images, first) / (len(images) or 1),
    }


def _same_links(document: Document, forest: Sequence[int]) -> int:
    """Return the number of addresses of links with equal texts in the body: "Read more"."""
    end = max((document.end[root] for root in forest), default=0)
    rows = rows_between(document.rows_of("a"), min(forest, default=0), end)[:_MAX_LINKS]
    targets: dict[str, set[str]] = {}
    for row in filter(document.chars, rows):
        href = document.attributes["href"].get(row, "")
        targets.setdefault(document.subtree_text(row), set()).add(href)
    return max(map(len, targets.values()), default=0)


def _count_between(rows: Sequence[int], first: int, last: int) -> int:
    return bisect_left(rows, last) - bisect_left(rows, first)


def _title_features(document: Document, found: ExtractedFields) -> Features:
    features = dict.fromkeys(_TITLE_FEATURES, 0.0)
    features |= {"title_distance": UNKNOWN, "title_texts": UNKNOWN}
    title = found.title
    if title is None:
        return features
    features["title_length"] = log1p(weighted_length(title.text))
    features["title_confidence"] = title.evidence.confidence
    features["title_likeness"] = _word_recall(document.title, title.text)
    features["title_recall"] = letter_overlap(title.text, found.text[:_START])
    row = title.row
    if row is None:
        return features
    features["title_shown"] = 1.0
    features["title_linked"] = float(document.link_chars(row) > 0)
    if found.forest:
        first, last = sorted((row, found.forest[0]))
        features["title_distance"] = log1p(prose(document, first, last))
        features["title_texts"] = log1p(_count_between(document.shown_rows, first, last))
    return features


def _word_recall(whole: str, part: str) -> float:
    bag = words(whole)
    own = frozenset(bag).intersection(words(part))
    return sum(word in own for word in bag) / (len(bag) or 1)


def data_types(document: Document) -> set[str]:
    """Return the ``@type`` of all JSON-LD objects; the first of several types of one object."""
    return {name for script in document.json_ld for name in _types(script)}


def _types(script: str) -> Iterator[str]:
    """Yield the matches of ``_TYPE``, which takes ten times as long to find its key."""
    place = script.find(_TYPE_KEY)
    while place >= 0:
        if found := _TYPE.match(script, place):
            yield found[1]
        place = script.find(_TYPE_KEY, found.end() if found else place + 1)


def names_article(types: AbstractSet[str]) -> bool:
    """Return whether one of the JSON-LD *types* is an article type."""
    return any(name in _ARTICLE_TYPES or name.endswith("NewsArticle") for name in types)


def declared_type(document: Document) -> int:
    """Return 1 if ``og:type`` is an article, -1 for any other value, 0 without the element."""
    for meta in document.statements:
        if meta.tag == "meta" and meta.get("property") == "og:type":
            return 1 if "article" in meta.get("content").lower() else -1
    return 0


def _is_mostly_link(document: Document, row: int) -> bool:
    """Return whether the block of the text node *row* has little text outside of links."""
    tag, parent = document.tag, document.parent
    block = parent[row]
    while tag[block] in INLINE and parent[block] >= 0:
        block = parent[block]
    return document.link_density(block) >= _MIN_LINK_DENSITY


def _measure_texts(document: Document) -> tuple[list[int], Features]:
    """Return the rows of the headline links, and the features of the visible texts by length.

    A headline link is a long link text with little other text in its block; a teaser is one
    followed by a plain text.
    """
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
    chars = document.chars(0) or 1
    return headlines, {
        "long_texts": log1p(paragraphs),
        "long_share": paragraph_chars / chars,
        "sentences": log1p(sentences),
        "headline_links": log1p(len(headlines)),
        "headline_link_share": headline_chars / chars,
        "teasers": log1p(teasers),
    }


def count_sentences(lines: Iterable[str]) -> int:
    """Return the number of *lines* that are paragraphs and end like a sentence."""
    ended = [line for line in lines if line[-1] in _SENTENCE_ENDS]
    return sum([weighted_length(line) >= _MIN_PARAGRAPH for line in ended])


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
    for row in document.shown_rows:
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
