"""Demo: crawls the sample sites with the command line and compares the result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent, shorten
from typing import TYPE_CHECKING

from rich.console import Console

from newscrawl.crawl.discovery.urls import site_key
from newscrawl.crawl.reporting.progress import site_table
from newscrawl.items import Article
from newscrawl.samples.expected import CrawlComparison, check_outcome
from newscrawl.samples.extension import COUNTS_FILE

if TYPE_CHECKING:
    from newscrawl.samples.server import SampleSites

_SETTINGS = "newscrawl.settings.demo"
_EXTENSIONS = {
    "newscrawl.crawl.reporting.progress.Progress": None,
    "newscrawl.samples.extension.SavedCounts": 500,
}
_TIMEOUT = 300  # seconds; the crawl takes about ten


class CrawlFailedError(RuntimeError):
    """``scrapy crawl`` failed; its message is on standard error."""


def write_sites_file(path: Path, sites: SampleSites) -> None:
    """Write the URLs of the sites to *path*, for ``scrapy crawl sitelist -a sites=``."""
    path.write_text("".join(f"{url}\n" for url in sites.urls.values()), encoding="utf-8")


def crawl(sites: SampleSites, feed: Path) -> CrawlComparison:
    """Crawl *sites* with ``scrapy crawl sitelist`` into the JSON Lines file *feed*.

    The log is next to *feed*, with the suffix ``.log``. Raises :class:`CrawlFailedError`.
    """
    feed = feed.absolute()
    log = feed.with_suffix(".log")
    log.unlink(missing_ok=True)
    with TemporaryDirectory() as folder:
        sites_file = Path(folder) / "sites.txt"
        write_sites_file(sites_file, sites)
        command = [sys.executable, "-m", "scrapy", "crawl", "sitelist"]
        command += ["-a", f"sites={sites_file}", "-O", f"{feed}:jsonlines"]
        command += ["--logfile", str(log), "-s", f"EXTENSIONS={json.dumps(_EXTENSIONS)}"]
        counts = Path(folder) / "counts.json"
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": _SETTINGS, COUNTS_FILE: str(counts)}
        try:
            # The output is not captured, since the live line needs a terminal.
            subprocess.run(command, env=environment, check=True, timeout=_TIMEOUT)  # noqa: S603
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise CrawlFailedError(f"{error}; see {log}") from error
        outcome = check_outcome(_read(feed), sites.urls)
        return replace(outcome, counts=_read_counts(counts, sites))


def _read_counts(path: Path, sites: SampleSites) -> dict[str, Counter[str]]:
    """Return the counts of each site by its name."""
    names = {site_key(url): name for name, url in sites.urls.items()}
    counts = json.loads(path.read_text(encoding="utf-8"))
    return {names.get(site, site): Counter(numbers) for site, numbers in counts.items()}


def show(outcome: CrawlComparison, feed: Path) -> None:
    """Print the newest article, the comparison, the table of the sites, and further commands."""
    console = Console(highlight=False, soft_wrap=True)
    articles = [check.found for check in outcome.checks if check.found]
    if articles:
        _show_article(console, articles[0], feed)
    console.print(*outcome.lines(), sep="\n", markup=False)
    console.print(site_table(outcome.counts))
    command = _command()
    console.print("Next:")
    for arguments, purpose in (
        ("crawl https://www.example.org/ -a limit=20", "crawl a site of your choice"),
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
    """Return the command ``newscrawl`` of this environment."""
    folder = Path(sys.executable).parent
    if str(folder) in os.environ.get("PATH", "").split(os.pathsep):
        return "newscrawl"
    return os.path.relpath(folder / "newscrawl")


def _read(feed: Path) -> list[Article]:
    if not feed.exists():
        raise CrawlFailedError(f"the crawl did not write {feed}")
    with feed.open(encoding="utf-8") as lines:
        return [Article.from_dict(json.loads(line)) for line in lines]
