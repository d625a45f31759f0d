"""Spiders of this repository."""
