"""Tests of newscrawl.integrations."""
