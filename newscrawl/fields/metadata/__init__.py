"""Structured data of a page: JSON-LD, microdata, meta elements."""
