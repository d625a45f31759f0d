"""Folds of cross-validation, which share no site (DocEng 2011, section 4)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from newscrawl.lab.corpora.corpus import registered_domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage

FOLDS = 3


def site_names(page: LabelledPage) -> tuple[str, str]:
    """Return the names of the site of *page*: site or publisher, and registered domain."""
    return page.site, registered_domain(urlsplit(page.url or "").hostname or page.site)


def extra_site(pages: Sequence[LabelledPage]) -> list[int]:
    """Return the fold (0 to 2) of each page, independent of the order of *pages*.

    Folds are of similar size and share no site, publisher or registered domain.
    """
    group_of = _groups(pages)
    sizes: dict[str, int] = defaultdict(int)
    for page in pages:
        sizes[group_of[page.site]] += 1
    fold_of: dict[str, int] = {}
    filled = [0] * FOLDS
    for group in sorted(sizes, key=lambda name: (-sizes[name], name)):
        fold = filled.index(min(filled))
        fold_of[group] = fold
        filled[fold] += sizes[group]
    return [fold_of[group_of[page.site]] for page in pages]


def _groups(pages: Sequence[LabelledPage]) -> dict[str, str]:
    """Return a group for each site name: names of the same page are in the same group."""
    members: dict[str, set[str]] = {}
    for page in pages:
        joined = set[str]().union(*(members.get(name, {name}) for name in site_names(page)))
        members.update(dict.fromkeys(joined, joined))
    return {name: min(names) for name, names in members.items()}
