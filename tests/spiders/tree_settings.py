"""Settings of another project that uses the scheduler."""

SCHEDULER = "newscrawl.crawling.frontier.LeaseScheduler"
SPIDER_MIDDLEWARES = {"newscrawl.crawling.frontier.LeaseMiddleware": 1}
STATS_CLASS = "tests.helpers.crawls.FileStatsCollector"
STATS_FILE = "stats.json"
NEWSCRAWL_STATE = "state.sqlite"
# Without a segment writer: the tests read the items from the outbox.
NEWSCRAWL_SEGMENTS = "segments"

CONCURRENT_REQUESTS = 16
CONCURRENT_REQUESTS_PER_DOMAIN = 16
DOWNLOAD_DELAY = 0
ROBOTSTXT_OBEY = False
RETRY_TIMES = 2
REDIRECT_MAX_TIMES = 5
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
LOG_LEVEL = "INFO"
