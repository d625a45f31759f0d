"""Expected articles of the sample sites, and their comparison with a crawl."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newscrawl.items import Article, parse_iso
from newscrawl.text import words
from samples.server import SITE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from newscrawl.items import ArticleKind, Day

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ExpectedPage:
    """A page of a sample site and, if it is an article, its expected fields."""

    site: str
    path: str
    kind: ArticleKind
    title: str | None = None
    #: datetime if the page shows a time (aware if it shows a zone), else date
    date: Day | datetime | None = None
    date_modified: Day | datetime | None = None
    authors: tuple[str, ...] = ()
    language: str | None = None
    #: lead, paragraphs, headings and list items, separated by blank lines
    body: str = ""

    @property
    def is_article(self) -> bool:
        """Whether a crawl emits the page."""
        return self.title is not None

    @property
    def file(self) -> Path:
        """File of the page; its URLs have the placeholder ``{{base}}`` for the server."""
        path = self.path + ("index.html" if self.path.endswith("/") else "")
        return _FOLDER / self.site / "www" / path.lstrip("/")


def expected_pages(site: str | None = None) -> list[ExpectedPage]:
    """Return the pages of *site*, or of all sample sites: articles first, newest first."""
    return [
        _page(name, json.loads(line))
        for name in ([site] if site else SITE_NAMES)
        for line in (_FOLDER / name / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def _page(site: str, plain: dict[str, Any]) -> ExpectedPage:
    for name in ("date", "date_modified"):
        if plain.get(name):
            plain[name] = parse_iso(plain[name])
    plain["authors"] = tuple(plain.get("authors", ()))
    return ExpectedPage(site=site, **plain)


@dataclass(frozen=True, slots=True)
class Check:
    """An expected article and the extracted one."""

    page: ExpectedPage
    #: None if the crawl did not emit it
    found: Article | None

    def faults(self) -> list[str]:
        """Return descriptions of all differences of title, date and body."""
        found, page = self.found, self.page
        if found is None:
            return ["not found"]
        faults = []
        if found.title != page.title:
            faults.append(f"title {found.title!r} instead of {page.title!r}")
        if not _is_same(found.date, page.date):
            faults.append(f"date {found.date} instead of {page.date}")
        if found.body != page.body:
            extra, missing = _difference(found.body, page.body)
            faults.append(f"body has extra words {extra!r} and lacks {missing!r}")
        return faults


def _is_same(found: Day | datetime | None, wanted: Day | datetime | None) -> bool:
    """Return whether the days are equal, and also the times if both have one."""
    if isinstance(found, datetime) and isinstance(wanted, datetime):
        return found == wanted
    days = [it.date() if isinstance(it, datetime) else it for it in (found, wanted)]
    return days[0] is not None and days[0] == days[1]


def _difference(found: str, wanted: str, limit: int = 12) -> tuple[str, str]:
    found_bag, wanted_bag = Counter(words(found)), Counter(words(wanted))
    extra, missing = found_bag - wanted_bag, wanted_bag - found_bag
    return " ".join(list(extra)[:limit]), " ".join(list(missing)[:limit])


@dataclass(frozen=True, slots=True)
class CrawlComparison:
    """Result of the comparison of a crawl with the expected articles."""

    checks: list[Check]
    #: URLs of items that are not an expected article, or a duplicate of one
    surplus: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether the crawl found exactly the expected articles, without any difference."""
        return not self.surplus and not any(check.faults() for check in self.checks)

    @property
    def shared_stories(self) -> list[list[Article]]:
        """Clusters of near-duplicates with more than one article."""
        members: dict[str, list[Article]] = {}
        for check in self.checks:
            if check.found is not None and check.found.cluster is not None:
                members.setdefault(check.found.cluster["id"], []).append(check.found)
        return [articles for articles in members.values() if len(articles) > 1]

    def lines(self) -> list[str]:
        """Return the report: totals, clusters of near-duplicates, differences."""
        found = sum(check.found is not None for check in self.checks)
        correct = sum(not check.faults() for check in self.checks)
        return [
            f"{found} of {len(self.checks)} articles found; {correct} without a difference",
            *(
                f"{len(articles)} near-duplicates: "
                + "; ".join(f"{article.title} ({article.url})" for article in articles)
                for articles in self.shared_stories
            ),
            *(
                f"{check.page.site}{check.page.path}: {fault}"
                for check in self.checks
                for fault in check.faults()
            ),
            *(f"unexpected item: {url}" for url in self.surplus),
        ]


def check_outcome(articles: Iterable[Article], urls: Mapping[str, str]) -> CrawlComparison:
    """Compare *articles* with the expected ones; *urls* maps site names to front pages."""
    wanted = {
        urls[page.site].rstrip("/") + page.path: page
        for page in expected_pages()
        if page.is_article
    }
    found: dict[str, Article] = {}
    surplus = []
    for article in articles:
        url = article.url or ""
        if url in found or url not in wanted:
            surplus.append(url)
        else:
            found[url] = article
    return CrawlComparison([Check(page, found.get(url)) for url, page in wanted.items()], surplus)
