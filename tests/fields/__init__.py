"""Tests of fields."""
