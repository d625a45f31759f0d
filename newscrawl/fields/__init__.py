"""Fields other than the body: metadata, title, date, page kind."""
