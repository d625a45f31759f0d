"""Expected articles of the sample sites, and their comparison with a crawl."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newscrawl.items import Article, parse_iso
from newscrawl.samples.server import SITE_NAMES
from newscrawl.text import words

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

    @property
    def title(self) -> bool:
        """Whether the titles are equal."""
        return self.found is not None and self.found.title == self.page.title

    @property
    def date(self) -> bool:
        """Whether the days are equal, and also the times if both have one."""
        found, wanted = self.found.date if self.found else None, self.page.date
        if isinstance(found, datetime) and isinstance(wanted, datetime):
            return found == wanted
        return found is not None and wanted is not None and _day(found) == _day(wanted)

    @property
    def body(self) -> bool:
        """Whether the bodies have the same words."""
        body = self.found.body if self.found else ""
        return Counter(words(body)) == Counter(words(self.page.body))

    @property
    def text(self) -> bool:
        """Whether the bodies are identical, including their paragraphs."""
        return self.found is not None and self.found.body == self.page.body

    def faults(self) -> list[str]:
        """Return descriptions of all differences."""
        if self.found is None:
            return ["not found"]
        faults = []
        if not self.title:
            faults.append(f"title {self.found.title!r} instead of {self.page.title!r}")
        if not self.date:
            faults.append(f"date {self.found.date} instead of {self.page.date}")
        if not self.body:
            extra, missing = _difference(self.found.body, self.page.body)
            faults.append(f"body has extra words {extra!r} and lacks {missing!r}")
        elif not self.text:
            faults.append("body has different paragraphs")
        return faults


def _day(moment: Day | datetime) -> Day:
    return moment.date() if isinstance(moment, datetime) else moment


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
        return not self.surplus and all(c.title and c.date and c.text for c in self.checks)

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
        correct = {
            name: sum(getattr(check, name) for check in self.checks)
            for name in ("title", "date", "body", "text")
        }
        total = (
            f"{found} of {len(self.checks)} articles found; correct: {correct['title']} titles, "
            f"{correct['date']} dates, {correct['body']} bodies (words), "
            f"{correct['text']} bodies (exact text)"
        )
        return [
            total,
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
        if page.kind == "article"
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
