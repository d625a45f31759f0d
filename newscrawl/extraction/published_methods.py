"""The published methods, and the structured data of a page alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.body.blocks import find_roots
from newscrawl.body.coreex import CoreExParameters, coreex
from newscrawl.body.coreex import find_title as find_coreex_title
from newscrawl.body.econ import EconParameters, extract_news
from newscrawl.body.nce import Fallback, Region, nce
from newscrawl.extraction.method import MethodResult
from newscrawl.fields import cardoso
from newscrawl.fields.attributes import TextNodes, evaluated_rows
from newscrawl.fields.dates.decide import decide
from newscrawl.fields.dates.evidence import metadata_evidence
from newscrawl.fields.metadata.metadata import stated_body
from newscrawl.fields.titles.title import CONFIDENCE as TITLE_CONFIDENCE
from newscrawl.fields.titles.title import Headline, choose_title, stated_title
from newscrawl.items import Evidence
from newscrawl.text import squeeze
from newscrawl.visual.geometry import GeometryError
from newscrawl.visual.v_wrapper import classify_leaves, load_visual_models
from newscrawl.visual.visual_features import VisualBlocks

if TYPE_CHECKING:
    from newscrawl.document.document import Document
    from newscrawl.extraction.method import ExtractOptions, PageContext

NCE_CONFIDENCE: dict[Fallback | None, float] = {None: 0.88, "relaxed": 0.67, "whole_tree": 0.1}
"""Mean F1 of the body by the fallback of NCE, on news212 and fundus."""


def find_by_nce(page: PageContext, options: ExtractOptions) -> MethodResult:
    """Find the body by NCE, and the title by rules with that of NCE as the fallback."""
    document = page.document
    found = nce(document, options.nce, comments=options.remove_comments)
    if page.trace is not None:
        page.trace.region = Region(found.separator, found.forest, found.fallback)
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
        return Headline(document.title, evidence)
    return Headline(squeeze(document.subtree_text(row)), evidence, row)


COREEX_CONFIDENCE: dict[str, float] = {
    "": 0.9, "R1": 0.0, "R2": 0.21, "R3": 0.23, "R4": 0.23, "R5": 0.57,
}  # fmt: skip
"""Mean F1 of the body by the variant of CoreEx, on news212 and fundus."""


def find_by_coreex(
    page: PageContext,
    _: ExtractOptions,
    *,
    parameters: CoreExParameters = CoreExParameters.TODAY,
    variant: str = "",
) -> MethodResult:
    """Find the body by CoreEx, and the title by rules with that of CoreEx as the fallback."""
    document = page.document
    roots = coreex(document, parameters)
    own_title = None
    if (row := find_coreex_title(document, roots)) is not None:
        text = squeeze(document.subtree_text(row))
        own_title = Headline(text, Evidence("coreex", TITLE_CONFIDENCE["method"]), row)
    title = choose_title(document, page.metadata, page.url, own_title)
    return MethodResult(roots, Evidence("coreex", COREEX_CONFIDENCE[variant]), title)


ECON_CONFIDENCE = 0.88
ECON_LITERAL_CONFIDENCE = 0.77
"""Mean F1 of the body by the reading of ECON, on news212 and fundus."""


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


def find_by_cardoso(page: PageContext, options: ExtractOptions) -> MethodResult:
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
        _cardoso_title(document, nodes, labels),
        cardoso.parse_publication_date(nodes, labels, page.metadata.language, page.fetched_at),
        skipped=frozenset(rows[place] for place in (*before, *labels.date)),
    )


def _cardoso_title(
    document: Document, nodes: TextNodes, labels: cardoso.ClassifiedNodes
) -> Headline | None:
    if labels.title is not None:
        evidence = Evidence("cardoso", labels.title_probability)
        return Headline(nodes.texts[labels.title], evidence, nodes.rows[labels.title])
    if document.title:
        return Headline(document.title, Evidence("title", TITLE_CONFIDENCE["stated"]))
    return None


V_WRAPPER_CONFIDENCE = 0.93
"""Mean F1 of the body on pages with all their style sheets."""


def find_by_v_wrapper(page: PageContext, options: ExtractOptions) -> MethodResult:
    """Classify the leaves of the rendered page as title, body or other."""
    if options.geometry is None:
        raise GeometryError(
            "method v-wrapper requires the geometry of the rendered page: "
            "newscrawl evaluate --method v-wrapper --geometry DIR"
        )
    document = page.document
    models = load_visual_models(options.models)
    found = classify_leaves(VisualBlocks.of(document, options.geometry), models)
    title = None
    if found.title:
        text = squeeze(" ".join(document.text[row] for row in found.title))
        title = Headline(text, Evidence("v-wrapper", found.probability), found.title[0])
    roots = find_roots(document, found.body)
    return MethodResult(roots, Evidence("v-wrapper", V_WRAPPER_CONFIDENCE), title)


STATED_BODY_CONFIDENCE = 0.84
"""Mean F1 of the body in JSON-LD, on the pages of news212 and fundus that have one."""


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
