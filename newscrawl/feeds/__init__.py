"""Reading output feeds back: rows, stories, clusters."""
