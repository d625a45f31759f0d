"""Commands that newscrawl adds to ``scrapy``."""
