"""Labelled pages: loading, labels, metrics, folds."""
