"""Extraction of archives and page tables in independent units, for batch systems.

:class:`newscrawl.bulk.jobs.Job` runs with any ``map``: Spark's, Ray's, Dask's or Python's.
"""
