"""Readers of robots.txt, ai.txt and tdmrep.json: the rules for one crawler, within limits.

Pure functions of bytes, run in a worker process. The result is a robots.txt with a single group, so
that its parser needs little time and memory, whatever the file contains. Specifications: RFC 9309;
https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240202/
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from newscrawl.crawling.urls import absolute_url
from newscrawl.document.encoding import to_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_ROBOTS_SIZE: Final = 512 * 1024
"""Maximum size of robots.txt in bytes (RFC 9309 requires at least 500 KiB)."""
MAX_RULES: Final = 5_000
"""Maximum number of different rules for the crawler."""
MAX_RULES_SIZE: Final = 128 * 1024
"""Maximum size of these rules in bytes."""

# The misspellings are those that Protego and Google's parser accept.
_RECORD: Final = re.compile(
    r"(user[- ]?agent|allow|diss?all?[oa]w|diasllow|crawl[- ]delay)(?:\s*:|\s)(.*)", re.IGNORECASE
)
_SITEMAP: Final = re.compile(
    r"(?:^|[\r\n])[ \t]*sitemap[ \t]*:[ \t]*(\S{1,2083})(?!\S)", re.IGNORECASE
)
_MAX_SITEMAPS: Final = 100
_MAX_DELAY: Final = 86_400.0
_NAME: Final = re.compile(r"[\w.-]+")
_PRODUCT: Final = re.compile(r"([\w.-]+)(?:/\S*)?")
_COMMENT: Final = re.compile(r"\([^()]*\)?")
_COMPATIBLE: Final = re.compile(r"\bcompatible;\s*([\w.-]+)", re.IGNORECASE)


def product_token(user_agent: str) -> str:
    """Return the lower-case name by which robots.txt addresses the crawler *user_agent*.

    This is the first product (``newscrawl/1.0 (+https://...)``); in the string of a browser, the
    product after ``compatible;`` or the last one.
    """
    if found := _COMPATIBLE.search(user_agent):
        return found[1].lower()
    products = _PRODUCT.findall(_COMMENT.sub(" ", user_agent)) or [""]
    name: str = products[-1 if products[0] == "Mozilla" else 0]
    return name.lower()


def read_rules(data: bytes, *, url: str, file: str, token: str) -> dict[str, Any]:
    """Return the rules of a *file* (``robots``, ``ai_txt``, ``tdmrep``) for the crawler *token*.

    Their ``text`` is a robots.txt with the group ``*`` only; ``left_out`` is the number of rules
    beyond the limits. ``sitemaps`` has the URLs that a robots.txt at *url* names. An invalid file
    has no rules.
    """
    text = to_utf8(data, "windows-1252").utf8.decode()
    if file == "tdmrep":
        group = _Group()
        for rule in _tdmrep_rules(text):
            group.add(rule)
    elif file == "ai_txt" and text.lstrip().startswith("<"):  # the error page of a site
        group = _Group()
    else:
        group = _own_group(text, token)
    lines = islice(_SITEMAP.finditer(text), _MAX_SITEMAPS) if file == "robots" else ()
    sitemaps = dict.fromkeys(filter(None, (absolute_url(line[1], url) for line in lines)))
    return {"text": str(group), "sitemaps": list(sitemaps), "left_out": group.left_out}


@dataclass(slots=True)
class _Group:
    """Rules of all groups of a crawler."""

    rules: dict[str, None] = field(default_factory=dict)
    delay: float = 0.0
    left_out: int = 0
    _size: int = 0

    def add(self, rule: str) -> None:
        """Add the line *rule*, unless the limits are reached."""
        if rule in self.rules:
            return
        size = self._size + len(rule.encode("utf-8", "replace"))
        if len(self.rules) == MAX_RULES or size > MAX_RULES_SIZE:
            self.left_out += 1
            return
        self._size = size
        self.rules[rule] = None

    def add_delay(self, value: str) -> None:
        """Set the Crawl-delay to *value*, unless it is invalid or shorter."""
        with suppress(ValueError):
            if isfinite(delay := float(value)):
                self.delay = min(max(self.delay, delay), _MAX_DELAY)

    def __str__(self) -> str:
        delay = [f"Crawl-delay: {self.delay:g}"] if self.delay else []
        return "\n".join(["User-agent: *", *self.rules, *delay])


def _own_group(text: str, token: str) -> _Group:
    """Return the merged groups of the robots.txt *text* for *token*; without one, those for ``*``.

    Only a rule ends the user-agent lines of a group (section 2.2.4); a Crawl-delay applies to those
    before it.
    """
    token = token or "*"
    groups: dict[str, _Group] = {"*": _Group()}
    names: set[str] = set()
    delayed: set[str] = set()
    is_open = is_delayed = False
    for name, value in _records(text):
        if name == "user-agent":
            if not is_open:
                names, is_open, is_delayed = set(), True, True
            if is_delayed:
                delayed, is_delayed = set(), False
            if (agent := _agent(value)) in ("*", token):
                groups.setdefault(agent, _Group())
                names.add(agent)
                delayed.add(agent)
        elif name == "crawl-delay":
            is_delayed = True
            for agent in delayed if is_open else names:
                groups[agent].add_delay(value)
        else:
            is_open = False
            for agent in names if value else ():
                groups[agent].add(f"{name}: {value}")
    return groups.get(token) or groups["*"]


def _records(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and value of the known records: ``user-agent``, ``Allow``, ``Disallow``, ...

    Lines end as in Protego, so that no value has a line break for it.
    """
    for line in text.splitlines():
        found = _RECORD.match(line.partition("#")[0].strip())
        if not found:
            continue
        name, value = found[1].lower(), found[2].strip()
        if name[0] in "uc":
            yield "user-agent" if name[0] == "u" else "crawl-delay", value
        else:
            yield "Allow" if name[0] == "a" else "Disallow", value


def _agent(value: str) -> str:
    """Return the name in a user-agent line, in lower case and without version, or ``*``."""
    first = value.partition(" ")[0]
    found = _NAME.match(first.strip("*"))
    return found[0].lower() if found else first[:1]


def _tdmrep_rules(text: str) -> Iterator[str]:
    """Yield the rules of a ``tdmrep.json``, whose patterns are those of robots.txt."""
    try:
        entries = json.loads(text)
    except (RecursionError, ValueError):
        return
    for entry in entries if isinstance(entries, list) else ():
        location = entry.get("location") if isinstance(entry, dict) else None
        if isinstance(location, str) and location.isprintable():
            reserved = str(entry.get("tdm-reservation")) == "1"
            yield f"{'Disallow' if reserved else 'Allow'}: {location}"
