"""Tests of newscrawl."""
