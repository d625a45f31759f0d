"""The extraction methods by name: :data:`METHODS`.

Comments are removed in one of two ways. The default method hides the regions that
:func:`~newscrawl.body.comments.comment_rows` finds before it searches for anything, so that neither
body nor date comes from a comment. The published methods run as published: NCE has its own phase 2
(:func:`~newscrawl.body.nce.remove_comments`), which finds only comments that share most of their
words, and CoreEx and ECON have no comment removal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from newscrawl.body.blocks import find_roots
from newscrawl.body.classifier import BodyModels, body_candidates, choose_blocks, load_body_models
from newscrawl.body.comments import comment_rows, without_comments
from newscrawl.body.coreex import VARIANTS as COREEX_VARIANTS
from newscrawl.body.coreex import CoreExParameters, coreex
from newscrawl.body.coreex import find_title as find_coreex_title
from newscrawl.body.econ import EconParameters, extract_news
from newscrawl.body.excluded_regions import reveal_hidden_article
from newscrawl.body.nce import Fallback, NceParameters, Region, find_region, nce
from newscrawl.body.nce import find_title as find_nce_title
from newscrawl.body.parts import DEFAULT_PARTS, Part
from newscrawl.css.cascade.style import Stylesheets
from newscrawl.fields import cardoso
from newscrawl.fields.attributes import TextNodes, evaluated_rows
from newscrawl.fields.dates.decide import PublicationDate, decide
from newscrawl.fields.dates.evidence import metadata_evidence
from newscrawl.fields.kind.page_kind import KIND_THRESHOLD
from newscrawl.fields.metadata.embedded_article import find_embedded_article
from newscrawl.fields.metadata.metadata import stated_body
from newscrawl.fields.titles.title import CONFIDENCE as TITLE_CONFIDENCE
from newscrawl.fields.titles.title import Headline, choose_title, stated_title
from newscrawl.fields.titles.title_features import find_candidates
from newscrawl.fields.titles.title_model import find_headline, load_title_model
from newscrawl.items import Evidence
from newscrawl.text import squeeze
from newscrawl.visual.geometry import GeometryError
from newscrawl.visual.v_wrapper import classify_leaves, load_visual_models
from newscrawl.visual.visual_features import VisualBlocks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from newscrawl.css.sheets.sheet import Sheet
    from newscrawl.css.sheets.sheet_store import SheetStore
    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import Model
    from newscrawl.extraction.body_formats import BodyFormat
    from newscrawl.extraction.trace import Trace
    from newscrawl.fields.metadata.metadata import Metadata
    from newscrawl.visual.geometry import PageGeometry


class UnknownMethodError(ValueError):
    """The name is not in :data:`METHODS`."""


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """Options of :func:`~newscrawl.extraction.extract.extract`."""

    #: parameters of NCE
    nce: NceParameters = field(default_factory=NceParameters)
    #: remove readers' comments from the body
    remove_comments: bool = True
    #: remove captions, boxes, bylines, dates and link blocks from the body
    remove_boilerplate: bool = True
    #: parts (:data:`~newscrawl.body.parts.PARTS`) that belong to the body
    parts: frozenset[Part] = DEFAULT_PARTS
    #: formats of the body besides text (:data:`~newscrawl.extraction.body_formats.BODY_FORMATS`)
    formats: frozenset[BodyFormat] = frozenset()
    #: a body with fewer characters is dropped
    min_body_chars: int = 0
    #: cache of parsed style sheets, those in pages included
    sheet_store: SheetStore | None = None
    #: probability from which a page is an article
    article_threshold: float = KIND_THRESHOLD
    #: folder of the models; None: those of the package
    models: Path | None = None
    #: geometry of the rendered page, for method ``v-wrapper``
    geometry: PageGeometry | None = None


@dataclass
class PageContext:
    """Input of a method."""

    document: Document
    metadata: Metadata
    url: str | None
    fetched_at: datetime
    #: style sheets by URL; None: styles are not used
    sheets: Mapping[str, str | Sheet] | None = None
    sheet_store: SheetStore | None = None
    #: receives intermediate results, if requested
    trace: Trace | None = None

    @cached_property
    def styles(self) -> Stylesheets:
        """Computed styles; without ``sheets``, only those of the page itself."""
        sheets = self.sheets or {}
        return Stylesheets(self.document, sheets, base_url=self.url or "", store=self.sheet_store)


class MethodResult(NamedTuple):
    """Output of a method."""

    #: roots of the subtrees that contain the body, in document order
    roots: list[int]
    #: evidence of the body
    evidence: Evidence
    title: Headline | None = None
    #: publication and modification date of a ``standalone`` method
    date: PublicationDate | None = None
    modified: PublicationDate | None = None
    #: rows in the subtrees that are not part of the body
    skipped: frozenset[int] = frozenset()
    #: roots of the region that is searched for dates, if other than ``roots``: the blocks of the
    #: body were selected in this region
    region: list[int] | None = None
    #: text of the body, if it does not come from the nodes of the page
    text: str | None = None


class TrainedModels(Protocol):
    """Models of a method."""

    @property
    def sites(self) -> frozenset[str]:
        """Sites whose pages the models were trained on."""


@dataclass(frozen=True, slots=True)
class Method:
    """An extraction method."""

    name: str
    find: Callable[[PageContext, ExtractOptions], MethodResult]
    #: loads the models from a folder, None for those of the package
    load_models: Callable[[Path | None], TrainedModels] | None = None
    #: computed styles are required
    needs_style: bool = False
    #: the geometry of the rendered page is required
    needs_geometry: bool = False
    #: the text of scripts is required: CoreEx before it removed them
    needs_scripts: bool = False
    #: readers' comments are hidden before the method runs; see the module
    hides_comments: bool = False
    #: an article that the page hides until the reader pays is shown before the method runs
    reveals_hidden: bool = False
    #: the body has the whole text of the subtrees, as published
    whole_subtrees: bool = False
    #: title, dates and body come from the method alone, not from other evidence of the page
    standalone: bool = False

    def prepare(self, document: Document, *, comments: bool = False) -> Document:
        """Return *document* as the method reads it; with *comments*, they are not hidden.

        Models are trained on documents prepared by this function.
        """
        if self.reveals_hidden:
            document = reveal_hidden_article(document)
        if self.hides_comments and not comments:
            document = without_comments(document, comment_rows(document))
        return document


NCE_CONFIDENCE: dict[Fallback | None, float] = {None: 0.88, "relaxed": 0.67, "whole_tree": 0.1}
"""Mean F1 of the body by the fallback of NCE, on news212 and fundus."""

PAGE_DATA_CONFIDENCE = 0.9
"""Confidence in a body from the embedded data of a page; an estimate."""


def _find_by_nce(page: PageContext, options: ExtractOptions) -> MethodResult:
    """Find the body by NCE, and the title by rules with that of NCE as the fallback."""
    document = page.document
    found = nce(document, options.nce, comments=options.remove_comments)
    if page.trace is not None:
        page.trace.region = Region(found.separator, found.forest, found.fallback)
    own_title = _nce_headline(document, found.title)
    title = choose_title(document, page.metadata, page.url, own_title)
    return MethodResult(found.forest, _nce_evidence(found.fallback), title)


def _nce_evidence(fallback: Fallback | None) -> Evidence:
    return Evidence("nce", NCE_CONFIDENCE[fallback])


def _nce_headline(document: Document, row: int | None) -> Headline | None:
    if row is None:
        return None
    evidence = Evidence("nce", TITLE_CONFIDENCE["method"])
    if document.tag[row] == "title":
        return Headline(document.title, evidence)
    return Headline(squeeze(document.subtree_text(row)), evidence, row)


class DefaultModels(NamedTuple):
    """Models of the default method."""

    title: Model
    body: BodyModels

    @property
    def sites(self) -> frozenset[str]:
        """Sites whose pages the models were trained on."""
        return self.title.sites | self.body.sites

    def save(self, folder: Path) -> None:
        """Write the models to *folder*. Raises ``OSError``."""
        self.title.save(folder)
        self.body.save(folder)


@cache
def _load_default_models(folder: Path | None) -> DefaultModels:
    return DefaultModels(load_title_model(folder), load_body_models(folder))


def _find_by_models(page: PageContext, options: ExtractOptions) -> MethodResult:
    """Find the region by NCE, the title with the title model, the body with the block classifier."""
    document = page.document
    models = _load_default_models(options.models)
    found = find_region(document, options.nce)
    _, region, fallback = found
    if page.trace is not None:
        page.trace.region = found
    title = _find_title_by_model(page, options, region, models.title)
    if not options.remove_boilerplate:
        return MethodResult(region, _nce_evidence(fallback), title)
    candidates = body_candidates(document, region)
    choice = choose_blocks(candidates, models.body)
    if page.trace is not None:
        page.trace.block_candidates, page.trace.block_choice = candidates, choice
    evidence = Evidence("blocks", models.body.context.ensemble.calibrated(choice.expected))
    text = find_embedded_article(document, choice.rows)
    if text is not None:
        evidence = Evidence("page-data", PAGE_DATA_CONFIDENCE)
    elif not choice.rows:  # the whole page is in excluded regions
        return MethodResult(region, _nce_evidence("whole_tree"), title)
    rows = set(choice.rows)
    if not options.remove_comments:
        for comments in comment_rows(document):
            rows.update(row for row in document.text_nodes() if row in comments)
    roots = find_roots(document, sorted(rows))
    return MethodResult(roots, evidence, title, region=region, text=text)


def _find_title_by_model(
    page: PageContext, options: ExtractOptions, region: list[int], model: Model
) -> Headline | None:
    document = page.document
    candidates = find_candidates(document, page.metadata, page.url, region)
    if page.sheets is not None and page.styles.complete:
        evaluated = evaluated_rows(document, region)
        candidates = candidates.with_style(evaluated, page.styles.style_of)
    if page.trace is not None:
        page.trace.title_candidates = candidates
        page.trace.title_probabilities = model.ensemble.predict(candidates.features)
    if page.sheets is None and not options.formats:
        document.release_tree()
    fallback = None
    if not candidates.stated:
        fallback = _nce_headline(document, find_nce_title(document, region, options.nce))
    return find_headline(document, candidates, model, fallback)


COREEX_CONFIDENCE: dict[str, float] = {
    "": 0.9, "R1": 0.0, "R2": 0.21, "R3": 0.23, "R4": 0.23, "R5": 0.57,
}  # fmt: skip
"""Mean F1 of the body by the variant of CoreEx, on news212 and fundus."""


def _find_by_coreex(
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


def _find_by_econ(
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


def _find_by_cardoso(page: PageContext, options: ExtractOptions) -> MethodResult:
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
        _nce_evidence(found.fallback),
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


def _find_by_v_wrapper(page: PageContext, options: ExtractOptions) -> MethodResult:
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


def _find_in_metadata(page: PageContext, _: ExtractOptions) -> MethodResult:
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


DEFAULT_METHOD = "newscrawl"

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            DEFAULT_METHOD,
            _find_by_models,
            load_models=_load_default_models,
            hides_comments=True,
            reveals_hidden=True,
        ),
        Method("nce", _find_by_nce),
        Method("coreex", _find_by_coreex),
        *(
            Method(
                f"coreex:{variant}",
                partial(_find_by_coreex, parameters=parameters, variant=variant),
                needs_scripts=not parameters.remove_scripts,
                whole_subtrees=True,
            )
            for variant, parameters in COREEX_VARIANTS.items()
        ),
        Method("econ", _find_by_econ),
        Method(
            "econ:literal",
            partial(
                _find_by_econ,
                parameters=EconParameters.LITERAL,
                confidence=ECON_LITERAL_CONFIDENCE,
            ),
            whole_subtrees=True,
        ),
        Method(
            "cardoso",
            _find_by_cardoso,
            load_models=cardoso.load_models,
            needs_style=True,
            standalone=True,
        ),
        Method("metadata", _find_in_metadata, standalone=True),
        Method(
            "v-wrapper",
            _find_by_v_wrapper,
            load_models=load_visual_models,
            needs_geometry=True,
            standalone=True,
        ),
    )
}
"""Methods by name; ``scrapy evaluate`` and ``NEWSCRAWL_METHOD`` use the same names."""

PAGE_METHODS = {name: method for name, method in METHODS.items() if not method.needs_geometry}
"""Methods that need the page alone, not rendered. Those that are trained have packaged models."""

TRAINED_METHODS = {
    name: method.load_models for name, method in METHODS.items() if method.load_models
}
"""Name -> function that loads the models, of the methods that have some. They are evaluated on sites
that the models have not seen."""


def get_method(name: str) -> Method:
    """Return the method with this *name*. Raises :class:`UnknownMethodError`."""
    try:
        return METHODS[name]
    except KeyError:
        known = ", ".join(sorted(METHODS))
        raise UnknownMethodError(f"unknown method {name!r}; expected one of: {known}") from None
