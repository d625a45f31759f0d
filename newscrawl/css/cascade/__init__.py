"""The cascade: from matched rules to computed values."""
