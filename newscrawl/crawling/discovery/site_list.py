"""Site list: the sites to crawl with their options, and the arguments of ``sitelist``.

The file extension selects the format: CSV (with a ``url`` column), JSON, JSON Lines or YAML, else
plain lines (one URL per line, ``#`` starts a comment).
"""

from __future__ import annotations

import csv
import json
import logging
import re
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from http.cookiejar import MozillaCookieJar
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import yaml
from scrapy import Request
from scrapy.http import Response
from scrapy.http.cookies import CookieJar

from newscrawl.component import Component
from newscrawl.crawling.shards import Shard
from newscrawl.crawling.urls import UrlPatterns, registered_domain, site_key
from newscrawl.defaults import SettingError, setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    #: pairs of line number (or "entry 3") and entry of a site list
    NumberedEntries = Iterator[tuple[int | str, object]]
    from collections.abc import Mapping
    from http.cookiejar import Cookie

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_LISTS = ("sections", "feeds", "sitemaps")
_PATTERNS = ("include", "exclude")
_REQUESTS = ("headers", "cookies", "cookie_file", "delay", "render", "rules")
_OPTIONS = ("url", *_LISTS, "limit", "language", *_PATTERNS, *_REQUESTS)
_HOST = re.compile(r"(?:(?>[^\s/:@]+?\.)[^\s/:@]++|localhost)(:\d+)?(/\S*)?")
_SWITCH = {"yes": True, "true": True, "no": False, "false": False}
# RFC 9110, section 5.6.2; a value has no control characters.
_TOKEN = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_VALUE = re.compile(r"[^\x00-\x1f\x7f]*")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


class SitesError(SettingError):
    """Invalid site list; the message names the file and the line."""


@dataclass(frozen=True, slots=True)
class Site:
    """One site of the list."""

    #: start page
    url: str
    #: section pages, in addition to those found
    sections: tuple[str, ...] = ()
    #: RSS, Atom or JSON feeds, in addition to those found
    feeds: tuple[str, ...] = ()
    #: sitemaps, in addition to those found
    sitemaps: tuple[str, ...] = ()
    #: maximum number of article pages; None for ``NEWSCRAWL_SITE_LIMIT``
    limit: int | None = None
    #: BCP 47 tag of pages that do not declare their language
    language: str | None = None
    #: regular expressions of URLs of articles, instead of ``NEWSCRAWL_INCLUDE``
    include: tuple[str, ...] = ()
    #: regular expressions of URLs that are not requested, besides ``NEWSCRAWL_EXCLUDE``
    exclude: tuple[str, ...] = ()
    #: headers of the requests to the site, which may be secrets
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    #: cookies of these requests, which are secrets
    cookies: tuple[Cookie, ...] = field(default=(), repr=False)
    #: seconds between two requests; None for ``DOWNLOAD_DELAY``
    delay: float | None = None
    #: render pages that need scripts; None for ``NEWSCRAWL_RENDER``
    render: bool | None = None
    #: absolute path of a folder of rules, "" for none; None for ``NEWSCRAWL_SITE_RULES``
    rules: str | None = None
    #: name in stats: the host, with the port unless it is the default
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", site_key(self.url))


def make_site(entry: object, folder: Path | None = None) -> Site:
    """Return the site of *entry*: a URL, or a mapping with ``url`` and options.

    Files are relative to *folder*. Raises ``ValueError`` if the entry is invalid.
    """
    if isinstance(entry, str):
        entry = {"url": entry}
    if not isinstance(entry, dict):
        raise ValueError(f"expected a URL or a mapping: {entry!r}")  # noqa: TRY004
    options = {name: value for name, value in entry.items() if value not in (None, "")}
    for name in options:
        if name not in _OPTIONS:
            raise ValueError(f"unknown option {name!r} (known: {', '.join(_OPTIONS)})")
    if "url" not in options:
        raise ValueError("url is missing")
    url = http_url(options["url"])
    patterns = {
        name: _strings(name, "regular expressions", options.get(name)) for name in _PATTERNS
    }
    UrlPatterns(**patterns).check()
    return Site(
        url=url,
        limit=parse_limit(options.get("limit")),
        language=_language(options.get("language")),
        headers=_pairs("headers", options.get("headers"), "\n", ":"),
        cookies=_cookies(options, url, folder or Path()),
        delay=_delay(options.get("delay")),
        render=_render(options.get("render")),
        rules=_rules(options.get("rules"), folder or Path()),
        **patterns,
        **{name: _urls(name, options.get(name), url) for name in _LISTS},
    )


