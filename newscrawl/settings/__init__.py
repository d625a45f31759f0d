"""Scrapy settings modules: ``base`` for crawls, ``demo`` for the sample sites."""
