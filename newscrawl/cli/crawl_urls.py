"""Subcommand ``urls``: fetches and extracts a list of article URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from newscrawl.cli.crawl_process import crawl_options, crawl_to_feeds
from newscrawl.cli.setting_options import with_settings
from newscrawl.crawl.discovery.site_list import SitesError
from newscrawl.spiders.url_list import UrlListSpider, read_urls

if TYPE_CHECKING:
    from scrapy.settings import Settings


@click.command()
@click.argument("file", metavar="FILE")
@crawl_options
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
    try:
        urls = list(read_urls(file))
    except SitesError as error:
        raise click.ClickException(str(error)) from error
    return crawl_to_feeds(settings, UrlListSpider, {"urls": urls}, **options)
