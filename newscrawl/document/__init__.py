"""A page as one table of arrays in document order."""
