"""Demo: crawls the sample sites and compares the result."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from textwrap import indent, shorten
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console

import newscrawl
from newscrawl.samples.expected import CrawlComparison, check_outcome

if TYPE_CHECKING:
    from newscrawl.items import Article
    from newscrawl.samples.server import SampleSites

_SETTINGS: Final[dict[str, Any]] = {
    "DOWNLOAD_DELAY": 0,
    "NEWSCRAWL_ALLOWED_ADDRESSES": "127.0.0.1",
    "NEWSCRAWL_MAX_AGE": 0,  # the dates of the samples are fixed
    "NEWSCRAWL_NEARDUP_ENABLED": True,
    "NEWSCRAWL_NEARDUP_INDEX": "",
    "NEWSCRAWL_PROGRESS_ENABLED": True,
}


def write_sites_file(path: Path, sites: SampleSites) -> None:
    """Write the URLs of the sites to *path*, for ``scrapy crawl sitelist -a sites=``."""
    path.write_text("".join(f"{url}\n" for url in sites.urls.values()), encoding="utf-8")


def crawl(sites: SampleSites, feed: Path) -> CrawlComparison:
    """Crawl *sites* into the JSON Lines file *feed*.

    The log is next to *feed*, with the suffix ``.log``; the table of the sites goes to standard
    error. Raises :class:`~newscrawl.cli.python_crawl.CrawlError`.
    """
    log = feed.absolute().with_suffix(".log")
    log.unlink(missing_ok=True)
    settings = {**_SETTINGS, "LOG_FILE": str(log)}
    articles = list(newscrawl.crawl(sites.urls.values(), settings=settings))
    rows = (json.dumps(article.to_dict(), ensure_ascii=False) for article in articles)
    feed.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return check_outcome(articles, sites.urls)


def show(outcome: CrawlComparison, feed: Path) -> None:
    """Print the newest article, the comparison, and further commands."""
    console = Console(highlight=False, soft_wrap=True)
    articles = [check.found for check in outcome.checks if check.found]
    if articles:
        _show_article(console, articles[0], feed)
    console.print(*outcome.lines(), sep="\n", markup=False)
    command = _command()
    console.print("Next:")
    for arguments, purpose in (
        ("crawl https://www.example.org/ --limit 20", "crawl a site of your choice"),
        ("extract page.html --markdown", "extract a saved page, a folder or a URL"),
        (f"report {feed} -o report", "show the crawl in report/index.html"),
    ):
        console.print(f"  {command} {arguments}   # {purpose}", markup=False)


def _show_article(console: Console, article: Article, feed: Path) -> None:
    lines = "\n".join(
        shorten(line, 160, placeholder=" ...") for line in article.body.split("\n")[:3]
    )
    date = article.date.isoformat() if article.date else ""
    console.print(f"One of the articles in {feed}:\n", markup=False)
    console.print(f"  {article.title}", style="bold", markup=False)
    console.print(f"  {date} - {', '.join(article.authors)}\n", markup=False)
    console.print(indent(lines, "  ") + "\n", markup=False)


def _command() -> str:
    folder = Path(sys.executable).parent
    if str(folder) in os.environ.get("PATH", "").split(os.pathsep):
        return "newscrawl"
    return os.path.relpath(folder / "newscrawl")