def http_url(value: object) -> str:
    """Return *value* as an absolute http(s) URL; a bare host name gets ``https://``.

    Raises ``ValueError`` for anything else.
    """
    text = value.strip() if isinstance(value, str) else ""
    if _HOST.fullmatch(text):
        text = f"https://{text}"
    try:
        parts = urlsplit(text)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid or re.search(r"\s", text):
        raise ValueError(f"not an http(s) URL: {value!r}")
    return text if parts.path else parts._replace(path="/").geturl()


def load_sites(path: str | Path) -> list[Site]:
    """Return the sites listed in the file *path*.

    Raises :class:`SitesError`: ``file:line: message``.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise SitesError(f"{path}: {reason}") from None
    parse = _PARSERS.get(path.suffix.lower(), _parse_lines)
    sites: dict[str, tuple[int | str, Site]] = {}
    for line, site in _numbered_sites(path, parse(text)):
        if site.key in sites:
            first = sites[site.key][0]
            raise SitesError(
                f"{path}:{line}: {site.key} is listed already (line {first}); "
                "list other pages of a site as its sections"
            )
        sites[site.key] = line, site
    if not sites:
        raise SitesError(f"{path}: the list has no sites")
    return [site for _, site in sites.values()]


def _numbered_sites(path: Path, entries: NumberedEntries) -> Iterator[tuple[int | str, Site]]:
    try:
        for line, entry in entries:
            try:
                yield line, make_site(entry, path.parent)
            except ValueError as error:
                raise SitesError(f"{path}:{line}: {error}") from None
    except json.JSONDecodeError as error:
        raise SitesError(f"{path}:{error.lineno}: {error.msg}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SitesError(f"{path}:{line}: {error.problem or error.context}") from None
    except (yaml.YAMLError, csv.Error) as error:
        raise SitesError(f"{path}: {error}") from None


def parse_limit(value: object) -> int | None:
    """Return *value*, a number of article pages, as an integer; None if it is None.

    Raises ``ValueError`` if it is not a whole number of at least 1.
    """
    if value is None:
        return None
    try:
        number = int(str(value))
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"limit must be a whole number of at least 1, not {value!r}")
    return number


def _language(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not _LANGUAGE.fullmatch(value):
        raise ValueError(f"language must be a tag such as en or pt-BR, not {value!r}")
    return value


def _pairs(option: str, value: object, end: str, separator: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of *value*, a mapping or a text such as ``a=1; b=2``.

    The message of an error does not have the value, which may be a secret.
    """
    if isinstance(value, str):
        parts = (part.partition(separator) for part in value.split(end) if part.strip())
        value = {name.strip(): text.strip() if found else None for name, found, text in parts}
    pairs = value.items() if isinstance(value, dict) else [] if value is None else [("", "")]
    for key, text in pairs:
        is_pair = isinstance(key, str) and isinstance(text, str | int)
        if not is_pair or not (_TOKEN.fullmatch(key) and _VALUE.fullmatch(str(text))):
            raise ValueError(f"{option} must be names and values, such as a{separator} 1")
    return tuple((key, str(text)) for key, text in pairs)


def _cookies(options: Mapping[str, Any], url: str, folder: Path) -> tuple[Cookie, ...]:
    """Return the cookies of the site at *url*, those of a file of a browser first."""
    pairs, file = _pairs("cookies", options.get("cookies"), ";", "="), options.get("cookie_file")
    if not pairs and not file:
        return ()
    if any(";" in value for _, value in pairs):
        raise ValueError("cookies must have no semicolon in a value")
    host = urlsplit(url).hostname or ""
    domain = registered_domain(host)
    secure = url.startswith("https:")
    ending = "; Path=/" + ("; Secure" if secure else "")
    if "." in domain and not domain.replace(".", "").isdecimal():
        ending += f"; Domain={domain}"
    lines = [f"{name}={value}{ending}" for name, value in pairs]
    given = CookieJar().make_cookies(Response(url, headers={"Set-Cookie": lines}), Request(url))
    return (*(_read_cookies(file, domain, folder, secure=secure) if file else ()), *given)


