"""Computed styles as Chromium has them, and how ours compare: the oracle of ``newscrawl.css``."""
