"""Settings of the sitelist spider: a polite crawl that survives hostile pages.

The defaults of the ``NEWSCRAWL_*`` settings are in :mod:`newscrawl.defaults`.
"""

from __future__ import annotations

BOT_NAME = "newscrawl"
SPIDER_MODULES = ["newscrawl.spiders"]
NEWSPIDER_MODULE = "newscrawl.spiders"

# Replace the URL by a contact address: webmasters block crawlers that they cannot identify.
USER_AGENT = "newscrawl/0.1 (+https://github.com/newscrawl/newscrawl)"
# Scrapy's default is False.
ROBOTSTXT_OBEY = True

# One request at a time per domain, every 0.5 to 1.5 seconds.
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_DELAY = 1.0
DOWNLOAD_DELAY_JITTER = 0.5
# Over all domains: as many as the reactor and one worker can process.
CONCURRENT_REQUESTS = 32
# Scrapy creates this many tasks per response, and the default of 100 costs more than parsing it.
# A page yields one item, which waits for its extraction, and requests, which do not wait.
CONCURRENT_ITEMS = 2

# With the default of 180 s, a dead server blocks its slot for 9 minutes, retries included.
DOWNLOAD_TIMEOUT = 20
# The default of 1 GiB also bounds decompression, so a compression bomb could fill the memory.
# News pages have 0.4 MB on average.
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
DOWNLOAD_WARNSIZE = 4 * 1024 * 1024
# Transient failures rarely need more than two retries.
RETRY_TIMES = 2
# Unreachable pages are not errors of the crawl; the stats count them by reason.
RETRY_GIVE_UP_LOG_LEVEL = "INFO"
# The default is 20.
REDIRECT_MAX_TIMES = 5
# For other spiders: sitelist counts links itself.
DEPTH_LIMIT = 5

# A sitemap may list file:///etc/passwd, so only HTTP(S) is enabled.
DOWNLOAD_HANDLERS = dict.fromkeys(("file", "data", "ftp", "s3"))
# Both run Python code received on a port.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
# Stops the crawl cleanly before the OOM killer does.
MEMUSAGE_LIMIT_MB = 2048

# Extraction, safety and politeness middlewares, progress reports.
ADDONS = {"newscrawl.Addon": 500}
# An interrupted crawl is resumed by the next crawl of the same spider.
NEWSCRAWL_FRONTIER_ENABLED = True
NEWSCRAWL_STATE = "newscrawl/%(name)s.sqlite"
# Writes an index file; enable with -s NEWSCRAWL_NEARDUP_ENABLED=1.
NEWSCRAWL_NEARDUP_ENABLED = False

FEED_EXPORT_ENCODING = "utf-8"
# Also listed here, since scrapy checks the format of -o before it loads add-ons.
FEED_EXPORTERS = {
    "csv": "newscrawl.exporters.SafeCsvItemExporter",
    "json": "newscrawl.exporters.JsonItemExporter",
    **dict.fromkeys(("jl", "jsonl", "jsonlines"), "newscrawl.exporters.JsonLinesItemExporter"),
    "markdown": "newscrawl.exporters.MarkdownExporter",
    "parquet": "newscrawl.exporters.parquet_exporter",
    "xml": "newscrawl.exporters.CleanXmlItemExporter",
}

# DEBUG logs every item in full.
LOG_LEVEL = "INFO"
# Replaced by Progress.
LOGSTATS_INTERVAL = 0
