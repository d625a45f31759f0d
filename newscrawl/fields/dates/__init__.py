"""Publication date: evidence, visible dates, decision."""
