"""Tests of body."""
