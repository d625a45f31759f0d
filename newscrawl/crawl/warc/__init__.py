"""WARC archives: writing and reading."""
