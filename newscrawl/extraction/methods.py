"""The methods of extraction, by name: how title and body are found, and the models they have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from newscrawl.body.blocks import forest_of_blocks
from newscrawl.body.classifier import BodyModels, body_candidates, choose_blocks, load_body_models
from newscrawl.body.comments import comment_rows, without_comments
from newscrawl.body.coreex import VARIANTS as COREEX_VARIANTS
from newscrawl.body.coreex import CoreExParameters, coreex
from newscrawl.body.coreex import find_title as title_of_core_content
from newscrawl.body.econ import EconParameters, econ
from newscrawl.body.excluded_regions import reveal
from newscrawl.body.nce import Fallback, NceParameters, find_region, nce
from newscrawl.body.nce import find_title as title_by_nce
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

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from newscrawl.css.sheets.sheet import Sheet
    from newscrawl.css.sheets.sheet_store import SheetStore
    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import Model
    from newscrawl.fields.metadata.metadata import Metadata


class UnknownMethodError(ValueError):
    """There is no method of that name in :data:`METHODS`."""


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """What :func:`extract` may be told beside the page."""

    #: thresholds of NCE
    nce: NceParameters = field(default_factory=NceParameters)
    #: leave regions that look like readers' comments out of the body
    remove_comments: bool = True
    #: leave captions, boxes, bylines, dates and blocks of links out of the body
    remove_boilerplate: bool = True
    #: the parts (:data:`~newscrawl.body.parts.PARTS`) that belong to the body
    parts: frozenset[Part] = DEFAULT_PARTS
    #: bodies with fewer characters are taken for no body
    min_body_chars: int = 0
    #: where parsed style sheets are kept, the blocks in pages included
    sheet_store: SheetStore | None = None
    #: probability from which a page is an article
    article_threshold: float = KIND_THRESHOLD
    #: folder of the models of methods that have any: None for those in the package
    models: Path | None = None


@dataclass
class PageContext:
    """A page as methods see it."""

    document: Document
    metadata: Metadata
    #: what was fetched from where and when
    url: str | None
    fetched_at: datetime
    #: by URL; None where styles were not asked for
    sheets: Mapping[str, str | Sheet] | None = None
    sheet_store: SheetStore | None = None

    @cached_property
    def styles(self) -> Stylesheets:
        """The computed styles; of the page's own sheets alone where none were given."""
        sheets = self.sheets or {}
        return Stylesheets(self.document, sheets, base_url=self.url or "", store=self.sheet_store)


class Body(NamedTuple):
    """What a method finds in a page."""

    #: rows of the roots of the subtrees that hold the body, in document order
    forest: list[int]
    evidence: Evidence
    #: the title
    title: Headline | None = None
    #: the method's own date, where it is alone
    date: PublicationDate | None = None
    #: rows in the forest that are no body
    skipped: frozenset[int] = frozenset()
    #: True: title, date and body are the method's, whatever else the page states
    alone: bool = False
    #: the method's date of modification, where it is alone
    modified: PublicationDate | None = None
    #: True: the body is the forest with all that is in it, as published
    whole: bool = False
    #: the region that dates are told from, where it is not the forest
    region: list[int] | None = None
    #: the body's text, of a method that does not find it in the page's nodes
    text: str | None = None


Method = Callable[[PageContext, ExtractOptions], Body]


class Trained(Protocol):
    """The models of a method."""

    @property
    def sites(self) -> frozenset[str]:
        """The sites whose pages they were trained on."""


NCE_CONFIDENCE: dict[Fallback | None, float] = {None: 0.88, "relaxed": 0.67, "whole_tree": 0.1}
"""Mean F1 of NCE's body, by its fall-back: 671, 6 and 2 pages of news212 and fundus."""


def _nce(page: PageContext, options: ExtractOptions) -> Body:
    """Find the body by NCE; the title by rules, NCE's own where they find none."""
    body = _nce_body(page, options)
    title = choose_title(page.document, page.metadata, page.url, body.title)
    return body._replace(title=title)


PAGE_DATA_CONFIDENCE = 0.9
"""Set by hand: right on the 2 of 879 pages of the corpora whose article is in their data alone."""


