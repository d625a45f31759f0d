"""Scores of an extraction method on labelled pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.lab.corpora.alignment import covered_nodes
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.corpus_sheets import corpus_sheets
from newscrawl.lab.corpora.day_match import NO_DAY, DayResult, day_result
from newscrawl.lab.corpora.map_pages import map_pages
from newscrawl.lab.corpora.metadata_match import (
    FieldMatch,
    MetadataField,
    MetadataValues,
    field_matches,
)
from newscrawl.lab.corpora.metrics import ZERO, Score, bag_score, node_score, text_weighted_score
from newscrawl.lab.corpora.rendering import read_geometry
from newscrawl.lab.corpora.title_match import Gold, TitleMatch, title_matches
from newscrawl.lab.paper_methods import V_WRAPPER, evaluated_method, v_wrapper
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from newscrawl.document.document import Document
    from newscrawl.items import Article
    from newscrawl.lab.corpora.map_pages import PageOutcome

TextField = Literal["relevant", "body", "title"]
Metric = Literal["bag", "node", "weighted"]
TEXT_FIELDS: tuple[TextField, ...] = get_args(TextField)
METRICS: tuple[Metric, ...] = get_args(Metric)
Scores = dict[TextField, dict[Metric, Score]]

MIN_ALIGNED = 0.5
"""Share of a label's words that must be found in text nodes for node-based scores."""


@dataclass(frozen=True, slots=True)
class PageScores:
    """Scores of one page, for the labelled fields only."""

    scores: Scores = field(default_factory=dict)
    #: ``None`` if the date is not labelled
    day: DayResult | None = None
    titles: dict[Gold, TitleMatch] = field(default_factory=dict)
    metadata: dict[MetadataField, FieldMatch] = field(default_factory=dict)
    #: extracted language of the page
    language: str | None = None
    #: ``None`` if the extracted body is empty
    body_confidence: float | None = None

    def score(self, name: TextField, metric: Metric) -> Score | None:
        """Return the score of a field by a metric, if available."""
        return self.scores.get(name, {}).get(metric)

    def to_plain(self) -> dict[str, Any]:
        """Return the scores as JSON values."""
        return {
            "scores": self.scores,
            "day": self.day,
            "titles": self.titles,
            "metadata": self.metadata,
            "language": self.language,
            "body_confidence": self.body_confidence,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> PageScores:
        """Convert the result of :meth:`to_plain`, which may have been stored as JSON."""
        scores: Scores = {
            name: {metric: Score(*score) for metric, score in by_metric.items()}
            for name, by_metric in plain["scores"].items()
        }
        day = DayResult(*plain["day"]) if plain["day"] else None
        titles = {gold: TitleMatch(*match) for gold, match in plain["titles"].items()}
        metadata = {name: FieldMatch(*match) for name, match in plain["metadata"].items()}
        return cls(scores, day, titles, metadata, plain["language"], plain["body_confidence"])

    @classmethod
    def failed(cls, page: LabelledPage) -> PageScores:
        """Return scores of 0 for all labelled fields of a page that could not be extracted."""
        zeros: Scores = {name: dict.fromkeys(METRICS, ZERO) for name in _labels(page)}
        titles: dict[Gold, TitleMatch] = {}
        if page.title is not None:
            titles["label"] = TitleMatch.of("", page.title)
        metadata = field_matches(page, MetadataValues())
        return cls(zeros, None if page.date is None else NO_DAY, titles, metadata)


def score_page(
    html: bytes,
    *,
    page: dict[str, Any],
    method: str,
    models: str | None = None,
    nodes: bool = True,
    geometry: str | None = None,
) -> dict[str, Any]:
    """Return the :class:`PageScores` of *method* for a :class:`LabelledPage`, both as JSON values.

    A method that uses style reads the style sheets of the corpus. *models* is a folder that
    replaces the packaged models, *geometry* that of rendered pages. Without *nodes* the scores by
    text nodes are left out, which saves half of the time. Raises the errors of :func:`extract`.
    """
    labelled = LabelledPage.from_plain(page)
    if method == V_WRAPPER and geometry:
        chosen = v_wrapper(read_geometry(Path(geometry), labelled))
    else:
        chosen = evaluated_method(method)
    article = extract(
        html,
        labelled.url,
        fetched_at=labelled.fetched_at,
        stylesheets=corpus_sheets(labelled.path.parent.parent) if chosen.needs_style else None,
        method=chosen,
        options=ExtractOptions(models=Path(models) if models else None),
    )
    document = parse_document(html) if nodes else None
    scores: Scores = {}
    _add_bag_scores(scores, labelled, article)
    if document is not None:
        _add_node_scores(scores, labelled, article, document)
    return PageScores(
        scores,
        day_result(labelled, article),
        title_matches(labelled, article, document),
        field_matches(labelled, MetadataValues.of(article)),
        article.language,
        article.evidence["body"].confidence if article.body else None,
    ).to_plain()


def relevant_output(article: Article) -> str:
    """Return the relevant content (NCE paper) of *article*: title and body."""
    return f"{article.title or ''}\n{article.body}"


def _labels(page: LabelledPage) -> dict[TextField, str]:
    texts: dict[TextField, str | None] = {
        "relevant": page.relevant_content,
        "body": page.body,
        "title": page.title,
    }
    return {name: text for name, text in texts.items() if text is not None}


def _add_bag_scores(scores: Scores, page: LabelledPage, article: Article) -> None:
    output: Mapping[TextField, str] = {
        "relevant": relevant_output(article),
        "body": article.body,
        "title": article.title or "",
    }
    for name, label in _labels(page).items():
        scores.setdefault(name, {})["bag"] = bag_score(words(output[name]), words(label))


def _add_node_scores(
    scores: Scores, page: LabelledPage, article: Article, document: Document
) -> None:
    """Add node-based and text-weighted scores of the labels found in text nodes."""
    nodes = [words(document.text[row]) for row in document.text_nodes()]
    sizes = [len(node) for node in nodes]
    gold = _members(nodes, page.title, page.body)
    output = _members(nodes, article.title, article.body)
    for name, label in _labels(page).items():
        if sum(sizes[node] for node in gold[name]) >= MIN_ALIGNED * len(words(label)):
            by_metric = scores.setdefault(name, {})
            by_metric["node"] = node_score(output[name], gold[name])
            by_metric["weighted"] = text_weighted_score(output[name], gold[name], sizes)


def _members(
    nodes: Sequence[Sequence[str]], title: str | None, body: str | None
) -> dict[TextField, frozenset[int]]:
    # aligned separately: the position of the title relative to the body varies
    title_nodes = covered_nodes(nodes, words(title or ""))
    body_nodes = covered_nodes(nodes, words(body or ""))
    return {"title": title_nodes, "body": body_nodes, "relevant": title_nodes | body_nodes}


def evaluate(
    pages: Sequence[LabelledPage],
    method: str,
    *,
    workers: int,
    advance: Callable[[], object] | None = None,
    models: Path | None = None,
    nodes: bool = True,
    geometry: Path | None = None,
) -> list[PageOutcome[PageScores]]:
    """Return the scores of *method* on *pages*, in their order; failed pages score 0.

    *models*, *nodes* and *geometry* are those of :func:`score_page`; *advance* is called after each
    page.
    """
    return map_pages(
        "newscrawl.lab.evaluation.page_scores:score_page",
        pages,
        PageScores.from_plain,
        PageScores.failed,
        workers=workers,
        advance=advance,
        method=method,
        models=str(models) if models else None,
        nodes=nodes,
        geometry=str(geometry) if geometry else None,
    )
