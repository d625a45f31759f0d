"""Subcommand ``urls``: fetches and extracts a list of article URLs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from newscrawl.cli.crawl_process import content_filters, crawl_to_feeds, feed_options
from newscrawl.cli.setting_options import with_settings
from newscrawl.spiders.url_list import UrlListSpider

if TYPE_CHECKING:
    from scrapy.settings import Settings


@click.command()
@click.argument("file", metavar="FILE")
@feed_options
@content_filters
@with_settings
def command(
    settings: Settings,
    /,
    *,
    file: str,
    **options: Any,
) -> int:
    """Fetch and extract a list of article URLs.

    FILE has one URL per line; - is standard input. The pages are fetched like those of a crawl,
    politely and in parallel over sites. Each run fetches all URLs; an interrupted run is resumed.
    """
    if file != "-":
        with Path(file).open("rb"):
            pass  # an error is reported before the crawl starts
    return crawl_to_feeds(settings, UrlListSpider, {"file": file}, **options)
