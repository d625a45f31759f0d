"""CSS selectors: parsing, compilation, matching."""
