"""Errors of training."""

from __future__ import annotations


class TooFewPagesError(ValueError):
    """The training data has examples of only one class."""
