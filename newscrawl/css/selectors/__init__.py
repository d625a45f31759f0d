"""Compiler and matcher of CSS selectors."""
