"""Findings of an extraction, with their places in the page, sources, probabilities and reasons."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING, Literal

from newscrawl.body.blocks import cast_votes
from newscrawl.body.coreex import coreex
from newscrawl.body.econ import extract_news
from newscrawl.extraction.rule_fields import BY_RULE
from newscrawl.fields import day_of
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.body.classifier import BlockChoice, CandidateBlocks
    from newscrawl.document.document import Document
    from newscrawl.extraction.method import Trace
    from newscrawl.fields import DateEvidence
    from newscrawl.items import Article, Evidence

FindingKind = Literal["title", "date", "authors", "body", "comments", "lost", "separator"]

KIND_NAMES: dict[FindingKind, str] = {
    "title": "Title",
    "date": "Date",
    "authors": "Authors",
    "body": "Body",
    "comments": "Removed comments",
    "lost": "Candidates that lost",
    "separator": "Separator node",
}
"""Kinds with their headings, in the order of the panel."""

MAX_TEXT = 300
"""Characters of a text that are shown."""
MAX_LOST_TITLES = 10
"""Title candidates that are listed, the most probable ones."""
MAX_BLOCKS = 1000
"""Blocks that are listed; hostile pages have more."""
_MAX_BYLINE = 120
_GENERATORS = ("NCE", "CoreEx", "ECON")


@dataclass(frozen=True, slots=True)
class Finding:
    """A field, or a part of a page that extraction selected, removed or rejected."""

    kind: FindingKind
    text: str
    source: str
    reason: str
    #: in 0..1; None if the source has none
    probability: float | None = None
    #: rows of elements and text nodes, none if the page does not show it
    places: tuple[int, ...] = ()


def find_all(article: Article, trace: Trace) -> list[Finding]:
    """Return the findings of an extraction, those of a kind in document order."""
    document, parsed = trace.document, trace.parsed
    if document is None or parsed is None:
        raise ValueError("the trace is empty: pass it to extract() first")
    return [
        *_titles(article, trace, document),
        *_dates(article, trace, document),
        *_authors(article, document),
        *_body(article, trace, document),
        *_comments(parsed, document),
        *_separator(trace, document),
    ]


def _shorten(text: str) -> str:
    text = squeeze(text)
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def _titles(article: Article, trace: Trace, document: Document) -> Iterator[Finding]:
    candidates = trace.title_candidates
    spans = [] if candidates is None else candidates.spans
    number = f"of {len(spans)} candidates" if candidates is not None else "by the method"
    if article.title and (evidence := article.evidence.get("title")):
        shown = [] if trace.title_row is None else [trace.title_row]
        stated = "" if shown else "Stated by the page; "
        reason = f"{stated}selected {number}.".capitalize()
        yield _field("title", article.title, evidence, reason, shown)
    ranked = sorted(
        zip(trace.title_probabilities, spans, strict=True), key=lambda item: item[0], reverse=True
    )
    lost = ((chance, span) for chance, span in ranked if span.text != article.title)
    for chance, span in islice(lost, MAX_LOST_TITLES):
        row = span.rows[0] if span.heading is None else span.heading
        source = "title: text" if span.heading is None else f"title: {document.tag[row]}"
        places = (row,) if span.whole else span.rows
        reason = "Less probable than the title."
        yield Finding("lost", _shorten(span.text), source, reason, chance, places)


def _field(
    kind: FindingKind, text: str, evidence: Evidence, reason: str, places: Sequence[int] = ()
) -> Finding:
    return Finding(
        kind, _shorten(text), evidence.source, reason, evidence.confidence, tuple(places)
    )


def _dates(article: Article, trace: Trace, document: Document) -> Iterator[Finding]:
    day = None if article.date is None else day_of(article.date)
    same = [item for item in trace.dates if item.day == day]
    if article.date is not None and (evidence := article.evidence.get("date")):
        text = article.date.isoformat()
        if article.date_raw and article.date_raw != text:
            text += f" (“{article.date_raw}”)"
        others = sorted({item.source for item in same} - {evidence.source})
        reason = f"The same day is in: {', '.join(others)}." if others else "No other source."
        shown = dict.fromkeys(_shown(document, item) for item in same if item.row is not None)
        yield _field("date", text, evidence, reason, list(shown))
    if modified := article.date_modified:
        evidence = article.evidence["date_modified"]
        yield _field("date", f"modified: {modified.isoformat()}", evidence, "Last modification.")
    for item in trace.dates:
        if item.day != day:
            places = () if item.row is None else (_shown(document, item),)
            text = f"{item.value.isoformat()} (“{item.raw}”)"
            source = f"date: {item.source}"
            yield Finding("lost", _shorten(text), source, _date_reason(item), None, places)


def _shown(document: Document, item: DateEvidence) -> int:
    """Return the row of the element with the text of *item* alone, else that of the text node."""
    row = item.row or 0
    parent = document.parent[row]
    return parent if list(document.text_nodes(parent)) == [row] else row


def _date_reason(item: DateEvidence) -> str:
    if not item.certain:
        return "Another day, relative or with a guessed year or order."
    return "Another day, with less support or farther from the title."


def _authors(article: Article, document: Document) -> Iterator[Finding]:
    evidence = article.evidence.get("authors")
    if evidence is None:
        return
    short = [row for row in document.text_nodes() if len(document.text[row]) <= _MAX_BYLINE]
    for name in article.authors:
        wanted = name.casefold()
        place = next((row for row in short if wanted in document.text[row].casefold()), None)
        places = () if place is None else (place,)
        yield _field("authors", name, evidence, "Author of the article.", places)


def _body(article: Article, trace: Trace, document: Document) -> Iterator[Finding]:
    evidence = article.evidence.get("body")
    if evidence is not None and evidence.source == "page-data":
        reason = "The text comes from data in a script; the blocks locate it."
        yield _field("body", article.body, evidence, reason)
    candidates, choice = trace.block_candidates, trace.block_choice
    if evidence == BY_RULE:
        found = _roots(trace, document, BY_RULE)
    elif candidates is not None and choice is not None:
        found = _blocks(trace, document, candidates, choice)
    elif evidence is not None:
        found = _roots(trace, document, evidence)
    else:
        return
    yield from islice(found, MAX_BLOCKS)


def _roots(trace: Trace, document: Document, evidence: Evidence) -> Iterator[Finding]:
    """Yield the subtrees that a published method selected."""
    for root in trace.roots:
        reason = (
            "Selected by the rule of the site."
            if evidence == BY_RULE
            else "Selected by the method."
        )
        yield _field("body", document.subtree_text(root), evidence, reason, (root,))


def _blocks(
    trace: Trace, document: Document, candidates: CandidateBlocks, choice: BlockChoice
) -> Iterator[Finding]:
    """Yield the blocks that an algorithm selected, in document order."""
    blocks, best = candidates.blocks, set(choice.best)
    index = {place: number for number, place in enumerate(candidates.places)}
    left_out = {row for root in trace.skipped for row in document.text_nodes(root)}
    cut = min((choice.probabilities[number] for number in best), default=0.0)
    bodies = (trace.region.forest if trace.region else [], coreex(document), extract_news(document))
    votes = cast_votes(document.end, bodies)
    for place, rows in enumerate(blocks.rows):
        vote, number = votes[rows[0]], index.get(place)
        if not vote and number is None:
            continue
        kind: FindingKind = "lost"
        if number is None:
            reason = "In an excluded region of the page, or a repeated text."
        elif number not in best:
            reason = f"Less probable than the last selected block ({cut:.2f})."
        elif left_out.issuperset(rows):
            reason = "Selected, then removed as the title, boilerplate or an excluded part."
        else:
            kind, reason = "body", "In the set of blocks with the largest expected F1."
        text = " ".join(document.text[row] for row in rows)
        chance = None if number is None else choice.probabilities[number]
        places = _places(document, blocks.owner[place], rows)
        yield Finding(kind, _shorten(text), _generators(vote), reason, chance, places)


def _generators(vote: int) -> str:
    names = [name for bit, name in enumerate(_GENERATORS) if vote >> bit & 1]
    return ", ".join(names) or "between candidates"


def _places(document: Document, owner: int, rows: Sequence[int]) -> tuple[int, ...]:
    """Return the element *owner* if *rows* are its whole text, else *rows*."""
    return (owner,) if list(document.text_nodes(owner)) == list(rows) else tuple(rows)


def _comments(parsed: Document, document: Document) -> Iterator[Finding]:
    """Yield the regions that are hidden in *document* only."""
    reason = "Readers' comments, by the names of elements or records with authors."
    removed = [row for row in range(len(parsed)) if document.hidden[row] and not parsed.hidden[row]]
    for _, run in groupby(enumerate(removed), key=lambda item: item[1] - item[0]):
        rows = [row for _, row in run]
        row = rows[0]
        while row < rows[-1] + 1:
            if text := parsed.subtree_text(row):
                yield Finding("comments", _shorten(text), _label(parsed, row), reason, None, (row,))
            row = parsed.end[row]


def _separator(trace: Trace, document: Document) -> Iterator[Finding]:
    region = trace.region
    if region is None or region.separator is None:
        return
    row = region.separator
    relaxed = " Found with relaxed parameters." if region.fallback == "relaxed" else ""
    reason = f"Its children are the parts of the article: {len(region.forest)} trees.{relaxed}"
    yield Finding("separator", _shorten(_label(document, row)), "nce", reason, None, (row,))


def _label(document: Document, row: int) -> str:
    """Return tag, id and class of the element *row*: ``div#story.text``."""
    name, classes = document.attributes["id"].get(row), document.attributes["class"].get(row, "")
    return (
        document.tag[row] + (f"#{name}" if name else "") + "".join(f".{c}" for c in classes.split())
    )
