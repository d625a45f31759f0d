"""Spiders and settings of projects that the tests crawl with."""
