"""Defaults of all ``NEWSCRAWL_*`` settings, each with its unit and the reason for its value.

Components read settings with :func:`setting`, so they also work in a project that sets none of
them. ``docs/reference/settings.md`` describes each setting in full.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_CPUS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

_PREFIX = "NEWSCRAWL_"

#: Sections by subject; names in alphabetical order within each section.
DEFAULTS: dict[str, Any] = {
    # --- Extraction: NewsExtractPipeline ---
    # Formats of the body besides text: "markdown" and "html".
    "NEWSCRAWL_EXTRA_FIELDS": [],
    # Parts of the body besides paragraphs and headings. Also available: captions.
    "NEWSCRAWL_BODY_PARTS": ["code", "definitions", "embeds", "lists", "quotes", "tables"],
    # Article field -> function, or its import path, that converts its value for the item.
    "NEWSCRAWL_FIELD_CONVERTERS": {},
    # Field of articles, "html" or "encoding" of pages -> item field; None does not fill a field.
    "NEWSCRAWL_FIELDS": {},
    # Read the further pages of stories on several pages, up to 20.
    "NEWSCRAWL_JOIN_PAGES": True,
    # Kinds of pages to keep; "live:0.8" also requires a minimum confidence.
    "NEWSCRAWL_KEEP": ["article", "live", "gallery"],
    # Words of which the title or the body must contain one.
    "NEWSCRAWL_KEYWORDS": [],
    # Language tags to keep; "de" also keeps "de-AT". Pages that declare no language are kept.
    "NEWSCRAWL_LANGUAGES": [],
    # Emit articles without their bodies; none is dropped as too short.
    "NEWSCRAWL_METADATA_ONLY": False,
    # "newscrawl" scores best; "nce", "coreex", "econ" and "papers" are published methods.
    "NEWSCRAWL_METHOD": "newscrawl",
    # Characters of a body: shorter pages are mostly cookie walls, teasers and error pages.
    "NEWSCRAWL_MIN_BODY": 100,
    # "article" returns newscrawl.Article, "fill" fills the item, "zyte" converts the article.
    "NEWSCRAWL_OUTPUT": "article",
    # "auto" renders pages that show nothing without scripts in Chromium; needs scrapy-playwright.
    "NEWSCRAWL_RENDER": "",
    # Maximum number of pages of a site that a crawl renders: each takes seconds and 100 MB.
    "NEWSCRAWL_RENDER_PAGES": 100,
    # Seconds after which a page is taken as it is: its requests wait for the delay of their site.
    "NEWSCRAWL_RENDER_TIMEOUT": 30.0,
    # Remove the page from the item: it is about a hundred times as large as the article.
    "NEWSCRAWL_REMOVE_HTML": True,
    # Earliest publication: a day, a time, or an age ("24h", "7d"). Undated articles are dropped.
    "NEWSCRAWL_SINCE": "",
    # Folder of files in the FiveFilters format that correct sites; "": none.
    "NEWSCRAWL_SITE_RULES": "",
    # Hosts of rules whose headers are sent: other clients' names and cookies.
    "NEWSCRAWL_SITE_RULE_HEADERS": [],
    # Item field for the outcome ("article", "failed/timeout", ...), with the output "fill".
    "NEWSCRAWL_STATUS_FIELD": "newscrawl_status",
    # Latest publication, like NEWSCRAWL_SINCE; a day includes all of it.
    "NEWSCRAWL_UNTIL": "",
    # --- Crawl state: LeaseScheduler ---
    # Seconds between two commits. A crawl that is killed repeats the requests of this time.
    "NEWSCRAWL_CHECKPOINT": 0.5,
    # Replace the project's scheduler; the spiders of newscrawl do unless it is False.
    "NEWSCRAWL_FRONTIER_ENABLED": False,
    # Path of the state file, "%(name)s" is the spider's name; "": in memory.
    "NEWSCRAWL_STATE": "",
    # --- Reports: newscrawl report ---
    # URL that alarms are sent to by POST, as JSON. "" sends none.
    "NEWSCRAWL_ALARM_WEBHOOK": "",
    # --- Near-duplicates: NearDuplicatePipeline ---
    # Minimum share of the shorter text's shingles in the longer text; 0: the tuned one.
    "NEWSCRAWL_NEARDUP_CONTAINMENT": 0.0,
    # True drops all but the first article of a cluster, with any details that a copy adds.
    "NEWSCRAWL_NEARDUP_DROP": False,
    # False disables the pipeline. The add-on adds the pipeline only if a project sets True.
    "NEWSCRAWL_NEARDUP_ENABLED": True,
    # Path of the index file, which later crawls extend. "" keeps the index in memory.
    "NEWSCRAWL_NEARDUP_INDEX": "newscrawl-neardup.sqlite",
    # Hours between two articles that are compared: copies appear within 30.
    "NEWSCRAWL_NEARDUP_WINDOW": 72.0,
    # --- Raw pages: WarcMiddleware ---
    # Folder for WARC archives; "" writes none.
    "NEWSCRAWL_WARC": "",
    # --- Segments: SegmentWriter ---
    # Folder for crash-safe output files; "" writes none. Requires the LeaseScheduler.
    "NEWSCRAWL_SEGMENTS": "",
    # Items in a segment: a few MB, small enough to be held in memory.
    "NEWSCRAWL_SEGMENT_ITEMS": 1000,
    # Seconds after which a smaller segment is written. 0 writes it only when the crawl ends.
    "NEWSCRAWL_SEGMENT_SECONDS": 300.0,
    # URLs of the stores that segments are delivered to when a crawl ends; [] delivers to none.
    "NEWSCRAWL_SINKS": [],
    # --- Safety and politeness ---
    # Hosts, addresses and networks that are allowed besides the public internet.
    "NEWSCRAWL_ALLOWED_ADDRESSES": [],
    # Maximum delay in seconds between two requests to an overloaded domain.
    "NEWSCRAWL_BACKOFF_DELAY": 60.0,
    # Apply delay, concurrency, Retry-After and back-off to registered domains.
    "NEWSCRAWL_POLITENESS_ENABLED": True,
    # Directives for robots with which articles are left out: "noarchive", "noindex", "nosnippet".
    "NEWSCRAWL_ROBOTS_DIRECTIVES": [],
    # False disables the checks of URL schemes, addresses and header counts.
    "NEWSCRAWL_SAFETY_ENABLED": True,
    # Leave out sites and pages that opt out of text and data mining: tdmrep.json, ai.txt, noai.
    "NEWSCRAWL_TDM_OPT_OUT_OBEY": False,
    # --- Scheduled crawls: history of the sitelist spider ---
    # Fetch all known sources and retry failed pages, although they are not due.
    "NEWSCRAWL_ALL_DUE": False,
    # Emit an item with the flag "deleted" for an article whose page is gone (404, 410).
    "NEWSCRAWL_DELETED": False,
    # Emit each article once, and again when it was updated. False ignores former crawls.
    "NEWSCRAWL_ONLY_NEW": True,
    # Maximum hours between two polls of a source, before entries drop out of short feeds.
    "NEWSCRAWL_POLL_MAX": 12.0,
    # Minimum hours between two polls of a feed, sitemap or section page.
    "NEWSCRAWL_POLL_MIN": 0.25,
    # Days after which a page that is no longer listed is removed from the history. 0 keeps all.
    "NEWSCRAWL_STATE_DAYS": 180.0,
    # Hours after publication in which an article is fetched again. 0 fetches it once.
    "NEWSCRAWL_UPDATE_WINDOW": 24.0,
    # --- Site list: scrapy crawl sitelist ---
    # Regular expressions, searched in URLs of articles and sections: these are not requested.
    "NEWSCRAWL_EXCLUDE": [],
    # Regular expressions, searched in URLs of articles: only these are requested.
    "NEWSCRAWL_INCLUDE": [],
    # Articles after which a crawl ends. 0 sets no limit.
    "NEWSCRAWL_LIMIT": 0,
    # Maximum age in days of a sitemap entry: sitemaps go back decades. 0 accepts any age.
    "NEWSCRAWL_MAX_AGE": 30.0,
    # The add-on adds the progress reports and the closing table.
    "NEWSCRAWL_PROGRESS_ENABLED": True,
    # Maximum number of article pages per site, newest first: a day of a large newsroom.
    "NEWSCRAWL_SITE_LIMIT": 100,
    # Maximum number of requests per site, retries and redirects included.
    "NEWSCRAWL_SITE_REQUESTS": 500,
    # Path of the site list, or a list of URLs, used if no spider argument names the sites.
    "NEWSCRAWL_SITES": "",
    # --- Style sheets: StylesheetMiddleware ---
    # False disables the middleware.
    "NEWSCRAWL_CSS_ENABLED": True,
    # Folder for the cache of parsed sheets, relative to the project's data directory.
    "NEWSCRAWL_CSS_STORE": "newscrawl-css",
    # Seconds that a page waits for its sheets, and the download timeout of a sheet.
    "NEWSCRAWL_CSS_TIMEOUT": 10.0,
    # --- Workers ---
    # Seconds after which an extraction is aborted. A page of a few MB takes 1 to 2.
    "NEWSCRAWL_DEADLINE": 20.0,
    # MB that an extraction may allocate. A page of 10 MB (DOWNLOAD_MAXSIZE) needs up to 500.
    "NEWSCRAWL_MEMORY_LIMIT": 1024,
    # Seconds of worker time per site beyond 0.5 for each task. Pages take 0.02.
    "NEWSCRAWL_SITE_SECONDS": 60.0,
    # Worker processes: one CPU is left to the crawl. 0 extracts in a thread, without limits.
    "NEWSCRAWL_WORKERS": max(min(2, _CPUS), _CPUS - 1),
}


class NoSettings:
    """Settings of which each has its default; unlike Scrapy's, quick to import."""

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ARG002  # interface
        """Return *default*."""
        return default

    getbool = getfloat = getint = getlist = get

    def getdict(self, name: str, default: Any = None) -> dict[str, Any]:  # noqa: ARG002
        """Return a copy of *default*."""
        return dict(default or {})


