"""Measuring extraction on labelled pages."""
