"""Tests of css."""
