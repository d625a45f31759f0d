"""Title and date by the published method: attributes 1 to 9 of text nodes, two classifiers.

DocEng 2011, 3.3 and 3.4; thesis, 3.2 and 3.4.
The title is classified first, then the date, with the distance to the title as a feature.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rapidfuzz.distance import Levenshtein

from newscrawl.ensemble.ensemble import load_model
from newscrawl.fields.dates.decide import PublicationDate
from newscrawl.fields.dates.visible_dates import read_dates
from newscrawl.items import Evidence
from newscrawl.text import count_digits, squeeze

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import TreeEnsemble

    StyleOf: TypeAlias = Callable[[int], Any]

    FeatureColumns: TypeAlias = dict[str, list[float]]

ATTRIBUTES = (
    "text_length",
    "digits",
    "digit_share",
    "font_size",
    "relative_font_size",
    "bold",
    "similar_nodes",
    "title_distance",
    "title_edit_distance",
)
"""Names of attributes 1 to 9."""

INDEPENDENT_DATE_FEATURES = ATTRIBUTES[:7]
"""Features for a date independent of the title: attributes 1 to 7."""

TITLE_FEATURES = (*INDEPENDENT_DATE_FEATURES, "title_edit_distance")
"""Features for a title: all attributes but 8."""

DATE_FEATURES = (*INDEPENDENT_DATE_FEATURES, "title_distance")
"""Features for a date: all attributes but 9."""

EDIT_WEIGHTS = (1, 4, 2)
"""Costs of insertion, deletion and substitution (thesis, 3.2) from a text to the ``title``
element."""

# Longer texts skip the quadratic comparison: such a distance (12 and more) rules out a title.
_MAX_LENGTH_RATIO = 4


def evaluated_rows(document: Document, forest: Sequence[int]) -> list[int]:
    """Return the rows of the visible text nodes in *forest* and before it (thesis, 3.4.1).

    With an empty forest, return those of the whole page.
    """
    rows = list(document.text_nodes())
    if not forest:
        return rows
    before = rows[: bisect_left(rows, forest[0])]
    return before + [row for root in forest for row in document.text_nodes(root)]


@dataclass(frozen=True, slots=True)
class TextNodes:
    """The evaluated text nodes of a page, in document order, and their attributes."""

    #: document rows
    rows: list[int]
    #: texts with white space collapsed
    texts: list[str]
    #: positions among all visible text nodes of the document
    positions: list[int]
    #: columns of :data:`TITLE_FEATURES`
    features: FeatureColumns

    @classmethod
    def of(cls, document: Document, rows: Sequence[int], style_of: StyleOf) -> TextNodes:
        """Return the text nodes *rows*, styled by ``style_of(row)``.

        Attributes 5 and 7 compare a node with the other nodes in *rows*.
        """
        texts = [squeeze(document.text[row]) for row in rows]
        positions = {row: position for position, row in enumerate(document.text_nodes())}
        digits = list(map(count_digits, texts))
        features: FeatureColumns = {
            "text_length": list(map(len, texts)),
            "digits": [*digits],
            "digit_share": [
                100 * count / len(text) for count, text in zip(digits, texts, strict=True)
            ],
            **style_attributes(map(style_of, rows)),
            "title_edit_distance": [title_edit_distance(text, document.title) for text in texts],
        }
        return cls(list(rows), texts, [positions[row] for row in rows], features)

    def __len__(self) -> int:
        return len(self.rows)

    def date_features(self, title: int | None) -> FeatureColumns:
        """Return the columns of all attributes.

        *title* is the position of the title; None means the ``title`` element, before all nodes.
        """
        start = -1 if title is None else title
        return {**self.features, "title_distance": [place - start for place in self.positions]}


def title_edit_distance(text: str, title: str) -> float:
    """Return attribute 9: the weighted edit distance from *text* to *title*, per title character.

    Without a title, the cost of deleting *text* is divided by its own length.
    """
    if not title:
        return float(EDIT_WEIGHTS[1])
    if title.startswith(text):  # the common case: only insertions
        return (len(title) - len(text)) / len(title)
    if len(text) > _MAX_LENGTH_RATIO * len(title):
        return EDIT_WEIGHTS[1] * (len(text) - len(title)) / len(title)
    return Levenshtein.distance(text, title, weights=EDIT_WEIGHTS) / len(title)


def style_attributes(styles: Iterable[Any]) -> FeatureColumns:
    """Return attributes 4 to 7 of text nodes with these *styles*; a node is similar to itself."""
    keys = [(style.font_size, style.color, style.font_family, style.bold) for style in styles]
    largest = max((size for size, *_ in keys), default=0) or 1
    counts = Counter(keys)
    return {
        "font_size": [size for size, *_ in keys],
        "relative_font_size": [100 * size / largest for size, *_ in keys],
        "bold": [float(bold) for *_, bold in keys],
        "similar_nodes": [counts[key] for key in keys],
    }


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
    return PublicationDate(first.value, raw, Evidence("papers", found.date_probability))
