"""Scores by family of corpora, compared with trafilatura and with an earlier run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from newscrawl.lab.corpora.calibration import calibration_error, confidence_bins
from newscrawl.lab.corpora.metrics import Score, bag_score, mean, mean_score, score_of
from newscrawl.lab.evaluation.bootstrap import compare
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.corpora.map_pages import PageOutcome
    from newscrawl.lab.evaluation.bootstrap import Comparison
    from newscrawl.lab.evaluation.page_scores import PageScores


class Family(NamedTuple):
    """Corpora that are reported together."""

    name: str
    corpora: tuple[str, ...]
    #: models and constants may be fitted on its pages; other families are only scored
    may_train: bool


FAMILIES = (
    Family("news", ("news212", "fundus"), may_train=True),
    Family("wcxb", ("wcxb",), may_train=True),
    Family("l3sgn1", ("l3sgn1",), may_train=False),
    Family("daniel", ("daniel",), may_train=False),
    Family("dragnet", ("dragnet",), may_train=False),
    Family("mkwebs", ("mkwebs",), may_train=False),
)
TRAINING_ONLY = ("css-sites", "fundus-history", "postlight")
"""Corpora only used for training: too few sites or labels for a report."""

FAMILY_OF = {corpus: family.name for family in FAMILIES for corpus in family.corpora}
"""Scored corpora, with their family."""

MAY_TRAIN = frozenset(
    {*TRAINING_ONLY, *(name for family in FAMILIES if family.may_train for name in family.corpora)}
)
"""Corpora that may be used for training."""

ALL = "all families"
FAILED = 0.5
"""F1 below which a body counts as failed."""


class GroupedPage(Protocol):
    """Fields of a page by which pages are grouped."""

    @property
    def corpus(self) -> str:
        """Name of the corpus."""

    @property
    def language(self) -> str | None:
        """Labelled language."""

    @property
    def body_suspect(self) -> bool:
        """Whether the labelled body is suspect."""


P = TypeVar("P", bound=GroupedPage)


@dataclass(frozen=True, slots=True)
class FamilyPage:
    """Results of one page; ``None`` for a field that is not labelled."""

    corpus: str
    id: str
    site: str
    language: str | None
    body_suspect: bool
    body: Score | None
    #: confidence of the body; ``None`` if it is empty
    confidence: float | None
    title_f1: float | None
    title_exact: bool | None
    #: publication date is right; ``None`` also for doubtful labels
    day: bool | None
    error: str | None
    #: all authors are right; ``None`` if they are not labelled
    authors: bool | None = None
    #: no author was extracted
    silent: bool = False
    #: F1 of the body by mode of trafilatura
    peers: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, outcome: PageOutcome[PageScores]) -> FamilyPage:
        """Convert the outcome of :func:`~newscrawl.lab.evaluation.page_scores.evaluate`."""
        page, scores = outcome.page, outcome.value
        title, authors = scores.titles.get("label"), scores.metadata.get("authors")
        return cls(
            corpus=page.corpus,
            id=page.id,
            site=page.site,
            language=page.language,
            body_suspect=page.body_suspect,
            body=scores.score("body", "bag"),
            confidence=scores.body_confidence,
            title_f1=score_of(*title[1:]).f1 if title else None,
            title_exact=title.exact if title else None,
            day=scores.day.right if scores.day and page.day_counts else None,
            error=outcome.error,
            authors=authors.right if authors else None,
            silent=authors is not None and not authors.given,
        )

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> FamilyPage:
        """Convert the fields as JSON values."""
        body = plain["body"]
        return cls(**{**plain, "body": None if body is None else Score(*body)})

    @property
    def body_f1(self) -> float | None:
        """F1 of the body."""
        return None if self.body is None else self.body.f1


FIELDS: dict[str, Callable[[FamilyPage], float | None]] = {
    "body": lambda page: page.body_f1,
    "title": lambda page: page.title_f1,
    "day": lambda page: page.day,
    "authors": lambda page: page.authors,
}
"""Scores that are compared with a baseline."""


def with_peers(
    results: Iterable[FamilyPage], pages: Iterable[LabelledPage], bodies: Mapping[str, list[str]]
) -> list[FamilyPage]:
    """Return *results* with the F1 of trafilatura's *bodies*, by mode."""
    found = []
    for number, (result, page) in enumerate(zip(results, pages, strict=True)):
        if page.body is None:
            found.append(result)
            continue
        gold = words(page.body)
        f1 = {mode: bag_score(words(texts[number]), gold).f1 for mode, texts in bodies.items()}
        found.append(replace(result, peers=f1))
    return found


def groups(pages: Sequence[P]) -> Iterator[tuple[str, list[P]]]:
    """Yield name and pages of each family, of its parts and of all families."""
    for family in FAMILIES:
        members = [page for page in pages if page.corpus in family.corpora]
        if members:
            yield family.name, members
            yield from _parts(family.name, members)
    yield ALL, list(pages)


