"""The crawl: site lists, discovery, extraction workers."""
