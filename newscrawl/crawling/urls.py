"""URLs of a crawl: site, registered domain, normalisation, page key and crawler traps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import parse_qsl, urlsplit

import tldextract
from ada_url import URL
from w3lib.url import canonicalize_url

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The public suffix list that ships with tldextract, so that it makes no requests of its own.
# Private suffixes (blogspot.com, github.io) separate the sites of different owners.
_split_host = tldextract.TLDExtract(
    suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
)
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Parameters that identify the visitor or the referrer, not the page.
_TRACKING = re.compile(
    r"(?:utm|itm|mtm|matomo|pk|piwik|hsa|oly|sr|soc|guce|ga|gad|fb|at_link)_\w+|__?hs\w+"
    r"|\w*clid|(?:g|w)braid|g?clsrc|li_fat_id|irclickid|mc_[ce]id|mkt_tok|vero_(?:id|conv)|_ga|_gl"
    r"|ved|igsh(?:id)?|srsltid|mibextid|__twitter_impression|guccounter|traffic_source|wprov|trk"
    r"|ck_subscriber_id|_openstat|ref(?:_(?:src|url)?|src|url)|spm|s_cid|epik|wickedid|rb_clickid|xtor|dm_i|__s"
    r"|(?:php|j|asp)?sess(?:ion)?_?id|aspsessionid\w*|cfid|cftoken|oscsid|zenid",
    re.IGNORECASE,
)
# The same, but some sites identify their pages by them, with a number or a slug: "ref=4711".
_OFTEN_TRACKING = re.compile(
    r"(?:at|ns)_\w+=(?!\d+$).*|(?:cmpid|icid|ocid|smid|wt_z?mc)=(?!\d+$).*"
    r"|ref=[a-z_.]{1,20}|sid=[\da-f]{16,}",
    re.IGNORECASE,
)
# Copies of a page for mobile devices and printers.
_COPY_HOST = re.compile(r"(?:www\d?|m|mobile|amp)\.(?=[^.]+\.)")
_COPY_PATH = re.compile(
    r"^/amp(?=/.)|(?<=[^/]{8})/(?:amp|print)(?:\.html?)?/?$|\.amp(?=(?:\.html?)?$)"
)
_COPY_PARAMETER = re.compile(
    r"(?:amp|print|mobile)(?:=(?:1|true|yes)?)?|(?:output(?:type)?|view)=(?:amp|print)|amp_\w+=.*",
    re.IGNORECASE,
)
# Session ID in the path, as in Java and ASP.NET for clients without cookies.
_SESSION = re.compile(
    r";(?:jsessionid|phpsessid|sid)=[^/;]*|/\((?:[A-Z]\([\w-]{20,}\))+\)(?=/|$)", re.IGNORECASE
)
# Fast paths: an absolute URL, or its path, without anything to escape, remove or sort.
_LABEL = r"(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PLAIN_PATH = re.compile(r"/(?:[\w~-]+(?:[./][\w~-]+)*/?)?", re.ASCII)
_PLAIN = re.compile(
    rf"https?://((?:{_LABEL}\.){{0,8}}(?=[a-z]){_LABEL})({_PLAIN_PATH.pattern})", re.ASCII
)


@dataclass(frozen=True, slots=True)
class UrlPatterns:
    """Regular expressions, searched in URLs: some of *include*, if any, and none of *exclude*."""

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def check(self) -> None:
        """Raise ``ValueError`` if one of the expressions is invalid."""
        for pattern in (*self.include, *self.exclude):
            try:
                re.compile(pattern)
            except (re.error, TypeError) as error:
                raise ValueError(f"not a regular expression: {pattern!r} ({error})") from None

    def accept(self, url: str) -> bool:
        """Return whether *url* is that of a wanted page."""
        if any(re.search(pattern, url) for pattern in self.exclude):
            return False
        return not self.include or any(re.search(pattern, url) for pattern in self.include)


@lru_cache(maxsize=256)  # several components of a crawl ask for it, page by page
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


def is_public_suffix(host: str) -> bool:
    """Return whether *host* is a suffix of the sites of several owners, such as ``co.uk``."""
    return not _split_host(host).domain


def absolute_url(url: str, base: str = "") -> str | None:
    """Return *url* resolved as browsers do, without fragment, tracking parameters and session IDs.

    All other parts of the path and the query stay as the site wrote them. None if it is not an
    http(s) URL.
    """
    if _PLAIN.fullmatch(url):
        return url
    if _PLAIN_PATH.fullmatch(url) and (plain := _PLAIN.match(base)):
        return base[: plain.end(1)] + url
    try:
        found = URL(url, base or None)
    except ValueError:
        return None
    if found.protocol not in ("http:", "https:") or found.port == "0":
        return None
    found.hash = ""
    if (path := _SESSION.sub("", found.pathname)) != found.pathname:
        found.pathname = path
    if (query := _without(_is_tracking, found.search)) != found.search:
        found.search = query
    return str(found.href)


def _without(is_removed: Callable[[str], object], search: str) -> str:
    """Return the query *search*, with its question mark, without some of its parameters."""
    return (
        "?".join(
            "&".join(part for part in parts.split("&") if not is_removed(part))
            for parts in search.split("?")
        ).rstrip("?")
        if search
        else ""
    )


def _is_tracking(parameter: str) -> object:
    name = parameter.partition("=")[0]
    return _TRACKING.fullmatch(name) or _OFTEN_TRACKING.fullmatch(parameter)


@lru_cache(4096)
def page_key(url: str) -> str:
    """Return a normalised form of *url*, the same for all URLs of a page.

    It ignores the scheme, a leading ``www.`` or ``m.``, marks of copies for AMP and printing, a
    trailing slash, the order of parameters, tracking parameters, and the fragment.
    """
    if plain := _PLAIN.fullmatch(url):
        host, path, query = plain[1], plain[2], ""
    else:
        parts = urlsplit(canonicalize_url(absolute_url(url) or url))
        host, path = site_key(parts.geturl()), parts.path
        query = _without(_COPY_PARAMETER.fullmatch, f"?{parts.query}") if parts.query else ""
    return f"{_COPY_HOST.sub('', host, 1)}{_COPY_PATH.sub('', path).rstrip('/')}{query}"


Trap = Literal["depth", "repeats", "calendar", "query"]

MAX_SEGMENTS: Final = 12
"""Maximum number of path segments."""
MAX_REPEATS: Final = 2
"""Maximum occurrences of one segment in a path: ``/news/news/`` exists."""
MAX_PARAMETERS: Final = 10
"""Maximum number of query parameters, tracking parameters not counted."""
MAX_VALUES: Final = 3
"""Maximum number of values of one parameter."""
MAX_QUERY_LENGTH: Final = 512
"""Maximum length of a query, in characters."""

# Pages of a calendar: the path ends with a month, a week or a day, without a title.
_CALENDAR = re.compile(
    r".*/(?:e?calendars?|kalender|calendrier|calendario|events?|tribe[_-]?events|eventlist)"
    r"(?:[/.-][a-z]+)?/(?:19|20|21)\d\d(?:[/-]\d{1,2}|-w\d\d?){1,2}/?",
    re.IGNORECASE,
)
_CALENDAR_PARAMETER = re.compile(
    r"(?:cal(?:endar)?_?(?:date|day|month|year|week|view)?|tribe-bar-date|eventdisplay|ical"
    r"|view_?month|view_?year|month|mon|yr|year|week)",
    re.IGNORECASE,
)
_CALENDAR_VALUE = re.compile(r"\d{1,4}(?:[-/.]\d{1,2}){0,2}|list|month|day|week|past|1")
_YEAR_OR_MONTH = frozenset({"year", "yr", "month", "mon", "week"})
# A percent sign that is escaped twice: a URL contains itself more than once.
_NESTED = re.compile(r"%25(?:25)+")


def trap_kind(url: str) -> Trap | None:
    """Return the kind of crawler trap that *url* belongs to; None if it is not a trap.

    A trap is a URL that a site generates without end. The rules are narrow, since skipping an
    article costs more than following a trap for a while.
    Session IDs are ignored: :func:`~newscrawl.crawling.urls.absolute_url` removes them.
    """
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    if len(segments) > MAX_SEGMENTS:
        return "depth"
    if _has_repeats(segments):
        return "repeats"
    if _CALENDAR.fullmatch(parts.path):
        return "calendar"
    return _query_trap(parts.query) if parts.query else None


def _has_repeats(segments: list[str]) -> bool:
    """Return True for ``a/a/a`` and ``a/b/a/b``: a relative link that is appended repeatedly."""
    if max(map(segments.count, segments), default=0) > MAX_REPEATS:
        return True
    pairs = [(first, second) for first, second in pairwise(segments) if first != second]
    return len(pairs) != len(set(pairs))


def _query_trap(query: str) -> Trap | None:
    if len(query) > MAX_QUERY_LENGTH or _NESTED.search(query):
        return "query"
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:  # more parameters
        return "query"
    names = [name.lower() for name, _ in pairs]
    if max(map(names.count, names), default=0) > MAX_VALUES:
        return "query"
    return "calendar" if _is_calendar(pairs) else None


def _is_calendar(pairs: list[tuple[str, str]]) -> bool:
    """Return True if all parameters select a page of a calendar.

    A year, month or week as the only parameter may belong to an archive instead.
    """
    if not pairs or not all(
        _CALENDAR_PARAMETER.fullmatch(name) and _CALENDAR_VALUE.fullmatch(value)
        for name, value in pairs
    ):
        return False
    names = {name.lower() for name, _ in pairs}
    return len(names & _YEAR_OR_MONTH) != 1 or len(names) > 1
