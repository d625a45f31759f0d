"""Labelled pages of our own making: readers' comments and kinds of page."""
