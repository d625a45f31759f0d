"""Arguments of ``scrapy crawl sitelist``, parsed and validated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.crawl.discovery.site_list import (
    Site,
    SitesError,
    http_url,
    load_sites,
    parse_limit,
)
from newscrawl.crawl.discovery.urls import UrlPatterns
from newscrawl.crawl.frontier.shards import Shard
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

_NAMES = ("sites", "site", "limit", "shard")


def read_arguments(
    arguments: Mapping[str, Any], settings: BaseSettings
) -> tuple[list[Site], int | None, Shard | None]:
    """Return sites, limit of articles per site and shard.

    The argument ``sites`` is a path or, from Python, a list of sites.

    Raises :class:`SitesError` if an argument is unknown or invalid.
    """
    for name in arguments:
        if name not in _NAMES and not name.startswith("_"):  # scrapyd adds _job
            raise SitesError(f"unknown argument {name!r} (known: {', '.join(_NAMES)})")
    shard = arguments.get("shard")
    try:
        UrlPatterns(
            setting(settings, "NEWSCRAWL_INCLUDE"), setting(settings, "NEWSCRAWL_EXCLUDE")
        ).check()
        return (
            _sites(settings, arguments.get("sites"), arguments.get("site")),
            parse_limit(arguments.get("limit")),
            None if shard is None else Shard.parse(shard),
        )
    except ValueError as error:
        raise SitesError(str(error)) from None


def _sites(settings: BaseSettings, file: str | list[Site] | None, url: str | None) -> list[Site]:
    if file and url:
        raise SitesError("give either -a sites=FILE or -a site=URL, not both")
    if url:
        return [Site(http_url(url))]
    sites = file or setting(settings, "NEWSCRAWL_SITES")
    if not sites:
        raise SitesError("no sites: give -a sites=FILE, -a site=URL or the setting NEWSCRAWL_SITES")
    if isinstance(sites, str):
        return load_sites(sites)
    return [e if isinstance(e, Site) else Site(http_url(e)) for e in sites]
