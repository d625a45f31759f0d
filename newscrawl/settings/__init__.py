"""Scrapy settings: ``base`` and the profiles."""
