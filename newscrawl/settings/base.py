"""The settings of this project: a polite crawl that no page can bring down.

``NEWSCRAWL_*`` settings have their defaults, with reasons, in
:mod:`newscrawl.defaults`; ``docs/reference/settings.md`` explains those of the crawl.
"""

from __future__ import annotations

from typing import Any

BOT_NAME = "newscrawl"
SPIDER_MODULES = ["newscrawl.spiders"]
NEWSPIDER_MODULE = "newscrawl.spiders"

# Say who is calling. Put an address of yours here: webmasters block what they cannot ask.
USER_AGENT = "newscrawl/0.1 (+https://pypi.org/project/newscrawl/)"
# Scrapy's library default is False; a crawler of other people's sites has no excuse.
ROBOTSTXT_OBEY = True

# One request at a time to a domain, a second apart, give or take a half: no site notices that.
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_DELAY = 1.0
DOWNLOAD_DELAY_JITTER = 0.5
# Over all domains; what the reactor and a worker keep up with.
CONCURRENT_REQUESTS = 32
# Items and requests of one response at a time: Scrapy makes that many tasks for each response, and
# its default of 100 costs more than the response. A page has one item, which waits for its extraction,
# and requests, which go by it.
CONCURRENT_ITEMS = 3

# The default of 180 s lets one dead server hold its slot for 9 minutes, retries included.
DOWNLOAD_TIMEOUT = 20
# The default is 1 GiB, which is also what a compression bomb may unfold to. News pages have
# 0.4 MB on average; 10 MiB are nobody's honest page.
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
DOWNLOAD_WARNSIZE = 4 * 1024 * 1024
# A flap heals in two tries; the default 20 redirects are a loop.
RETRY_TIMES = 2
# A page of theirs that is down is no error of ours; the stats count it by its reason.
RETRY_GIVE_UP_LOG_LEVEL = "INFO"
REDIRECT_MAX_TIMES = 5
# Bounds link following of spiders other than sitelist, which counts links by itself.
DEPTH_LIMIT = 5
# Articles need no session, and 500 cookies of 4 KB are a known way to eat memory.
COOKIES_ENABLED = False

# A sitemap may name file:///etc/passwd. Only the web is crawled.
DOWNLOAD_HANDLERS = {
    # With a bound on the number of headers.
    "http": "newscrawl.crawl.network.download_handler.HttpHandler",
    "https": "newscrawl.crawl.network.download_handler.HttpHandler",
    **dict.fromkeys(("file", "data", "ftp", "s3")),
}
# Both run Python that is sent to a port; a crawl on a server needs neither.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
# Ends the crawl in order, before the system ends it without.
MEMUSAGE_LIMIT_MB = 2048

# A crawl that did not end in order is resumed by the next of the same spider: one at a time.
SCHEDULER = "newscrawl.crawl.frontier.LeaseScheduler"
NEWSCRAWL_STATE = "newscrawl/%(name)s.sqlite"
SPIDER_MIDDLEWARES: dict[Any, int] = {
    # Next to the engine: it sees what all others leave.
    "newscrawl.crawl.frontier.LeaseMiddleware": 1,
}

# A registered domain has one slot, with all its hosts.
DOWNLOADER = "newscrawl.crawl.network.downloader.Downloader"
DOWNLOADER_MIDDLEWARES: dict[Any, int | None] = {
    # First of all: no request passes it by.
    "newscrawl.middlewares.SafetyMiddleware": 20,
    # RFC 9309: a robots.txt that cannot be had forbids.
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "newscrawl.middlewares.RobotsMiddleware": 100,
    "newscrawl.middlewares.StylesheetMiddleware": 545,
    # Before the retries (550): those would ask again at once.
    "newscrawl.middlewares.PolitenessMiddleware": 560,
    # A body that does not unpack is asked for once more, unpacked.
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "newscrawl.middlewares.CompressionMiddleware": 590,
    # Behind all others: as the site sent it. Asked for by NEWSCRAWL_WARC.
    "newscrawl.middlewares.WarcMiddleware": 990,
}
ITEM_PIPELINES: dict[Any, int] = {
    "newscrawl.pipelines.NewsExtractPipeline": 300,
    "newscrawl.pipelines.NearDuplicatePipeline": 350,
}
# It keeps a file: asked for by -s NEWSCRAWL_NEARDUP_ENABLED=1.
NEWSCRAWL_NEARDUP_ENABLED = False
EXTENSIONS: dict[Any, int] = {
    "newscrawl.crawl.reporting.progress.Progress": 500,
    # Asked for by NEWSCRAWL_SEGMENTS.
    "newscrawl.crawl.output.segment_writer.SegmentWriter": 500,
    # Before any other has something to log.
    "newscrawl.crawl.network.secrets.HideSecrets": 0,
}

FEED_EXPORT_ENCODING = "utf-8"
FEED_EXPORTERS = {
    "csv": "newscrawl.exporters.SafeCsvItemExporter",
    "parquet": "newscrawl.exporters.ParquetItemExporter",
}

# DEBUG writes each page and each item in full.
LOG_LEVEL = "INFO"
# What no handler takes is not made.
LOG_FORMATTER = "newscrawl.crawl.reporting.log_formatter.QuietLogFormatter"
# Progress tells more than Scrapy's line of pages a minute.
LOGSTATS_INTERVAL = 0
