"""Command ``python -m samples``: serves the sample sites, or crawls them as a demo."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path
from textwrap import indent, shorten
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console

import newscrawl
from newscrawl import CrawlError
from samples.expected import CrawlComparison, check_outcome
from samples.server import DEFAULT_PORT, SampleSites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.items import Article

_SETTINGS: Final[dict[str, Any]] = {
    "DOWNLOAD_DELAY": 0,
    "NEWSCRAWL_ALLOWED_ADDRESSES": "127.0.0.1",
    "NEWSCRAWL_MAX_AGE": 0,  # the dates of the samples are fixed
    "NEWSCRAWL_NEARDUP_ENABLED": True,
    "NEWSCRAWL_NEARDUP_INDEX": "",
    "NEWSCRAWL_PROGRESS_ENABLED": True,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        with SampleSites(options.port or (0 if options.crawl else DEFAULT_PORT)) as sites:
            return _crawl(sites, options.crawl) if options.crawl else _serve(sites)
    except OSError as error:
        print(f"Cannot serve the sample sites: {error}", file=sys.stderr)  # noqa: T201
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m samples",
        description="Serve three small news sites on loopback until interrupted.",
    )
    parser.add_argument(
        "--port",
        type=int,
        metavar="BASE",
        help="port of the first site; the other sites use the next ports "
        f"(default: {DEFAULT_PORT}, with --crawl free ports)",
    )
    parser.add_argument(
        "--crawl",
        type=Path,
        metavar="FILE",
        help="crawl the sites into FILE (JSON Lines), compare the articles with the expected ones, "
        "and exit",
    )
    return parser


def _serve(sites: SampleSites) -> int:
    # Flushed for programs that read the URLs from a pipe.
    print(*sites.urls.values(), sep="\n", flush=True)  # noqa: T201
    with suppress(KeyboardInterrupt):
        Event().wait()
    return 0


def _crawl(sites: SampleSites, feed: Path) -> int:
    print(f"Crawling three sample news sites into {feed} ...", flush=True)  # noqa: T201
    try:
        outcome = crawl(sites, feed)
    except CrawlError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    show(outcome, feed)
    return 0 if outcome.complete else 1


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
    console.print("Next:")
    for arguments, purpose in (
        ("crawl https://www.example.org/ --limit 20", "crawl a site of your choice"),
        ("extract page.html --markdown", "extract a saved page, a folder or a URL"),
        (f"extract {feed} -o articles/", "write a Markdown file for each article"),
    ):
        console.print(f"  newscrawl {arguments}   # {purpose}", markup=False)


def _show_article(console: Console, article: Article, feed: Path) -> None:
    lines = "\n".join(
        shorten(line, 160, placeholder=" ...") for line in article.body.split("\n")[:3]
    )
    date = article.date.isoformat() if article.date else ""
    console.print(f"One of the articles in {feed}:\n", markup=False)
    console.print(f"  {article.title}", style="bold", markup=False)
    console.print(f"  {date} - {', '.join(article.authors)}\n", markup=False)
    console.print(indent(lines, "  ") + "\n", markup=False)


if __name__ == "__main__":
    raise SystemExit(main())
