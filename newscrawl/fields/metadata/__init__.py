"""Metadata stated by a page: JSON-LD, microdata, meta elements."""
