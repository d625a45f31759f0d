"""Features of title candidates.

The papers' attributes of text nodes (DocEng 2011, 3.3), tags and regions, position, similarity to
the stated titles and to the URL. All features are language-independent; -1 means unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from rapidfuzz.fuzz import ratio

from newscrawl.fields.cardoso import style_attributes, title_edit_distance
from newscrawl.fields.titles.title import SiteNames, heading_text, links_home
from newscrawl.fields.titles.title_candidates import (
    HEADING_LEVELS,
    TitleSpan,
    find_spans,
    only_heading,
    title_parts,
)
from newscrawl.text import count_digits, weighted_length, words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields.cardoso import FeatureColumns, StyleOf
    from newscrawl.fields.metadata.metadata import Metadata

REGIONS = ("header", "main", "article", "nav", "footer", "aside", "li", "a", "section")

STYLE_FEATURES = ("font_size", "relative_font_size", "bold", "similar_nodes", "style_known")
"""Attributes 4 to 7, and whether they are known, i.e. all style sheets are available."""

UNKNOWN_STYLE = {**dict.fromkeys(STYLE_FEATURES, -1.0), "style_known": 0.0}
"""Values of the features of a candidate whose style is not known."""

_SIMILARITY = (
    "json_ld_ratio", "og_ratio", "head_ratio", "ratio", "likeness", "share_of_stated", "votes", "length_gap",
)  # fmt: skip

TITLE_CANDIDATE_FEATURES = (
    # the text
    "text_length", "digit_share", "title_edit_distance",
    # similarity to the stated titles and the URL
    *_SIMILARITY, "slug",
    # position in the document
    "heading_level", *(f"in_{region}" for region in REGIONS), "links_home", "depth", "position",
    "distance_to_content", "in_content",
    "emphasized", "named", "copies", "paragraph_gap",
    # words shared with the article, its first paragraphs and the host name; part of a stated title
    "words_in_content", "words_in_lead", "words_in_host", "stated_part",
    # the run in its heading, and the number of candidates
    "candidates", "nodes", "nodes_before", "nodes_after", "share_of_heading", "twins",
    # difference to the best candidate of the page or of the heading
    "likeness_behind", "length_behind", "votes_behind", "ratio_behind_in_heading", "leading",
    *STYLE_FEATURES,
)  # fmt: skip
"""Names of the features, in order."""

_MIN_PARAGRAPH = 80
_MAX_CONTENT = 6000  # characters of paragraphs whose words are compared with the candidates
_LEAD_PARAGRAPHS = 2
_EMPHASIS = frozenset({"b", "strong", "font", "big"})
_MAX_EMPHASIS_DEPTH = 4
# Classes and ids of headlines: "article-title", "storyhead".
_HEADLINE_NAME = re.compile(
    r"head(?!er)|titl|ttl|tit[ou]l|titel|titre|tytul|zagolov|baslik|judul|nadpis"
)
_STORY_NAME = re.compile(r"artic|artik|content|detail|entry|news|page|post|single|story")
_MAX_NAMED_DEPTH = 3
_MAX_PARAGRAPH_GAP = 60
_MIN_HOST_WORD = 3
_PATH = re.compile(r"(?:[^/?#]*//)?[^/?#]*([^?#]*)")
_MIN_SLUG_WORDS = 3
MIN_LEADING_SIMILARITY = 0.3
"""Minimum F1 of the words of the leading heading and a stated title."""

_VOTE_RATIO = 95
_EXACT = 0.999


class WordSet(NamedTuple):
    """Words of a text, as normalized text and as a set."""

    normalized: str
    words: frozenset[str]

    @classmethod
    def of(cls, text: str) -> WordSet:
        """Return the words of *text*."""
        found = words(text)
        return cls(" ".join(found), frozenset(found))

    def f1(self, other: WordSet) -> float:
        """Return the F1 of the two sets of words."""
        if self.normalized == other.normalized:
            return 1.0
        common = len(self.words & other.words)
        return 2 * common / ((len(self.words) + len(other.words)) or 1)


def _similarity(
    text: WordSet, stated: Mapping[str, str], stated_words: Mapping[str, WordSet]
) -> dict[str, float]:
    """Return the similarity of *text* to the stated titles, by name of the feature.

    *stated*: source -> title; *stated_words*: title -> its words.
    """
    own, others = text.normalized, stated_words.values()
    ratios = {title: ratio(own, it.normalized) for title, it in stated_words.items()}
    by_source = {source: ratios[title] for source, title in stated.items()}
    sizes = [len(it.normalized) or 1 for it in others if own in it.normalized]
    gaps = [abs(len(own) - len(it.normalized)) / (len(it.normalized) or 1) for it in others]
    return {
        "json_ld_ratio": by_source.get("json-ld", -1),
        "og_ratio": by_source.get("og:title", -1),
        "head_ratio": by_source.get("title", -1),
        "ratio": max(ratios.values(), default=-1),
        "likeness": max(map(text.f1, others), default=-1),
        "share_of_stated": len(own) / min(sizes) if sizes else 0,
        "votes": sum([value >= _VOTE_RATIO for value in by_source.values()]),
        "length_gap": min(gaps, default=-1),
    }


def _gaps_to_best(
    spans: Sequence[TitleSpan], columns: FeatureColumns, is_top: Sequence[bool]
) -> FeatureColumns:
    """Return the difference of each candidate to the best in likeness, length, votes and ratio.

    *is_top*: in an ``h1`` that does not link to the home page. The leading candidate is such an
    ``h1``, or exactly matching part of one, most similar to a stated title.
    """
    likeness, votes = columns["likeness"], columns["votes"]
    best, most = max(likeness, default=0.0), max(votes, default=0)
    longest = max((len(span.text) for span in spans), default=0)
    headings = [span.rows[0] if span.heading is None else span.heading for span in spans]
    ratios: dict[int, float] = {}
    for heading, value in zip(headings, columns["ratio"], strict=True):
        ratios[heading] = max(ratios.get(heading, -1), value)
    eligible = (
        index
        for index, (span, f1) in enumerate(zip(spans, likeness, strict=True))
        if is_top[index] and f1 >= MIN_LEADING_SIMILARITY and (span.whole or f1 >= _EXACT)
    )
    leading = max(eligible, key=likeness.__getitem__, default=None)
    return {
        "likeness_behind": [best - value for value in likeness],
        "length_behind": [longest - len(span.text) for span in spans],
        "votes_behind": [most - value for value in votes],
        "ratio_behind_in_heading": [
            ratios[heading] - value
            for heading, value in zip(headings, columns["ratio"], strict=True)
        ],
        "leading": [float(index == leading) for index in range(len(spans))],
    }


@dataclass(frozen=True, slots=True)
class TitleCandidates:
    """Title candidates of a page and their features."""

    spans: list[TitleSpan]
    #: columns of :data:`TITLE_CANDIDATE_FEATURES`
    features: FeatureColumns
    #: source -> stated title without the site's name, the most trusted source first
    stated: dict[str, str]
    #: words of the candidates and the stated titles that are in the relevant content
    content_words: list[str] = field(default_factory=list)
    #: words of the last part of the URL, if it is the longest
    slug: list[str] = field(default_factory=list)

    @property
    def agreed(self) -> TitleSpan | None:
        """The only candidate, if it is a whole heading and, except for case, a stated title."""
        if len(self.spans) != 1 or self.spans[0].heading is None or not self.spans[0].whole:
            return None
        text = self.spans[0].text.lower()
        return self.spans[0] if text in map(str.lower, self.stated.values()) else None

    def with_style(self, evaluated: Collection[int], style_of: StyleOf) -> TitleCandidates:
        """Return the same candidates with attributes 4 to 7, from ``style_of(row)``.

        Attributes 5 and 7 compare the text nodes in *evaluated* and the candidates.
        """
        firsts = [span.rows[0] for span in self.spans]
        rows = sorted({*evaluated, *firsts})
        places = [bisect_left(rows, row) for row in firsts]
        styles = {
            name: [column[place] for place in places]
            for name, column in style_attributes(map(style_of, rows)).items()
        }
        known = [1.0] * len(self.spans)
        return replace(self, features={**self.features, **styles, "style_known": known})


def find_candidates(
    document: Document,
    metadata: Metadata,
    url: str | None,
    forest: Sequence[int],
    *,
    unseen: Collection[int] = (),
    needed: bool = False,
) -> TitleCandidates:
    """Return the title candidates of a page with relevant content *forest*, without style features.

    Site names are excluded. The text nodes *unseen* are treated as hidden. With *needed*, there are
    no features if the page agrees on its title (:attr:`TitleCandidates.agreed`).
    """
    site = SiteNames(metadata, url, document)
    rows = document.text_nodes()
    if unseen:
        rows = [row for row in rows if row not in unseen]
    if needed and (sure := _agreed(document, rows, metadata, site)):
        return sure
    content = _content(document, rows, forest)
    whole = {it.text for it in metadata.titles}
    titles = {text: site.strip(heading_text(text)) for text in whole if not site.is_named_by(text)}
    stated = {title.source: text for title in metadata.titles if (text := titles.get(title.text))}
    spans = find_spans(document, rows, set(stated.values()), whole, content[0])
    spans = [span for span in spans if not site.is_named_by(span.text)]
    if needed and (certain := TitleCandidates(spans, {}, stated)).agreed:
        return certain
    stated_words = {text: WordSet.of(text) for text in stated.values()}
    texts = [stated_words.get(span.text) or WordSet.of(span.text) for span in spans]
    wanted = frozenset().union(*(text.words for text in (*texts, *stated_words.values())))
    page = _PageFeatures(
        document,
        rows,
        content,
        stated,
        stated_words,
        _slug(url or ""),
        *_content_words(document, rows, content, wanted),
        site.host,
        frozenset(" ".join(words(part)) for part in title_parts(whole)),
        list(map(document.text.__getitem__, rows)),
    )
    columns = page.columns(spans, texts)
    last = words((url or "").replace("_", " ").rstrip("/").rpartition("/")[2])
    named = sorted(page.slug) if page.slug.issubset(last) else []
    return TitleCandidates(spans, columns, stated, sorted(page.content_words), named)


def _agreed(
    document: Document, rows: Sequence[int], metadata: Metadata, site: SiteNames
) -> TitleCandidates | None:
    """Return the only ``h1`` if a stated title equals it; then the other titles do not matter."""
    span = only_heading(document, rows)
    if span is None or span.text.endswith(("…", "...")):  # others may say the rest
        return None
    for source, text in ((it.source, heading_text(it.text)) for it in metadata.titles):
        if text.lower() == span.text.lower() and site.strip(text) == text:
            is_name = site.is_named_by(text)
            return None if is_name else TitleCandidates([span], {}, {source: text})
    return None


def _content_words(
    document: Document, rows: Sequence[int], content: tuple[int, int], wanted: frozenset[str]
) -> tuple[frozenset[str], frozenset[str], bool]:
    """Return the words *wanted* in the paragraphs of the relevant content and in the first ones.

    The last value is whether there are any words.
    """
    paragraphs: list[str] = []
    chars, text, before = 0, document.text, document.chars_before
    for row in islice(rows, *content):
        if before[row + 1] - before[row] >= _MIN_PARAGRAPH:
            paragraphs.append(text[row])
            chars += len(text[row])
            if chars > _MAX_CONTENT:
                break
    lead = words("\n".join(paragraphs[:_LEAD_PARAGRAPHS]))
    found = [*lead, *words("\n".join(paragraphs[_LEAD_PARAGRAPHS:]))]
    return wanted.intersection(found), wanted.intersection(lead), bool(found)


def _content(document: Document, rows: Sequence[int], forest: Sequence[int]) -> tuple[int, int]:
    """Return the first and the end position of the relevant content among *rows*."""
    if not forest:
        return 0, len(rows)
    return bisect_left(rows, forest[0]), bisect_left(rows, document.end[forest[-1]])


def _slug(url: str) -> frozenset[str]:
    """Return the words of the longest path segment, or an empty set if they are too few."""
    if not url:
        return frozenset()
    match = _PATH.match(url)
    path = unquote(match[1]) if match else ""
    segments = (words(segment) for segment in path.replace("_", " ").split("/"))
    longest = max(segments, key=len, default=[])
    return frozenset() if len(longest) < _MIN_SLUG_WORDS else frozenset(longest)


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part & whole) / (len(part) or 1)


@dataclass(slots=True)
class _PageFeatures:
    """Computes the features of all candidates of a page."""

    document: Document
    #: all visible text nodes
    rows: Sequence[int]
    #: first and end position of the relevant content
    content: tuple[int, int]
    #: source -> title
    stated: Mapping[str, str]
    #: title -> its words
    stated_words: Mapping[str, WordSet]
    slug: frozenset[str]
    #: words of the candidates and the stated titles that are in the relevant content
    content_words: frozenset[str]
    #: those in its first paragraphs
    lead_words: frozenset[str]
    #: whether the relevant content has words
    has_content: bool
    #: letters and digits of the host name
    host: str
    #: normalized parts of the stated titles
    parts: frozenset[str]
    #: all visible texts
    texts: list[str]

    def columns(self, spans: Sequence[TitleSpan], texts: Sequence[WordSet]) -> FeatureColumns:
        """Return the features of *spans*, which have the words *texts*."""
        similarities = [_similarity(text, self.stated, self.stated_words) for text in texts]
        positions = [bisect_left(self.rows, span.rows[0]) for span in spans]
        normalized = Counter(text.normalized for text in texts)
        columns: FeatureColumns = {
            **self._text_columns(spans, texts),
            **{name: [it[name] for it in similarities] for name in _SIMILARITY},
            **self._ancestor_columns(spans),
            **self._position_columns(spans, positions),
            **self._word_columns(texts),
            "candidates": [len(spans)] * len(spans),
            "nodes": [len(span.rows) for span in spans],
            "nodes_before": [span.before for span in spans],
            "nodes_after": [span.after for span in spans],
            "share_of_heading": [span.share for span in spans],
            "twins": [normalized[text.normalized] - 1 for text in texts],
            **{name: [value] * len(spans) for name, value in UNKNOWN_STYLE.items()},
        }
        is_top = [
            level == 1 and not home
            for level, home in zip(columns["heading_level"], columns["links_home"], strict=True)
        ]
        return {**columns, **_gaps_to_best(spans, columns, is_top)}

    def _text_columns(self, spans: Sequence[TitleSpan], texts: Sequence[WordSet]) -> FeatureColumns:
        title, slug = self.document.title, self.slug
        return {
            "text_length": [weighted_length(span.text) for span in spans],
            "digit_share": [100 * count_digits(span.text) / len(span.text) for span in spans],
            "title_edit_distance": [title_edit_distance(span.text, title) for span in spans],
            "slug": [_share(slug, text.words) if slug else -1 for text in texts],
        }

    def _ancestor_columns(self, spans: Sequence[TitleSpan]) -> FeatureColumns:
        document = self.document
        paths = {row: list(document.ancestors(row)) for row in {span.rows[0] for span in spans}}
        rows = [paths[span.rows[0]] for span in spans]
        tags = [[document.tag[row] for row in above] for above in rows]
        levels = [[HEADING_LEVELS[tag] for tag in above if tag in HEADING_LEVELS] for above in tags]
        around = list(map(frozenset, tags))
        return {
            "heading_level": [found[0] if found else 7 for found in levels],
            **{f"in_{name}": [float(name in names) for names in around] for name in REGIONS},
            "links_home": [
                float(links_home(document, above[0] if it.heading is None else it.heading))
                for it, above in zip(spans, rows, strict=True)
            ],
            "depth": [len(above) for above in tags],
            "emphasized": [
                float(not _EMPHASIS.isdisjoint(above[:_MAX_EMPHASIS_DEPTH])) for above in tags
            ],
            "named": list(map(self._named, spans, rows)),
        }

    def _named(self, span: TitleSpan, above: Sequence[int]) -> int:
        """Return 1 if a class or id around only *span* means a headline, 2 if one of a story."""
        document = self.document
        classes, ids = document.attributes["class"], document.attributes["id"]
        longest = 2 * weighted_length(span.text)
        own = [row for row in above[:_MAX_NAMED_DEPTH] if document.chars(row) <= longest]
        names = " ".join([f"{classes.get(row, '')} {ids.get(row, '')}" for row in own]).lower()
        if not _HEADLINE_NAME.search(names):
            return 0
        return 2 if _STORY_NAME.search(names) else 1

    def _position_columns(
        self, spans: Sequence[TitleSpan], positions: Sequence[int]
    ) -> FeatureColumns:
        first, last = self.content
        return {
            "position": list(positions),
            "distance_to_content": [position - first for position in positions],
            "in_content": [float(first <= position < last) for position in positions],
            "copies": [self.texts.count(self.texts[position]) - 1 for position in positions],
            "paragraph_gap": [
                self._paragraph_gap(position + len(span.rows))
                for span, position in zip(spans, positions, strict=True)
            ],
        }

    def _paragraph_gap(self, position: int) -> int:
        """Return the number of text nodes between *position* and the next paragraph."""
        following = self.texts[position : position + _MAX_PARAGRAPH_GAP]
        gaps = (gap for gap, text in enumerate(following) if len(text) >= _MIN_PARAGRAPH)
        return next(gaps, _MAX_PARAGRAPH_GAP)

    def _word_columns(self, texts: Sequence[WordSet]) -> FeatureColumns:
        content, lead, known = self.content_words, self.lead_words, self.has_content
        return {
            "words_in_content": [_share(it.words, content) if known else -1 for it in texts],
            "words_in_lead": [_share(it.words, lead) if known else -1 for it in texts],
            "words_in_host": [self._share_in_host(it) if self.host else -1 for it in texts],
            "stated_part": [
                float(it.normalized in self.parts) if self.stated else -1 for it in texts
            ],
        }

    def _share_in_host(self, text: WordSet) -> float:
        long_words = [word for word in text.words if len(word) >= _MIN_HOST_WORD]
        return sum(map(self.host.__contains__, long_words)) / (len(long_words) or 1)
