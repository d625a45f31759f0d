"""Features of title candidates.

The papers' attributes of text nodes (DocEng 2011, 3.3), tags and regions, position, similarity to
the stated titles and to the URL. All features are language-independent; -1 means unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from newscrawl.fields.attributes import style_attributes, title_edit_distance
from newscrawl.fields.titles.title import SiteNames, heading_text, links_home
from newscrawl.fields.titles.title_candidates import HEADING_LEVELS, TitleSpan, find_spans
from newscrawl.fields.titles.title_similarity import (
    StatedTitleFeatures,
    WordSet,
    gaps_to_best,
    stated_title_features,
)
from newscrawl.text import count_digits, weighted_length, words, words_among

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields.attributes import FeatureRow, StyleOf
    from newscrawl.fields.metadata.metadata import Metadata

REGIONS = ("header", "main", "article", "nav", "footer", "aside", "li", "a", "section")

STYLE_FEATURES = ("font_size", "relative_font_size", "bold", "similar_nodes", "style_known")
"""Attributes 4 to 7, and whether they are known, i.e. all style sheets are available."""

UNKNOWN_STYLE: FeatureRow = (-1.0, -1.0, -1.0, -1.0, 0.0)

TITLE_CANDIDATE_FEATURES = (
    # the text
    "text_length", "digit_share", "title_edit_distance",
    # similarity to the stated titles and the URL
    "json_ld_ratio", "og_ratio", "head_ratio", "ratio", "likeness", "share_of_stated", "votes",
    "length_gap", "slug",
    # position in the document
    "heading_level", *(f"in_{region}" for region in REGIONS), "links_home", "depth", "position",
    "distance_to_content", "in_content",
    "emphasized", "copies", "paragraph_gap",
    # words shared with the article, its first paragraphs and the host name; part of a stated title
    "words_in_content", "words_in_lead", "words_in_host", "stated_part",
    # the run in its heading, and the number of candidates
    "candidates", "nodes", "nodes_before", "nodes_after", "share_of_heading", "twins",
    # difference to the best candidate of the page or of the heading
    "likeness_behind", "length_behind", "votes_behind", "ratio_behind_in_heading", "leading",
    *STYLE_FEATURES,
)  # fmt: skip
"""Names of the features, in order."""

# More permissive than SEPARATOR, as each part is looked up in the page.
_PARTS = re.compile(r"\s*[|｜ㅣ：·•»«]+\s*|\s+[\-‐–—:/]+\s+|:+\s+|\s*-\s+")
_MIN_PART_LENGTH = 4
_MIN_PARAGRAPH = 80
# Characters of paragraphs whose words are compared with the candidates.
_MAX_CONTENT = 6000
_LEAD_PARAGRAPHS = 2
_EMPHASIS = frozenset({"b", "strong", "font", "big"})
_MAX_EMPHASIS_DEPTH = 4
_MAX_PARAGRAPH_GAP = 60
_MIN_HOST_WORD = 3
_PATH = re.compile(r"(?:[^/?#]*//)?[^/?#]*([^?#]*)")
_MIN_SLUG_WORDS = 3
_REGION_INDEX = {region: index for index, region in enumerate(REGIONS)}


@dataclass(frozen=True, slots=True)
class TitleCandidates:
    """Title candidates of a page and their features."""

    spans: list[TitleSpan]
    #: :data:`TITLE_CANDIDATE_FEATURES` of each
    features: list[FeatureRow]
    #: source -> stated title without the site's name, the most trusted source first
    stated: dict[str, str]
    #: share of the words of the first stated title that are in the relevant content
    stated_in_content: float = 0.0

    @property
    def style_known(self) -> bool:
        """Whether the style features are known."""
        return any(row[-1] for row in self.features)

    def without_style(self) -> TitleCandidates:
        """Return the same candidates with unknown style."""
        plain = [(*row[: -len(UNKNOWN_STYLE)], *UNKNOWN_STYLE) for row in self.features]
        return replace(self, features=plain)

    def with_style(self, evaluated: Collection[int], style_of: StyleOf) -> TitleCandidates:
        """Return the same candidates with attributes 4 to 7, from ``style_of(row)``.

        Attributes 5 and 7 compare the text nodes in *evaluated* and the candidates.
        """
        rows = sorted({*evaluated, *(span.rows[0] for span in self.spans)})
        styles = dict(zip(rows, style_attributes(map(style_of, rows)), strict=True))
        styled = [
            (*row[: -len(UNKNOWN_STYLE)], *styles[span.rows[0]], 1.0)
            for span, row in zip(self.spans, self.features, strict=True)
        ]
        return replace(self, features=styled)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> TitleCandidates:
        """Restore the candidates from the output of ``asdict``, also after a JSON round trip."""
        spans = [TitleSpan(tuple(rows), *rest) for rows, *rest in plain["spans"]]
        features = list(map(tuple, plain["features"]))
        return cls(spans, features, plain["stated"], plain["stated_in_content"])


def find_candidates(
    document: Document,
    metadata: Metadata,
    url: str | None,
    forest: Sequence[int],
    *,
    unseen: Collection[int] = (),
) -> TitleCandidates:
    """Return the title candidates of a page with relevant content *forest*, without style features.

    Site names are excluded. The text nodes *unseen* are treated as hidden.
    """
    site = SiteNames(metadata.site_names, url)
    titles = {text: site.strip(heading_text(text)) for text in {it.text for it in metadata.titles}}
    stated = {title.source: titles[title.text] for title in metadata.titles if titles[title.text]}
    rows = document.text_nodes()
    if unseen:
        rows = [row for row in rows if row not in unseen]
    content = _content(document, rows, forest)
    parts = _title_parts({title.text for title in metadata.titles})
    spans = find_spans(document, rows, set(stated.values()), parts, content[0])
    spans = [span for span in spans if not site.is_named_by(span.text)]
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
        frozenset(" ".join(words(part)) for part in parts),
        list(map(document.text.__getitem__, rows)),
    )
    return TitleCandidates(spans, page.table(spans, texts), stated, page.stated_in_content)


def _title_parts(titles: Collection[str]) -> set[str]:
    """Return the parts of *titles* at separators, in lower case."""
    return {
        part
        for title in titles
        if len(parts := _PARTS.split(title.lower())) > 1
        for part in parts
        if len(part) >= _MIN_PART_LENGTH
    }


def _content_words(
    document: Document, rows: Sequence[int], content: tuple[int, int], wanted: frozenset[str]
) -> tuple[frozenset[str], frozenset[str], bool]:
    """Return the words *wanted* in the paragraphs of the relevant content and in the first ones.

    The last value is whether there are any words.
    """
    paragraphs: list[str] = []
    chars, text = 0, document.text
    for row in islice(rows, *content):
        if len(text[row]) >= _MIN_PARAGRAPH:
            paragraphs.append(text[row])
            chars += len(text[row])
            if chars > _MAX_CONTENT:
                break
    lead, any_in_lead = words_among(paragraphs[:_LEAD_PARAGRAPHS], wanted)
    others, any_in_others = words_among(paragraphs[_LEAD_PARAGRAPHS:], wanted)
    return lead | others, lead, any_in_lead or any_in_others


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
    """Return the share of the words *part* that are in *whole*."""
    return len(part & whole) / (len(part) or 1)


class _PositionFeatures(NamedTuple):
    """Position of a candidate in the document."""

    level: int
    regions: tuple[float, ...]
    depth: int
    position: int
    distance: int
    in_content: float


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

    def table(self, spans: Sequence[TitleSpan], texts: Sequence[WordSet]) -> list[FeatureRow]:
        """Return the features of each of *spans*, which have the words *texts*."""
        known = self.stated_words
        similarities = [stated_title_features(text, self.stated, known) for text in texts]
        positions = [self._position(span) for span in spans]
        home = [self._links_home(span) for span in spans]
        gaps = gaps_to_best(spans, similarities, [position.level for position in positions], home)
        normalized = [text.normalized for text in texts]
        return [
            (
                *self._text_features(span, text, similarity),
                position.level, *position.regions, at_home,
                position.depth, position.position, position.distance, position.in_content,
                *self._surroundings(span, position.position), *self._shared_words(text),
                len(spans), len(span.rows), span.before, span.after, span.share,
                normalized.count(text.normalized) - 1,
                *gap,
                *UNKNOWN_STYLE,
            )
            for span, text, similarity, position, at_home, gap in zip(
                spans, texts, similarities, positions, home, gaps, strict=True
            )
        ]  # fmt: skip

    @property
    def stated_in_content(self) -> float:
        """Share of the words of the first stated title that are in the relevant content."""
        for text in self.stated_words.values():
            return _share(text.words, self.content_words)
        return 0.0

    def _surroundings(self, span: TitleSpan, position: int) -> FeatureRow:
        document, first = self.document, span.rows[0]
        above = islice(document.ancestors(first), _MAX_EMPHASIS_DEPTH)
        return (
            float(any(document.tag[row] in _EMPHASIS for row in above)),
            self.texts.count(document.text[first]) - 1,
            self._paragraph_gap(position + len(span.rows)),
        )

    def _shared_words(self, text: WordSet) -> FeatureRow:
        known = self.has_content
        return (
            _share(text.words, self.content_words) if known else -1,
            _share(text.words, self.lead_words) if known else -1,
            self._share_in_host(text) if self.host else -1,
            float(text.normalized in self.parts) if self.stated else -1,
        )

    def _share_in_host(self, text: WordSet) -> float:
        long_words = [word for word in text.words if len(word) >= _MIN_HOST_WORD]
        return sum(word in self.host for word in long_words) / (len(long_words) or 1)

    def _paragraph_gap(self, position: int) -> int:
        """Return the number of text nodes between *position* and the next paragraph."""
        text = self.document.text
        following = self.rows[position : position + _MAX_PARAGRAPH_GAP]
        gaps = (gap for gap, row in enumerate(following) if len(text[row]) >= _MIN_PARAGRAPH)
        return next(gaps, _MAX_PARAGRAPH_GAP)

    def _text_features(
        self, span: TitleSpan, text: WordSet, similarity: StatedTitleFeatures
    ) -> FeatureRow:
        common = len(self.slug.intersection(text.words))
        by_source = similarity.by_source
        return (
            weighted_length(span.text), 100 * count_digits(span.text) / len(span.text),
            title_edit_distance(span.text, self.document.title),
            by_source.get("json-ld", -1), by_source.get("og:title", -1), by_source.get("title", -1),
            *similarity[1:],
            common / len(self.slug) if self.slug else -1,
        )  # fmt: skip

    def _position(self, span: TitleSpan) -> _PositionFeatures:
        tags = [self.document.tag[row] for row in self.document.ancestors(span.rows[0])]
        regions = [0.0] * len(REGIONS)
        for tag in tags:
            if tag in _REGION_INDEX:
                regions[_REGION_INDEX[tag]] = 1.0
        position = bisect_left(self.rows, span.rows[0])
        first, last = self.content
        return _PositionFeatures(
            next((HEADING_LEVELS[tag] for tag in tags if tag in HEADING_LEVELS), 7),
            tuple(regions),
            len(tags),
            position,
            position - first,
            float(first <= position < last),
        )

    def _links_home(self, span: TitleSpan) -> float:
        row = self.document.parent[span.rows[0]] if span.heading is None else span.heading
        return float(links_home(self.document, row))
