"""Durable output: segments and atomic file writes."""
