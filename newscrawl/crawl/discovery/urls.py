"""URLs of a crawl: whose they are, when two are the same page, which are not worth a request."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

import tldextract
from w3lib.url import canonicalize_url, safe_url_string

# The snapshot of the public suffix list that ships with tldextract: a crawl makes no hidden
# requests. Private suffixes (blogspot.com, github.io) divide owners, so they count.
_registered = tldextract.TLDExtract(
    suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
)
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Parameters that say where the visitor came from, never which page is meant.
_TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|dclid|msclkid|yclid|igshid|mc_[ce]id|_ga|ns_\w+|at_\w+|cmpid|wt_mc"
    r"|ref_?(src|url)?|(php|j|asp)?sess(ion)?_?id|aspsessionid\w*|cfid|cftoken|oscsid|zenid|sid"
    r"|smid|ocid|xtor",
    re.IGNORECASE,
)
# A session in the path, as Java and ASP.NET write it for visitors without cookies.
_SESSION = re.compile(
    r";(?:jsessionid|phpsessid|sid)=[^/;]*|/\((?:[A-Z]\([\w-]{20,}\))+\)(?=/|$)", re.IGNORECASE
)
# What most articles have: an absolute URL with nothing in it to escape, to strip or to sort.
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PLAIN = re.compile(
    rf"https?://({_LABEL}(?:\.{_LABEL}){{0,8}}(?::[1-5]?[1-9]\d{{0,3}})?)"
    r"(/(?:[\w~-]+(?:[./][\w~-]+)*/?)?)",
    re.ASCII,
)


def site_key(url: str) -> str:
    """Return the host of *url* in lower case, with the port where it is not the default."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port
    return host if port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f"{host}:{port}"


@lru_cache(maxsize=4096)
def owner(host: str) -> str:
    """Return the registered domain of *host* (see :func:`site_key`).

    An address or a name without dot owns itself, each port on its own.
    """
    found = _registered(host)
    if found.suffix:
        return found.top_domain_under_public_suffix or host
    if found.ipv4 or found.ipv6 or not found.subdomain:
        return host
    # The public suffix list's default rule: an unknown top-level domain is a suffix.
    return f"{found.subdomain.split('.')[-1]}.{found.domain}"


def absolute_url(url: str, base: str = "") -> str | None:
    """Return *url* made absolute, escaped and without fragment, tracking parameters and sessions.

    None for what is no http(s) URL.
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


@lru_cache(4096)  # a page is asked for, taken and put out under one URL
def page_key(url: str) -> str:
    """Return what two URLs of the same page have in common.

    Scheme, a leading ``www.``, a trailing slash, the order of parameters, tracking parameters
    and the fragment do not count.
    """
    if plain := _PLAIN.fullmatch(url):
        host = site_key(url) if ":" in plain[1] else plain[1]
        return host.removeprefix("www.") + plain[2].rstrip("/")
    parts = urlsplit(canonicalize_url(absolute_url(url) or url))
    host = site_key(parts.geturl()).removeprefix("www.")
    query = f"?{parts.query}" if parts.query else ""
    return f"{host}{parts.path.rstrip('/')}{query}"