def _read_cookies(name: object, domain: str, folder: Path, *, secure: bool) -> list[Cookie]:
    """Return the cookies of *domain* in a file in Netscape's format, as browsers export it.

    With *secure* they are sent with TLS only.
    """
    if not isinstance(name, str):
        raise ValueError(f"cookie_file must be a file, not {name!r}")  # noqa: TRY004
    path = folder / name
    jar = MozillaCookieJar(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its reader, with a traceback
            jar.load(ignore_discard=True, ignore_expires=True)
    except FileNotFoundError:
        raise ValueError(f"cookie_file: {path}: no such file") from None
    except (OSError, UnicodeDecodeError):  # their messages have lines of the file
        raise ValueError(f"cookie_file: {path}: not a file in Netscape's format") from None
    found = [it for it in jar if registered_domain(it.domain.lstrip(".")) == domain]
    for cookie in found:
        cookie.secure = cookie.secure or secure
        if cookie.expires == 0:  # browsers write it for those of a session
            cookie.expires = None
    if not found:
        raise ValueError(f"cookie_file: {path}: no cookie of {domain}")
    if all(cookie.is_expired() for cookie in found):
        logger.warning("%s: all cookies of %s have expired", path, domain)
    return found


def _delay(value: object) -> float | None:
    try:
        seconds = None if value is None else float(str(value))
    except ValueError:
        seconds = -1.0
    if seconds is not None and not 0 <= seconds < float("inf"):
        raise ValueError(f"delay must be a number of seconds, not {value!r}")
    return seconds


def _render(value: object) -> bool | None:
    if value is None:
        return None
    switch = _SWITCH.get(str(value).lower())
    if switch is None:
        raise ValueError(f"render must be yes or no, not {value!r}")
    if switch and find_spec("scrapy_playwright") is None:
        raise ValueError('render requires: pip install "newscrawl[render]"')
    return switch


def _rules(value: object, folder: Path) -> str | None:
    if value is None:
        return None
    if _SWITCH.get(str(value).lower()) is False:
        return ""
    if not isinstance(value, str) or not (folder / value).is_dir():
        raise ValueError(f"rules must be a folder or no, not {value!r}")
    return str((folder / value).absolute())


def _strings(name: str, kind: str, value: object) -> tuple[str, ...]:
    """Return the strings of *value*, a list or a text with white space between them."""
    if value is None:
        return ()
    strings = value.split() if isinstance(value, str) else value
    if not isinstance(strings, list) or not all(isinstance(text, str) for text in strings):
        raise ValueError(f"{name} must be {kind}, not {value!r}")
    return tuple(strings)


def _urls(name: str, value: object, base: str) -> tuple[str, ...]:
    urls = _strings(name, "URLs", value)
    try:
        return tuple(http_url(urljoin(base, url)) for url in urls)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _parse_lines(text: str) -> NumberedEntries:
    for number, line in enumerate(text.splitlines(), 1):
        if entry := re.sub(r"(^|\s)#.*", "", line).strip():
            yield number, entry


def _parse_csv(text: str) -> NumberedEntries:
    reader = csv.DictReader(StringIO(text, newline=""), restkey="extra columns")
    if "url" not in (reader.fieldnames or ()):
        yield 1, {}
    for row in reader:
        yield reader.line_num, row


def _parse_json_lines(text: str) -> NumberedEntries:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                error.lineno = number
                raise


def _parse_json(text: str) -> NumberedEntries:
    yield from _entries_of(json.loads(text))


def _parse_yaml(text: str) -> NumberedEntries:
    yield from _entries_of(yaml.safe_load(text))


def _entries_of(parsed: object) -> NumberedEntries:
    entries = parsed.get("sites") if isinstance(parsed, dict) else parsed
    for number, entry in enumerate(entries if isinstance(entries, list) else [parsed], 1):
        yield f"entry {number}", entry


_PARSERS: dict[str, Callable[[str], NumberedEntries]] = {
    ".csv": _parse_csv,
    ".json": _parse_json,
    ".jsonl": _parse_json_lines,
    ".yaml": _parse_yaml,
    ".yml": _parse_yaml,
}


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


class ListedSites(Component):
    """The sites of a crawl: those of its spider, else of the setting ``NEWSCRAWL_SITES``."""

    def __init__(self, crawler: Crawler) -> None:
        given = getattr(crawler.spider, "sites", None)
        if not isinstance(given, list) or not all(isinstance(site, Site) for site in given):
            is_listed = setting(crawler.settings, "NEWSCRAWL_SITES")
            given = _sites(crawler.settings, None, None) if is_listed else []
        if any(site.cookies for site in given) and not crawler.settings.getbool("COOKIES_ENABLED"):
            raise SitesError("cookies in a site list need COOKIES_ENABLED")
        self.sites: list[Site] = given
        self._by_key = {site.key: site for site in reversed(given)}
        #: those of other hosts of their domains: the first one
        self._by_domain = {registered_domain(site.key): site for site in reversed(given)}

    def of(self, key: str) -> Site | None:
        """Return the site of the host *key* (:func:`~newscrawl.crawling.urls.site_key`)."""
        return self._by_key.get(key) or self._by_domain.get(registered_domain(key))

    def cookies(self) -> dict[str, list[Cookie]]:
        """Return the cookies by registered domain."""
        found: defaultdict[str, list[Cookie]] = defaultdict(list)
        for site in self.sites:
            if site.cookies:
                found[registered_domain(site.key)] += site.cookies
        return dict(found)
