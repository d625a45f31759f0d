"""Command line ``newscrawl``."""
