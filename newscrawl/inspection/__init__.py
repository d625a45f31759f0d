"""Shows what extraction saw in a page."""
