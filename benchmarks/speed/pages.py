"""Labelled pages under made URLs, the same for all tools of the speed benchmarks."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.metrics import bag_score, mean
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from benchmarks.speed.measured_process import Measured
    from newscrawl.lab.corpora.corpus import LabelledPage

#: today's pages, large and with scripts
CURRENT = ("news212", "fundus", "fundus-history", "wcxb")
#: pages of 2008 to 2012; no model of newscrawl is fitted to them
UNSEEN = ("l3sgn1", "daniel", "dragnet")
PAGES_PER_HOST = 5
#: F1 of a body that counts as right
RIGHT = 0.9
DOMAIN = "example"


@dataclass(frozen=True, slots=True)
class SitePage:
    """Labelled page at a made URL."""

    host: str
    path: str
    labels: LabelledPage

    def url(self, port: int | None = None) -> str:
        """Return the URL on *port*."""
        return f"http://{self.host}{f':{port}' if port else ''}{self.path}"


def choose_pages(corpora: Path, number: int) -> list[SitePage]:
    """Return *number* pages with labelled bodies: those of today, filled up evenly from the others.

    Pages are repeated on other hosts if there are not enough.
    """
    if not corpora.is_dir():
        raise SystemExit(
            f"The labelled pages are not in {corpora}. They are not part of the project "
            "(docs/reference/corpora.md has their layout): give their folder by --corpora DIR, "
            "or CORPORA=DIR with make."
        )
    current, unseen = _labelled(corpora, CURRENT), _labelled(corpora, UNSEEN)
    if number > len(current):
        rest = number - len(current)
        pages = current + (_evenly(unseen, rest) if rest <= len(unseen) else unseen)
    else:
        pages = _evenly(current, number)
    return [_placed(place, pages[place % len(pages)]) for place in range(number)]


def _labelled(corpora: Path, names: Iterable[str]) -> list[LabelledPage]:
    """Return the pages with bodies, those of a site next to each other."""
    return [
        page
        for name in names
        if (corpora / name).is_dir()
        for page in sorted(load_corpus(corpora / name).pages, key=lambda page: page.site)
        if page.body
    ]


def _evenly(pages: Sequence[LabelledPage], number: int) -> list[LabelledPage]:
    return [pages[place * len(pages) // number] for place in range(number)]


def _placed(place: int, page: LabelledPage) -> SitePage:
    host = f"paper-{place // PAGES_PER_HOST:04}.{DOMAIN}"
    return SitePage(host, f"/2026/11/20/news/council-decides-on-the-harbour-{place}.html", page)


def figures(pages: Sequence[SitePage], items: Path, measured: Measured) -> dict[str, Any]:
    """Return costs and quality of the feed *items*: F1 of words by page, 0 for a missing page.

    ``unseen`` is the mean over pages that no model of newscrawl is fitted to.
    """
    with items.open(encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    bodies = {f"/{item['url'].split('/', 3)[3]}": item.get("body") or "" for item in found}
    scores: list[tuple[SitePage, float]] = []
    for page in pages:
        body = words(bodies.get(page.path, ""))
        scores.append((page, bag_score(body, words(page.labels.body or "")).f1))
    return {
        "pages": len(pages),
        "articles": len(found),
        **asdict(measured),
        "f1": mean([score for _, score in scores]),
        "unseen": mean([score for page, score in scores if page.labels.corpus in UNSEEN]),
        "right": sum(score >= RIGHT for _, score in scores),
        "given": sum(bool(bodies.get(page.path)) for page in pages),
    }
