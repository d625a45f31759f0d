"""Comparison of the computed styles of ``newscrawl.css`` with those of Chromium."""
