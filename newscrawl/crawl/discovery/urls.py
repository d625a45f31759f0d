"""URLs of a crawl: site, registered domain, normalisation and page key."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

import tldextract
from w3lib.url import canonicalize_url, safe_url_string

# The public suffix list that ships with tldextract, so that it makes no requests of its own.
# Private suffixes (blogspot.com, github.io) separate the sites of different owners.
_split_host = tldextract.TLDExtract(
    suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
)
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Parameters that identify the visitor or the referrer, not the page.
_TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|dclid|msclkid|yclid|igshid|mc_[ce]id|_ga|ns_\w+|at_\w+|cmpid|wt_mc"
    r"|ref_?(src|url)?|(php|j|asp)?sess(ion)?_?id|aspsessionid\w*|cfid|cftoken|oscsid|zenid|sid"
    r"|smid|ocid|xtor",
    re.IGNORECASE,
)
# Session ID in the path, as in Java and ASP.NET for clients without cookies.
_SESSION = re.compile(
    r";(?:jsessionid|phpsessid|sid)=[^/;]*|/\((?:[A-Z]\([\w-]{20,}\))+\)(?=/|$)", re.IGNORECASE
)
# Fast path: an absolute URL without anything to escape, remove or sort.
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PLAIN = re.compile(
    rf"https?://({_LABEL}(?:\.{_LABEL}){{0,8}}(?::[1-5]?[1-9]\d{{0,3}})?)"
    r"(/(?:[\w~-]+(?:[./][\w~-]+)*/?)?)",
    re.ASCII,
)


def site_key(url: str) -> str:
    """Return the host of *url* in lower case, with the port unless it is the default."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port
    return host if port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f"{host}:{port}"


def site_key_or(url: str, default: str) -> str:
    """Return the :func:`site_key` of *url*, or *default* if the URL is invalid."""
    try:
        return site_key(url)
    except ValueError:
        return default


@lru_cache(maxsize=4096)
def registered_domain(host: str) -> str:
    """Return the registered domain of *host* (see :func:`site_key`).

    An IP address or a name without a dot is returned unchanged, with its port.
    """
    parts = _split_host(host)
    if parts.suffix:
        return parts.top_domain_under_public_suffix or host
    if parts.ipv4 or parts.ipv6 or not parts.subdomain:
        return host
    # The public suffix list's default rule: an unknown top-level domain is a suffix.
    return f"{parts.subdomain.split('.')[-1]}.{parts.domain}"


def absolute_url(url: str, base: str = "") -> str | None:
    """Return *url* made absolute, escaped, without fragment, tracking parameters and session IDs.

    None if it is not an http(s) URL.
    """
    if _PLAIN.fullmatch(url):
        return url
    try:
        parts = urlsplit(urljoin(base, url.strip()))
        if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or parts.port == 0:
            return None
        path = _SESSION.sub("", parts.path)
        query = _without_tracking(parts.query)
        clean = parts._replace(path=path, query=query, fragment="")
        return str(safe_url_string(urlunsplit(clean)))
    except ValueError:
        return None


def _without_tracking(query: str) -> str:
    if not query:
        return ""
    pairs = parse_qsl(query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if not _TRACKING.fullmatch(name)]
    return query if len(kept) == len(pairs) else urlencode(kept)


@lru_cache(4096)
def page_key(url: str) -> str:
    """Return a normalised form of *url*, the same for all URLs of a page.

    It ignores the scheme, a leading ``www.``, a trailing slash, the order of parameters, tracking
    parameters and the fragment.
    """
    if plain := _PLAIN.fullmatch(url):
        host = site_key(url) if ":" in plain[1] else plain[1]
        return host.removeprefix("www.") + plain[2].rstrip("/")
    parts = urlsplit(canonicalize_url(absolute_url(url) or url))
    host = site_key(parts.geturl()).removeprefix("www.")
    query = f"?{parts.query}" if parts.query else ""
    return f"{host}{parts.path.rstrip('/')}{query}"