def _parts(name: str, pages: Sequence[P]) -> Iterator[tuple[str, list[P]]]:
    """Yield the pages of a family by language, and without suspect labels."""
    languages = sorted({page.language for page in pages if page.language})
    if len(languages) > 1:
        for language in languages:
            yield f"{name}, {language}", [page for page in pages if page.language == language]
    trusted = [page for page in pages if not page.body_suspect]
    if len(trusted) < len(pages):
        yield f"{name}, without suspects", trusted


def build_report(
    method: str,
    pages: Sequence[FamilyPage],
    *,
    peer: str | None,
    baseline: Sequence[FamilyPage] | None = None,
) -> dict[str, Any]:
    """Return all figures as JSON values.

    *peer* is the version of trafilatura, if installed; *baseline* the pages of an earlier run.
    """
    return {
        "method": method,
        "peer": peer,
        "groups": {name: _figures(members) for name, members in groups(pages)},
        "changes": [] if baseline is None else changes(pages, baseline),
        "failures": [f"{page.corpus}/{page.id}" for page in pages if page.error is not None],
        "pages": [asdict(page) for page in pages],
    }


def _figures(pages: Sequence[FamilyPage]) -> dict[str, Any]:
    bodies = [page.body for page in pages if page.body is not None]
    titles = [page for page in pages if page.title_exact is not None]
    days = [page.day for page in pages if page.day is not None]
    authors = [page for page in pages if page.authors is not None]
    return {
        "pages": len(pages),
        "sites": len({page.site for page in pages}),
        "bodies": len(bodies),
        **mean_score(bodies)._asdict(),
        "below": mean([body.f1 < FAILED for body in bodies]),
        "empty": sum(page.confidence is None for page in pages),
        "titles": len(titles),
        "title_f1": mean([page.title_f1 or 0.0 for page in titles]),
        "title_exact": mean([bool(page.title_exact) for page in titles]),
        "days": len(days),
        "day_right": mean(days),
        "authors": len(authors),
        "authors_right": mean([bool(page.authors) for page in authors]),
        "authors_silent": mean([page.silent for page in authors]),
        **_calibration(pages),
        "peer": _peer(pages),
    }


def _calibration(pages: Sequence[FamilyPage]) -> dict[str, Any]:
    """Return the body scores by bin of confidence; empty bodies are a bin of their own."""
    cases = [
        (page.confidence, page.body.f1)
        for page in pages
        if page.body is not None and page.confidence is not None
    ]
    empty = [page.body.f1 for page in pages if page.body is not None and page.confidence is None]
    loss = sum(1 - f1 for f1 in (*empty, *(f1 for _, f1 in cases)))
    bins = confidence_bins(cases)
    rows = [(it.low, it.high, it.confidence, it.results) for it in bins]
    if empty:
        rows.insert(0, (0.0, 0.0, 0.0, empty))
    return {
        "bins": [
            {
                "from": low,
                "to": high,
                "pages": len(results),
                "share": len(results) / (len(cases) + len(empty)),
                "confidence": confidence,
                "f1": mean(results),
                "loss": sum(1 - f1 for f1 in results) / loss if loss else 0.0,
            }
            for low, high, confidence, results in rows
        ],
        "calibration_error": calibration_error(bins),
    }


def _peer(pages: Sequence[FamilyPage]) -> dict[str, Any] | None:
    """Compare with the better mode of trafilatura; None if it was not run."""
    pairs = [(page, page.body) for page in pages if page.peers and page.body is not None]
    if not pairs:
        return None
    modes = pairs[0][0].peers
    f1 = {mode: mean([page.peers[mode] for page, _ in pairs]) for mode in modes}
    best = max(f1, key=lambda mode: f1[mode])
    return {
        "modes": f1,
        "best": best,
        "f1": f1[best],
        "below": mean([page.peers[best] < FAILED for page, _ in pairs]),
        **compare((page.site, body.f1, page.peers[best]) for page, body in pairs)._asdict(),
    }


def changes(pages: Iterable[FamilyPage], baseline: Iterable[FamilyPage]) -> list[dict[str, Any]]:
    """Compare *pages* with *baseline* by group and field: paired bootstrap of the difference."""
    before = {(page.corpus, page.id): page for page in baseline}
    common = [page for page in pages if (page.corpus, page.id) in before]
    rows = []
    for name, members in groups(common):
        for label, value_of in FIELDS.items():
            triples = [
                (page.site, new, old)
                for page in members
                if (new := value_of(page)) is not None
                and (old := value_of(before[page.corpus, page.id])) is not None
            ]
            if triples:
                found = compare(triples)
                old = mean([old for _, _, old in triples])
                row = {"group": name, "field": label, "before": old, **found._asdict()}
                rows.append(row | {"verdict": _verdict(found)})
    return rows


def _verdict(found: Comparison) -> str:
    if found.high < 0:
        return "worse"
    if found.low > 0:
        return "better"
    return "within noise" if found.wins or found.losses else "same"


def is_worse(report: Mapping[str, Any]) -> bool:
    """Return whether a family got worse than the baseline by more than its noise."""
    names = {family.name for family in FAMILIES}
    return any(row["verdict"] == "worse" and row["group"] in names for row in report["changes"])
