"""Progress, outcomes and log messages of a crawl."""
