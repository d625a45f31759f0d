"""Tunes the parameters of NCE on the ``tune`` half of the sites and reports on the ``test`` half.

    python benchmarks/fit_nce.py ../shared/corpora/news212 ../shared/corpora/fundus

Coordinate search: each parameter is varied with the others fixed, and the best value is kept. The
score is the bag-of-words F1 of the body (of the title for phase 3), mean over sites.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from newscrawl.body.nce import NceParameters, NceResult, nce
from newscrawl.document.document import parse_document
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.metrics import Score, bag_score, site_mean_score
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage

GRID: dict[str, tuple[float, ...]] = {
    "beta2": (200, 400, 800, 1300, 1600, 2000, 3000),
    "beta3": (80, 100, 115, 130, 145, 160, 200),
    "sibling": (130, 300, 600, 1000, 1500, 3000),
    "beta1": (0.3, 0.5, 0.7, 1.01),
    "beta4": (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0),
    "alpha1": (50, 100, 200, 300),
    "alpha2": (800, 1500, 3000),
    "beta5": (1, 2, 3, 4, 6),
    "beta6": (0.3, 0.4, 0.5, 0.6, 0.7),
    "component": (3, 4, 5),
    "relaxations": (0, 1, 2, 3),
    "removable": (0.3, 0.5, 0.7, 1.0),
}
TITLE_GRID: dict[str, tuple[float, ...]] = {
    "alpha3": (2, 3, 4, 5),
    "alpha4": (12, 16, 20, 25, 30, 40, 60),
    "beta7": (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
}


class Page:
    """A labelled page, parsed."""

    def __init__(self, label: LabelledPage) -> None:
        self.label = label
        self.document = parse_document(label.html())
        #: words of each visible text node
        self.words = {row: words(self.document.text[row]) for row in self.document.text_nodes()}


def body_score(page: Page, result: NceResult) -> Score:
    """Return the score of the forest against the labelled body."""
    rows = chain.from_iterable(map(page.document.text_nodes, result.forest))
    found = list(chain.from_iterable(page.words[row] for row in rows))
    return bag_score(found, words(page.label.body or ""))


def title_score(page: Page, result: NceResult) -> Score:
    """Return the score of phase 3 against the labelled title."""
    document, row = page.document, result.title
    if row is None:
        text = ""
    else:
        text = document.title if document.tag[row] == "title" else document.subtree_text(row)
    return bag_score(words(text), words(page.label.title or ""))


def scores(
    pages: Sequence[Page],
    parameters: NceParameters,
    of: Callable[[Page, NceResult], Score],
    *,
    comments: bool = True,
) -> list[tuple[str, Score]]:
    """Return site and score of each page."""
    return [
        (page.label.site, of(page, nce(page.document, parameters, comments=comments)))
        for page in pages
    ]


def fit(
    pages: Sequence[Page],
    parameters: NceParameters,
    grid: dict[str, tuple[float, ...]],
    of: Callable[[Page, NceResult], Score],
) -> NceParameters:
    """Print the score of each value of *grid*; return *parameters* with the best of each."""
    for name, values in grid.items():
        found = {}
        for value in values:
            candidate = replace(parameters, **{name: value})  # type: ignore[arg-type]
            found[value] = site_mean_score(scores(pages, candidate, of)).f1
        best = max(found, key=lambda value: found[value])
        print(f"{name:10}", " ".join(f"{value:g}:{score:.4f}" for value, score in found.items()))
        parameters = replace(parameters, **{name: best})  # type: ignore[arg-type]
    return parameters


def report(pages: Sequence[Page], parameters: NceParameters) -> None:
    """Print body and title F1 by corpus, with and without phase 2."""
    for corpus in sorted({page.label.corpus for page in pages}):
        chosen = [page for page in pages if page.label.corpus == corpus]
        for comments in (True, False):
            body = scores(chosen, parameters, body_score, comments=comments)
            print(
                f"{corpus:10} phase 2 {'on ' if comments else 'off'} body F1:"
                f" pages {fmean(score.f1 for _, score in body):.4f}"
                f" sites {site_mean_score(body).f1:.4f}"
            )
        title = scores(chosen, parameters, title_score)
        print(f"{corpus:10} title F1: pages {fmean(score.f1 for _, score in title):.4f}")


def main() -> None:
    """Tune and print the parameters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    pages = [Page(label) for path in options.corpora for label in load_corpus(path).pages]
    halves = {
        half: [page for page in pages if page.label.body and page.label.half == half]
        for half in ("tune", "test")
    }
    print("as shipped, test half")
    report(halves["test"], NceParameters())
    parameters = NceParameters()
    for _ in range(options.rounds):
        parameters = fit(halves["tune"], parameters, GRID, body_score)
    parameters = fit(halves["tune"], parameters, TITLE_GRID, title_score)
    print("fitted:", parameters)
    report(halves["test"], parameters)


if __name__ == "__main__":
    main()
