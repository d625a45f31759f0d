"""The library's defaults: every ``NEWSCRAWL_*`` setting, with the reason for its value.

Components read settings through :func:`setting`, so that they work in a project that has
never heard of them. ``docs/reference/settings.md`` is the reference.
"""

from __future__ import annotations

import os
from typing import Any

_CPUS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

#: Sections by subject, names in alphabetical order within each.
DEFAULTS: dict[str, Any] = {
    # --- Extraction: NewsExtractPipeline ---
    # Beside paragraphs and headings; captions tell of their pictures, tables stand beside the text.
    "NEWSCRAWL_BODY_PARTS": ["code", "definitions", "embeds", "lists", "quotes"],
    # Where the pipeline finds the charset of the HTTP header, if the item holds it.
    "NEWSCRAWL_ENCODING_FIELD": "encoding",
    # Where it finds when the page was fetched.
    "NEWSCRAWL_FETCHED_AT_FIELD": "fetched_at",
    # Our field name -> theirs, for items that are filled; a name not listed stays the same.
    "NEWSCRAWL_FIELDS": {},
    # Where it finds the page, bytes or text.
    "NEWSCRAWL_HTML_FIELD": "html",
    # Kinds of page that are articles; an index page is not.
    "NEWSCRAWL_KEEP": ["article", "live", "gallery"],
    # The best of all fields; "nce" needs no trained model, "cardoso" is the published pipeline.
    "NEWSCRAWL_METHOD": "newscrawl",
    # Below this many characters (weighted: a CJK character is 2.5) there is no story to read:
    # cookie walls, teasers, error pages. 0 keeps everything.
    "NEWSCRAWL_MIN_BODY": 100,
    # "article" yields newscrawl.Article, "fill" fills the item that came, "zyte" yields
    # zyte_common_items.Article.
    "NEWSCRAWL_OUTPUT": "article",
    # The page is some hundred times the article: it does not belong in a feed.
    "NEWSCRAWL_REMOVE_HTML": True,
    # Where a filled item is told how it went, if it can hold the field.
    "NEWSCRAWL_STATUS_FIELD": "newscrawl_status",
    # Where the pipeline finds the page's URL.
    "NEWSCRAWL_URL_FIELD": "url",
    # --- Crawl state: LeaseScheduler ---
    # Seconds. A crash makes a crawl do again what it did in this time; each commit waits for the
    # disk, in a thread.
    "NEWSCRAWL_CHECKPOINT": 0.5,
    # The add-on leaves the project's scheduler in place unless this is True.
    "NEWSCRAWL_FRONTIER_ENABLED": False,
    # Requests in memory, some 1 KB each; the others wait in the file.
    "NEWSCRAWL_FRONTIER_MEMORY": 10_000,
    # False begins anew where the last crawl did not finish.
    "NEWSCRAWL_RESUME": True,
    # File of the crawl's state, from the project's data directory; "%(name)s" is the spider.
    # "" keeps it in memory: who keeps files says so.
    "NEWSCRAWL_STATE": "",
    # --- Near-duplicates: NearDuplicatePipeline ---
    # Share of the shorter story's shingles in the longer one; 0 takes what the sketch is tuned to.
    "NEWSCRAWL_NEARDUP_CONTAINMENT": 0.0,
    # True drops all but the first article of a cluster; what a copy adds is then lost.
    "NEWSCRAWL_NEARDUP_DROP": False,
    # Who lists the pipeline wants it. The add-on lists it where the project sets this to True.
    "NEWSCRAWL_NEARDUP_ENABLED": True,
    # Clusters go on from crawl to crawl in this file; "" keeps them in memory.
    "NEWSCRAWL_NEARDUP_INDEX": "newscrawl-neardup.sqlite",
    # Tuned on clusters of copied, cut and edited news; "spotsigs" is the published one.
    "NEWSCRAWL_NEARDUP_SKETCH": "fracminhash",
    # Hours. The furthest copies of 949 of Reuters' stories were 30 apart; 0 compares all.
    "NEWSCRAWL_NEARDUP_WINDOW": 72.0,
    # --- Raw pages: WarcMiddleware ---
    # Folder of WARC archives; "" keeps no pages.
    "NEWSCRAWL_WARC": "",
    # MB, packed, after which a new archive is begun: what Common Crawl's news archives have.
    "NEWSCRAWL_WARC_SIZE": 1024,
    # --- Segments: SegmentWriter ---
    # Folder of feeds that survive a crash; "" writes none. Needs the crawl's state.
    "NEWSCRAWL_SEGMENTS": "",
    # "jsonlines" needs nothing, "parquet" pyarrow.
    "NEWSCRAWL_SEGMENT_FORMAT": "jsonlines",
    # Some MB of articles: worth a file, and few enough to be in memory.
    "NEWSCRAWL_SEGMENT_ITEMS": 1000,
    # Seconds that an item waits at most before a smaller segment is written.
    "NEWSCRAWL_SEGMENT_SECONDS": 300.0,
    # --- Safety and politeness ---
    # Host names, addresses and networks that may be asked though they are not of the public
    # internet. Nobody's are: a page of the open web could lead there.
    "NEWSCRAWL_ALLOWED_ADDRESSES": [],
    # Seconds between two requests that overload may bring a domain to; more is a site that is down.
    "NEWSCRAWL_BACKOFF_DELAY": 60.0,
    # Seconds. A longer Crawl-delay is cut to this: at a minute a request a day has 1,440.
    "NEWSCRAWL_CRAWL_DELAY": 60.0,
    # True leaves cells of CSV feeds that a spreadsheet would take for formulas as they are.
    "NEWSCRAWL_CSV_FORMULAS": False,
    # False shows users, passwords, tokens and signatures in the log's URLs.
    "NEWSCRAWL_LOG_SECRETS_HIDDEN": True,
    # Delay, concurrency, Retry-After and back-off of a registered domain instead of a host.
    "NEWSCRAWL_POLITENESS_ENABLED": True,
    # Seconds. Who asks to wait longer (Retry-After) is left alone for that time: no crawl's
    # requests are worth keeping in memory for a day.
    "NEWSCRAWL_RETRY_AFTER": 300.0,
    # Who lists the middleware wants it; False leaves schemes and addresses unchecked.
    "NEWSCRAWL_SAFETY_ENABLED": True,
    # False follows URLs that look generated without end, too; the budgets bound them.
    "NEWSCRAWL_TRAPS_ENABLED": True,
    # --- Scheduled crawls: what the spider sitelist remembers of the crawls before ---
    # Articles are put out once, updates once more. False crawls as if for the first time.
    "NEWSCRAWL_ONLY_NEW": True,
    # Crawls in which a page may fail: the next one, then 1, 2 and 4 hours later at least.
    "NEWSCRAWL_PAGE_TRIES": 5,
    # Hours, at most, between two polls of a feed, sitemap or section page, however quiet: what
    # comes must not have left a feed of ten entries again.
    "NEWSCRAWL_POLL_MAX": 12.0,
    # Hours, at least, between two polls, however busy.
    "NEWSCRAWL_POLL_MIN": 0.25,
    # Days after which a page is forgotten that nobody lists any more. 0 forgets nothing.
    "NEWSCRAWL_STATE_DAYS": 180.0,
    # Hours after publication in which an article is looked at again, at growing intervals: news
    # are rewritten on their first day. 0 looks once.
    "NEWSCRAWL_UPDATE_WINDOW": 24.0,
    # --- Site list: scrapy crawl sitelist ---
    # Links between the listed page and a page whose links are used: its section pages and
    # theirs. Deeper pages are archives.
    "NEWSCRAWL_LINK_DEPTH": 2,
    # Days. Sitemap entries known to be older are passed over: archives go back decades, and the
    # news are in the last weeks. 0 takes entries of any age.
    "NEWSCRAWL_MAX_AGE": 30.0,
    # Links of a page that are looked at: home pages have up to a thousand, traps any number.
    "NEWSCRAWL_PAGE_LINKS": 1000,
    # Seconds between two progress lines in a log.
    "NEWSCRAWL_PROGRESS_INTERVAL": 30.0,
    # Feeds read on one site: a home page names its main feed and some sections'.
    "NEWSCRAWL_SITE_FEEDS": 10,
    # Article pages taken from one site, newest first: a day of a large newsroom.
    "NEWSCRAWL_SITE_LIMIT": 100,
    # Requests of any kind to one site, retries and redirects included: bounds what failures, wrong
    # guesses and traps cost.
    "NEWSCRAWL_SITE_REQUESTS": 500,
    # Section pages found and read on one site, where sitemaps and feeds name too few articles.
    "NEWSCRAWL_SITE_SECTIONS": 20,
    # Sitemaps read on one site, newest first: archives are split into hundreds.
    "NEWSCRAWL_SITE_SITEMAPS": 20,
    # File of the site list, or a list of URLs, where no argument names one.
    "NEWSCRAWL_SITES": "",
    # --- Style sheets: StylesheetMiddleware ---
    # Who lists the middleware wants it; False keeps it in the list and switches it off.
    "NEWSCRAWL_CSS_ENABLED": True,
    # Timeouts, resets and server errors, none in between that went well: the host is in trouble.
    "NEWSCRAWL_CSS_HOST_FAILURES": 5,
    # Bytes. The sheets of one theme were 1.8 MB together; no honest page has twice that.
    "NEWSCRAWL_CSS_PAGE_SIZE": 4 * 2**20,
    # Sheets of one page: 95 news pages in 100 have up to 18, some themes 40.
    "NEWSCRAWL_CSS_SHEETS": 32,
    # Bytes, unpacked. The largest of 60 real sheets has 1.2 MB.
    "NEWSCRAWL_CSS_SHEET_SIZE": 2 * 2**20,
    # Parsed sheets are good for as long as this file: sites change their sheets rarely.
    "NEWSCRAWL_CSS_STORE": "newscrawl-css.sqlite",
    # MB. A parsed sheet has some 30 KB; the least used ones go first.
    "NEWSCRAWL_CSS_STORE_SIZE": 256,
    # Seconds that a page waits for its sheets, and a sheet for its server. A page in the wait is
    # in memory, so it is short against DOWNLOAD_TIMEOUT.
    "NEWSCRAWL_CSS_TIMEOUT": 10.0,
    # --- Workers ---
    # Seconds. A page of a few MB takes 1 to 2 s on a slow machine; 20 s is nobody's honest page.
    "NEWSCRAWL_DEADLINE": 20.0,
    # MB. A page of 10 MB (the download limit) needs up to 500 MB as a tree.
    "NEWSCRAWL_MEMORY_LIMIT": 1024,
    # One CPU is the reactor's; 0 runs tasks in a thread.
    "NEWSCRAWL_WORKERS": max(1, _CPUS - 1),
    # A new process every thousand pages costs 1 ms a page and bounds any leak of a C library.
    "NEWSCRAWL_WORKER_TASKS": 1000,
}


def setting(settings: Any, name: str) -> Any:
    """Return the setting *name* of a Scrapy settings object, converted to the type of its default.

    Raises ``ValueError`` naming the setting where the value does not convert, or is negative.
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
        raise ValueError(f"{name}: {error}") from error
    if isinstance(value, int | float) and value < 0:
        raise ValueError(f"{name}: {value} is less than 0")
    return value
