"""Address of a site: its registered domains, and the origin to which it redirects its pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from newscrawl.crawling.urls import registered_domain, site_key

if TYPE_CHECKING:
    from newscrawl.crawling.discovery.target import Target

MIN_REDIRECTS = 2
"""Redirects to another host or scheme after which its addresses are requested there at once."""


class SiteAddress:
    """Domains of a site, and its redirects to another host or scheme."""

    def __init__(self, key: str) -> None:
        #: registered domains of the site
        self.domains = {registered_domain(key)}
        #: final schemes and hosts by those of the targets
        self._origins: defaultdict[tuple[str, ...], Counter[tuple[str, ...]]] = defaultdict(Counter)

    def owns(self, url: str) -> bool:
        """Return True if *url* belongs to the site."""
        return registered_domain(site_key(url)) in self.domains

    def add_domain(self, url: str) -> bool:
        """Accept the domain of *url*; return False if it is known."""
        is_new = not self.owns(url)
        self.domains.add(registered_domain(site_key(url)))
        return is_new

    def record_origin(self, target: Target, url: str) -> None:
        """Record the final *url* of *target*, by scheme and host if only these have changed."""
        before, after = urlsplit(target.url), urlsplit(url)
        if before[2:4] == after[2:4] and self.owns(url):
            self._origins[before[:2]][after[:2]] += 1

    def current_url(self, target: Target) -> str:
        """Return the URL of *target* at the scheme and host to which its site redirects pages."""
        before = urlsplit(target.url)[:2]
        origins = self._origins[before]
        if target.role == "robots" or len(origins) != 1 or sum(origins.values()) < MIN_REDIRECTS:
            return target.url
        return target.url.replace("://".join(before), "://".join(next(iter(origins))), 1)
