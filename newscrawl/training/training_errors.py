"""Errors of training."""

from __future__ import annotations


class TooFewPagesError(ValueError):
    """There is no example of a class, or no counterexample."""
