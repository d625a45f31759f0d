"""Article extraction: ``extract()`` and its methods."""