class DefaultModels(NamedTuple):
    """The models of the default method."""

    title: Model
    body: BodyModels

    @property
    def sites(self) -> frozenset[str]:
        """The sites whose pages they were trained on."""
        return self.title.sites | self.body.sites

    def save(self, folder: Path) -> None:
        """Write the models to *folder*. Raises ``OSError``."""
        self.title.save(folder)
        self.body.save(folder)


@cache
def _load_default_models(folder: Path | None) -> DefaultModels:
    return DefaultModels(load_title_model(folder), load_body_models(folder))


def _newscrawl(page: PageContext, options: ExtractOptions) -> Body:
    """Find the region by NCE, the title by an ensemble, and the body by one that chooses blocks."""
    document = page.document
    models = _load_default_models(options.models)
    _, region, fallback = find_region(document, options.nce)
    candidates = find_candidates(document, page.metadata, page.url, region)
    if page.sheets is not None and page.styles.complete:
        evaluated = evaluated_rows(document, region)
        candidates = candidates.with_style(evaluated, page.styles.style_of)
    if page.sheets is None:
        document.release_tree()
    other = None
    if not candidates.stated:
        other = _nce_title(document, title_by_nce(document, region, options.nce))
    title = find_headline(document, candidates, models.title, other)
    if not options.remove_boilerplate:
        return Body(region, Evidence("nce", NCE_CONFIDENCE[fallback]), title)
    choice = choose_blocks(body_candidates(document, region), models.body)
    evidence = Evidence("blocks", models.body.context.ensemble.calibrated(choice.expected))
    text = find_embedded_article(document, choice.rows)
    if text is not None:
        evidence = Evidence("page-data", PAGE_DATA_CONFIDENCE)
    elif not choice.rows:  # all of the page is in regions that are no article
        return Body(region, Evidence("nce", NCE_CONFIDENCE["whole_tree"]), title)
    rows = set(choice.rows)
    if not options.remove_comments:
        for comments in comment_rows(document):
            rows.update(row for row in document.text_nodes() if row in comments)
    return Body(
        forest_of_blocks(document, sorted(rows)),
        evidence,
        title,
        region=region,
        text=text,
    )


def _nce_body(page: PageContext, options: ExtractOptions) -> Body:
    document = page.document
    found = nce(document, options.nce, comments=options.remove_comments)
    evidence = Evidence("nce", NCE_CONFIDENCE[found.fallback])
    return Body(found.forest, evidence, _nce_title(document, found.title))


def _nce_title(document: Document, row: int | None) -> Headline | None:
    if row is None:
        return None
    evidence = Evidence("nce", TITLE_CONFIDENCE["method"])
    if document.tag[row] == "title":
        return Headline(document.title, evidence)
    return Headline(squeeze(document.subtree_text(row)), evidence, row)


COREEX_CONFIDENCE: dict[str, float] = {
    "": 0.9, "R1": 0.0, "R2": 0.21, "R3": 0.23, "R4": 0.23, "R5": 0.57,
}  # fmt: skip
"""Mean F1 of CoreEx's body, by its variant: 679 pages of news212 and fundus."""


def _coreex(
    page: PageContext,
    options: ExtractOptions,  # noqa: ARG001  # as all methods
    *,
    parameters: CoreExParameters = CoreExParameters.TODAY,
    variant: str = "",
) -> Body:
    """Find the body by CoreEx; the title by rules, CoreEx's own where they find none."""
    document = page.document
    forest = coreex(document, parameters)
    found = None
    if (row := title_of_core_content(document, forest)) is not None:
        text = squeeze(document.subtree_text(row))
        found = Headline(text, Evidence("coreex", TITLE_CONFIDENCE["method"]), row)
    title = choose_title(document, page.metadata, page.url, found)
    evidence = Evidence("coreex", COREEX_CONFIDENCE[variant])
    return Body(forest, evidence, title, whole=bool(variant))


ECON_CONFIDENCE: dict[str, float] = {"": 0.88, "literal": 0.77}
"""Mean F1 of ECON's body, by its reading: 679 pages of news212 and fundus."""


