"""Parsed style sheets and their caches."""
