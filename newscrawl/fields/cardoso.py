"""Title and date by the published method: two text node classifiers (DocEng 2011; thesis, 3.4).

The title is classified first, then the date, with the distance to the title as a feature.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.ensemble.ensemble import load_model
from newscrawl.fields.attributes import DATE_FEATURES, TITLE_FEATURES
from newscrawl.fields.dates.decide import PublicationDate
from newscrawl.fields.dates.visible_dates import read_dates
from newscrawl.items import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from newscrawl.ensemble.ensemble import TreeEnsemble
    from newscrawl.fields.attributes import TextNodes

TITLE_FILE, DATE_FILE = "cardoso-title.npz", "cardoso-date.npz"

PROBABILITY_THRESHOLD = 0.5
"""Minimum probability of a class, as in Weka and scikit-learn for two classes."""

MAX_CLUSTER_GAP = 3
"""Maximum distance between nodes of a cluster: "at most two other text nodes" (thesis, 3.4.3)."""

MAX_DATE_LENGTH = 100
"""Maximum characters of a date; a longer node "would add large amounts of text".

The papers give no number: 50 loses dates, larger values than 100 change nothing.
"""


class Models(NamedTuple):
    """Tree ensembles of the method."""

    title: TreeEnsemble
    #: date classifier that uses the distance to the title
    date: TreeEnsemble
    #: date classifier for pages without a title node: the papers' conditional approach, which is
    #: no more accurate
    independent_date: TreeEnsemble | None = None

    @property
    def sites(self) -> frozenset[str]:
        """Sites whose pages the models were trained on."""
        return frozenset(self.title.sites) | frozenset(self.date.sites)


@cache
def load_models(folder: Path | None = None) -> Models:
    """Return the title-dependent pair in *folder* (default: the package), cached.

    Raises :class:`~newscrawl.ensemble.ensemble.ModelError` or ``OSError``.
    """
    return Models(
        load_model(TITLE_FILE, TITLE_FEATURES, folder).ensemble,
        load_model(DATE_FILE, DATE_FEATURES, folder).ensemble,
    )


class ClassifiedNodes(NamedTuple):
    """Classification result; nodes are indexes into the evaluated nodes."""

    #: None: use the ``title`` element
    title: int | None
    title_probability: float
    #: nodes of the date, in document order
    date: list[int]
    date_probability: float


def classify(nodes: TextNodes, models: Models) -> ClassifiedNodes:
    """Classify title and date among *nodes*."""
    title, title_probability = find_title(nodes, models.title)
    date, date_probability = find_date(nodes, models, title)
    return ClassifiedNodes(title, title_probability, date, date_probability)


def find_title(nodes: TextNodes, model: TreeEnsemble) -> tuple[int | None, float]:
    """Return the index of the first node classified as a title, and its probability."""
    for index, probability in enumerate(model.predict(nodes.features)):
        if probability >= PROBABILITY_THRESHOLD:
            return index, probability
    return None, 0.0


def find_date(nodes: TextNodes, models: Models, title: int | None) -> tuple[list[int], float]:
    """Return the indexes of the date's nodes and their highest probability.

    With a title, only the cluster closest to it is kept; the distance of a cluster is that of its
    closest node. Nodes longer than :data:`MAX_DATE_LENGTH` are dropped.
    """
    model = models.date
    if title is None and models.independent_date is not None:
        model = models.independent_date
    position = None if title is None else nodes.positions[title]
    probabilities = model.predict(nodes.date_features(position))
    dates = [index for index, p in enumerate(probabilities) if p >= PROBABILITY_THRESHOLD]
    if title is not None and dates:
        dates = _closest_cluster(dates, nodes.positions, title)
    dates = [index for index in dates if len(nodes.texts[index]) <= MAX_DATE_LENGTH]
    return dates, max((probabilities[index] for index in dates), default=0.0)


def _closest_cluster(dates: Sequence[int], positions: Sequence[int], title: int) -> list[int]:
    start = positions[title]
    return min(
        _clusters(dates, positions),
        key=lambda cluster: min(abs(positions[index] - start) for index in cluster),
    )


def _clusters(dates: Sequence[int], positions: Sequence[int]) -> Iterator[list[int]]:
    cluster: list[int] = []
    for index in dates:
        if cluster and positions[index] - positions[cluster[-1]] > MAX_CLUSTER_GAP:
            yield cluster
            cluster = []
        cluster.append(index)
    yield cluster


def parse_publication_date(
    nodes: TextNodes, found: ClassifiedNodes, language: str | None, now: datetime
) -> PublicationDate | None:
    """Return the first date in the text of the date's nodes; absolute dates take precedence."""
    raw = " ".join(nodes.texts[index] for index in found.date)
    first = min(
        read_dates(raw, language=language, now=now), key=lambda date: date.kind, default=None
    )
    if first is None:
        return None
    return PublicationDate(first.value, raw, Evidence("cardoso", found.date_probability))
