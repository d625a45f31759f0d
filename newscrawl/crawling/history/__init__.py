"""Crawl history: pages and sources of earlier crawls."""
