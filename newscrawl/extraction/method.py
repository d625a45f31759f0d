"""Interface of extraction methods: :class:`Method`, its context and its trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from newscrawl.body.comments import comment_rows
from newscrawl.body.excluded_regions import reveal_hidden_article
from newscrawl.body.nce import NceParameters
from newscrawl.body.parts import DEFAULT_PARTS, Part
from newscrawl.css import Stylesheets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime
    from pathlib import Path

    from newscrawl.body.classifier import BlockChoice, CandidateBlocks
    from newscrawl.body.nce import NceResult
    from newscrawl.css import Sheet, SheetStore
    from newscrawl.document.document import Document
    from newscrawl.fields import DateEvidence, Headline, Metadata, PublicationDate, TitleCandidates
    from newscrawl.items import Evidence
    from newscrawl.site_rules import SiteRules

BodyFormat = Literal["html", "images", "links", "markdown"]
FORMAT_FIELDS: dict[BodyFormat, str] = {
    "html": "body_html",
    "images": "images",
    "links": "links",
    "markdown": "body_markdown",
}
"""Format of the body -> field of articles."""


@dataclass(slots=True)
class Trace:
    """Intermediate results of :func:`~newscrawl.extraction.extract.extract`, empty at its start.

    A method leaves out the steps that it does not have.
    """

    #: the page as parsed
    parsed: Document | None = None
    #: the page as the method reads it: without comments
    document: Document | None = None
    #: separator node and forest of NCE
    region: NceResult | None = None
    title_candidates: TitleCandidates | None = None
    #: of each title candidate
    title_probabilities: Sequence[float] = ()
    block_candidates: CandidateBlocks | None = None
    block_choice: BlockChoice | None = None
    #: evidence of the publication date, in order of trust
    dates: list[DateEvidence] = field(default_factory=list)
    #: features of the page kind classifier
    kind_features: Mapping[str, float] = field(default_factory=dict)
    #: row of the element that shows the title
    title_row: int | None = None
    #: roots of the subtrees that the body was rendered from
    roots: list[int] = field(default_factory=list)
    #: rows in these subtrees that were left out
    skipped: frozenset[int] = frozenset()


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
    parts: AbstractSet[Part] = DEFAULT_PARTS
    #: formats of the body besides text, with its links and images: keys of ``FORMAT_FIELDS``
    formats: AbstractSet[BodyFormat] = frozenset()
    #: fields of articles on request, of :data:`~newscrawl.items.EXTRA_FIELDS`
    extra_fields: AbstractSet[str] = frozenset()
    #: a body with fewer characters is dropped
    min_body_chars: int = 0
    #: cache of parsed style sheets, those in pages included
    sheet_store: SheetStore | None = None
    #: probability from which a page is an article; None:
    #: ``KIND_THRESHOLD``
    article_threshold: float | None = None
    #: folder of the models; None: those of the package
    models: Path | None = None
    #: leave out the body, which is found all the same: other fields depend on it
    metadata_only: bool = False
    #: corrections of sites
    site_rules: SiteRules | None = None

    @property
    def requested(self) -> AbstractSet[str]:
        """Fields of articles on request, those of the formats included."""
        if not self.formats:
            return self.extra_fields
        return self.extra_fields | {FORMAT_FIELDS[name] for name in self.formats}


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
            document = document.with_hidden(comment_rows(document))
        return document
