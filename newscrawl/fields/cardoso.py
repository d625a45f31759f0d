"""Title and date as published: two classifiers over text nodes (DocEng 2011 and thesis, 3.4).

A title is classified first, then the date by its distance to it. What the papers leave open stands
with the function that it concerns; the figures are those of ``scrapy train`` in ``docs/results/models.md``.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.ensemble.ensemble import load_model
from newscrawl.fields.attributes import DATE_FEATURES, TITLE_FEATURES
from newscrawl.fields.dates.decide import Dating
from newscrawl.fields.dates.visible_dates import read_dates
from newscrawl.items import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from newscrawl.ensemble.ensemble import TreeEnsemble
    from newscrawl.fields.attributes import TextNodes
    from newscrawl.items import Day

TITLE_FILE, DATE_FILE = "cardoso-title.npz", "cardoso-date.npz"

LEAST_PROBABILITY = 0.5
"""Probability from which a node is of a class: what Weka and scikit-learn say of two classes."""

NEAR = 3
"""Most positions between nodes of a cluster: "at most two other text nodes" (thesis, 3.4.3)."""

LARGE = 100
"""Characters above which a node "would add large amounts of text" and is no date.

The papers give no number. At 50 dates are lost (0.007 of F1); from 100 on nothing changes, as no
larger node is classified as a date.
"""


class Models(NamedTuple):
    """The ensembles of the method."""

    title: TreeEnsemble
    #: tells a date by its distance to the title, too
    date: TreeEnsemble
    #: tells one without, on pages without a title node: the papers' conditional approach, which
    #: they and we found no better
    free_date: TreeEnsemble | None = None

    @property
    def sites(self) -> frozenset[str]:
        """The sites whose pages the models were trained on."""
        return frozenset(self.title.sites) | frozenset(self.date.sites)

    def save(self, folder: Path) -> None:
        """Write the title-dependent pair to *folder*. Raises ``OSError``."""
        self.title.save(folder / TITLE_FILE)
        self.date.save(folder / DATE_FILE)


@cache
def load_models(folder: Path | None = None) -> Models:
    """Return the title-dependent pair in *folder*, or that in the package; read once.

    Raises :class:`~newscrawl.ensemble.ensemble.ModelError` and ``OSError``.
    """
    return Models(
        load_model(TITLE_FILE, TITLE_FEATURES, folder).ensemble,
        load_model(DATE_FILE, DATE_FEATURES, folder).ensemble,
    )


class ClassifiedNodes(NamedTuple):
    """What the classifiers find; places in the list of the nodes evaluated."""

    #: None: ``title`` it is
    title: int | None
    title_probability: float
    #: the nodes of the date, in document order
    date: list[int]
    date_probability: float


def classify(nodes: TextNodes, models: Models) -> ClassifiedNodes:
    """Return title and date among *nodes*."""
    title, title_probability = find_title(nodes, models.title)
    date, date_probability = find_date(nodes, models, title)
    return ClassifiedNodes(title, title_probability, date, date_probability)


def find_title(nodes: TextNodes, model: TreeEnsemble) -> tuple[int | None, float]:
    """Return the place of the first node classified as a title, and its probability."""
    for place, probability in enumerate(model.predict(nodes.title_features)):
        if probability >= LEAST_PROBABILITY:
            return place, probability
    return None, 0.0


def find_date(nodes: TextNodes, models: Models, title: int | None) -> tuple[list[int], float]:
    """Return the places of the nodes of the date and the greatest of their probabilities.

    Of the nodes classified as a date, those of the cluster closest to the title, all where there
    is no title; without the large ones. The distance of a cluster is that of its closest node.
    """
    if title is None and models.free_date is not None:
        probabilities = models.free_date.predict(nodes.free_date_features())
    else:
        position = None if title is None else nodes.positions[title]
        probabilities = models.date.predict(nodes.date_features(position))
    dates = [place for place, p in enumerate(probabilities) if p >= LEAST_PROBABILITY]
    if title is not None and dates:
        dates = _closest_cluster(dates, nodes.positions, title)
    dates = [place for place in dates if len(nodes.texts[place]) <= LARGE]
    return dates, max((probabilities[place] for place in dates), default=0.0)


def _closest_cluster(dates: Sequence[int], positions: Sequence[int], title: int) -> list[int]:
    start = positions[title]
    return min(
        _clusters(dates, positions),
        key=lambda cluster: min(abs(positions[place] - start) for place in cluster),
    )


def _clusters(dates: Sequence[int], positions: Sequence[int]) -> Iterator[list[int]]:
    cluster: list[int] = []
    for place in dates:
        if cluster and positions[place] - positions[cluster[-1]] > NEAR:
            yield cluster
            cluster = []
        cluster.append(place)
    yield cluster


def dating(
    nodes: TextNodes, found: ClassifiedNodes, language: str | None, now: datetime
) -> Dating | None:
    """Return the first date in the nodes of the date, an absolute one before a relative one."""
    raw = " ".join(nodes.texts[place] for place in found.date)
    told = sorted(read_dates(raw, language=language, now=now), key=lambda one: one.kind)
    if not told:
        return None
    first = told[0]
    value: Day | datetime = first.day
    if first.time is not None:
        value = datetime.combine(first.day, first.time, first.zone)
    return Dating(value, raw, Evidence("cardoso", found.date_probability))
