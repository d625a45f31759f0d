"""Subcommands ``crawl``, ``discover`` and ``urls``: crawls without a Scrapy project."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from newscrawl.cli.crawl_process import content_filters, crawl_to_feeds, feed_options
from newscrawl.cli.shared_options import check_folder, parse_pairs, with_options, with_settings
from newscrawl.crawling.discovery.site_list import (
    Site,
    SitesError,
    http_url,
    load_sites,
    read_arguments,
)
from newscrawl.spiders.discovery import DiscoverySpider
from newscrawl.spiders.sitelist import SitelistSpider
from newscrawl.spiders.url_list import UrlListSpider

if TYPE_CHECKING:
    from scrapy.settings import Settings

_LIST_SUFFIXES = (".csv", ".json", ".jsonl", ".txt", ".yaml", ".yml")

site_options = with_options(
    click.argument("sources", metavar="SITES...", nargs=-1, required=True),
    click.option(
        "-a",
        "arguments",
        metavar="NAME=VALUE",
        multiple=True,
        help="spider argument: limit (articles per site), shard (I/N)",
    ),
    click.option(
        "--limit", type=click.IntRange(1), metavar="N", help="end after N articles of all sites"
    ),
    click.option(
        "--include",
        metavar="REGEX",
        multiple=True,
        help="only articles whose URL has a match; may be repeated",
    ),
    click.option(
        "--exclude",
        metavar="REGEX",
        multiple=True,
        help="leave out articles and sections whose URL has a match; may be repeated",
    ),
    feed_options,
)
"""The sites of a crawl, and the options that select their articles."""


@click.command()
@site_options
@content_filters
@click.option(
    "--report",
    "report_folder",
    metavar="FOLDER",
    callback=check_folder,
    help="write a report of the crawl to FOLDER",
)
@click.option(
    "--alarm-exit", is_flag=True, help="with --report: end with 4 or 5 while an alarm is open"
)
@click.option("--force", is_flag=True, help="fetch all known sources, also those that are not due")
@with_settings
def crawl(settings: Settings, /, *, force: bool, **options: Any) -> int:
    """Crawl the newest articles of sites.

    SITES are URLs and files that list them: text, CSV, JSON or YAML. The crawl obeys robots.txt,
    makes one request per second and site, and ends with a table. Its state is kept in the folder
    .scrapy: a later crawl in the same folder emits new and updated articles only, and resumes an
    interrupted one.
    """
    if options["alarm_exit"] and not options["report_folder"]:
        raise click.UsageError("--alarm-exit needs --report")
    if force:
        settings.set("NEWSCRAWL_ALL_DUE", value=True, priority="cmdline")
    return crawl_sites(settings, SitelistSpider, **options)


@click.command()
@site_options
@with_settings
def discover(settings: Settings, /, **options: Any) -> int:
    """List the articles of sites: URL, title, date, last change and source.

    Sitemaps, feeds and section pages are read as by newscrawl crawl; no article is fetched, and the
    state of crawls is neither used nor changed. Without -o, the list is printed as JSON Lines.
    """
    return crawl_sites(settings, DiscoverySpider, default_feed="-", **options)


@click.command()
@click.argument("file", metavar="FILE")
@feed_options
@content_filters
@with_settings
def urls(settings: Settings, /, *, file: str, **options: Any) -> int:
    """Fetch and extract a list of article URLs.

    FILE has one URL per line; - is standard input. The pages are fetched like those of a crawl,
    politely and in parallel over sites. Each run fetches all URLs; an interrupted run is resumed.
    """
    if file != "-":
        with Path(file).open("rb"):
            pass  # an error is reported before the crawl starts
    return crawl_to_feeds(settings, UrlListSpider, {"file": file}, **options)


def crawl_sites(
    settings: Settings,
    spider: type[SitelistSpider],
    *,
    sources: tuple[str, ...],
    arguments: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    **options: Any,
) -> int:
    """Crawl the sites of the command line with *spider* and return the exit code."""
    given = parse_pairs(arguments, "-a")
    for name in {"site", "sites"}.intersection(given):
        raise click.UsageError(f"-a {name} is not needed: give the sites as arguments")
    given["sites"] = _find_sites(sources)
    for name, expressions in (("INCLUDE", include), ("EXCLUDE", exclude)):
        if expressions:
            settings.set(f"NEWSCRAWL_{name}", list(expressions), priority="cmdline")
    try:
        read_arguments(given, settings)
    except SitesError as error:
        raise click.UsageError(str(error)) from error
    return crawl_to_feeds(settings, spider, given, **options)


def _find_sites(sources: tuple[str, ...]) -> list[Site]:
    try:
        sites = [site for source in sources for site in _read_source(source)]
    except SitesError as error:
        raise click.ClickException(str(error)) from error
    except ValueError as error:
        raise click.UsageError(f"{error}; name a file or a URL") from error
    keys = Counter(site.key for site in sites)
    if repeated := [key for key, number in keys.items() if number > 1]:
        raise click.UsageError(f"{repeated[0]} is listed twice")
    return sites


def _read_source(source: str) -> list[Site]:
    is_file = (source and Path(source).exists()) or source.lower().endswith(_LIST_SUFFIXES)
    return load_sites(source) if is_file else [Site(http_url(source))]
