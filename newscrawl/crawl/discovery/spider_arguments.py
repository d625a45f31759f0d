"""Arguments of ``scrapy crawl sitelist``, from text to what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.crawl.discovery.site_list import Site, SitesError, http_url, load_sites
from newscrawl.crawl.frontier.shards import Shard
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.settings import BaseSettings


class Arguments(NamedTuple):
    """What a crawl was asked for."""

    #: the whole list
    sites: list[Site]
    #: article pages of a site
    limit: int | None
    #: the part of the list to crawl
    shard: Shard | None


def read_arguments(given: Mapping[str, Any], settings: BaseSettings) -> Arguments:
    """Return what *given* means; raises :class:`SitesError` for what cannot be used."""
    for name in given:
        # scrapyd adds _job
        if name not in ("sites", "site", "limit", "shard") and not name.startswith("_"):
            raise SitesError(f"unknown argument {name!r} (known: sites, site, limit, shard)")
    limit, shard = _limit(given.get("limit")), _shard(given.get("shard"))
    return Arguments(_sites(settings, given.get("sites"), given.get("site")), limit, shard)


def _sites(settings: BaseSettings, file: str | None, url: str | None) -> list[Site]:
    if file and url:
        raise SitesError("give either -a sites=FILE or -a site=URL, not both")
    listed = file or url or setting(settings, "NEWSCRAWL_SITES")
    if not listed:
        raise SitesError("no sites: give -a sites=FILE, -a site=URL or the setting NEWSCRAWL_SITES")
    if url or not isinstance(listed, str):
        urls: Iterable[str] = [listed] if isinstance(listed, str) else listed
        return [Site(_checked_url(entry)) for entry in urls]
    return load_sites(listed)


def _checked_url(url: str) -> str:
    try:
        return http_url(url)
    except ValueError as error:
        raise SitesError(str(error)) from None


def _shard(value: str | None) -> Shard | None:
    try:
        return None if value is None else Shard.parse(value)
    except ValueError as error:
        raise SitesError(str(error)) from None


def _limit(value: str | None) -> int | None:
    if value is None:
        return None
    if not value.isdecimal() or int(value) < 1:
        raise SitesError(f"limit must be a whole number of at least 1, not {value!r}")
    return int(value)
