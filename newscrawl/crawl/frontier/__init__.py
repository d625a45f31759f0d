"""Frontier: a scheduler whose requests survive a crash."""

from newscrawl.crawl.frontier.lease_middleware import LeaseMiddleware
from newscrawl.crawl.frontier.scheduler import LeaseScheduler

__all__ = ["LeaseMiddleware", "LeaseScheduler"]
