"""Scrapy settings: ``base`` for crawls."""