def _econ(
    page: PageContext,
    options: ExtractOptions,  # noqa: ARG001  # as all methods
    *,
    parameters: EconParameters = EconParameters.BEST,
    variant: str = "",
) -> Body:
    """Find the body by ECON; the title by rules."""
    title = choose_title(page.document, page.metadata, page.url)
    evidence = Evidence("econ", ECON_CONFIDENCE[variant])
    return Body(econ(page.document, parameters), evidence, title, whole=bool(variant))


def _cardoso(page: PageContext, options: ExtractOptions) -> Body:
    """Run the papers' pipeline as published: NCE, then the classifiers of title and date.

    The body is all other relevant content from the title on (DocEng 2011, 3.4.3).
    """
    document = page.document
    models = cardoso.load_models(options.models)
    found = nce(document, options.nce, comments=options.remove_comments)
    rows = evaluated_rows(document, found.forest)
    nodes = TextNodes.of(document, rows, page.styles.style_of)
    labels = cardoso.classify(nodes, models)
    before = () if labels.title is None else range(labels.title + 1)
    return Body(
        found.forest,
        Evidence("nce", NCE_CONFIDENCE[found.fallback]),
        _cardoso_title(document, nodes, labels),
        cardoso.parse_publication_date(nodes, labels, page.metadata.language, page.fetched_at),
        frozenset(rows[place] for place in (*before, *labels.date)),
        alone=True,
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


STATED_BODY_CONFIDENCE = 0.84
"""Mean F1 of the body that JSON-LD states, on the 170 of 679 pages of news212 and fundus that do."""


def _metadata(page: PageContext, options: ExtractOptions) -> Body:  # noqa: ARG001  # as all methods
    """Read structured data alone: what the page states, whatever it shows."""
    metadata = page.metadata
    modified = metadata_evidence(metadata.modified)
    return Body(
        [],
        Evidence("json-ld", STATED_BODY_CONFIDENCE),
        stated_title(metadata, page.url),
        decide(metadata_evidence(metadata.published), modified),
        alone=True,
        modified=decide(modified),
        text=stated_body(metadata),
    )


METHODS: dict[str, Method] = {
    "newscrawl": _newscrawl,
    "nce": _nce,
    "coreex": _coreex,
    **{
        f"coreex:{name}": partial(_coreex, parameters=parameters, variant=name)
        for name, parameters in COREEX_VARIANTS.items()
    },
    "econ": _econ,
    "econ:literal": partial(_econ, parameters=EconParameters.LITERAL, variant="literal"),
    "cardoso": _cardoso,
    "metadata": _metadata,
}
"""Methods by name; the same names serve ``scrapy evaluate`` and ``NEWSCRAWL_METHOD``."""

DEFAULT_METHOD = "newscrawl"

LEARNED: dict[str, Callable[[Path | None], Trained]] = {
    "newscrawl": _load_default_models,
    "cardoso": cardoso.load_models,
}
"""Those that have models, which are to be scored on sites that they have not seen, and what loads
the models of a folder."""

REVEALED = frozenset({"newscrawl"})
"""Those for which an article is shown that the page hides until its reader has paid."""

COMMENTS_HIDDEN = frozenset({"newscrawl"})
"""Those for which readers' comments are hidden before anything is looked for: neither the body
nor a date is found in them. The published ones have their own phase for comments."""

SCRIPTED = frozenset(
    f"coreex:{name}" for name, one in COREEX_VARIANTS.items() if not one.remove_scripts
)
"""Those that count the text of scripts, as CoreEx did before it removed them."""

STYLED = frozenset({"cardoso"})
"""Those that need styles. ``newscrawl`` uses them where they were asked for, and is as good without."""


def prepare(
    document: Document, method: str = DEFAULT_METHOD, *, comments: bool = False
) -> Document:
    """Return *document* as *method* reads it; with *comments*, those of readers stay in it.

    What a method has learned it has learned from documents that were prepared so.
    """
    if method in REVEALED:
        document = reveal(document)
    if method in COMMENTS_HIDDEN and not comments:
        document = without_comments(document, comment_rows(document))
    return document


def method_of(name: str) -> Method:
    """Return the method of that name. Raises :class:`UnknownMethodError`."""
    try:
        return METHODS[name]
    except KeyError:
        known = ", ".join(sorted(METHODS))
        raise UnknownMethodError(f"no method {name!r}; there are: {known}") from None
