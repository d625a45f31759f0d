"""Synthetic labelled pages: readers' comments and page kinds."""
