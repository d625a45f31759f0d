"""Worker processes for CPU-bound work."""
