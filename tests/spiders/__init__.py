"""Spiders and settings of test crawls."""
