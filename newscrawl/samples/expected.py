"""What a crawl of the sample sites should find, and whether it did."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newscrawl.corpora.metrics import Score, bag_score, same_day
from newscrawl.items import Article, parse_iso
from newscrawl.samples.server import SITE_NAMES
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from newscrawl.items import ArticleKind, Day

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ExpectedPage:
    """A page of a sample site and, if it is an article, its fields as a person reads them."""

    site: str
    path: str
    kind: ArticleKind
    title: str | None = None
    #: an instant where the page tells one, with its zone where it tells that; else the day
    date: Day | datetime | None = None
    date_modified: Day | datetime | None = None
    authors: tuple[str, ...] = ()
    language: str | None = None
    #: standfirst, paragraphs, headings and list items, separated by blank lines
    body: str = ""

    @property
    def file(self) -> Path:
        """The page as it is stored; its URLs hold ``{{base}}`` where the server's own belongs."""
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
    """One expected article beside what was extracted."""

    page: ExpectedPage
    #: None if the crawl did not give the article
    found: Article | None

    @property
    def title(self) -> bool:
        """Whether the titles are equal."""
        return self.found is not None and self.found.title == self.page.title

    @property
    def date(self) -> bool:
        """Whether the days are equal, and the instants where both sides tell one."""
        found, wanted = self.found.date if self.found else None, self.page.date
        if isinstance(found, datetime) and isinstance(wanted, datetime):
            return found == wanted
        return found is not None and wanted is not None and same_day(found, wanted)

    @property
    def words(self) -> Score:
        """The score of the body's words."""
        return bag_score(words(self.found.body if self.found else ""), words(self.page.body))

    @property
    def body(self) -> bool:
        """Whether the bodies hold the same words."""
        return self.words.f1 == 1

    @property
    def text(self) -> bool:
        """Whether the bodies are equal to the letter, paragraph by paragraph."""
        return self.found is not None and self.found.body == self.page.body

    def faults(self) -> list[str]:
        """Return what is wrong, in words."""
        if self.found is None:
            return ["not found"]
        faults = []
        if not self.title:
            faults.append(f"title {self.found.title!r}, not {self.page.title!r}")
        if not self.date:
            faults.append(f"date {self.found.date}, not {self.page.date}")
        if not self.body:
            extra, lost = _difference(self.found.body, self.page.body)
            faults.append(f"body with {extra!r} too much and {lost!r} too little")
        elif not self.text:
            faults.append("body with other paragraphs")
        return faults


def _difference(found: str, wanted: str, limit: int = 12) -> tuple[str, str]:
    """Return the first words that are only in *found*, and those only in *wanted*."""
    found_bag, wanted_bag = Counter(words(found)), Counter(words(wanted))
    extra, lost = found_bag - wanted_bag, wanted_bag - found_bag
    return " ".join(list(extra)[:limit]), " ".join(list(lost)[:limit])


@dataclass(frozen=True, slots=True)
class CrawlComparison:
    """A crawl of the sample sites beside what it should have found."""

    checks: list[Check]
    #: URLs of items that are no article of the samples, or a second item of one
    surplus: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every article is there with right title, date and body, and nothing else."""
        return not self.surplus and all(c.title and c.date and c.text for c in self.checks)

    @property
    def shared_stories(self) -> list[list[Article]]:
        """The clusters of near-duplicates that hold more than one article."""
        members: dict[str, list[Article]] = {}
        for check in self.checks:
            if check.found is not None and check.found.cluster is not None:
                members.setdefault(check.found.cluster["id"], []).append(check.found)
        return [articles for articles in members.values() if len(articles) > 1]

    def lines(self) -> list[str]:
        """Return the outcome in words: the sums, shared stories, then whatever is wrong."""
        found = sum(check.found is not None for check in self.checks)
        right = {
            name: sum(getattr(check, name) for check in self.checks)
            for name in ("title", "date", "body", "text")
        }
        total = (
            f"{found} of {len(self.checks)} articles; right title: {right['title']}, "
            f"date: {right['date']}, words of the body: {right['body']}, "
            f"its text to the letter: {right['text']}"
        )
        return [
            total,
            *(
                f"one story, {len(articles)} times: "
                + "; ".join(f"{article.title} ({article.url})" for article in articles)
                for articles in self.shared_stories
            ),
            *(
                f"{check.page.site}{check.page.path}: {fault}"
                for check in self.checks
                for fault in check.faults()
            ),
            *(f"no article of the samples: {url}" for url in self.surplus),
        ]


def check_outcome(articles: Iterable[Article], urls: Mapping[str, str]) -> CrawlComparison:
    """Return how *articles* compare with the expected ones; *urls* are the sites' front pages."""
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
