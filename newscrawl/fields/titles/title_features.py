"""What the candidates for the title are told by.

The papers' attributes of text nodes (DocEng 2011, 3.3) and what today's pages offer beside: tag
and region, position, the likeness to the stated titles and to the URL. No feature knows a
language's words; -1 stands for what a page does not tell.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from rapidfuzz.fuzz import ratio

from newscrawl.fields.attributes import style_attributes, title_edit_distance
from newscrawl.fields.titles.title import SiteNames, links_home
from newscrawl.fields.titles.title_candidates import HEADING_LEVELS, TitleSpan, find_spans
from newscrawl.text import count_digits, weighted_length, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields.attributes import FeatureRow, StyleOf
    from newscrawl.fields.metadata.metadata import Metadata

REGIONS = ("header", "main", "article", "nav", "footer", "aside", "li", "a", "section")

STYLE_FEATURES = ("font_size", "relative_font_size", "bold", "similar_nodes", "style_known")
"""Attributes 4 to 7, and whether they are known: not where a sheet is missing, or none was read."""

UNKNOWN_STYLE: FeatureRow = (-1.0, -1.0, -1.0, -1.0, 0.0)

TITLE_CANDIDATE_FEATURES = (
    # the text, in itself
    "text_length", "digit_share", "title_edit_distance",
    # and to what the page states: best ratio, F1 of words, share of the title that the text is
    "json_ld_ratio", "og_ratio", "head_ratio", "ratio", "likeness", "share_of_stated", "votes",
    "length_gap", "slug",
    # where it stands
    "heading_level", *(f"in_{region}" for region in REGIONS), "links_home", "depth", "position",
    "distance_to_content", "in_content",
    # the run in its heading, and the others
    "candidates", "nodes", "nodes_before", "nodes_after", "share_of_heading", "twins",
    # how far behind the best of the page, or of the heading
    "likeness_behind", "length_behind", "votes_behind", "ratio_behind_in_heading", "leading",
    *STYLE_FEATURES,
)  # fmt: skip
"""Names of the features, in order."""

MIN_LEADING_SIMILARITY = 0.3
"""Least F1 of the words of the leading heading and a stated title."""

_SAME = 95
_EXACT = 0.999
_PATH = re.compile(r"(?:[^/?#]*//)?[^/?#]*([^?#]*)")
_LEAST_SLUG = 3
_REGION_BITS = {region: place for place, region in enumerate(REGIONS)}


@dataclass(frozen=True, slots=True)
class TitleCandidates:
    """The candidates of a page."""

    spans: list[TitleSpan]
    #: :data:`TITLE_CANDIDATE_FEATURES` of each
    features: list[FeatureRow]
    #: titles that the page states, without the site's name, by source, the most trusted first
    stated: dict[str, str]

    @property
    def style_known(self) -> bool:
        """Whether the features tell the style."""
        return any(row[-1] for row in self.features)

    def without_style(self) -> TitleCandidates:
        """Return the same candidates with unknown style."""
        plain = [(*row[: -len(UNKNOWN_STYLE)], *UNKNOWN_STYLE) for row in self.features]
        return replace(self, features=plain)

    def with_style(self, evaluated: Collection[int], style_of: StyleOf) -> TitleCandidates:
        """Return the same candidates with attributes 4 to 7.

        They compare the text nodes of the rows *evaluated* and the candidates; ``style_of(row)``
        gives the style of one.
        """
        rows = sorted({*evaluated, *(span.rows[0] for span in self.spans)})
        looks = dict(zip(rows, style_attributes(map(style_of, rows)), strict=True))
        styled = [
            (*row[: -len(UNKNOWN_STYLE)], *looks[span.rows[0]], 1.0)
            for span, row in zip(self.spans, self.features, strict=True)
        ]
        return replace(self, features=styled)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> TitleCandidates:
        """Return the candidates that ``asdict`` made *plain* of, also after a trip through JSON."""
        spans = [TitleSpan(tuple(rows), *rest) for rows, *rest in plain["spans"]]
        return cls(spans, list(map(tuple, plain["features"])), plain["stated"])


def find_candidates(
    document: Document,
    metadata: Metadata,
    url: str | None,
    forest: Sequence[int],
    *,
    unseen: Collection[int] = (),
) -> TitleCandidates:
    """Return the candidates of a page whose relevant content is *forest*, their style unknown.

    The site's name is none. The text nodes *unseen* are taken for hidden.
    """
    site = SiteNames(metadata.site_names, url)
    titles = {text: site.strip(text) for text in {one.text for one in metadata.titles}}
    stated = {one.source: titles[one.text] for one in metadata.titles if titles[one.text]}
    rows = document.text_nodes()
    if unseen:
        rows = [row for row in rows if row not in unseen]
    spans = find_spans(document, rows, set(stated.values()))
    spans = [span for span in spans if not site.is_named_by(span.text)]
    page = _PageTexts(
        document,
        rows,
        _content(document, rows, forest),
        stated,
        {text: _Words.of(text) for text in stated.values()},
        _slug(url or ""),
    )
    return TitleCandidates(spans, page.table(spans), stated)


def _content(document: Document, rows: Sequence[int], forest: Sequence[int]) -> tuple[int, int]:
    """Return the first position of the relevant content, and the one after its last."""
    if not forest:
        return 0, len(rows)
    return bisect_left(rows, forest[0]), bisect_left(rows, document.end[forest[-1]])


def _slug(url: str) -> frozenset[str]:
    """Return the words of the part of the path that has most; none where they are too few."""
    if not url:
        return frozenset()
    match = _PATH.match(url)
    path = unquote(match[1]) if match else ""
    parts = (words(part) for part in path.replace("_", " ").split("/"))
    most = max(parts, key=len, default=[])
    return frozenset() if len(most) < _LEAST_SLUG else frozenset(most)


class _Words(NamedTuple):
    """A text by its words."""

    normal: str
    bag: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Words:
        found = words(text)
        return cls(" ".join(found), frozenset(found))

    def likeness(self, other: _Words) -> float:
        """Return F1 of the sets of words, in 0..1."""
        if self.normal == other.normal:
            return 1.0
        return 2 * len(self.bag & other.bag) / ((len(self.bag) + len(other.bag)) or 1)


class _StatedTitleFeatures(NamedTuple):
    """What a candidate has in common with the stated titles."""

    by_source: dict[str, float]
    ratio: float
    likeness: float
    share: float
    votes: int
    length_gap: float


class _Position(NamedTuple):
    """Where a candidate stands."""

    level: int
    regions: tuple[float, ...]
    depth: int
    position: int
    distance: int
    in_content: float


@dataclass(slots=True)
class _PageTexts:
    document: Document
    #: of all shown text nodes
    rows: Sequence[int]
    #: first position of the relevant content, and the one after its last
    content: tuple[int, int]
    #: by source
    stated: Mapping[str, str]
    stated_words: Mapping[str, _Words]
    slug: frozenset[str]

    def table(self, spans: Sequence[TitleSpan]) -> list[FeatureRow]:
        """Return the features of each of *spans*."""
        known = self.stated_words
        texts = [known.get(span.text) or _Words.of(span.text) for span in spans]
        told = [self._told(text) for text in texts]
        places = [self._place(span) for span in spans]
        home = [self._links_home(span) for span in spans]
        behind = _behind(spans, told, [place.level for place in places], home)
        normals = [text.normal for text in texts]
        return [
            (
                *self._text_features(span, text, one),
                place.level, *place.regions, at_home,
                place.depth, place.position, place.distance, place.in_content,
                len(spans), len(span.rows), span.before, span.after, span.share,
                normals.count(text.normal) - 1,
                *gaps,
                *UNKNOWN_STYLE,
            )
            for span, text, one, place, at_home, gaps in zip(
                spans, texts, told, places, home, behind, strict=True
            )
        ]  # fmt: skip

    def _text_features(
        self, span: TitleSpan, text: _Words, told: _StatedTitleFeatures
    ) -> FeatureRow:
        common = len(self.slug.intersection(text.bag))
        return (
            weighted_length(span.text), 100 * count_digits(span.text) / len(span.text),
            title_edit_distance(span.text, self.document.title),
            told.by_source.get("json-ld", -1), told.by_source.get("og:title", -1),
            told.by_source.get("title", -1), told.ratio, told.likeness, told.share, told.votes,
            told.length_gap,
            common / len(self.slug) if self.slug else -1,
        )  # fmt: skip

    def _told(self, text: _Words) -> _StatedTitleFeatures:
        if not self.stated_words:
            return _StatedTitleFeatures({}, -1, -1, 0, 0, -1)
        length = len(text.normal)
        ratios: dict[str, float] = {}
        likeness, share, gap = 0.0, 0.0, inf
        for title, it in self.stated_words.items():
            size = len(it.normal) or 1
            ratios[title] = ratio(text.normal, it.normal)
            likeness = max(likeness, text.likeness(it))
            if text.normal in it.normal:
                share = max(share, length / size)
            gap = min(gap, abs(length - len(it.normal)) / size)
        by_source = {source: ratios[title] for source, title in self.stated.items()}
        votes = sum(one >= _SAME for one in by_source.values())
        return _StatedTitleFeatures(by_source, max(ratios.values()), likeness, share, votes, gap)

    def _place(self, span: TitleSpan) -> _Position:
        tags = [self.document.tag[row] for row in self.document.ancestors(span.rows[0])]
        regions = [0.0] * len(REGIONS)
        for tag in tags:
            if tag in _REGION_BITS:
                regions[_REGION_BITS[tag]] = 1.0
        position = bisect_left(self.rows, span.rows[0])
        first, last = self.content
        return _Position(
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


def _element_row(span: TitleSpan) -> int:
    return span.rows[0] if span.heading is None else span.heading


def _behind(
    spans: Sequence[TitleSpan],
    told: Sequence[_StatedTitleFeatures],
    levels: Sequence[int],
    home: Sequence[float],
) -> Iterator[FeatureRow]:
    """Yield how far each candidate is behind the best in likeness, length, votes and ratio."""
    if not spans:
        return
    likeness, length = max(one.likeness for one in told), max(len(span.text) for span in spans)
    votes = max(one.votes for one in told)
    in_heading: dict[int, float] = {}
    for span, one in zip(spans, told, strict=True):
        row = _element_row(span)
        in_heading[row] = max(in_heading.get(row, -1), one.ratio)
    leading = _leading(spans, told, levels, home)
    for number, (span, one) in enumerate(zip(spans, told, strict=True)):
        yield (
            likeness - one.likeness,
            length - len(span.text),
            votes - one.votes,
            in_heading[_element_row(span)] - one.ratio,
            float(number == leading),
        )


def _leading(
    spans: Sequence[TitleSpan],
    told: Sequence[_StatedTitleFeatures],
    levels: Sequence[int],
    home: Sequence[float],
) -> int | None:
    """Return the ``h1`` most like a stated title, or the part of one that is exactly that."""
    best, rating = None, 0.0
    for number, (span, one) in enumerate(zip(spans, told, strict=True)):
        eligible = (
            levels[number] == 1 and not home[number] and one.likeness >= MIN_LEADING_SIMILARITY
        )
        if eligible and (span.whole or one.likeness >= _EXACT) and one.likeness > rating:
            best, rating = number, one.likeness
    return best
