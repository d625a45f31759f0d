"""Kinds of page: precision and recall, and the share of pages kept by threshold and family.

The first table has the pages of our own making (``tests.pages.kind_pages``, half ``tune`` and
half ``report``), the sample sites, and the labelled pages of two corpora, which are articles but for
those that ``kinds.json`` lists, classified with the models in the package. ``index`` and ``other``
count as one kind, *no article*.

The other tables have all corpora, extracted and classified with models that have not seen the
page's site. Those of :data:`HELD_OUT` are never fitted to.

    python -m benchmarks.kinds [--corpora DIR] [--wrong] [--workers N]
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from newscrawl.corpora.corpus import load_corpus
from newscrawl.corpora.tables import Table, print_tables
from newscrawl.extraction.extract import extract
from newscrawl.samples import expected_pages
from newscrawl.training.examples import read_examples
from newscrawl.training.kind_report import kind_tables
from newscrawl.training.kind_training import read_kind_pages, read_out_of_fold
from tests.pages.kind_pages import kind_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

REPOSITORY = Path(__file__).resolve().parents[1]
CORPORA = REPOSITORY.parent / "shared" / "corpora"
LABELS = json.loads((Path(__file__).parent / "kinds.json").read_text())
NAMES = ("news212", "fundus")
NO_ARTICLE = "no article"
KINDS = ("article", "live", "gallery", NO_ARTICLE, "paywalled")
TRAINED = ("news212", "fundus", "fundus-history", "css-sites", "wcxb", "postlight", "wcxb-kinds")
HELD_OUT = ("l3sgn1", "daniel", "dragnet")
FAMILIES = {"news212": "news212 + fundus", "fundus": "news212 + fundus"}


@dataclass(frozen=True)
class Told:
    """A page, what it is and what it is taken for."""

    name: str
    group: str
    #: its kind and, where it is a stub, ``paywalled``
    labels: frozenset[str]
    found: frozenset[str]

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


def family_tables(folder: Path, workers: int) -> Iterator[Table]:
    """Yield the share of pages kept, by threshold, and how far probabilities are right."""
    corpora = [load_corpus(folder / name) for name in TRAINED]
    examples = read_examples([page for one in corpora for page in one.pages], workers=workers)
    typed = [page for one in corpora for page in one.typed]
    pages = read_out_of_fold(examples.pages, examples.examples, typed, workers=workers)
    held = [page for name in HELD_OUT for page in load_corpus(folder / name).pages]
    pages += [
        one._replace(examples=[it for it in one.examples if it.group == "article"])
        for one in read_kind_pages(held, workers=workers)
    ]
    yield from kind_tables(
        pages, families=FAMILIES, fitted=lambda page: page.corpus not in HELD_OUT
    )


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


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--wrong", action="store_true", help="name the pages that are wrong")
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    options = parser.parse_args()
    pages = list(made_pages())
    if options.corpora.is_dir():
        pages += corpus_pages(options.corpora)
    print_tables([score_table(pages)], sys.stdout)
    if options.corpora.is_dir():
        print_tables(family_tables(options.corpora, options.workers), sys.stdout)
    if options.wrong:
        for page in pages:
            if page.labels != page.found:
                print(page.group, page.name, *sorted(page.labels), "->", *sorted(page.found))


if __name__ == "__main__":
    main()
