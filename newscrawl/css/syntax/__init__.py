"""CSS syntax: masking, declarations, conditions, media queries, math functions, variables."""
