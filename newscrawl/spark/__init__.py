"""Two-pass near-duplicate clustering as a Spark job, for collections too large for one machine.

``python -m newscrawl.spark FEED... OUTPUT`` (extra ``spark``).
"""