_EXPECTED = {
    bool: "True, False, 1 or 0",
    int: "a whole number",
    float: "a number",
    list: "a list, such as a,b",
    dict: "a mapping, in JSON",
}


class SettingError(ValueError):
    """A setting has an invalid value; the message names it."""


def check_settings(settings: Any) -> list[str]:
    """Return a warning for each ``NEWSCRAWL_*`` setting in *settings* that does not exist.

    Raises :class:`SettingError` naming the setting if a value is invalid.
    """
    for name in DEFAULTS:
        setting(settings, name)
    return unknown_settings(settings)


def unknown_settings(names: Iterable[Any]) -> list[str]:
    """Return a line for each of *names* that looks like a setting of newscrawl and is none."""
    return [
        f"unknown setting {name}{_suggestion(name)}"
        for name in sorted(map(str, names))
        if name.startswith(_PREFIX) and name not in DEFAULTS
    ]


def _suggestion(name: str) -> str:
    known = {known.removeprefix(_PREFIX): known for known in DEFAULTS}
    nearest = get_close_matches(name.removeprefix(_PREFIX), known, 1)
    return f"; did you mean {known[nearest[0]]}?" if nearest else ""


def setting(settings: Any, name: str) -> Any:
    """Return the setting *name* of a Scrapy settings object, converted to the type of its default.

    Raises :class:`SettingError` naming the setting if the value cannot be converted or is negative.
    """
    default = DEFAULTS[name]
    getters: dict[type, Any] = {
        bool: settings.getbool,
        int: settings.getint,
        float: settings.getfloat,
        list: settings.getlist,
        dict: settings.getdict,
    }
    try:
        value = getters.get(type(default), settings.get)(name, default)
    except (TypeError, ValueError) as error:
        expected = _EXPECTED.get(type(default), str(error))
        raise SettingError(f"{name}: {settings.get(name)!r} is not {expected}") from error
    if isinstance(value, int | float) and value < 0:
        raise SettingError(f"{name}: {value} is less than 0")
    return value
