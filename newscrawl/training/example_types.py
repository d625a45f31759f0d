"""Training examples of one page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from newscrawl.corpora.labels import Labels
from newscrawl.fields.attributes import TextNodes
from newscrawl.fields.titles.title_features import TitleCandidates
from newscrawl.training.block_training import BodyExample

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Example:
    """A page as the classifiers see it."""

    #: the nodes that are evaluated
    nodes: TextNodes
    labels: Labels
    #: text of the nodes labelled title and date, also of those that are not evaluated
    title: str
    date: str
    #: text of the ``title`` element
    head_title: str
    #: position of the title node labelled
    position: int | None
    #: the candidates for the default's title, with their style where no sheet is missing
    candidates: TitleCandidates
    #: and those that were left if the page did not show its title, all wrong; none where that is in
    #: no ``h1``: the label of some pages is a headline for search engines, and their own were wrong
    wrong: TitleCandidates
    #: the candidates for the default's body; None where that is not labelled
    body: BodyExample | None = None
    #: the same of pages made of this one
    body_variants: tuple[BodyExample, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Return the example as JSON values."""
        again = {
            "title_again": sorted(self.labels.title_again),
            "date_again": sorted(self.labels.date_again),
        }
        return asdict(self) | {"labels": asdict(self.labels) | again}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Example:
        """Return the example that :meth:`to_plain` made *plain* of, also after a trip through JSON."""
        labels, body = plain["labels"], plain["body"]
        return cls(
            **{
                **plain,
                "nodes": TextNodes(**plain["nodes"]),
                "labels": Labels(
                    tuple(labels["title"]),
                    tuple(labels["date"]),
                    frozenset(labels["title_again"]),
                    frozenset(labels["date_again"]),
                ),
                "candidates": TitleCandidates.from_plain(plain["candidates"]),
                "body": None if body is None else BodyExample.from_plain(body),
                "body_variants": tuple(map(BodyExample.from_plain, plain["body_variants"])),
                "wrong": TitleCandidates.from_plain(plain["wrong"]),
            }
        )
