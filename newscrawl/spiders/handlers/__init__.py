"""Handlers of responses: of listings, of pages, of failures."""
