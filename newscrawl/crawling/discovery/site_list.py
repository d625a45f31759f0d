"""Site list: the sites to crawl, with options for each, and the arguments of ``scrapy crawl sitelist``.

The file extension selects the format: CSV (with a ``url`` column), JSON, JSON Lines or YAML, else
plain lines (one URL per line, ``#`` starts a comment).
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import yaml

from newscrawl.crawling.shards import Shard
from newscrawl.crawling.urls import UrlPatterns, site_key
from newscrawl.defaults import SettingError, setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    #: pairs of line number (or "entry 3") and entry of a site list
    NumberedEntries = Iterator[tuple[int | str, object]]
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

_LISTS = ("sections", "feeds", "sitemaps")
_PATTERNS = ("include", "exclude")
_OPTIONS = ("url", *_LISTS, "limit", "language", *_PATTERNS)
_HOST = re.compile(r"(?:(?>[^\s/:@]+?\.)[^\s/:@]++|localhost)(:\d+)?(/\S*)?")
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
    #: name in stats: the host, with the port unless it is the default
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", site_key(self.url))


def make_site(entry: object) -> Site:
    """Return the site of *entry*: a URL, or a mapping with ``url`` and options.

    Raises ``ValueError`` if the entry is invalid.
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
                yield line, make_site(entry)
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
    parsed = json.loads(text)
    entries = parsed.get("sites") if isinstance(parsed, dict) else parsed
    for number, entry in enumerate(entries if isinstance(entries, list) else [parsed], 1):
        yield f"entry {number}", entry


def _parse_yaml(text: str) -> NumberedEntries:
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        for node in _yaml_entries(root):
            yield node.start_mark.line + 1, loader.construct_object(node, deep=True)
    finally:
        loader.dispose()


def _yaml_entries(root: yaml.Node | None) -> list[Any]:
    if root is None:
        return []
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if key.value == "sites" and isinstance(value, yaml.SequenceNode):
                return list(value.value)
    return list(root.value) if isinstance(root, yaml.SequenceNode) else [root]


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
