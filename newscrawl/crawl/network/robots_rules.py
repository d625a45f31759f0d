"""Reduction of a robots.txt to the groups of one crawler, or to its sitemaps."""

from __future__ import annotations

import re

_USER_AGENT = re.compile(r"\s*user[- ]?agent\b\s*:?(.*)", re.IGNORECASE)
# Lines that belong to no group.
_SITE_WIDE = re.compile(r"\s*(?:site-?maps?|host)\b", re.IGNORECASE)
_SITEMAP = re.compile(rb"\s*site-?map", re.IGNORECASE)
# Protego skips other lines, which therefore do not end a list of user agents.
_DIRECTIVE = re.compile(
    r"[^#]*:|\s*(?:dis+al+[oa]w|dias?l+ow|allow|crawl|request|visit)", re.IGNORECASE
)


def own_groups(text: str, user_agent: str) -> str:
    """Return the groups of the robots.txt *text* for *user_agent* and for all crawlers.

    User-agent lines of other crawlers are removed from these groups, too: Protego stores each rule
    once per user agent, so 100 KB of user agents would take it seconds.
    """
    kept: list[str] = []
    names: set[str] = set()
    in_names = False
    for line in text.splitlines():
        if found := _USER_AGENT.match(line):
            names = names if in_names else set()
            in_names = True
            name = found[1].partition("#")[0].strip().lower()
            if _matches(name, user_agent.lower()) and name not in names:
                names.add(name)
                kept.append(line)
        elif line.strip():
            in_names = in_names and _belongs_to_no_group(line)
            if names:
                kept.append(line)
    return "\n".join(kept)


def sitemap_lines(body: bytes) -> bytes:
    """Return the lines of the robots.txt *body* that name sitemaps."""
    return b"\n".join(line for line in body.splitlines() if _SITEMAP.match(line))


def _matches(name: str, user_agent: str) -> bool:
    bare = name.replace("*", "")
    return name == "*" or (bool(bare) and bare in user_agent)


def _belongs_to_no_group(line: str) -> bool:
    return bool(_SITE_WIDE.match(line)) or not _DIRECTIVE.match(line)
