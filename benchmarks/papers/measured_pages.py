"""Pages that the papers are measured on: none of a site that constants were fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from benchmarks.cardoso.readings import spread
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.folds import site_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.corpora.map_pages import PageOutcome

T = TypeVar("T")

GROUPS = {
    "news": ("news212", "fundus", "fundus-history"),
    "css-sites": ("css-sites",),
    "wcxb": ("wcxb",),
    "l3sgn1": ("l3sgn1",),
    "daniel": ("daniel",),
    "dragnet": ("dragnet",),
}
"""Columns of the tables, with their corpora: all with labels of title and body."""
GROUP_OF = {corpus: group for group, corpora in GROUPS.items() for corpus in corpora}
ALL = "all"

FITTED = ("news212", "fundus")
"""Corpora on whose ``tune`` half the constants of NCE, CoreEx and ECON were fitted."""

MIN_SITE_PAGES = 5
"""Minimum pages of a site in a table by site."""


def measured_pages(corpora: Path, limit: int | None = None) -> list[LabelledPage]:
    """Return the pages with title and body, at most *limit* per corpus, evenly spaced.

    Raises :exc:`~newscrawl.lab.corpora.corpus.CorpusError`.
    """
    loaded = [page for name in GROUP_OF for page in load_corpus(corpora / name).pages]
    fitted = {
        name
        for page in loaded
        if page.corpus in FITTED and page.half == "tune"
        for name in site_names(page)
    }
    pages = [
        page for page in loaded
        if page.relevant_content is not None and fitted.isdisjoint(site_names(page))
    ]  # fmt: skip
    return [
        page
        for name in GROUP_OF
        for page in spread([page for page in pages if page.corpus == name], limit)
    ]


def by_group(outcomes: Iterable[PageOutcome[T]]) -> dict[str, list[PageOutcome[T]]]:
    """Return the outcomes of each group of corpora, and of all."""
    groups: dict[str, list[PageOutcome[T]]] = {}
    everything = list(outcomes)
    for outcome in everything:
        groups.setdefault(GROUP_OF.get(outcome.page.corpus, outcome.page.corpus), []).append(
            outcome
        )
    return groups | {ALL: everything}


def by_site(
    outcomes: Iterable[PageOutcome[T]], min_pages: int = MIN_SITE_PAGES
) -> dict[str, Sequence[PageOutcome[T]]]:
    """Return the outcomes of each site with at least *min_pages*."""
    sites: dict[str, list[PageOutcome[T]]] = {}
    for outcome in outcomes:
        sites.setdefault(outcome.page.site, []).append(outcome)
    return {name: group for name, group in sorted(sites.items()) if len(group) >= min_pages}
