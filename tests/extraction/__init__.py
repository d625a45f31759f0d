"""Tests of extraction."""
