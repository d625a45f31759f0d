"""Evaluation of extraction and near-duplicate detection on labelled pages."""
