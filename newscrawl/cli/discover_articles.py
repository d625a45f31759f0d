"""Subcommand ``discover``: lists the articles of sites without fetching them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from newscrawl.cli.crawl_sites import crawl_sites, site_options
from newscrawl.cli.setting_options import with_settings
from newscrawl.spiders.discovery import DiscoverySpider

if TYPE_CHECKING:
    from scrapy.settings import Settings


@click.command()
@site_options
@with_settings
def command(settings: Settings, /, **options: Any) -> int:
    """List the articles of sites: URL, title, date, last change and source.

    Sitemaps, feeds and section pages are read as by newscrawl crawl; no article is fetched, and the
    state of crawls is neither used nor changed. Without -o, the list is printed as JSON Lines.
    """
    return crawl_sites(settings, DiscoverySpider, default_feed="-:jsonl", **options)
