"""Tests of ensemble."""
