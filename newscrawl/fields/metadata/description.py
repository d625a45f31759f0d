"""Description of an article: a stated summary, and whether the page shows it."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from newscrawl.fields.metadata.structured_data import (
    StatedText,
    StructuredData,
    clean_text,
    stated_texts,
)
from newscrawl.items import Evidence
from newscrawl.text import weighted_length, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from newscrawl.document.document import Document

_DESCRIPTION_META = (
    "og:description", "description", "twitter:description", "sailthru.description",
    "dc.description", "dcterms.description", "dcterms.abstract",
)  # fmt: skip
STANDFIRST, BODY = "standfirst", "body"
"""Sources of a description that the page shows: as a paragraph, as the beginning of the body."""

CONFIDENCE = {STANDFIRST: 0.98, BODY: 0.95, "meta": 0.92, "json-ld": 0.9, "microdata": 0.85}
"""Confidence by the first part of the source, set by hand."""

_ELLIPSES = ("…", "...", "…]", "...]")
# Text nodes between title and body, and paragraphs of the body, that may be the standfirst.
_MAX_NODES = 30
_MAX_PARAGRAPHS = 3
_MIN_CHARS = 18
# Longer ones are the article.
_MAX_CHARS = 1000
# Characters between words by which two equal texts may differ.
_MAX_DIFFERENCE = 20


def stated_descriptions(data: StructuredData) -> list[StatedText]:
    """Return the distinct descriptions of the article, without those of the site."""
    sites = data.nodes_of("WebSite", "Organization", "NewsMediaOrganization")
    refused = {clean_text(text) for site in sites for text in stated_texts(site.get("description"))}
    in_json_ld = stated_texts(data.article.get("description"))
    stated = [
        *data.meta_texts(_DESCRIPTION_META),
        *(StatedText(clean_text(text), "json-ld") for text in in_json_ld),
        *(StatedText(data.item_text(item), "microdata") for item in data.items("description")),
    ]
    found: dict[str, StatedText] = {}
    for text in stated:
        is_summary = len(text.text) <= _MAX_CHARS and weighted_length(text.text) >= _MIN_CHARS
        if is_summary and text.text not in refused:
            found.setdefault(text.text, text)
    return list(found.values())


def find_description(
    stated: Iterable[StatedText],
    document: Document,
    *,
    title: str | None,
    title_row: int,
    body: str,
    body_row: int,
) -> tuple[str, Evidence] | None:
    """Return the description among those *stated*, except one that repeats the *title*.

    That is the one that the page shows, else the first, in full if it is truncated. The source
    begins with ``standfirst:`` or ``body:`` if the page shows it. *title_row* is the row of the
    title's element, *body_row* the first of the body.
    """
    repeated = words(title or "")
    words_of = {text: found for text in stated if (found := words(text.text)) != repeated}
    if not words_of:
        return None
    stated, lengths = list(words_of), [len(text.text) for text in words_of]
    shown = _shown_texts(document, title_row, body, body_row, min(lengths) - _MAX_DIFFERENCE)
    start = words(body[: max(lengths) + _MAX_DIFFERENCE])
    places = {text: _place(len(text.text), found, shown, start) for text, found in words_of.items()}
    chosen = next((text for text in stated if places[text] == STANDFIRST), stated[0])
    if places[chosen] != STANDFIRST and chosen.text.endswith(_ELLIPSES):
        beginning = _without_ellipsis(chosen.text)
        longer = (text for text in stated if text.text.startswith(beginning))
        chosen = max(longer, key=lambda text: len(_without_ellipsis(text.text)))
    place, kind = places[chosen], chosen.source.partition(":")[0]
    source = f"{place}:{chosen.source}" if place else chosen.source
    return chosen.text, Evidence(source, CONFIDENCE[place or kind])


def _without_ellipsis(text: str) -> str:
    return text.rstrip("….[] ") if text.endswith(_ELLIPSES) else text


def _place(length: int, found: list[str], shown: list[str], start: list[str]) -> str | None:
    """Return where a description of *length* is shown: :data:`STANDFIRST`, :data:`BODY`, None.

    *found* are its words, *start* those of the body.
    """
    # Comparing lengths first is faster.
    near = (text for text in shown if abs(len(text) - length) <= _MAX_DIFFERENCE)
    if any(words(text) == found for text in near):
        return STANDFIRST
    return BODY if start[: len(found)] == found else None


def _shown_texts(
    document: Document, title_row: int, body: str, body_row: int, least: int
) -> list[str]:
    """Return the texts between title and body of *least* characters, and first paragraphs."""
    rows = document.shown_rows
    start = bisect_left(rows, title_row)
    between = rows[start : min(start + _MAX_NODES, bisect_left(rows, body_row, start))]
    parents = dict.fromkeys(document.parent[row] for row in between)
    paragraphs = body.split("\n\n", _MAX_PARAGRAPHS)[:_MAX_PARAGRAPHS]
    long = (row for row in parents if document.chars(row) + document.end[row] - row >= least)
    return [*map(document.shown_text, long), *paragraphs]
