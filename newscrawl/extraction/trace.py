"""Intermediate results of an extraction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from newscrawl.body.classifier import BlockChoice, CandidateBlocks
    from newscrawl.body.nce import NceResult
    from newscrawl.document.document import Document
    from newscrawl.fields import DateEvidence, TitleCandidates


@dataclass(slots=True)
class Trace:
    """Intermediate results of :func:`~newscrawl.extraction.extract.extract`, which fills an empty one.

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
