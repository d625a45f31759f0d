"""Command ``python -m newscrawl.samples``: serves the sample sites, or serves and crawls them."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from newscrawl import CrawlError
from newscrawl.samples.demo_crawl import crawl, show, write_sites_file
from newscrawl.samples.server import DEFAULT_PORT, SampleSites

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        with SampleSites(options.port or (0 if options.crawl else DEFAULT_PORT)) as sites:
            return _crawl(sites, options.crawl) if options.crawl else _serve(sites, options.sites)
    except OSError as error:
        print(f"Cannot serve the sample sites: {error}", file=sys.stderr)  # noqa: T201
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m newscrawl.samples",
        description="Serve three small news sites on loopback until interrupted.",
    )
    parser.add_argument(
        "--port",
        type=int,
        metavar="BASE",
        help="port of the first site; the other sites use the next ports "
        f"(default: {DEFAULT_PORT}, with --crawl free ports)",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--sites", type=Path, metavar="FILE", help="write the URLs of the sites to FILE"
    )
    group.add_argument(
        "--crawl",
        type=Path,
        metavar="FILE",
        help="crawl the sites into FILE (JSON Lines), compare the articles with the expected ones, "
        "and exit",
    )
    return parser


def _serve(sites: SampleSites, sites_file: Path | None) -> int:
    if sites_file:
        write_sites_file(sites_file, sites)
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


if __name__ == "__main__":
    raise SystemExit(main())
