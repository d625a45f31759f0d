"""Features of a page for the page kind classifier, independent of language and URL.

Page features need only the document, so that a page can be classified before extraction; the others
describe the extracted body, title and date.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from math import log1p
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.compiled import compiled
from newscrawl.document.repeats import prose
from newscrawl.fields.kind.forest_measures import measure_forest
from newscrawl.fields.kind.longest_run import INLINE, longest_runs
from newscrawl.text import weighted_length, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from newscrawl.document.document import Document
    from newscrawl.fields.titles.title import Headline
    from newscrawl.items import Evidence

UNKNOWN = -1.0
"""Value of unknown features."""

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

EXTRACTION_FEATURES = (
    # body
    "body_chars", "body_share", "body_texts", "body_mean", "body_longest", "body_link_density",
    "body_confidence", "body_run", "body_start", "body_density", "body_trees", "body_together",
    "body_in_items", "span_headings", "span_linked_headings", "span_headline_links", "span_images",
    "span_dates", "body_of_page", "links_before", "images_before",
    # title
    "title_length", "title_confidence", "title_level", "title_shown", "title_linked",
    "title_likeness", "title_distance", "title_texts",
    # date and authors
    "date_confidence", "date_kind", "authors",
)  # fmt: skip

KIND_FEATURES = PAGE_FEATURES + EXTRACTION_FEATURES
"""Names of the features, in order."""

# Weighted characters.
_MIN_PARAGRAPH = 80
_MIN_HEADLINE = 25
# Link density of a block with little text apart from a link, for example a date.
_MIN_LINK_DENSITY = 0.6
_HEADINGS = ("h2", "h3", "h4", "h5")
_SENTENCE_ENDS = frozenset(
    ".!?\u2026\u3002\uff01\uff1f\u0964\u061f\u06d4\"'\u201d\u201c\u2019\u00bb\u300d)"
)
_LEVELS = {f"h{level}": float(level) for level in range(1, 7)}
_MAX_HEADING_ROWS = 60
# Short texts with a digit that are searched for dates and prices.
_MAX_NUMBERED = 400
_TYPE_KEY = '"@type"'
_TYPE = re.compile(rf'{_TYPE_KEY}\s*+:\s*+(?:\[\s*+)?+"(\w+)"')
_ARTICLE_TYPES = frozenset({"Article", "BlogPosting", "LiveBlogPosting", "Report"})
_LIST_TYPES = frozenset({"CollectionPage", "ItemList", "SearchResultsPage"})
_PRODUCT_TYPES = frozenset({"Product", "Offer", "AggregateOffer", "Service", "LocalBusiness"})
_PAGE_TYPES = frozenset({"WebPage", "WebSite", "Organization"})
_DATE = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?!\d)|[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]{4}"
    r"|\b\d{1,2}[./-]\d{1,2}[./-]\d\d\b"
)
_COPYRIGHT = re.compile(r"©|copyright|\(c\)", re.IGNORECASE)
_PRICE = re.compile(r"[$\u00a3\u00a5\u20a0-\u20cf]\s?\d|\d\s?[$\u00a3\u00a5\u20a0-\u20cf]")
_DATE_KINDS = {"text": 1.0, "time": 2.0, "url": 0.0, "hint": 0.0}
_STRUCTURED_DATE_KIND = 3.0


class ExtractedFields(NamedTuple):
    """Results of extraction that the features describe."""

    #: roots of the body's subtrees
    forest: Sequence[int]
    body: Evidence | None
    title: Headline | None
    date: Evidence | None
    authors: int
    #: text of a body that is not in the page's nodes
    text: str | None = None


def kind_features(document: Document, found: ExtractedFields | None = None) -> list[float]:
    """Return the :data:`KIND_FEATURES`, or without *found* the :data:`PAGE_FEATURES`."""
    measures = _Measures.of(document)
    page = _page_features(document, measures)
    if found is None:
        return page
    return [
        *page,
        *_body_features(document, found, measures),
        *_title_features(document, found),
        0.0 if found.date is None else found.date.confidence,
        UNKNOWN if found.date is None else _date_kind(found.date.source),
        float(min(found.authors, 3)),
    ]


class _Measures(NamedTuple):
    """Measures of a page that are shared by several features."""

    texts: _TextMeasures
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
            _TextMeasures(*measure_texts(document)),
            *_headings(document),
            *dates_and_prices(document.number_rows[:_MAX_NUMBERED], document.text),
            longest_runs(document),
        )


class _TextMeasures(NamedTuple):
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


@compiled(
    "newscrawl.fields.kind._text_measures",
    inline_tags=INLINE, sentence_ends=_SENTENCE_ENDS, min_headline=_MIN_HEADLINE, min_paragraph=_MIN_PARAGRAPH,
    min_link_density=_MIN_LINK_DENSITY,
)  # fmt: skip
def measure_texts(document: Document) -> tuple[list[int], float, int, int, float, int]:
    """Return the fields of :class:`_TextMeasures`."""
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
    return headlines, headline_chars, teasers, paragraphs, paragraph_chars, sentences


def _page_features(document: Document, measures: _Measures) -> list[float]:
    texts, headings, linked, dates, prices, (run, second) = measures
    chars = document.chars(0)
    plain = chars - document.link_chars(0)
    count = len(document.shown_rows)
    links = len(document.rows_of("a"))
    types = data_types(document)
    return [
        log1p(chars),
        log1p(plain),
        document.link_density(0),
        log1p(count),
        log1p(run),
        run / (plain or 1),
        second / (run or 1),
        log1p(texts.paragraphs),
        texts.paragraph_chars / (chars or 1),
        log1p(texts.sentences),
        log1p(len(texts.headlines)),
        texts.headline_chars / (chars or 1),
        log1p(texts.teasers),
        len(document.number_rows) / (count or 1),
        log1p(prices),
        log1p(len(dates)),
        log1p(links),
        links / (count or 1),
        log1p(len(document.rows_of("h1"))),
        log1p(len(headings)),
        len(linked) / (len(headings) or 1),
        *(log1p(len(document.rows_of(tag))) for tag in _COUNTED_TAGS),
        float(declared_type(document)),
        float(names_article(types)),
        float(not types.isdisjoint(_LIST_TYPES)),
        float(not types.isdisjoint(_PRODUCT_TYPES)),
        float(not types.isdisjoint(_PAGE_TYPES)),
    ]


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


@compiled(
    "newscrawl.fields.kind._text_measures",
    find_date=_DATE.search, find_copyright=_COPYRIGHT.search, find_price=_PRICE.search,
)  # fmt: skip
def dates_and_prices(rows: list[int], texts: list[str]) -> tuple[list[int], int]:
    """Return those of *rows* whose texts have a date, and the number of those with a price."""
    prices = sum(_PRICE.search(texts[row]) is not None for row in rows)
    dates = [row for row in rows if _DATE.search(texts[row]) and not _COPYRIGHT.search(texts[row])]
    return dates, prices


def _body_features(document: Document, found: ExtractedFields, measures: _Measures) -> list[float]:
    confidence = 0.0 if found.body is None else found.body.confidence
    forest, end = found.forest, document.end
    if not forest:
        chars = weighted_length(found.text or "")
        return [log1p(chars), float(chars > 0), *[0.0] * 4, confidence, *[0.0] * 14]
    first, last = forest[0], max(end[root] for root in forest)
    anchors, images = document.rows_of("a"), document.rows_of("img")
    counted = (
        measures.headings,
        measures.linked,
        measures.texts.headlines,
        images,
        measures.dates,
    )
    texts, chars, longest, own, largest_group, in_items = measure_forest(document, forest)
    plain = prose(document, 0, len(document))
    size = max(chars, weighted_length(found.text or ""))
    return [
        log1p(size),
        own / (plain or 1),
        log1p(texts),
        log1p(chars / (texts or 1)),
        log1p(longest),
        1 - own / (chars or 1),
        confidence,
        log1p(measures.runs[0]) - log1p(size),
        prose(document, 0, first) / (plain or 1),
        own / (prose(document, first, last) or 1),
        log1p(len(forest)),
        largest_group / (chars or 1),
        in_items / (chars or 1),
        *(log1p(_count_between(rows, first, last)) for rows in counted),
        chars / (document.chars(0) or 1),
        bisect_left(anchors, first) / (len(anchors) or 1),
        bisect_left(images, first) / (len(images) or 1),
    ]


def _count_between(rows: Sequence[int], first: int, last: int) -> int:
    return bisect_left(rows, last) - bisect_left(rows, first)


def _title_features(document: Document, found: ExtractedFields) -> list[float]:
    title = found.title
    if title is None:
        return [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, UNKNOWN, UNKNOWN]
    row = title.row
    level = shown = linked = 0.0
    distance = texts = UNKNOWN
    if row is not None:
        level = max(
            (_LEVELS.get(document.tag[above], 0.0) for above in (row, *document.ancestors(row))),
            default=0.0,
        )
        shown, linked = 1.0, float(document.link_chars(row) > 0)
        if found.forest:
            first, last = sorted((row, found.forest[0]))
            distance = log1p(prose(document, first, last))
            texts = log1p(_count_between(document.shown_rows, first, last))
    return [
        log1p(weighted_length(title.text)),
        title.evidence.confidence,
        level,
        shown,
        linked,
        _word_recall(document.title, title.text),
        distance,
        texts,
    ]


def _word_recall(whole: str, part: str) -> float:
    """Return the share of the words of *whole* that are in *part*."""
    bag, own = words(whole), frozenset(words(part))
    return sum(word in own for word in bag) / (len(bag) or 1)


def _date_kind(source: str) -> float:
    return _DATE_KINDS.get(source.partition(":")[0], _STRUCTURED_DATE_KIND)


def data_types(document: Document) -> set[str]:
    """Return the ``@type`` of all JSON-LD objects; the first of several types of one object."""
    return {name for script in json_ld_scripts(document) for name in _types(script)}


def json_ld_scripts(document: Document) -> list[str]:
    """Return the texts of all JSON-LD scripts."""
    return [
        script.script
        for script in document.statements
        if script.tag == "script" and script.get("type") == "application/ld+json"
    ]


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
