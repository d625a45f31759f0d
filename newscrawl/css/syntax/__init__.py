"""CSS syntax: tokens, declarations, conditions, variables."""
