"""The published methods, and the structured data of a page alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.body.coreex import CoreExParameters, coreex
from newscrawl.body.coreex import find_title as find_coreex_title
from newscrawl.body.econ import EconParameters, extract_news
from newscrawl.body.nce import Fallback, nce
from newscrawl.extraction.method import MethodResult
from newscrawl.fields import (
    TITLE_CONFIDENCE,
    Headline,
    TextNodes,
    cardoso,
    choose_title,
    decide,
    evaluated_rows,
    metadata_evidence,
    stated_body,
    stated_title,
)
from newscrawl.items import Evidence

if TYPE_CHECKING:
    from newscrawl.body.nce import NceParameters
    from newscrawl.document.document import Document
    from newscrawl.extraction.method import ExtractOptions, PageContext

NCE_CONFIDENCE: dict[Fallback | None, float] = {None: 0.88, "relaxed": 0.67, "whole_tree": 0.1}
"""Mean F1 of the body by the fallback of NCE, on labelled pages."""


def find_by_nce(
    page: PageContext, options: ExtractOptions, *, parameters: NceParameters | None = None
) -> MethodResult:
    """Find the body by NCE, and the title by rules with that of NCE as the fallback."""
    document = page.document
    found = nce(document, parameters or options.nce, comments=options.remove_comments)
    if page.trace is not None:
        page.trace.region = found
    own_title = nce_headline(document, found.title)
    title = choose_title(document, page.metadata, page.url, own_title)
    return MethodResult(found.forest, nce_evidence(found.fallback), title)


def nce_evidence(fallback: Fallback | None) -> Evidence:
    """Return the evidence of a body that NCE found."""
    return Evidence("nce", NCE_CONFIDENCE[fallback])


def nce_headline(document: Document, row: int | None) -> Headline | None:
    """Return the title that NCE found at *row*."""
    if row is None:
        return None
    evidence = Evidence("nce", TITLE_CONFIDENCE["method"])
    if document.tag[row] == "title":
        return Headline(document.title, evidence) if document.title else None
    return Headline(document.shown_text(row), evidence, row)


COREEX_CONFIDENCE = 0.9
"""Mean F1 of the body by CoreEx, on labelled pages."""


def find_by_coreex(
    page: PageContext,
    _: ExtractOptions,
    *,
    parameters: CoreExParameters = CoreExParameters.TODAY,
    confidence: float = COREEX_CONFIDENCE,
) -> MethodResult:
    """Find the body by CoreEx, and the title by rules with that of CoreEx as the fallback."""
    document = page.document
    roots = coreex(document, parameters)
    own_title = None
    if (row := find_coreex_title(document, roots)) is not None:
        text = document.shown_text(row)
        own_title = Headline(text, Evidence("coreex", TITLE_CONFIDENCE["method"]), row)
    title = choose_title(document, page.metadata, page.url, own_title)
    return MethodResult(roots, Evidence("coreex", confidence), title)


ECON_CONFIDENCE = 0.88
"""Mean F1 of the body by ECON, on labelled pages."""


def find_by_econ(
    page: PageContext,
    _: ExtractOptions,
    *,
    parameters: EconParameters = EconParameters.BEST,
    confidence: float = ECON_CONFIDENCE,
) -> MethodResult:
    """Find the body by ECON, and the title by rules."""
    title = choose_title(page.document, page.metadata, page.url)
    roots = extract_news(page.document, parameters)
    return MethodResult(roots, Evidence("econ", confidence), title)


def find_by_papers(page: PageContext, options: ExtractOptions) -> MethodResult:
    """Run the published pipeline: NCE, then the classifiers of title and date.

    The body is all other relevant content from the title on (DocEng 2011, 3.4.3).
    """
    document = page.document
    models = cardoso.load_models(options.models)
    found = nce(document, options.nce, comments=options.remove_comments)
    rows = evaluated_rows(document, found.forest)
    nodes = TextNodes.of(document, rows, page.styles.style_of)
    labels = cardoso.classify(nodes, models)
    before = () if labels.title is None else range(labels.title + 1)
    return MethodResult(
        found.forest,
        nce_evidence(found.fallback),
        _papers_title(document, nodes, labels),
        cardoso.parse_publication_date(nodes, labels, page.metadata.language, page.fetched_at),
        skipped=frozenset(rows[place] for place in (*before, *labels.date)),
    )


def _papers_title(
    document: Document, nodes: TextNodes, labels: cardoso.ClassifiedNodes
) -> Headline | None:
    if labels.title is not None:
        evidence = Evidence("papers", labels.title_probability)
        return Headline(nodes.texts[labels.title], evidence, nodes.rows[labels.title])
    if document.title:
        return Headline(document.title, Evidence("title", TITLE_CONFIDENCE["stated"]))
    return None


STATED_BODY_CONFIDENCE = 0.84
"""Mean F1 of the body in JSON-LD, on the labelled pages that have one."""


def find_in_metadata(page: PageContext, _: ExtractOptions) -> MethodResult:
    """Read the structured data of the page alone."""
    metadata = page.metadata
    modified = metadata_evidence(metadata.modified)
    return MethodResult(
        [],
        Evidence("json-ld", STATED_BODY_CONFIDENCE),
        stated_title(metadata, page.url),
        decide(metadata_evidence(metadata.published), modified),
        decide(modified),
        text=stated_body(metadata),
    )
