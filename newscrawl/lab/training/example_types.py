"""Training data of one page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from newscrawl.fields.cardoso import TextNodes
from newscrawl.fields.titles.title_candidates import TitleSpan
from newscrawl.fields.titles.title_features import UNKNOWN_STYLE, TitleCandidates
from newscrawl.lab.corpora.labels import Labels
from newscrawl.lab.training.block_training import BodyExample

if TYPE_CHECKING:
    from collections.abc import Mapping


def without_style(candidates: TitleCandidates) -> TitleCandidates:
    """Return *candidates* with unknown style."""
    unknown = {name: [value] * len(candidates.spans) for name, value in UNKNOWN_STYLE.items()}
    return replace(candidates, features={**candidates.features, **unknown})


def _candidates(plain: Mapping[str, Any]) -> TitleCandidates:
    """Restore candidates from the output of ``asdict``, also after a JSON round trip."""
    spans = [TitleSpan(tuple(rows), *rest) for rows, *rest in plain["spans"]]
    return TitleCandidates(**{**plain, "spans": spans})


@dataclass(frozen=True, slots=True)
class TitleExample:
    """Title candidates of a page made from a labelled one."""

    #: without style
    candidates: TitleCandidates
    #: rows of the text nodes of the title
    rows: tuple[int, ...]
    #: their text
    title: str

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> TitleExample:
        """Restore the example from the output of ``asdict``, also after a JSON round trip."""
        candidates = _candidates(plain["candidates"])
        return cls(candidates, tuple(plain["rows"]), plain["title"])


@dataclass(frozen=True, slots=True)
class Example:
    """Features and labels of one page, for all classifiers."""

    #: nodes that are classified
    nodes: TextNodes
    labels: Labels
    #: text of the labelled title and date nodes, classified or not
    title: str
    date: str
    #: text of the ``title`` element
    head_title: str
    #: position of the labelled title node
    position: int | None
    #: title candidates of the default method, with style unless a sheet is missing
    candidates: TitleCandidates
    #: negative examples: title candidates of the page without its title; empty unless the title is
    #: in an ``h1``, as some labels are headlines for search engines
    wrong: TitleCandidates
    #: body candidates of the default method, None if the body is not labelled
    body: BodyExample | None = None
    #: body candidates of the pages made from this one
    body_variants: tuple[BodyExample, ...] = ()
    #: title candidates of other pages made from this one
    title_variants: tuple[TitleExample, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Return the example as JSON values."""
        repeats = {
            "title_repeats": sorted(self.labels.title_repeats),
            "date_repeats": sorted(self.labels.date_repeats),
        }
        return asdict(self) | {"labels": asdict(self.labels) | repeats}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Example:
        """Convert the result of :meth:`to_plain`, which may have been stored as JSON."""
        labels, body = plain["labels"], plain["body"]
        return cls(
            **{
                **plain,
                "nodes": TextNodes(**plain["nodes"]),
                "labels": Labels(
                    tuple(labels["title"]),
                    tuple(labels["date"]),
                    frozenset(labels["title_repeats"]),
                    frozenset(labels["date_repeats"]),
                ),
                "candidates": _candidates(plain["candidates"]),
                "body": None if body is None else BodyExample.from_plain(body),
                "title_variants": tuple(map(TitleExample.from_plain, plain["title_variants"])),
                "body_variants": tuple(map(BodyExample.from_plain, plain["body_variants"])),
                "wrong": _candidates(plain["wrong"]),
            }
        )
