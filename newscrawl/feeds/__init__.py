"""Reads feeds back: rows, stories, cluster tables."""
