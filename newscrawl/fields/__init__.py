"""Fields of an article besides its body, from the rows and the structured data of a page.

:func:`read_metadata` reads what the page states; :func:`find_candidates` and :func:`choose_title`
find the title, :func:`page_dates` the dates, :func:`page_kind` the kind of page by its
:func:`kind_features`. The attributes of text nodes in the papers are :class:`TextNodes`, their
classifiers :mod:`~newscrawl.fields.cardoso`.
"""

from newscrawl.fields.cardoso import TextNodes, evaluated_rows
from newscrawl.fields.dates.decide import (
    DateEvidence,
    PageDates,
    PublicationDate,
    decide,
    metadata_evidence,
    page_dates,
)
from newscrawl.fields.further_pages import find_further_pages, further_pages
from newscrawl.fields.kind.barriers import (
    BARRIER_CONFIDENCE,
    BARRIERS,
    find_barrier,
    find_paywall,
    without_consent,
)
from newscrawl.fields.kind.kind_features import ExtractedFields, declared_type, kind_features
from newscrawl.fields.kind.page_kind import (
    PAGE_KIND_THRESHOLD,
    SERIES_CONFIDENCE,
    gallery_slides,
    has_article_data,
    page_kind,
)
from newscrawl.fields.metadata.authors import find_authors, without_byline
from newscrawl.fields.metadata.description import find_description
from newscrawl.fields.metadata.jsonld import Name, join_surrogates, parse_json_ld, read_literal
from newscrawl.fields.metadata.media import shown_caption
from newscrawl.fields.metadata.metadata import (
    DETECTED,
    Metadata,
    detect_language,
    language_tag,
    read_metadata,
    stated_body,
)
from newscrawl.fields.metadata.page_fields import set_page_fields
from newscrawl.fields.metadata.places import StoryPlaces
from newscrawl.fields.metadata.structured_data import plain_text, whole_number
from newscrawl.fields.metadata.structured_date import day_of, parse_date
from newscrawl.fields.titles.title import CONFIDENCE as TITLE_CONFIDENCE
from newscrawl.fields.titles.title import Headline, choose_title, stated_title, title_rows
from newscrawl.fields.titles.title_features import TitleCandidates, find_candidates
from newscrawl.fields.titles.title_model import find_headline, headline_by_style, load_title_model

__all__ = [
    "BARRIERS",
    "BARRIER_CONFIDENCE",
    "DETECTED",
    "PAGE_KIND_THRESHOLD",
    "SERIES_CONFIDENCE",
    "TITLE_CONFIDENCE",
    "DateEvidence",
    "ExtractedFields",
    "Headline",
    "Metadata",
    "Name",
    "PageDates",
    "PublicationDate",
    "StoryPlaces",
    "TextNodes",
    "TitleCandidates",
    "choose_title",
    "day_of",
    "decide",
    "declared_type",
    "detect_language",
    "evaluated_rows",
    "find_authors",
    "find_barrier",
    "find_candidates",
    "find_description",
    "find_further_pages",
    "find_headline",
    "find_paywall",
    "further_pages",
    "gallery_slides",
    "has_article_data",
    "headline_by_style",
    "join_surrogates",
    "kind_features",
    "language_tag",
    "load_title_model",
    "metadata_evidence",
    "page_dates",
    "page_kind",
    "parse_date",
    "parse_json_ld",
    "plain_text",
    "read_literal",
    "read_metadata",
    "set_page_fields",
    "shown_caption",
    "stated_body",
    "stated_title",
    "title_rows",
    "whole_number",
    "without_byline",
    "without_consent",
]
