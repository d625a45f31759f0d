"""Frontier: a scheduler whose requests survive a crash."""

from newscrawl.crawling.frontier.lease_middleware import LeaseMiddleware
from newscrawl.crawling.frontier.scheduler import LeaseScheduler

__all__ = ["LeaseMiddleware", "LeaseScheduler"]
