"""V-Wrapper: title and body by the geometry of the rendered page."""
