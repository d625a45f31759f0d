"""The frontier: requests that outlive a crash, and what became of each."""

from newscrawl.crawl.frontier.lease_middleware import LeaseMiddleware
from newscrawl.crawl.frontier.scheduler import LeaseScheduler

__all__ = ["LeaseMiddleware", "LeaseScheduler"]
