"""How well kinds of page and paywalls are told, and how far the confidence in a kind is right.

Pages: those of our own making (``newscrawl.samples.kindpages``, half ``tune`` and half
``report``), the sample sites, and the labelled pages of the corpora, which are articles but for
those that ``kinds.json`` lists. ``index`` and ``other`` count as one kind, *no article*: what the
pipeline drops. Articles of the corpora without their text ("cut out", as in ``gate.py``) are no
articles either, and count for the reliability of the confidence only.

    python benchmarks/kinds.py [--corpora DIR] [--wrong]
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from gate import cut_shape

from newscrawl.evaluation.corpora import load_corpus
from newscrawl.evaluation.tables import Table, print_tables
from newscrawl.extraction import extract
from newscrawl.fields.kind import article_probability, calibrated
from newscrawl.samples import expected_pages
from newscrawl.samples.kindpages import kind_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

REPOSITORY = Path(__file__).resolve().parents[1]
CORPORA = REPOSITORY.parent / "shared" / "corpora"
LABELS = json.loads((Path(__file__).parent / "kinds.json").read_text())
NAMES = ("news212", "fundus")
NO_ARTICLE = "no article"
KINDS = ("article", "live", "gallery", NO_ARTICLE, "paywalled")
BINS = (0.5, 0.7, 0.9, 0.97, 1.01)


@dataclass(frozen=True)
class Told:
    """A page, what it is and what it is taken for."""

    name: str
    group: str
    #: its kind and, where it is a stub, ``paywalled``
    labels: frozenset[str]
    found: frozenset[str]
    confidence: float

    @property
    def right(self) -> bool:
        """Whether the kind is right."""
        return self.labels - {"paywalled"} == self.found - {"paywalled"}


def told(
    name: str, group: str, html: bytes, kind: str, *, stub: bool, at: datetime | None = None
) -> Told:
    """Return what is told of a page."""
    article = extract(html, fetched_at=at)
    # What structured data says of stubs is no part of this: most that call themselves so are whole.
    evidence = article.evidence.get("paywalled")
    shown = evidence is not None and evidence.source == "shown"
    return Told(
        name,
        group,
        labels_of(kind, stub=stub),
        labels_of(article.kind, stub=shown or (stub and article.paywalled is True)),
        article.evidence["kind"].confidence,
    )


def labels_of(kind: str, *, stub: bool) -> frozenset[str]:
    """Return the kinds of a page, ``index`` and ``other`` as one."""
    kind = NO_ARTICLE if kind in {"index", "other"} else kind
    return frozenset({kind, "paywalled"} if stub else {kind})


def made_pages() -> Iterator[Told]:
    """Yield the pages of our own making."""
    for page in kind_pages():
        yield told(page.page, f"made, {page.half}", page.html, page.kind, stub=page.paywalled)
    for expected in expected_pages():
        html = expected.file.read_bytes()
        yield told(expected.path, "sample sites", html, expected.kind, stub=False)


def corpus_pages(folder: Path) -> Iterator[Told]:
    """Yield the labelled pages of the corpora."""
    for name in NAMES:
        kinds, stubs = LABELS["kinds"].get(name, {}), LABELS["stubs"].get(name, [])
        for page in load_corpus(folder / name).pages:
            kind, stub = kinds.get(page.id, "article"), page.id in stubs
            yield told(page.id, name, page.html(), kind, stub=stub, at=page.fetched_at)


def cut_pages(folder: Path) -> Iterator[Told]:
    """Yield the pages of the corpora without their articles."""
    for name in NAMES:
        for page in load_corpus(folder / name).pages:
            probability = article_probability(cut_shape(page))
            found = "article" if probability >= 0.5 else NO_ARTICLE
            confidence = calibrated(max(probability, 1 - probability))
            yield Told(page.id, "cut out", frozenset({NO_ARTICLE}), frozenset({found}), confidence)


def score_table(pages: Sequence[Told]) -> Table:
    """Return precision and recall of each kind, by group."""
    rows = []
    for group in dict.fromkeys(page.group for page in pages):
        own = [page for page in pages if page.group == group]
        for kind in KINDS:
            gold = sum(kind in page.labels for page in own)
            found = sum(kind in page.found for page in own)
            both = sum(kind in page.labels & page.found for page in own)
            if gold or found:
                rows.append(
                    [group, kind, str(gold), str(found), ratio(both, found), ratio(both, gold)]
                )
    return Table("Kinds of page", ("pages", "kind", "are", "found", "precision", "recall"), rows)


def ratio(part: int, whole: int) -> str:
    """Return a share, or nothing where there is no whole."""
    return f"{part / whole:.3f}" if whole else ""


def reliability_table(pages: Sequence[Told]) -> Table:
    """Return how often the kind is right, by confidence."""
    rows = []
    for low, high in pairwise(BINS):
        own = [page for page in pages if low <= page.confidence < high]
        if own:
            mean = sum(page.confidence for page in own) / len(own)
            right = sum(page.right for page in own) / len(own)
            rows.append(
                [f"{low:.2f} to {min(high, 1):.2f}", str(len(own)), f"{mean:.3f}", f"{right:.3f}"]
            )
    return Table("Confidence in the kind", ("confidence", "pages", "mean", "right"), rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--wrong", action="store_true", help="name the pages that are wrong")
    options = parser.parse_args()
    pages = list(made_pages())
    cut: list[Told] = []
    if options.corpora.is_dir():
        pages += corpus_pages(options.corpora)
        cut += cut_pages(options.corpora)
    print_tables([score_table(pages), reliability_table(pages + cut)], sys.stdout)
    if options.wrong:
        for page in pages:
            if page.labels != page.found:
                print(page.group, page.name, *sorted(page.labels), "->", *sorted(page.found))


if __name__ == "__main__":
    main()
