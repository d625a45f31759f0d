"""Title: candidates, features, selection."""
