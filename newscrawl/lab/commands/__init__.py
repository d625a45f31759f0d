"""The commands ``newscrawl evaluate`` and ``newscrawl train``."""
