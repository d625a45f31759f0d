"""The two passes over a collection as a Spark job, for more articles than one machine takes.

``python -m newscrawl.spark FEED... OUTPUT`` (extra ``spark``).
"""
