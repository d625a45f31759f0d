"""WARC archives and page tables: reading, writing, and extraction in independent units.

:class:`newscrawl.archives.jobs.Job` runs with any ``map``: Spark's, Ray's, Dask's or Python's.
"""

from typing import Final

ARCHIVES: Final = (".warc", ".warc.gz")
"""File name suffixes of archives."""

OTHER_ARCHIVES: Final = (".arc", ".arc.gz", ".warc.zst")
"""Suffixes of archives that are not supported: their error names the format."""
