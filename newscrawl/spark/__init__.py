"""Extraction and two-pass near-duplicate clustering as Spark jobs, for more than one machine.

``newscrawl-spark`` or ``python -m newscrawl.spark`` (extra ``spark``).
"""
