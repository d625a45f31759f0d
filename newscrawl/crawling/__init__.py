"""Crawls: discovery, frontier, history, network, output, reporting."""
