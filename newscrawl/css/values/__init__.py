"""Values of the supported CSS properties."""
